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

#[tokio::test]
async fn a_wildcard_leads_below_its_target() {
    let app = TestApp::builder().file("_redirects", "docs/* https://docs.example/:splat\nold/* /posts/:splat").start();
    for (path, location) in [
        ("/docs/a/b?q", "https://docs.example/a/b"),
        ("/docs", "https://docs.example/"),
        ("/docs/%C3%BC%20x%0d%0aset-cookie:a", "https://docs.example/%C3%BC%20x%0D%0Aset-cookie%3Aa"),
        ("/old/2026/", "/posts/2026/"),
    ] {
        app.get(path).await.assert_redirects_to(302, location);
    }
    for path in ["/docs/..%2fother", "/docs/%2e%2e/other", "/old//evil.example", "/old/%2fevil.example", "/docsy"] {
        app.get(path).await.assert_status(404);
    }
    assert_eq!(app.metric("homebody_redirects_served_total{alias=\"docs/*\"}").await, 3);
}

#[tokio::test]
async fn a_query_goes_along_where_the_line_says_so() {
    let app = TestApp::builder().file("_redirects", "a https://e.example/?own=1 ?\nb https://e.example/").start();
    app.get("/a?q=%20&r=//x").await.assert_redirects_to(302, "https://e.example/?own=1&q=%20&r=//x");
    app.get("/a").await.assert_redirects_to(302, "https://e.example/?own=1");
    app.get("/b?q=1").await.assert_redirects_to(302, "https://e.example/");
}

#[tokio::test]
async fn letters_may_be_large_and_punctuation_pasted() {
    let app = TestApp::builder().file("_redirects", "Talk https://e.example/talk").start();
    for path in ["/Talk", "/talk", "/TALK/", "/talk.", "/talk),", "/talk%7D"] {
        app.get(path).await.assert_redirects_to(302, "https://e.example/talk");
    }
    app.get("/talk!").await.assert_status(404);
}

#[tokio::test]
async fn a_target_may_be_a_path_of_the_site() {
    let app = TestApp::builder().file("_redirects", "start / 308\nself /self\nhost //evil.example").start();
    app.get("/start").await.assert_redirects_to(308, "/");
    app.get("/self").await.assert_status(404);
    app.get("/host").await.assert_status(404);
}

#[tokio::test]
async fn a_plus_shows_where_a_link_leads_without_going_there() {
    let app = TestApp::builder().file("_redirects", "gh https://example.com/?a=1&b='\"<script>").start();
    let page = app.get("/gh+").await;
    page.assert_status(200).assert_header("content-type", "text/html; charset=utf-8").assert_header("vary", "accept");
    page.assert_header("x-robots-tag", "noindex").assert_no_header("location");
    assert!(page.text().contains("https://example.com/?a=1&amp;b=&#39;&quot;&lt;script&gt;"), "{page:?}");
    let json = app.get_with("/gh+", &[("accept", "application/json")]).await;
    json.assert_header("content-type", "application/json");
    let shown: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    let target = "https://example.com/?a=1&b='\"<script>";
    assert_eq!(shown, serde_json::json!({ "alias": "gh", "target": target, "status": 302 }));
    app.get("/nothing+").await.assert_status(404);
    assert_eq!(app.metric("homebody_redirects_served_total{alias=\"gh\"}").await, 0, "a look is no visit");
}

#[tokio::test]
async fn how_long_a_link_is_kept_can_be_changed() {
    let day = std::time::Duration::from_secs(86400);
    let site = TestApp::builder().file("_redirects", "a https://example.com/ 301");
    let app = site.links(|links| links.max_age = day).start();
    app.get("/a").await.assert_status(301).assert_header("cache-control", "public, max-age=86400");
}
