//! The program as its owner runs it: starts, serves, is stopped.

use std::{
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
};

use rustix::process::Signal;

use crate::support::{Folder, Server, Upstream, Wire, exchange, homebody, nobody, read_reply, run};

#[test]
fn it_serves_the_site_in_the_binary_and_metrics_on_the_second_port() {
    let server = Server::start(&[]);
    server.get("/").assert_status(200).assert_header("content-type", "text/html; charset=utf-8");
    server.get("/nowhere").assert_status(404);
    server.admin("/readyz").assert_status(200);
    let metrics = server.admin("/metrics");
    assert_eq!(crate::support::metric(metrics.text(), "homebody_requests_total"), 2);
    server.get("/metrics").assert_status(404);
}

#[test]
fn every_answer_has_a_date() {
    let server = Server::start(&[]);
    for path in ["/", "/gh", "/nowhere"] {
        assert!(server.get(path).header("date").is_some(), "{path}");
    }
}

#[test]
fn it_stops_with_exit_code_0_on_each_stop_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::start(&[]);
        server.get("/").assert_status(200);
        server.signal(signal);
        assert_eq!(server.wait(), Some(0), "{signal:?}");
    }
}

#[test]
fn a_stop_lets_the_request_in_flight_finish_and_is_not_ready_meanwhile() {
    let (_upstream, mut server, mut waiting) = request_in_flight("30s");
    server.signal(Signal::TERM);
    server.wait_for(|event| event["event"] == "draining");
    server.admin("/readyz").assert_status(503);
    let reply = read_reply(&mut waiting);
    reply.assert_status(404).assert_header("connection", "close");
    assert_eq!(server.wait(), Some(0));
}

