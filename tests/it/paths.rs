//! No path a stranger can write leads off this host, to an error of ours, or to a file that is none of the site's.

use std::net::SocketAddr;

use axum::http::Uri;
use proptest::prelude::*;

use crate::support::{Folder, Server, TestApp, exchange};

/// Paths that have led other servers astray, and what they are answered. They are sent as they stand here.
const HOSTILE: [(&str, Answer, &str); 38] = [
    ("//evil.example", NotFound, "two slashes name a host"),
    ("//evil.example/", NotFound, "with a slash behind it"),
    ("///evil.example", NotFound, "three slashes"),
    ("/\\evil.example", NotFound, "browsers read a backslash as a slash"),
    ("/\\/evil.example", NotFound, "both"),
    ("/%5cevil.example/", NotFound, "an encoded backslash"),
    ("/%2f%2fevil.example/", NotFound, "encoded slashes"),
    ("//evil.example/%2e%2e", NotFound, "a host and a way up"),
    ("//evil.example%2f..", NotFound, "a host and a way up, encoded the other way"),
    ("/.//evil.example", NotFound, "a dot before"),
    ("/a/..//evil.example", NotFound, "up, and to a host"),
    ("//posts", NotFound, "a folder of the site behind two slashes"),
    ("/\\posts", NotFound, "a folder of the site behind a backslash"),
    ("//about", NotFound, "a page of the site behind two slashes"),
    ("/..%2f..%2fetc/passwd", NotFound, "up, encoded"),
    ("/../../etc/passwd", NotFound, "up"),
    ("/posts/../../etc/passwd", NotFound, "up, from a folder"),
    ("/%2e%2e/", NotFound, "up, encoded dots"),
    ("/a/%00.html", NotFound, "a zero byte"),
    ("/a%0d%0aX-Evil:1", NotFound, "a line break, for the header after it"),
    ("/posts%0d%0aX-Evil:1", NotFound, "the same behind a folder"),
    ("/%", NotFound, "half an escape"),
    ("/%zz", NotFound, "no escape"),
    ("/%ff", NotFound, "no UTF-8"),
    ("/%C0%AE/", NotFound, "an overlong dot"),
    ("/index.html/", NotFound, "a file as a folder"),
    ("/posts/index.html", Leads("/posts/"), "the file behind a folder"),
    ("/posts/?q", Page, "a query does not change the page"),
    ("/posts?q=//evil.example", Leads("/posts/?q=//evil.example"), "the query goes along, and names no host"),
    ("/about/", Leads("/about.html"), "a page as a folder"),
    ("/about?/\\evil.example", Leads("/about.html?/\\evil.example"), "the same with a backslash in the query"),
    ("/POSTS/", NotFound, "other letters"),
    ("/posts//", NotFound, "two slashes behind"),
    ("/posts;x", NotFound, "a parameter"),
    ("/posts.", NotFound, "a dot behind"),
    ("/posts%20", NotFound, "a space behind"),
    ("/posts%2f", Page, "an encoded slash is a slash once decoded, so this names the folder"),
    ("/%70osts", Leads("/posts/"), "an encoded letter is a letter"),
];

/// What a path is answered.
#[derive(Clone, Copy)]
enum Answer {
    NotFound,
    Page,
    /// A redirect to this address on the same host.
    Leads(&'static str),
}
use Answer::{Leads, NotFound, Page};

fn site() -> Folder {
    Folder::site().file("posts/index.html", "posts").file("about.html", "about").file("404.html", "not here")
}

#[test]
fn hostile_paths_are_not_found_or_stay_on_this_host() {
    let site = site();
    let server = Server::start(&["--dir", &site.display()]);
    for (path, answer, why) in HOSTILE {
        let reply = server.get(path);
        let (status, location) = match answer {
            NotFound => (404, None),
            Page => (200, None),
            Leads(location) => (308, Some(location)),
        };
        let got = (reply.status, reply.header("location"));
        assert_eq!(got, (status, location.map(str::to_owned)), "{path}: {why}");
        assert_eq!(reply.header("x-evil"), None, "{path} sets a header");
    }
    server.get(&format!("/{}", "a".repeat(9 * 1024))).assert_status(414);
}

#[test]
fn what_a_request_says_of_its_host_is_never_in_the_answer() {
    let site = site();
    let server = Server::start(&["--dir", &site.display()]);
    for request in [
        "GET /posts HTTP/1.1\r\nhost: evil.example\r\nx-forwarded-host: evil.example\r\n",
        "GET http://evil.example/posts HTTP/1.1\r\nhost: evil.example\r\nforwarded: host=evil.example\r\n",
        "GET /posts HTTP/1.0\r\n",
    ] {
        let reply = exchange(server.public(), &format!("{request}connection: close\r\n\r\n"));
        reply.assert_redirects_to(308, "/posts/");
        assert!(!reply.headers.iter().any(|(_, value)| value.contains("evil")), "{reply:?}");
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
        assert!(reply.header("date").is_some(), "{request:?} is answered without a date");
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
