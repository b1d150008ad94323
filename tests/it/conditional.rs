//! A page is never sent twice unchanged, and never taken for another.

use crate::support::{Folder, Server, TestApp, prose};

fn app() -> TestApp {
    TestApp::builder()
        .file("page.html", prose("conditional"))
        .file("404.html", prose("nowhere"))
        .file("posts/index.html", "posts")
        .file("_redirects", "gh https://example.com/")
        .start()
}

#[test]
fn a_client_that_has_the_page_hears_304_with_what_a_cache_must_update() {
    let site = Folder::site().file("page.html", prose("conditional"));
    let server = Server::start(&["--dir", &site.display()]);
    let page = server.get("/page.html");
    let again = server.get_with("/page.html", &[("if-none-match", &page.etag())]);
    again.assert_status(304).assert_headers(&[
        ("cache-control", "no-cache"),
        ("connection", "close"),
        ("etag", &page.etag()),
        ("vary", "accept-encoding"),
    ]);
    assert!(again.body.is_empty());
}

#[tokio::test]
async fn lists_weak_tags_and_the_star_count() {
    let app = app();
    let etag = app.get("/page.html").await.etag();
    for (value, status) in [
        (etag.clone(), 304),
        (format!("W/{etag}"), 304),
        (format!("\"other\", {etag}"), 304),
        ("*".to_owned(), 304),
        ("\"other\"".to_owned(), 200),
        (etag.trim_matches('"').to_owned(), 200),
    ] {
        app.get_with("/page.html", &[("if-none-match", &value)]).await.assert_status(status);
    }
}

#[tokio::test]
async fn several_header_lines_are_one_list() {
    let app = app();
    let etag = app.get("/page.html").await.etag();
    let reply = app.get_with("/page.html", &[("if-none-match", "\"other\""), ("if-none-match", &etag)]).await;
    reply.assert_status(304);
}

#[tokio::test]
async fn head_hears_304_too() {
    let app = app();
    let etag = app.get("/page.html").await.etag();
    app.request("HEAD", "/page.html", &[("if-none-match", &etag)])
        .await
        .assert_status(304)
        .assert_header("etag", &etag);
}

#[tokio::test]
async fn each_encoding_is_validated_by_its_own_tag() {
    let app = app();
    let plain = app.get("/page.html").await.etag();
    let brotli = app.get_with("/page.html", &[("accept-encoding", "br")]).await.etag();
    assert_ne!(plain, brotli);
    app.get_with("/page.html", &[("accept-encoding", "br"), ("if-none-match", &brotli)]).await.assert_status(304);
    let other = app.get_with("/page.html", &[("accept-encoding", "br"), ("if-none-match", &plain)]).await;
    other.assert_status(200).assert_header("content-encoding", "br");
    app.get_with("/page.html", &[("if-none-match", &brotli)]).await.assert_status(200);
}

#[tokio::test]
async fn a_client_that_means_another_version_hears_412() {
    let app = app();
    let etag = app.get("/page.html").await.etag();
    for (value, status) in [(&*etag, 200), ("*", 200), ("\"other\"", 412), (&format!("W/{etag}"), 412)] {
        app.get_with("/page.html", &[("if-match", value)]).await.assert_status(status);
    }
    let failed = app.get_with("/page.html", &[("if-match", "\"other\""), ("if-none-match", &etag)]).await;
    failed.assert_status(412).assert_headers(&[("cache-control", "no-cache"), ("content-length", "0")]);
    app.get_with("/nowhere", &[("if-match", "\"other\"")]).await.assert_status(404);
}

#[tokio::test]
async fn dates_are_no_conditions_since_no_date_is_known() {
    let app = app();
    for (name, date) in [
        ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"),
        ("if-unmodified-since", "Thu, 01 Jan 1970 00:00:00 GMT"),
    ] {
        app.get_with("/page.html", &[(name, date)]).await.assert_status(200).assert_no_header("last-modified");
    }
}

#[tokio::test]
async fn neither_a_missing_page_nor_a_redirect_is_ever_304() {
    let app = app();
    let etag = app.get("/404.html").await.etag();
    for value in ["*", &etag] {
        app.get_with("/nowhere", &[("if-none-match", value)]).await.assert_status(404);
        app.get_with("/posts", &[("if-none-match", value)]).await.assert_status(308);
        app.get_with("/gh", &[("if-none-match", value)]).await.assert_status(302);
    }
}
