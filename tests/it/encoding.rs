//! Every client gets the smallest representation that it reads, and exactly the bytes of the file behind it.

use crate::support::{TestApp, prose};

fn app() -> TestApp {
    TestApp::builder()
        .file("page.html", prose("encoding"))
        .file("photo.jpg", prose("not really a photo"))
        .file("tiny.txt", "tiny")
        .file("404.html", prose("nowhere"))
        .start()
}

#[tokio::test]
async fn each_encoding_is_the_same_page_under_a_tag_of_its_own() {
    let app = app();
    let mut tags = Vec::new();
    for (accept, encoding) in [("br", Some("br")), ("zstd", Some("zstd")), ("gzip", Some("gzip")), ("", None)] {
        let reply = app.get_with("/page.html", &[("accept-encoding", accept)]).await;
        reply.assert_status(200).assert_header("vary", "accept-encoding");
        reply.assert_header("content-type", "text/html; charset=utf-8");
        reply.assert_header("content-length", &reply.body.len().to_string());
        assert_eq!(reply.header("content-encoding").as_deref(), encoding);
        assert_eq!(reply.decoded(), prose("encoding").as_bytes(), "{accept}");
        tags.push(reply.etag());
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4);
}

#[tokio::test]
async fn browsers_get_the_smallest() {
    let app = app();
    let mut smallest = usize::MAX;
    for encoding in ["br", "zstd", "gzip"] {
        smallest = smallest.min(app.get_with("/page.html", &[("accept-encoding", encoding)]).await.body.len());
    }
    let reply = app.get_with("/page.html", &[("accept-encoding", "gzip, deflate, br, zstd")]).await;
    assert_eq!(reply.body.len(), smallest);
}

#[tokio::test]
async fn weights_are_honoured() {
    let app = app();
    for (accept, encoding) in [
        ("gzip;q=1, br;q=0.5", Some("gzip")),
        ("br;q=0, gzip;q=0, zstd;q=0", None),
        ("identity, br;q=0.9", None),
        ("*, br;q=0, zstd;q=0", Some("gzip")),
    ] {
        let reply = app.get_with("/page.html", &[("accept-encoding", accept)]).await;
        assert_eq!(reply.header("content-encoding").as_deref(), encoding, "{accept}");
    }
}

#[tokio::test]
async fn a_client_that_accepts_nothing_gets_the_page_all_the_same() {
    let reply = app().get_with("/page.html", &[("accept-encoding", "*;q=0")]).await;
    reply.assert_status(200).assert_no_header("content-encoding").assert_header("vary", "accept-encoding");
}

#[tokio::test]
async fn what_has_one_representation_does_not_vary() {
    let app = app();
    for path in ["/photo.jpg", "/tiny.txt"] {
        let reply = app.get_with(path, &[("accept-encoding", "br, gzip, zstd")]).await;
        reply.assert_status(200).assert_no_header("content-encoding").assert_no_header("vary");
    }
}

#[tokio::test]
async fn the_page_for_missing_paths_is_negotiated_too() {
    let reply = app().get_with("/nowhere", &[("accept-encoding", "br")]).await;
    reply.assert_status(404).assert_header("content-encoding", "br").assert_header("vary", "accept-encoding");
    assert_eq!(reply.decoded(), prose("nowhere").as_bytes());
}
