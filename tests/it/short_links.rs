//! A short link leads where its line says.

use axum::http::StatusCode;

use crate::support::{Script, TestApp};

#[tokio::test]
async fn a_link_of_the_site_redirects() {
    let app = TestApp::builder().file("_redirects", "gh https://example.com/me").start();
    let reply = app.get("/gh").await;
    reply.assert_status(302).assert_headers(&[
        ("cache-control", "public, max-age=60"),
        ("content-length", &reply.body.len().to_string()),
        ("content-type", "text/html; charset=utf-8"),
        ("location", "https://example.com/me"),
        ("referrer-policy", "strict-origin-when-cross-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-robots-tag", "noindex"),
    ]);
    assert!(reply.text().contains("<a href=\"https://example.com/me\">"), "for who does not follow it by itself");
}

#[tokio::test]
async fn a_slash_behind_the_name_does_not_matter() {
    let app = TestApp::builder().file("_redirects", "gh https://example.com/me").start();
    app.get("/gh/").await.assert_redirects_to(302, "https://example.com/me");
    app.get("/gh//").await.assert_status(404);
}

#[tokio::test]
async fn a_link_may_have_a_status_of_its_own() {
    let app = TestApp::builder()
        .file("_redirects", "a https://example.com/a\nb https://example.com/b 307")
        .links(|links| links.default_status = StatusCode::PERMANENT_REDIRECT)
        .start();
    app.get("/a").await.assert_redirects_to(308, "https://example.com/a");
    app.get("/b").await.assert_redirects_to(307, "https://example.com/b");
}

#[tokio::test]
async fn even_a_permanent_link_is_kept_only_for_a_minute() {
    let app = TestApp::builder().file("_redirects", "a https://example.com/a 301").start();
    app.get("/a").await.assert_status(301).assert_header("cache-control", "public, max-age=60");
}

#[tokio::test]
async fn a_file_wins_over_a_link_of_its_name() {
    let app = TestApp::builder()
        .file("about/index.html", "about")
        .file("_redirects", "about https://example.com/\nabout/index.html https://example.com/")
        .start();
    app.get("/about").await.assert_redirects_to(308, "/about/");
    assert_eq!(app.get("/about/").await.text(), "about");
}

#[tokio::test]
async fn names_in_any_letters_are_found_encoded() {
    let app = TestApp::builder().file("_redirects", "café https://example.com/cafe").start();
    app.get("/caf%C3%A9").await.assert_redirects_to(302, "https://example.com/cafe");
}

#[tokio::test]
async fn a_bad_line_costs_no_other_link() {
    let app = TestApp::builder().file("_redirects", "a https://example.com/a\nb javascript:alert(1)\nc").start();
    app.get("/a").await.assert_status(302);
    app.get("/b").await.assert_status(404);
    assert_eq!(app.metric("homebody_redirects_defined").await, 1);
    assert_eq!(app.metric("homebody_redirects_rejected").await, 2);
}

#[tokio::test]
async fn the_source_is_laid_over_the_site() {
    let source = Script::text("a https://example.com/source\nc https://example.com/c");
    let app = TestApp::builder()
        .file("_redirects", "a https://example.com/site\nb https://example.com/b")
        .source(&source)
        .start();
    app.app().links.refresh_now().await.unwrap();
    app.get("/a").await.assert_redirects_to(302, "https://example.com/source");
    app.get("/b").await.assert_redirects_to(302, "https://example.com/b");
    app.get("/c").await.assert_redirects_to(302, "https://example.com/c");
}
