//! Whatever the source does on the wire, pages and known links stay as they were.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::{Arc, Mutex},
    time::Duration,
};

use homebody::links::{
    Ask, FetchError, Fetching, HttpSource, Source, SourceAddress, TIMEOUT, Token, WebAddress, fetch, file_source,
};

use crate::support::{Folder, Server, TestApp, TlsUpstream, Upstream, Wire, metric, nobody};

fn address(text: &str) -> WebAddress {
    let Ok(SourceAddress::Web(address)) = text.parse() else { panic!("{text} is no address") };
    address
}

/// The source at an address.
fn http(url: &str) -> HttpSource {
    HttpSource::new(&address(url), None, None).unwrap()
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

/// Asks whichever source the test has put there.
#[derive(Clone)]
struct Switch(Arc<Mutex<Arc<dyn Source>>>);

impl Source for Switch {
    fn fetch(&self, ask: Ask) -> Fetching<'_> {
        let source = Arc::clone(&*self.0.lock().unwrap());
        Box::pin(async move { source.fetch(ask).await })
    }
}

#[tokio::test]
async fn whatever_the_source_does_pages_and_links_stay_and_a_later_miss_recovers() {
    let upstream = Upstream::start(Wire::Text(String::new()));
    let (_bound, nobody) = nobody();
    let untrusted = TlsUpstream::start("a https://evil.example/");
    let here = upstream.url();
    let wire = |wire| (here.clone(), wire);
    let elsewhere = |url: String| (url, Wire::Closes);
    for ((url, wire), result, why) in [
        (elsewhere(format!("http://{nobody}/links")), "unreachable", "refused"),
        (wire(Wire::Hangs), "timed_out", "hanging"),
        (wire(Wire::Drips), "timed_out", "dripping"),
        (wire(Wire::Resets), "unreachable", "reset"),
        (wire(Wire::Closes), "unreachable", "closed without an answer"),
        (wire(Wire::Redirect(here.clone())), "unreachable", "a redirect in a circle"),
        (wire(Wire::Redirect("file:///etc/passwd".to_owned())), "status", "a redirect to a file"),
        (wire(Wire::Answer(404, "text/plain", "gone".to_owned())), "status", "404: a deleted Gist"),
        (wire(Wire::Answer(403, "text/plain", "no".to_owned())), "status", "403"),
        (wire(Wire::RetryAfter(600)), "status", "429 with Retry-After"),
        (wire(Wire::Answer(500, "text/plain", "a https://evil.example/".to_owned())), "status", "500 with lines in it"),
        (wire(Wire::Answer(204, "text/plain", String::new())), "status", "a success without content"),
        (wire(Wire::Answer(304, "text/plain", String::new())), "status", "a 304 that nobody asked for"),
        (wire(Wire::Answer(200, "text/html", "a https://evil.example/".to_owned())), "not_text", "a page by its type"),
        (wire(Wire::Text("<!doctype html><p>Sign in".to_owned())), "not_text", "a page by its content"),
        (wire(Wire::Text("{\"message\":\"Not Found\"}".to_owned())), "not_text", "JSON that is no Gist"),
        (wire(Wire::Text(String::new())), "no_links", "empty"),
        (wire(Wire::Text("b javascript:alert(1)".to_owned())), "no_links", "not one good line"),
        (wire(Wire::Truncates), "unreachable", "truncated"),
        (wire(Wire::Floods), "too_large", "50 MB and more"),
        (wire(Wire::Bytes(b"a https://evil.example/\xff".to_vec())), "not_text", "invalid UTF-8"),
        (elsewhere(untrusted.url().to_owned()), "tls", "a certificate that nobody vouches for"),
        // A name that no server can have, so that nobody is asked for it.
        (elsewhere(format!("http://{}.invalid/", "a".repeat(64))), "unreachable", "DNS failure"),
    ] {
        let good: Arc<dyn Source> = Arc::new(http(&here));
        let switch = Switch(Arc::new(Mutex::new(Arc::clone(&good))));
        let app = TestApp::builder()
            .file("_redirects", "floor https://example.com/floor")
            .any_source(switch.clone())
            // Long enough for an answer over loopback, short enough to wait for.
            .links(|links| links.fetch_timeout = Duration::from_millis(500))
            .start();
        upstream.set(Wire::Text("a https://example.com/a".to_owned()));
        app.app().links.refresh_now().await.unwrap();

        upstream.set(wire);
        *switch.0.lock().unwrap() = Arc::new(http(&url));
        app.get("/unknown").await.assert_status(404);
        let series = format!("homebody_redirects_refreshes_total{{result=\"{result}\"}}");
        assert_eq!(app.metric(&series).await, 1, "{why}:\n{}", app.admin("/metrics").await.text());
        app.get("/a").await.assert_redirects_to(302, "https://example.com/a");
        app.get("/floor").await.assert_redirects_to(302, "https://example.com/floor");
        app.get("/").await.assert_status(200);

        *switch.0.lock().unwrap() = good;
        upstream.set(Wire::Text("a https://example.com/a\nb https://example.com/b".to_owned()));
        // An hour is longer than any source is obeyed.
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(60 * 60)).await;
        tokio::time::resume();
        let recovered = app.get("/b").await;
        assert_eq!(recovered.status, 302, "{why}: {recovered:?}");
    }
}

