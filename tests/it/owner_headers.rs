//! What the owner writes in `_headers` holds for each resource, and never harms the rest of an answer.

use homebody::site::Site;

use crate::support::{Folder, TestApp, prose};

#[tokio::test]
async fn a_rule_sets_fields_and_replaces_defaults() {
    let rules = "/*\n  X-Own: :splat\n/talks/*\n  Referrer-Policy: no-referrer\n  Cache-Control: public, max-age=60\n";
    let app = TestApp::builder()
        .file("talks/one.html", "one")
        .file("talks/index.html", "all")
        .file("_headers", rules)
        .start();
    app.get("/").await.assert_header("x-own", "").assert_header("referrer-policy", "strict-origin-when-cross-origin");
    for (path, own) in [("/talks/one.html", "talks/one.html"), ("/talks/", "talks/")] {
        let reply = app.get(path).await;
        reply.assert_header("x-own", own).assert_header("referrer-policy", "no-referrer");
        reply
            .assert_header("cache-control", "public, max-age=60")
            .assert_header("content-type", "text/html; charset=utf-8");
    }
}

#[tokio::test]
async fn every_default_can_be_removed_but_type_and_caching() {
    let names = ["X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy", "Cross-Origin-Opener-Policy"];
    let rules = names.map(|name| format!("  ! {name}\n")).concat();
    let app = TestApp::builder().file("_headers", format!("/*\n  ! Content-Type\n  ! Cache-Control\n{rules}")).start();
    let reply = app.get("/").await;
    for name in names {
        reply.assert_no_header(&name.to_ascii_lowercase());
    }
    reply.assert_header("cache-control", "no-cache").assert_header("content-type", "text/html; charset=utf-8");
}

#[tokio::test]
async fn strict_transport_security_is_sent_where_the_owner_says_so() {
    let rules = "/*\n  Strict-Transport-Security: max-age=31536000; includeSubDomains";
    let app = TestApp::builder().file("_headers", rules).start();
    app.get("/").await.assert_header("strict-transport-security", "max-age=31536000; includeSubDomains");
}

#[tokio::test]
async fn a_type_that_homebody_does_not_know_can_be_told() {
    let site = Folder::site().file("notes.xyzzy", "?").file("_headers", "/*.xyzzy\n  Content-Type: text/x-notes");
    let loaded = Site::from_folder(site.path()).unwrap();
    assert!(loaded.warnings().is_empty(), "{:?}", loaded.warnings());
    let app =
        TestApp::builder().file("notes.xyzzy", "?").file("_headers", "/*.xyzzy\n  Content-Type: text/x-notes").start();
    app.get("/notes.xyzzy").await.assert_header("content-type", "text/x-notes");
}

#[tokio::test]
async fn a_304_repeats_what_the_owner_says_of_caching_and_nothing_else() {
    let rules =
        "/*\n  Cache-Control: public, max-age=9\n  Vary: Origin\n  Content-Location: /there\n  Expires: 0\n  X-Own: 1";
    let app = TestApp::builder().file("page.html", prose("owner")).file("_headers", rules).start();
    let page = app.get("/page.html").await;
    page.assert_header("vary", "accept-encoding, Origin");
    let etag = page.etag();
    app.get_with("/page.html", &[("if-none-match", &etag)]).await.assert_status(304).assert_headers(&[
        ("cache-control", "public, max-age=9"),
        ("content-location", "/there"),
        ("etag", &etag),
        ("expires", "0"),
        ("vary", "Origin"),
        ("vary", "accept-encoding"),
    ]);
}

#[tokio::test]
async fn other_fields_for_the_same_bytes_are_another_version() {
    let app = |rules: &str| TestApp::builder().file("_headers", rules).start();
    let before = app("# nothing yet").get("/").await.etag();
    let after = app("/\n  Content-Security-Policy: default-src 'self'");
    let reply = after.get_with("/", &[("if-none-match", &before)]).await;
    reply.assert_status(200).assert_header("content-security-policy", "default-src 'self'");
    assert_eq!(app("/\n  Content-Security-Policy: default-src 'self'").get("/").await.etag(), reply.etag());
}

#[tokio::test]
async fn the_page_for_missing_paths_follows_the_rules_but_is_never_kept() {
    let rules = "/*\n  X-Own: 1\n  Cache-Control: public, max-age=31536000";
    let app = TestApp::builder().file("404.html", "Lost?").file("_headers", rules).start();
    app.get("/nowhere").await.assert_status(404).assert_header("x-own", "1").assert_header("cache-control", "no-cache");
}

#[tokio::test]
async fn redirects_follow_no_rule() {
    let app = TestApp::builder()
        .file("posts/index.html", "posts")
        .file("_redirects", "gh https://example.com/")
        .file("_headers", "/*\n  X-Own: 1\n  Cache-Control: no-store")
        .start();
    app.get("/posts").await.assert_status(308).assert_no_header("x-own");
    app.get("/gh")
        .await
        .assert_status(302)
        .assert_no_header("x-own")
        .assert_header("cache-control", "public, max-age=60");
}

#[test]
fn a_line_that_cannot_be_meant_stops_the_build_with_its_number_and_the_reason() {
    for (rules, problem) in [
        ("/*\n  X-Own: 1\n  Content-Length: 5", "line 3: Content-Length cannot be set: it belongs to the connection"),
        ("X-Own: 1", "line 1: a field before the first path, so it is for nothing"),
        (
            "/*\n X-Frame-Options: DENY\n/\n X-Frame-Options: SAMEORIGIN",
            "line 4: x-frame-options takes one value, and line 2 sets it for / too; remove that first with ! x-frame-options",
        ),
    ] {
        let site = Folder::site().file("_headers", rules);
        let error = Site::from_folder(site.path()).unwrap_err().to_string();
        assert_eq!(error, format!("{}/_headers: {problem}", site.display()));
    }
    let site = Folder::site().file("_headers", [0xff]);
    assert!(Site::from_folder(site.path()).unwrap_err().to_string().ends_with("_headers: not UTF-8 text"));
}

#[test]
fn a_rule_for_nothing_is_reported() {
    let site = Folder::site().file("_headers", "/*\n  X-Own: 1\n\n/tlaks/*\n  X-Own: 2");
    let loaded = Site::from_folder(site.path()).unwrap();
    let [warning] = loaded.warnings() else { panic!("one warning, not {:?}", loaded.warnings()) };
    assert_eq!(warning.to_string(), "_headers: line 4: nothing of the site is at /tlaks/*, so the rule has no effect");
}
