//! The right type, the right caching and sane defaults for each kind of file.

use crate::support::TestApp;

#[tokio::test]
async fn each_file_has_the_type_of_its_extension() {
    let app = TestApp::builder()
        .file("a.css", "a{}")
        .file("a.mjs", "1")
        .file("a.json", "{}")
        .file("a.svg", "<svg/>")
        .file("a.wasm", "")
        .file("a.woff2", "")
        .file("feed.atom", "<feed/>")
        .file("LICENSE", "free")
        .file("a.xyzzy", "?")
        .file(".well-known/apple-app-site-association", "{}")
        .start();
    for (path, content_type) in [
        ("/a.css", "text/css; charset=utf-8"),
        ("/a.mjs", "text/javascript; charset=utf-8"),
        ("/a.json", "application/json"),
        ("/a.svg", "image/svg+xml"),
        ("/a.wasm", "application/wasm"),
        ("/a.woff2", "font/woff2"),
        ("/feed.atom", "application/atom+xml; charset=utf-8"),
        ("/LICENSE", "application/octet-stream"),
        ("/a.xyzzy", "application/octet-stream"),
        ("/.well-known/apple-app-site-association", "application/json"),
    ] {
        app.get(path).await.assert_header("content-type", content_type);
    }
}

#[tokio::test]
async fn how_long_a_file_is_kept_follows_from_its_name() {
    let app = TestApp::builder()
        .file("style.3f9a1c0e.css", "a{}")
        .file("photo.20241031.jpg", "")
        .file("robots.txt", "")
        .file("feed.atom", "")
        .start();
    for (path, cache_control) in [
        ("/", "no-cache"),
        ("/photo.20241031.jpg", "no-cache"),
        ("/style.3f9a1c0e.css", "public, max-age=31536000, immutable"),
        ("/robots.txt", "max-age=300"),
        ("/feed.atom", "max-age=300"),
    ] {
        app.get(path).await.assert_header("cache-control", cache_control);
    }
}

#[tokio::test]
async fn what_is_missing_is_never_kept_whatever_its_name() {
    let app = TestApp::builder().start();
    app.get("/style.3f9a1c0e.css").await.assert_status(404).assert_header("cache-control", "no-cache");
}

#[tokio::test]
async fn every_answer_says_how_long_it_may_be_kept() {
    let app = TestApp::builder()
        .file("posts/index.html", "posts")
        .file("page.html", "page")
        .file("_redirects", "gh https://example.com/")
        .start();
    let etag = app.get("/page.html").await.etag();
    let long = format!("/{}", "a".repeat(9 * 1024));
    for (method, path, header, status) in [
        ("GET", "/page.html", ("accept", "*/*"), 200),
        ("GET", "/page.html", ("range", "bytes=0-0"), 206),
        ("GET", "/page.html", ("if-none-match", &*etag), 304),
        ("GET", "/page.html", ("if-match", "\"other\""), 412),
        ("GET", "/page.html", ("range", "bytes=99-"), 416),
        ("GET", "/posts", ("accept", "*/*"), 308),
        ("GET", "/gh", ("accept", "*/*"), 302),
        ("GET", "/nowhere", ("accept", "*/*"), 404),
        ("POST", "/", ("accept", "*/*"), 405),
        ("OPTIONS", "/", ("accept", "*/*"), 204),
        ("GET", "/", ("host", "a/b"), 400),
        ("GET", &long, ("accept", "*/*"), 414),
    ] {
        let reply = app.request(method, path, &[header]).await;
        reply.assert_status(status);
        assert!(reply.header("cache-control").is_some(), "{status} says nothing");
    }
}

#[tokio::test]
async fn what_browsers_show_as_a_document_has_defaults_that_protect_it() {
    let app = TestApp::builder().file("a.svg", "<svg/>").file("a.jpg", "").file("404.html", "Lost?").start();
    for path in ["/", "/a.svg", "/nowhere"] {
        let reply = app.get(path).await;
        reply.assert_header("x-content-type-options", "nosniff");
        reply.assert_header("referrer-policy", "strict-origin-when-cross-origin");
        reply.assert_header("content-security-policy", "frame-ancestors 'self'");
        reply.assert_header("cross-origin-opener-policy", "same-origin-allow-popups");
        // Only the owner knows whether every way to the site is encrypted.
        reply.assert_no_header("strict-transport-security");
    }
    let picture = app.get("/a.jpg").await;
    picture.assert_header("x-content-type-options", "nosniff").assert_no_header("content-security-policy");
}
