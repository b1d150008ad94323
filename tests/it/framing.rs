//! What is no proper request is refused on the wire, and what is only unusual is answered.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use crate::support::{Server, exchange};

#[test]
fn a_request_names_its_host_exactly_once() {
    let server = Server::start(&[]);
    for (head, status, why) in [
        ("GET / HTTP/1.1\r\n", 400, "none"),
        ("GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n", 400, "two"),
        ("GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n", 400, "the same twice"),
        ("GET / HTTP/1.1\r\nhost: a\r\n", 200, "one"),
        ("GET / HTTP/1.1\r\nhost:\r\n", 200, "an empty one"),
        ("GET / HTTP/1.1\r\nhost: [::1]:8080\r\n", 200, "an address with a port"),
        ("GET / HTTP/1.1\r\nhost: a b\r\n", 400, "a space, which no host has"),
        ("GET / HTTP/1.1\r\nhost: a, b\r\n", 400, "two in one"),
        ("GET / HTTP/1.1\r\nhost: a/b\r\n", 400, "a path"),
        ("GET / HTTP/1.1\r\nhost: me@a\r\n", 400, "a user"),
        ("GET / HTTP/1.0\r\nhost: a/b\r\n", 400, "a path, over HTTP/1.0 too"),
        ("GET / HTTP/1.0\r\n", 200, "HTTP/1.0 has none"),
        ("GET http://elsewhere.example/ HTTP/1.1\r\nhost: a\r\n", 200, "an absolute address"),
        ("OPTIONS * HTTP/1.1\r\nhost: a\r\n", 204, "the server itself"),
    ] {
        let reply = exchange(server.public(), &format!("{head}connection: close\r\n\r\n"));
        assert_eq!(reply.status, status, "{why}");
        assert!(reply.header("date").is_some() && (status < 400 || reply.header("connection").is_some()), "{why}");
    }
}

#[test]
fn an_address_of_more_than_eight_kibibytes_is_too_long() {
    let server = Server::start(&[]);
    server.get(&format!("/{}", "a".repeat(8191))).assert_status(404);
    let long = server.get(&format!("/{}", "a".repeat(8192)));
    long.assert_status(414).assert_header("connection", "close").assert_header("cache-control", "no-cache");
    server.get(&format!("/?{}", "a".repeat(8191))).assert_status(414);
}

#[test]
fn over_http_1_0_an_answer_has_its_length_and_is_never_chunked() {
    let server = Server::start(&[]);
    for path in ["/", "/about", "/gh", "/nowhere"] {
        let reply = exchange(server.public(), &format!("GET {path} HTTP/1.0\r\n\r\n"));
        reply.assert_header("content-length", &reply.body.len().to_string()).assert_no_header("transfer-encoding");
    }
}

#[test]
fn heads_without_end_are_refused() {
    let server = Server::start(&[]);
    let many = (0..200).map(|n| ["x-", &n.to_string(), ": y\r\n"].concat()).collect::<String>();
    let reply = exchange(server.public(), &format!("GET / HTTP/1.1\r\nhost: a\r\n{many}\r\n"));
    reply.assert_status(431);
    assert!(reply.header("date").is_some());
}

#[test]
fn a_body_that_nobody_asked_for_is_no_reason_to_refuse() {
    let server = Server::start(&[]);
    for body in ["content-length: 5\r\n\r\nhello", "expect: 100-continue\r\ncontent-length: 5\r\n\r\n"] {
        let reply = exchange(server.public(), &format!("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{body}"));
        reply.assert_status(200);
    }
}

#[test]
fn who_expects_100_continue_is_answered_without_sending_the_body() {
    let server = Server::start(&[]);
    // The body never comes; reading to the end shows that nobody waits for it.
    let head = "GET / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
    exchange(server.public(), head).assert_status(200);
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let server = Server::start(&[]);
    let requests = ["GET /", "HEAD /", "GET /nowhere", "GET /gh", "OPTIONS *", "GET /about"];
    let last = requests.len() - 1;
    let wire: String = requests.iter().enumerate().fold(String::new(), |wire, (at, request)| {
        let close = if at == last { "connection: close\r\n" } else { "" };
        wire + request + " HTTP/1.1\r\nhost: a\r\n" + close + "\r\n"
    });
    assert_eq!(statuses(&server, &wire), [200, 200, 404, 302, 204, 308]);
}

#[test]
fn a_body_is_never_taken_for_the_next_request() {
    let server = Server::start(&[]);
    let hidden = "GET /gh HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let length = hidden.len();
    let wire = format!(
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n{hidden}GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
    );
    let statuses = statuses(&server, &wire);
    assert!(matches!(&statuses[..], [200] | [200, 404]), "closed or read over, but not answered: {statuses:?}");
}

/// Sends all this at once, and reads the statuses of the answers to the end of the connection.
fn statuses(server: &Server, wire: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(server.public()).unwrap();
    stream.write_all(wire.as_bytes()).unwrap();
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).unwrap();
    let answers = String::from_utf8_lossy(&answers).into_owned();
    answers.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].parse().unwrap()).collect()
}

#[test]
fn a_connection_ends_after_a_chunked_request() {
    let server = Server::start(&[]);
    for lengths in [
        "transfer-encoding: chunked\r\n",
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
    ] {
        // No `connection: close` from this side: reading to the end shows that the server closes.
        let request =
            format!("GET / HTTP/1.1\r\nhost: a\r\n{lengths}\r\n0\r\n\r\nGET /about/ HTTP/1.1\r\nhost: a\r\n\r\n");
        let mut stream = TcpStream::connect(server.public()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answers = Vec::new();
        let _ = stream.read_to_end(&mut answers);
        let answers = String::from_utf8_lossy(&answers);
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{lengths}: {answers}");
        assert!(answers.contains("connection: close\r\n"), "{lengths}: {answers}");
    }
}

#[test]
fn lengths_that_contradict_each_other_are_refused() {
    let server = Server::start(&[]);
    let request = "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello";
    exchange(server.public(), request).assert_status(400);
}
