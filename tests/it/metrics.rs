//! What happens is counted once, and strangers cannot add to what is counted.

use homebody::metrics::DEFINITIONS;

use crate::support::{Script, TestApp, prose};

#[tokio::test]
async fn each_request_is_counted_once_under_its_status() {
    let app = TestApp::builder()
        .file("page.html", prose("metrics"))
        .file("posts/index.html", "posts")
        .file("_redirects", "gh https://example.com/")
        .start();
    let etag = app.get("/page.html").await.etag();
    let _ = app.get_with("/page.html", &[("if-none-match", &etag)]).await;
    let _ = app.get("/posts").await;
    let _ = app.get("/gh").await;
    let _ = app.get("/nowhere").await;
    let _ = app.request("POST", "/", &[]).await;
    let _ = app.request("OPTIONS", "/", &[]).await;
    let text = app.admin("/metrics").await.text().to_owned();
    for status in [200, 304, 308, 302, 404, 405, 204] {
        let series = format!("homebody_responses_total{{status=\"{status}\"}}");
        assert_eq!(crate::support::metric(&text, &series), 1, "{status}");
    }
    assert_eq!(crate::support::metric(&text, "homebody_requests_total"), 7);
    assert_eq!(crate::support::metric(&text, "homebody_request_duration_seconds_count"), 7);
}

#[tokio::test]
async fn links_are_counted_by_alias() {
    let app = TestApp::builder().file("_redirects", "a https://example.com/\nb https://example.com/").start();
    for _ in 0..3 {
        let _ = app.get("/a").await;
    }
    let _ = app.request("HEAD", "/a/", &[]).await;
    assert_eq!(app.metric("homebody_redirects_served_total{alias=\"a\"}").await, 4);
    assert_eq!(app.metric("homebody_redirects_served_total{alias=\"b\"}").await, 0);
    assert_eq!(app.metric("homebody_redirects_defined").await, 2);
}

#[tokio::test]
async fn a_links_count_survives_a_new_table_and_goes_with_the_link() {
    let source = Script::text("a https://example.com/\nb https://example.com/");
    let app = TestApp::builder().source(&source).start();
    app.app().links.refresh_now().await.unwrap();
    let _ = app.get("/a").await;
    source.answer(crate::support::Answer::Text("a https://example.com/elsewhere".to_owned()));
    app.app().links.refresh_now().await.unwrap();
    let _ = app.get("/a").await;
    let text = app.admin("/metrics").await.text().to_owned();
    assert_eq!(crate::support::metric(&text, "homebody_redirects_served_total{alias=\"a\"}"), 2);
    assert!(!text.contains("alias=\"b\""), "the series of a removed link is gone");
    assert_eq!(crate::support::metric(&text, "homebody_redirects_refreshes_total{result=\"accepted\"}"), 2);
}

#[tokio::test]
async fn strangers_cannot_add_series() {
    let app = TestApp::builder().file("_redirects", "gh https://example.com/").start();
    let series = async || app.admin("/metrics").await.text().lines().filter(|line| !line.starts_with('#')).count();
    let before = series().await;
    for n in 0..500 {
        let (path, method, host) = (format!("/p{n}?q{n}"), format!("METHOD{n}"), format!("host{n}"));
        let headers = [("host", &*host), ("user-agent", &*path), ("accept-encoding", &*method)];
        let _ = app.request("GET", &path, &headers).await;
        let _ = app.request(&method, &path, &headers).await;
    }
    assert_eq!(series().await, before);
}

#[tokio::test]
async fn every_definition_is_exposed_with_its_help_and_type_and_nothing_else_is() {
    let app = TestApp::builder().file("_redirects", "gh https://example.com/").start();
    let metrics = app.admin("/metrics").await;
    metrics.assert_status(200).assert_header("content-type", "text/plain; version=0.0.4; charset=utf-8");
    for definition in DEFINITIONS {
        let (name, help, kind) = (definition.name, definition.help, definition.kind);
        assert!(metrics.text().contains(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")), "{name}");
    }
    let families = metrics.text().lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(families, DEFINITIONS.len());
}

#[tokio::test]
async fn health_and_readiness_are_told_apart() {
    let app = TestApp::builder().start();
    app.admin("/healthz").await.assert_status(200);
    app.admin("/readyz").await.assert_status(200);
    app.readiness.drain();
    app.admin("/readyz").await.assert_status(503);
    app.admin("/healthz").await.assert_status(200);
}

#[tokio::test]
async fn the_public_listener_has_none_of_it() {
    let app = TestApp::builder().start();
    for path in ["/metrics", "/healthz", "/readyz", "/metrics/", "//metrics", "/%6Detrics"] {
        app.get(path).await.assert_status(404);
    }
}
