//! Any text is a table: each of its links leads to a web address or stays on this host, and is found by its name, and
//! each line that is none has its number.

#![no_main]

use std::sync::LazyLock;

use axum::{
    extract::Request,
    http::{StatusCode, header, request::Parts},
};
use futures_util::FutureExt;
use homebody::links::{LinkOptions, LinkTable, Links, Origin, STATUSES};
use libfuzzer_sys::fuzz_target;

/// With a query, for the links that pass one on.
static REQUEST: LazyLock<Parts> = LazyLock::new(|| {
    let request = Request::get("/x?a=//evil.example&b=%0d").body(());
    request.expect("a request").into_parts().0
});

fuzz_target!(|text: &[u8]| {
    // What is not UTF-8 is refused before it is read as a table.
    let Ok(text) = str::from_utf8(text) else { return };
    let table = LinkTable::parse(text, Origin::Source, StatusCode::FOUND);
    assert_eq!(table.links().count(), table.len());
    let in_force = Links::new(LinkOptions { floor: text.to_owned(), ..LinkOptions::default() });
    for link in table.links() {
        let target = link.target();
        assert!(!target.contains(|c: char| c.is_control() || c == ' '), "{target:?} has more than an address");
        let (name, below) = match link.alias().strip_suffix("/*") {
            Some(prefix) => (prefix, "/Ü%\\x?#/y"),
            None => (link.alias(), ""),
        };
        for path in [format!("/{name}{below}"), format!("/{name}{below}/")] {
            let found = in_force.lookup(&path).now_or_never().expect("nothing is waited for without a source");
            let found = found.expect("every link is found");
            // Another wildcard may come before this one.
            assert!(!below.is_empty() || found.link().target() == target);
            let (_, answer) = found.respond(&REQUEST);
            assert!(STATUSES.contains(&answer.status()));
            assert_leads_somewhere(answer.headers()[header::LOCATION].as_bytes());
        }
    }
    let lines = text.lines().count();
    assert!(table.len() + table.rejected().len() <= lines);
    for rejected in table.rejected() {
        assert!((1..=lines).contains(&rejected.line), "{} of {lines} lines", rejected.line);
        assert!(!format!("{}{}", rejected.text, rejected.reason).contains(char::is_control));
    }
});

fn assert_leads_somewhere(location: &[u8]) {
    let starts = |start: &[u8]| location.get(..start.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(start));
    let stays = starts(b"/") && !matches!(location.get(1), Some(b'/' | b'\\'));
    assert!(stays || starts(b"http://") || starts(b"https://"), "{}", location.escape_ascii());
    assert!(location.iter().all(u8::is_ascii_graphic), "{} is no address", location.escape_ascii());
}
