//! An unknown path shows the site's own page, and nobody keeps it.

use crate::support::TestApp;

#[tokio::test]
async fn an_unknown_path_shows_the_sites_404_page() {
    let app = TestApp::builder().file("404.html", "Lost?").start();
    let reply = app.get("/nowhere").await;
    reply.assert_status(404).assert_headers(&[
        ("cache-control", "no-cache"),
        ("content-length", "5"),
        ("content-security-policy", "frame-ancestors 'self'"),
        ("content-type", "text/html; charset=utf-8"),
        ("cross-origin-opener-policy", "same-origin-allow-popups"),
        ("referrer-policy", "strict-origin-when-cross-origin"),
        ("x-content-type-options", "nosniff"),
    ]);
    assert_eq!(reply.text(), "Lost?");
}

#[tokio::test]
async fn a_site_without_such_a_page_says_it_plainly() {
    let reply = TestApp::builder().start().get("/nowhere").await;
    reply.assert_status(404).assert_headers(&[
        ("cache-control", "no-cache"),
        ("content-length", "14"),
        ("content-type", "text/plain; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
    ]);
    assert_eq!(reply.text(), "404 Not Found\n");
}

#[tokio::test]
async fn a_path_that_is_no_text_is_not_found() {
    TestApp::builder().file("404.html", "Lost?").start().get("/%ff%fe").await.assert_status(404);
}
