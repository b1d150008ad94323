//! Whatever the source does on the wire, pages and known links stay as they were.

use std::{fs, os::unix::fs::PermissionsExt};

use homebody::links::{Ask, FetchError, HttpSource, Source, SourceAddress, TIMEOUT, fetch, file_source};

use crate::support::{Folder, Server, Upstream, Wire, metric};

/// The source at an address.
fn http(address: &str) -> HttpSource {
    let Ok(SourceAddress::Web(address)) = address.parse() else { panic!("{address} is no address") };
    HttpSource::new(&address, None, None).unwrap()
}

/// What comes from a source.
async fn fetched(source: &dyn Source) -> Result<String, FetchError> {
    Ok(fetch(source, Ask::default(), TIMEOUT).await?.text.unwrap())
}

#[tokio::test]
async fn a_text_over_http_is_the_table() {
    let upstream = Upstream::start(Wire::Text("a https://example.com/\n".to_owned()));
    assert_eq!(fetched(&http(&upstream.url())).await.unwrap(), "a https://example.com/\n");
}

#[tokio::test]
async fn a_redirect_of_the_source_is_followed() {
    let target = Upstream::start(Wire::Text("a https://example.com/".to_owned()));
    let upstream = Upstream::start(Wire::Redirect(target.url()));
    assert_eq!(fetched(&http(&upstream.url())).await.unwrap(), "a https://example.com/");
}

#[tokio::test]
async fn a_file_is_the_table() {
    let folder = Folder::empty().file("links.txt", "a https://example.com/");
    let source = |name: &str| file_source(folder.path().join(name));
    assert_eq!(fetched(&source("links.txt")).await.unwrap(), "a https://example.com/");
    let error = fetched(&source("missing.txt")).await.unwrap_err();
    assert!(error.to_string().contains("missing.txt"), "{error}");
}

#[test]
fn no_misbehaviour_of_the_source_breaks_a_page_or_a_known_link() {
    let upstream = Upstream::start(Wire::Text("a https://example.com/a".to_owned()));
    let loop_to_itself = Wire::Redirect(upstream.url());
    for (wire, result, why) in [
        (Wire::Answer(404, "text/plain", "gone".to_owned()), "status", "a deleted Gist"),
        (Wire::Answer(429, "text/plain", "slow down".to_owned()), "status", "too many requests"),
        (Wire::Answer(500, "text/plain", "a https://evil.example/".to_owned()), "status", "an error with lines in it"),
        (Wire::Answer(204, "text/plain", String::new()), "status", "a success without content"),
        (Wire::Answer(200, "text/html", "a https://evil.example/".to_owned()), "not_text", "a page by its type"),
        (Wire::Text("<!doctype html><p>Sign in".to_owned()), "not_text", "a page by its content"),
        (Wire::Text("b javascript:alert(1)".to_owned()), "no_links", "not one good line"),
        (Wire::Text(String::new()), "no_links", "nothing"),
        (Wire::Closes, "unreachable", "a connection that breaks"),
        (Wire::Truncates, "unreachable", "an answer that breaks"),
        (Wire::Floods, "too_large", "an answer without end"),
        (loop_to_itself, "unreachable", "a redirect in a circle"),
    ] {
        upstream.set(Wire::Text("a https://example.com/a".to_owned()));
        let server = Server::start(&["--redirects-url", &upstream.url()]);
        server.get("/a").assert_redirects_to(302, "https://example.com/a");
        upstream.set(wire);
        server.get("/unknown").assert_status(404);
        let series = format!("homebody_redirects_refreshes_total{{result=\"{result}\"}}");
        let metrics = server.admin("/metrics");
        assert_eq!(metric(metrics.text(), &series), 1, "{why}:\n{}", metrics.text());
        server.get("/a").assert_redirects_to(302, "https://example.com/a");
        server.get("/").assert_status(200);
    }
}

#[test]
fn a_file_that_cannot_be_read_any_more_costs_no_link() {
    let folder = Folder::empty().file("links.txt", "a https://example.com/a");
    let file = folder.path().join("links.txt");
    let server = Server::start(&["--redirects-url", file.to_str().unwrap()]);
    server.get("/a").assert_status(302);
    fs::write(&file, [0xff, 0xfe]).unwrap();
    server.get("/unknown-1").assert_status(404);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    fs::remove_file(&file).unwrap();
    server.get("/unknown-2").assert_status(404);
    server.get("/a").assert_redirects_to(302, "https://example.com/a");
    let metrics = server.admin("/metrics");
    assert_eq!(metric(metrics.text(), "homebody_redirects_refreshes_total{result=\"not_text\"}"), 1);
    assert_eq!(metric(metrics.text(), "homebody_redirects_refreshes_total{result=\"unreachable\"}"), 1);
}
