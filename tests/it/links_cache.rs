//! `--links-cache`: a restart while the source is down loses no link.

use std::fs;

use homebody::links::LinksCache;

use crate::support::{Folder, Script, Server, TestApp, Upstream, Wire, nobody};

fn app(source: &Script, folder: &Folder) -> TestApp {
    let cache = LinksCache::new(folder.path().join("links"));
    let builder = TestApp::builder().file("_redirects", "floor https://example.com/floor").source(source);
    builder.links(|links| links.cache = Some(cache)).start()
}

#[test]
fn the_last_good_links_are_there_after_a_restart_without_the_source() {
    let upstream = Upstream::start(Wire::Text("a https://example.com/a".to_owned()));
    let folder = Folder::empty();
    let cache = folder.path().join("links").display().to_string();
    let mut server = Server::start(&["--redirects-url", &upstream.url(), "--links-cache", &cache]);
    server.get("/a").assert_redirects_to(302, "https://example.com/a");
    server.signal(rustix::process::Signal::TERM);
    assert_eq!(server.wait(), Some(0));

    let (_bound, nobody) = nobody();
    let server = Server::start(&["--redirects-url", &format!("http://{nobody}/links"), "--links-cache", &cache]);
    server.get("/a").assert_redirects_to(302, "https://example.com/a");
    server.get("/gh").assert_status(302);
}

#[tokio::test]
async fn every_change_is_kept_and_nothing_else_is_written() {
    let folder = Folder::empty();
    let source = Script::text("a https://example.com/a");
    let app_before = app(&source, &folder);
    app_before.app().links.refresh_now().await.unwrap();
    // The cache is written behind the back of whoever waits for the links.
    let file = folder.path().join("links");
    while !file.exists() {
        tokio::task::yield_now().await;
    }
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    app_before.app().links.refresh_now().await.unwrap();

    source.answer(crate::support::Answer::Fails);
    let app_after = app(&source, &folder);
    app_after.get("/a").await.assert_redirects_to(302, "https://example.com/a");
    app_after.get("/floor").await.assert_status(302);
    assert_eq!(source.fetches(), 2, "known links ask nobody");
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), written, "nothing had changed");
}

#[tokio::test]
async fn a_damaged_cache_is_reported_and_ignored() {
    let folder = Folder::empty().file("links", "a https://evil.example/");
    let source = Script::text("b https://example.com/b");
    let app = app(&source, &folder);
    app.get("/a").await.assert_status(404);
    app.get("/b").await.assert_status(302);
    app.get("/floor").await.assert_status(302);

    let folder = Folder::empty().file("links", "damaged");
    let cache = folder.path().join("links").display().to_string();
    let (_bound, nobody) = nobody();
    let server = Server::start(&["--redirects-url", &format!("http://{nobody}/links"), "--links-cache", &cache]);
    assert!(server.log().iter().any(|line| line.contains("damaged") && line.contains(&cache)), "{:?}", server.log());
}
