//! No path a stranger can write leads off this host, to an error of ours, or to a file that is none of the site's.

use std::net::SocketAddr;

use axum::http::Uri;
use proptest::prelude::*;

use crate::support::{Folder, Reply, Server, TestApp, exchange};

/// Paths that have led other servers astray. They are sent as they stand here.
const HOSTILE: [(&str, &str); 31] = [
    ("//evil.example", "two slashes name a host"),
    ("//evil.example/", "with a slash behind it"),
    ("///evil.example", "three slashes"),
    ("/\\evil.example", "browsers read a backslash as a slash"),
    ("/\\/evil.example", "both"),
    ("/%5cevil.example/", "an encoded backslash"),
    ("/%2f%2fevil.example/", "encoded slashes"),
    ("//evil.example/%2e%2e", "a host and a way up"),
    ("//evil.example%2f..", "a host and a way up, encoded the other way"),
    ("/.//evil.example", "a dot before"),
    ("/a/..//evil.example", "up, and to a host"),
    ("//posts", "a folder of the site behind two slashes"),
    ("/\\posts", "a folder of the site behind a backslash"),
    ("/..%2f..%2fetc/passwd", "up, encoded"),
    ("/../../etc/passwd", "up"),
    ("/posts/../../etc/passwd", "up, from a folder"),
    ("/%2e%2e/", "up, encoded dots"),
    ("/a/%00.html", "a zero byte"),
    ("/a%0d%0aX-Evil:1", "a line break, for the header after it"),
    ("/posts%0d%0aX-Evil:1", "the same behind a folder"),
    ("/%", "half an escape"),
    ("/%zz", "no escape"),
    ("/%ff", "no UTF-8"),
    ("/%C0%AE/", "an overlong dot"),
    ("/index.html/", "a file as a folder"),
    ("/POSTS/", "other letters"),
    ("/posts//", "two slashes behind"),
    ("/posts;x", "a parameter"),
    ("/posts.", "a dot behind"),
    ("/posts%20", "a space behind"),
    ("/posts%2f", "an encoded slash behind"),
];

fn site() -> Folder {
    Folder::site().file("posts/index.html", "posts").file("404.html", "not here")
}

#[track_caller]
fn assert_harmless(path: &str, reply: &Reply) {
    match reply.status {
        // An encoded slash is a slash once decoded, so this one names the folder.
        200 => assert_eq!(path, "/posts%2f"),
        308 => {
            let location = reply.header("location").unwrap();
            let bytes = location.as_bytes();
            assert!(bytes[0] == b'/' && !matches!(bytes.get(1), Some(b'/' | b'\\')), "{path} leads to {location}");
        }
        400 | 404 => {}
        other => panic!("{path} is answered {other}"),
    }
    assert_eq!(reply.header("x-evil"), None, "{path} sets a header");
}

#[test]
fn hostile_paths_are_not_found_or_stay_on_this_host() {
    let site = site();
    let server = Server::start(&["--dir", &site.display()]);
    for (path, why) in HOSTILE {
        let reply = server.get(path);
        assert_harmless(path, &reply);
        assert!(matches!(reply.status, 200 | 404 | 308), "{path} ({why}) is answered {}", reply.status);
    }
}

#[test]
fn requests_that_are_no_http_end_only_themselves() {
    let site = site();
    let server = Server::start(&["--dir", &site.display()]);
    let address: SocketAddr = server.public();
    for request in
        ["GET /a b HTTP/1.1\r\nhost: a\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"]
    {
        let reply = exchange(address, request);
        assert!(matches!(reply.status, 400 | 505), "{request:?} is answered {}", reply.status);
    }
    server.get("/").assert_status(200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_path_is_answered_without_error_and_without_leaving(
        paths in proptest::collection::vec("(/|//|/\\.\\./|/posts|/%2f|/%5c|\\\\|%2e|%ff|[!-~]){1,8}", 50),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let app = TestApp::builder().file("posts/index.html", "posts").start();
        for path in paths {
            let path = format!("/{path}");
            if path.parse::<Uri>().is_ok() {
                let reply = runtime.block_on(app.get(&path));
                prop_assert!(matches!(reply.status, 200 | 308 | 404), "{path} is answered {}", reply.status);
                if let Some(location) = reply.header("location") {
                    prop_assert!(location == "/" || location.starts_with("/posts/") || location.starts_with("/?"), "{path} leads to {location}");
                }
            }
        }
    }
}