/// A server with this grace, whose handler has begun a request and waits for a source that hangs. It waits two seconds:
/// long enough to be in flight when a signal comes.
fn request_in_flight(grace: &str) -> (Upstream, Server, TcpStream) {
    let upstream = Upstream::start(Wire::Hangs);
    let server = Server::start(&["--redirects-url", &upstream.url(), "--grace", grace]);
    let mut waiting = TcpStream::connect(server.public()).unwrap();
    waiting.write_all(b"GET /unknown HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    while crate::support::metric(server.admin("/metrics").text(), "homebody_requests_total") == 0 {}
    (upstream, server, waiting)
}

#[test]
fn a_stop_does_not_wait_longer_than_its_grace() {
    let (_upstream, mut server, mut waiting) = request_in_flight("1ms");
    server.signal(Signal::TERM);
    assert_eq!(server.wait(), Some(0));
    let mut rest = Vec::new();
    let _ = waiting.read_to_end(&mut rest);
    assert!(rest.is_empty(), "the request was cut, not answered");
}

#[test]
fn a_connection_can_be_used_again_and_again() {
    let server = Server::start(&[]);
    let mut stream = TcpStream::connect(server.public()).unwrap();
    stream.write_all("HEAD / HTTP/1.1\r\nhost: test\r\n\r\n".repeat(9).as_bytes()).unwrap();
    stream.write_all(b"HEAD / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 10);
}

#[test]
fn above_the_cap_a_connection_is_refused_at_once_and_below_it_served_again() {
    let server = Server::start(&["--max-connections", "2"]);
    let mut held: Vec<TcpStream> = (0..2).map(|_| TcpStream::connect(server.public()).unwrap()).collect();
    for stream in &mut held {
        // One answer each shows that the connection has its place.
        stream.write_all(b"HEAD / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
        let _ = stream.read(&mut [0; 1024]).unwrap();
    }
    let refused = exchange(server.public(), "GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    refused.assert_status(503).assert_header("retry-after", "2").assert_header("connection", "close");
    server.admin("/healthz").assert_status(200);
    drop(held);
    while server.get("/").status == 503 {}
    server.get("/").assert_status(200);
}

#[test]
fn it_goes_on_after_running_out_of_file_descriptors() {
    let server = Server::start(&[]);
    server.limit_open_files(24);
    let held: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(server.public()).unwrap()).collect();
    // It takes connections until it has no descriptor left, and the rest wait.
    while server.open_files() < 24 {
        std::thread::yield_now();
    }
    drop(held);
    server.get("/").assert_status(200);
}

#[test]
fn links_work_from_a_source_and_go_on_when_it_is_gone() {
    let upstream = Upstream::start(Wire::Text("a https://example.com/a".to_owned()));
    let server = Server::start(&["--redirects-url", &upstream.url()]);
    server.get("/a").assert_redirects_to(302, "https://example.com/a");
    upstream.set(Wire::Text("a https://example.com/a\nb https://example.com/b".to_owned()));
    server.get("/b").assert_redirects_to(302, "https://example.com/b");
    for path in 0..200 {
        server.get(&format!("/unknown-{path}")).assert_status(404);
    }
    assert!(upstream.requests() <= 5, "{} fetches", upstream.requests());
    drop(upstream);
    server.get("/b").assert_redirects_to(302, "https://example.com/b");
    server.get("/").assert_status(200);
}

#[test]
fn it_starts_and_serves_without_its_source() {
    let (_bound, nobody) = nobody();
    let server = Server::start(&["--redirects-url", &format!("http://{nobody}/links")]);
    server.get("/").assert_status(200);
    server.get("/gh").assert_status(302);
    server.get("/unknown").assert_status(404);
}

#[test]
fn each_request_gets_one_line_that_strangers_cannot_forge() {
    let server = Server::start(&[]);
    server.get("/about/?token=secret").assert_status(200);
    let event = server.wait_for(|event| event["event"] == "request");
    assert_eq!(event["method"], "GET");
    assert_eq!(event["path"], "/about/");
    assert_eq!(event["status"], 200);
    assert_eq!(event["outcome"], "asset");
    assert!(event["bytes"].as_u64().is_some_and(|bytes| bytes > 0) && event["duration_us"].is_u64(), "{event}");
    server.get("/\"}{\u{9b}31m\\n").assert_status(404);
    let event = server.wait_for(|event| event["event"] == "request");
    assert_eq!(event["path"], "/\"}{\\u{9b}31m\\n");
    assert!(!server.log().iter().any(|line| line.contains("secret")), "queries are not logged");
}

#[test]
fn the_request_log_can_be_turned_off() {
    let mut server = Server::start(&["--request-log", "off"]);
    server.get("/").assert_status(200);
    server.signal(Signal::TERM);
    server.wait();
    let lines = server.log().into_iter().filter(|line| line.contains("\"event\":\"request\"")).count();
    assert_eq!(lines, 0);
}

#[test]
fn variables_configure_it_as_flags_do() {
    let site = Folder::site().file("index.html", "from the variable");
    let output = homebody(&["check"]).env("HOMEBODY_DIR", site.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 resources"), "{output:?}");
}

#[test]
fn healthcheck_tells_a_running_server_from_none() {
    let server = Server::start(&[]);
    let address = server.admin_address().to_string();
    assert_eq!(run(&["healthcheck", "--metrics-listen", &address]).status.code(), Some(0));
    let address = server.public().to_string();
    let output = run(&["healthcheck", "--metrics-listen", &address]);
    assert_eq!(output.status.code(), Some(1), "the site is not the admin listener");
    let (_bound, nobody) = nobody();
    let output = run(&["healthcheck", "--metrics-listen", &nobody.to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&nobody.to_string()), "{output:?}");
}

#[test]
fn it_listens_on_unix_sockets_and_cleans_up_behind_itself() {
    let folder = Folder::empty();
    let (public, admin) = (folder.path().join("public.sock"), folder.path().join("admin.sock"));
    let address = |path: &std::path::Path| format!("unix:{}", path.display());
    for round in 0..2 {
        if round == 1 {
            // What a crash leaves behind does not keep the next start from working.
            drop(std::os::unix::net::UnixListener::bind(&public).unwrap());
        }
        let args = ["--listen", &address(&public), "--metrics-listen", &address(&admin)];
        let mut child = homebody(&args).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut log = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut seen = String::new();
        while !seen.contains("\"listener\":\"admin\"") {
            assert!(std::io::BufRead::read_line(&mut log, &mut seen).unwrap() > 0, "it ended: {seen}");
        }
        let mut stream = UnixStream::connect(&public).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert_eq!(run(&["healthcheck", "--metrics-listen", &address(&admin)]).status.code(), Some(0));
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(!public.exists() && !admin.exists(), "the sockets are gone");
    }
}