#[tokio::test]
async fn an_authority_of_ones_own_can_vouch_for_the_source() {
    let upstream = TlsUpstream::start("a https://example.com/a");
    let folder = Folder::empty().file("roots.pem", upstream.authority());
    let roots = folder.path().join("roots.pem");
    let source = |roots| HttpSource::new(&address(upstream.url()), roots, None).unwrap();
    assert_eq!(fetched(&source(Some(&roots))).await.unwrap(), "a https://example.com/a");
    let error = fetched(&source(None)).await.unwrap_err();
    assert!(matches!(&error, FetchError::Tls(why) if why.contains("UnknownIssuer")), "{error}");
}

#[tokio::test]
async fn a_text_that_is_there_already_is_not_sent_again() {
    let upstream = Upstream::start(Wire::Version("\"1\"", "a https://example.com/a".to_owned()));
    let app = TestApp::builder().any_source(http(&upstream.url())).start();
    let links = &app.app().links;
    assert_eq!(links.refresh_now().await.unwrap().difference.added, 1);
    links.refresh_now().await.unwrap();
    let asked = upstream.last_request();
    assert!(asked.contains(&"if-none-match: \"1\"".to_owned()), "{asked:?}");
    assert_eq!(app.metric("homebody_redirects_refreshes_total{result=\"unchanged\"}").await, 1);
    upstream.set(Wire::Version("\"2\"", "a https://example.com/b".to_owned()));
    assert_eq!(links.refresh_now().await.unwrap().difference.changed, 1);
    app.get("/a").await.assert_redirects_to(302, "https://example.com/b");
}

#[tokio::test]
async fn a_gist_as_githubs_api_describes_it_is_the_table() {
    let raw = Upstream::start(Wire::Text("large https://example.com/large".to_owned()));
    let file = |content: &str, more: &str| {
        Wire::Answer(
            200,
            "application/json",
            format!("{{\"files\":{{\"links.txt\":{{\"content\":\"{content}\"{more}}}}}}}"),
        )
    };
    let upstream = Upstream::start(file("a https://example.com/a", ""));
    assert_eq!(fetched(&http(&upstream.url())).await.unwrap(), "a https://example.com/a");
    upstream.set(file("large htt", &format!(",\"truncated\":true,\"raw_url\":\"{}\"", raw.url())));
    assert_eq!(fetched(&http(&upstream.url())).await.unwrap(), "large https://example.com/large");
    upstream.set(file("", ",\"truncated\":true,\"raw_url\":\"file:///etc/passwd\""));
    assert!(matches!(fetched(&http(&upstream.url())).await.unwrap_err(), FetchError::NoGist(_)));
}

#[tokio::test]
async fn a_token_is_not_told_to_others() {
    let upstream = Upstream::start(Wire::Text("a https://example.com/a".to_owned()));
    let source = HttpSource::new(&address(&upstream.url()), None, Token::new("secret")).unwrap();
    fetched(&source).await.unwrap();
    let asked = upstream.last_request().join("\n");
    assert!(!asked.contains("secret") && asked.contains("user-agent: homebody/"), "{asked}");
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
