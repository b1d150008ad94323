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
