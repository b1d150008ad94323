//! A client can get a part of a file, and go on where it stopped.

use crate::support::{TestApp, prose};

fn app() -> TestApp {
    TestApp::builder()
        .file("digits.txt", "0123456789")
        .file("page.html", prose("ranges"))
        .file("empty.txt", "")
        .file("404.html", prose("nowhere"))
        .file("posts/index.html", "posts")
        .file("_redirects", "gh https://example.com/")
        .start()
}

#[tokio::test]
async fn a_part_is_sent_with_its_place_and_the_fields_of_the_whole() {
    let app = app();
    let whole = app.get("/digits.txt").await;
    let part = app.get_with("/digits.txt", &[("range", "bytes=2-4")]).await;
    part.assert_status(206).assert_headers(&[
        ("accept-ranges", "bytes"),
        ("cache-control", "no-cache"),
        ("content-length", "3"),
        ("content-range", "bytes 2-4/10"),
        ("content-type", "text/plain; charset=utf-8"),
        ("etag", &whole.etag()),
        ("x-content-type-options", "nosniff"),
    ]);
    assert_eq!(part.text(), "234");
}

#[tokio::test]
async fn each_form_of_a_range_means_its_bytes() {
    let app = app();
    for (range, content_range, body) in [
        ("bytes=0-0", "bytes 0-0/10", "0"),
        ("bytes=9-9", "bytes 9-9/10", "9"),
        ("bytes=7-", "bytes 7-9/10", "789"),
        ("bytes=-3", "bytes 7-9/10", "789"),
        ("bytes=-99", "bytes 0-9/10", "0123456789"),
        ("bytes=8-99", "bytes 8-9/10", "89"),
        ("bytes=0-", "bytes 0-9/10", "0123456789"),
    ] {
        let part = app.get_with("/digits.txt", &[("range", range)]).await;
        part.assert_status(206).assert_header("content-range", content_range);
        assert_eq!(part.text(), body, "{range}");
    }
}

#[tokio::test]
async fn a_range_without_a_byte_hears_the_length() {
    let app = app();
    for range in ["bytes=10-", "bytes=10-20", "bytes=99999999999999999999-", "bytes=-0"] {
        let reply = app.get_with("/digits.txt", &[("range", range)]).await;
        reply.assert_status(416).assert_headers(&[
            ("cache-control", "no-cache"),
            ("content-length", "0"),
            ("content-range", "bytes */10"),
        ]);
    }
}

#[tokio::test]
async fn what_is_no_single_range_gets_the_whole() {
    let app = app();
    for range in ["bytes=0-1,3-4", "bytes=4-2", "bytes=x", "lines=1-2", "bytes"] {
        let whole = app.get_with("/digits.txt", &[("range", range)]).await;
        whole.assert_status(200).assert_no_header("content-range");
        assert_eq!(whole.text(), "0123456789", "{range}");
    }
    app.get_with("/empty.txt", &[("range", "bytes=0-")]).await.assert_status(200);
}

#[tokio::test]
async fn head_has_no_parts() {
    let head = app().request("HEAD", "/digits.txt", &[("range", "bytes=0-1")]).await;
    head.assert_status(200).assert_header("content-length", "10").assert_header("accept-ranges", "bytes");
}

#[tokio::test]
async fn a_part_is_always_of_the_identity_under_its_tag() {
    let app = app();
    let identity = app.get("/page.html").await;
    let part = app.get_with("/page.html", &[("accept-encoding", "br"), ("range", "bytes=3-9")]).await;
    part.assert_status(206).assert_no_header("content-encoding").assert_header("vary", "accept-encoding");
    assert_eq!(part.etag(), identity.etag());
    assert_eq!(part.body, identity.body[3..=9]);
}

#[tokio::test]
async fn a_client_goes_on_only_with_the_version_it_began_with() {
    let app = app();
    let identity = app.get("/page.html").await.etag();
    let brotli = app.get_with("/page.html", &[("accept-encoding", "br")]).await.etag();
    for (if_range, status, why) in [
        (identity.clone(), 206, "the same version"),
        (format!("W/{identity}"), 200, "a weak tag proves nothing"),
        (brotli, 200, "the bytes of another encoding"),
        ("\"other\"".to_owned(), 200, "another version"),
        ("Sat, 21 Nov 2026 00:00:00 GMT".to_owned(), 200, "a date, where none is known"),
    ] {
        let reply = app.get_with("/page.html", &[("range", "bytes=0-1"), ("if-range", &if_range)]).await;
        assert_eq!(reply.status, status, "{why}");
    }
}

#[tokio::test]
async fn preconditions_come_before_ranges() {
    let app = app();
    let etag = app.get("/digits.txt").await.etag();
    app.get_with("/digits.txt", &[("range", "bytes=0-1"), ("if-none-match", &etag)]).await.assert_status(304);
    app.get_with("/digits.txt", &[("range", "bytes=99-"), ("if-none-match", &etag)]).await.assert_status(304);
    app.get_with("/digits.txt", &[("range", "bytes=0-1"), ("if-match", "\"other\"")]).await.assert_status(412);
}

#[tokio::test]
async fn neither_a_missing_page_nor_a_redirect_has_parts() {
    let app = app();
    let missing = app.get_with("/nowhere", &[("range", "bytes=0-1")]).await;
    missing.assert_status(404).assert_no_header("accept-ranges");
    assert_eq!(missing.text(), prose("nowhere"));
    for (path, status) in [("/posts", 308), ("/gh", 302)] {
        app.get_with(path, &[("range", "bytes=0-1")]).await.assert_status(status).assert_no_header("content-range");
    }
}
