//! Only who names the tag of what he would get hears 304 or passes If-Match; whoever adds it to what he says hears 304.

#![no_main]

use axum::http::{HeaderMap, HeaderValue, Uri, header};
use homebody_fuzz::{Answer, fields, get, lines, resource, tag_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let page = resource("page.html");
    let fields = fields(text, page, &[header::IF_NONE_MATCH, header::IF_MATCH, header::ACCEPT_ENCODING]);
    let tag = tag_of(get_page(&without_conditions(&fields)).representation_of(page));
    let names = |line: &&[u8]| line.windows(tag.len()).any(|window| window == tag.as_bytes());
    let is_star = |line: &&[u8]| line.trim_ascii() == b"*";

    let if_match = lines(&fields, header::IF_MATCH);
    let if_none_match = lines(&fields, header::IF_NONE_MATCH);
    let status = get_page(&fields).status;
    match status {
        200 => {}
        304 => assert!(if_none_match.iter().any(|line| names(line) || is_star(line)), "304 to {if_none_match:?}"),
        412 => assert!(!if_match.is_empty() && !if_match.contains(&tag.as_bytes())),
        status => panic!("answered {status}"),
    }
    let may_match = if_match.is_empty() || if_match.iter().any(|line| names_strongly(line, &tag) || is_star(line));
    assert!(may_match || status == 412, "{status} to {if_match:?}");

    // A star has to stand alone, so what it says beside another line is left open.
    if !if_none_match.iter().any(is_star) {
        let mut more = fields.clone();
        more.append(header::IF_NONE_MATCH, HeaderValue::from_str(&tag).expect("a tag is visible ASCII"));
        assert_eq!(get_page(&more).status, if status == 412 { 412 } else { 304 }, "{tag} is not found");
    }
    assert_eq!(get(Uri::from_static("/nowhere"), fields).status, 404);
});

fn get_page(fields: &HeaderMap) -> Answer {
    let answer = get(Uri::from_static("/page.html"), fields.clone());
    if answer.status == 304 {
        assert!(answer.body.is_empty());
        answer.representation_of(resource("page.html"));
    }
    answer
}

/// Whether the tag stands somewhere without `W/` before it.
fn names_strongly(line: &[u8], tag: &str) -> bool {
    let mut places = line.windows(tag.len()).enumerate();
    places.any(|(place, window)| window == tag.as_bytes() && !line[..place].ends_with(b"W/"))
}

fn without_conditions(fields: &HeaderMap) -> HeaderMap {
    let mut fields = fields.clone();
    fields.remove(header::IF_NONE_MATCH);
    fields.remove(header::IF_MATCH);
    fields
}
