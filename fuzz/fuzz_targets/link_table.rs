//! Any text is a table: each of its links leads to a web address and is found by its name, and each line that is none
//! has its number.

#![no_main]

use axum::http::{StatusCode, header};
use futures_util::FutureExt;
use homebody::links::{Link, LinkOptions, LinkTable, Links, Origin, STATUSES};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // What is not UTF-8 is refused before it is read as a table.
    let Ok(text) = str::from_utf8(text) else { return };
    let table = LinkTable::parse(text, Origin::Source, StatusCode::FOUND);
    let in_force = Links::new(LinkOptions { floor: text.to_owned(), ..LinkOptions::default() });
    for link in table.links() {
        assert_leads_to_the_web(link);
        for path in [format!("/{}", link.alias()), format!("/{}/", link.alias())] {
            let found = in_force.lookup(&path).now_or_never().expect("nothing is waited for without a source");
            assert_eq!(found.expect("every link is found").target(), link.target());
        }
    }
    let lines = text.lines().count();
    assert!(table.len() + table.rejected().len() <= lines);
    for rejected in table.rejected() {
        assert!((1..=lines).contains(&rejected.line), "{} of {lines} lines", rejected.line);
        assert!(!format!("{}{}", rejected.text, rejected.reason).contains(char::is_control));
    }
});

fn assert_leads_to_the_web(link: &Link) {
    let target = link.target();
    let is_scheme = |scheme: &str| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    assert!(is_scheme("http://") || is_scheme("https://"), "{target} is no web address");
    assert!(!target.contains(|c: char| c.is_control() || c == ' '), "{target:?} has more than an address");

    let answer = link.follow();
    assert!(STATUSES.contains(&answer.status()));
    let location = answer.headers()[header::LOCATION].as_bytes();
    assert!(location.iter().all(u8::is_ascii_graphic), "{location:?} is no address");
    // Only letters outside ASCII are written another way.
    assert!(!target.is_ascii() || location == target.as_bytes());
}
