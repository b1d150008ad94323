//! The pages are in the program, and each path has one canonical form.

use crate::support::{TestApp, prose};

#[tokio::test]
async fn a_page_is_sent_with_these_header_fields_and_no_others() {
    let app = TestApp::builder().file("about/index.html", "<title>About</title>").start();
    let page = app.get("/about/").await;
    page.assert_status(200).assert_headers(&[
        ("accept-ranges", "bytes"),
        ("cache-control", "no-cache"),
        ("content-length", "20"),
        ("content-security-policy", "frame-ancestors 'self'"),
        ("content-type", "text/html; charset=utf-8"),
        ("cross-origin-opener-policy", "same-origin-allow-popups"),
        ("etag", "\"25295a1ca65cc9ede8c016bff2974f13bb88f9eb\""),
        ("referrer-policy", "strict-origin-when-cross-origin"),
        ("x-content-type-options", "nosniff"),
    ]);
    assert_eq!(page.text(), "<title>About</title>");
}

#[tokio::test]
async fn the_etag_is_the_sha1_of_the_bytes_that_are_sent() {
    let app = TestApp::builder().file("hello.txt", "hello\n").start();
    assert_eq!(app.get("/hello.txt").await.etag(), "\"f572d396fae9206628714fb2ce00f72e94f2258f\"");
}

#[tokio::test]
async fn a_folder_has_its_slash_and_its_other_names_lead_there() {
    let app = TestApp::builder().file("posts/index.html", "posts").file("posts/2026/index.html", "2026").start();
    for (path, location) in [
        ("/posts", "/posts/"),
        ("/posts/index.html", "/posts/"),
        ("/posts/index", "/posts/"),
        ("/posts/2026", "/posts/2026/"),
        ("/index.html", "/"),
        ("/posts?page=2", "/posts/?page=2"),
        ("/posts?u=//evil.example&x=%20%zz", "/posts/?u=//evil.example&x=%20%zz"),
    ] {
        let reply = app.get(path).await;
        reply.assert_redirects_to(308, location).assert_header("cache-control", "max-age=300");
        assert!(reply.body.is_empty());
    }
    assert_eq!(app.get("/posts/?page=2").await.text(), "posts", "a query does not change the page");
}

#[tokio::test]
async fn a_page_has_the_name_of_its_file_and_is_found_without_the_extension() {
    let app = TestApp::builder().file("about.html", "about").file("posts/first.html", "first").start();
    assert_eq!(app.get("/about.html").await.text(), "about");
    for (path, location) in [
        ("/about", "/about.html"),
        ("/about/", "/about.html"),
        ("/about?a=//b", "/about.html?a=//b"),
        ("/posts/first", "/posts/first.html"),
    ] {
        app.get(path).await.assert_redirects_to(308, location);
    }
    app.get("/about.htm").await.assert_status(404);
}

#[tokio::test]
async fn files_win_over_folders_and_folders_over_pages_where_names_meet() {
    let app = TestApp::builder()
        .file("both.html", "the page")
        .file("both/index.html", "the folder")
        .file("plain.html", "the page")
        .file("plain", "the file")
        .start();
    assert_eq!(app.get("/both.html").await.text(), "the page");
    assert_eq!(app.get("/both/").await.text(), "the folder");
    app.get("/both").await.assert_redirects_to(308, "/both/");
    assert_eq!(app.get("/plain").await.text(), "the file");
}

#[tokio::test]
async fn a_folder_of_index_htm_works_the_same() {
    let app = TestApp::builder().file("old/index.htm", "old").start();
    assert_eq!(app.get("/old/").await.text(), "old");
    app.get("/old").await.assert_redirects_to(308, "/old/");
}

#[tokio::test]
async fn names_of_any_letters_are_found_encoded() {
    let app = TestApp::builder().file("grüße & more/index.html", "hi").file("100% sure.txt", "sure").start();
    assert_eq!(app.get("/gr%C3%BC%C3%9Fe%20%26%20more/").await.text(), "hi");
    app.get("/gr%c3%bc%c3%9fe%20&%20more").await.assert_redirects_to(308, "/gr%C3%BC%C3%9Fe%20&%20more/");
    assert_eq!(app.get("/100%25%20sure.txt").await.text(), "sure");
}

#[tokio::test]
async fn well_known_is_served_and_what_configures_the_site_is_not() {
    let app = TestApp::builder()
        .file(".well-known/security.txt", "Contact: mailto:me@example.com")
        .file(".git/config", "secret")
        .file("posts/.draft.html", "secret")
        .file("_redirects", "gh https://example.com/")
        .file("_headers", "/*\n  X-Test: 1")
        .start();
    app.get("/.well-known/security.txt").await.assert_status(200);
    for path in ["/.git/config", "/posts/.draft.html", "/_redirects", "/_headers"] {
        app.get(path).await.assert_status(404);
    }
}

#[tokio::test]
async fn an_empty_file_is_a_page_too() {
    let app = TestApp::builder().file("empty.txt", "").start();
    app.get("/empty.txt").await.assert_status(200).assert_header("content-length", "0").assert_no_header("vary");
}

#[tokio::test]
async fn pages_never_ask_the_source() {
    let source = crate::support::Script::text("a https://example.com");
    let app = TestApp::builder().file("big.html", prose("pages")).source(&source).start();
    for path in ["/", "/big.html", "/index.html"] {
        let _ = app.get(path).await;
    }
    assert_eq!(source.fetches(), 0);
}
