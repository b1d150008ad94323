//! A part is the bytes that its Content-Range names, of the file itself and under its tag; one range, plainly written,
//! means what the RFC says.

#![no_main]

use axum::http::{HeaderMap, Uri, header};
use homebody::site::prepare::Resource;
use homebody_fuzz::{Answer, fields, get, identity, lines, resource, tag_of};
use libfuzzer_sys::fuzz_target;

/// Short, so that most numbers are near an end; with several encodings; and with no byte to send.
const FILES: [&str; 3] = ["digits.txt", "page.html", "empty.txt"];

fuzz_target!(|text: &[u8]| {
    for file in FILES {
        let resource = resource(file);
        let fields = fields(text, resource, &[header::RANGE, header::IF_RANGE, header::ACCEPT_ENCODING]);
        let expected = meant(&fields, resource);
        let answer = get(format!("/{file}").parse::<Uri>().expect("a path"), fields);
        match answer.status {
            200 => assert_eq!(answer.header(header::CONTENT_RANGE), None),
            206 => assert_is_part(&answer, resource),
            416 => {
                let length = identity(resource).body.len();
                assert_eq!(answer.header(header::CONTENT_RANGE), Some(&*format!("bytes */{length}")));
                assert!(answer.body.is_empty());
            }
            status => panic!("answered {status}"),
        }
        match expected {
            Meant::Unsaid => {}
            Meant::Whole => assert_eq!(answer.status, 200),
            Meant::Part(bytes) if bytes.is_empty() => assert_eq!(answer.status, 416),
            Meant::Part(bytes) => assert_eq!((answer.status, &*answer.body), (206, &*bytes)),
        }
    }
});

fn assert_is_part(answer: &Answer, resource: &Resource) {
    let whole = &identity(resource).body;
    let range = answer.header(header::CONTENT_RANGE).expect("a part says which");
    let place = range.strip_prefix("bytes ").and_then(|range| range.strip_suffix(&format!("/{}", whole.len())));
    let (first, last) = place.and_then(|place| place.split_once('-')).expect("a place in the file");
    let (first, last): (usize, usize) = (first.parse().expect("a number"), last.parse().expect("a number"));
    assert_eq!(*answer.body, whole[first..=last]);
    assert_eq!(answer.header(header::ETAG), Some(&*tag_of(identity(resource))));
    assert_eq!(answer.header(header::CONTENT_ENCODING), None);
}

/// What a request means, as far as the reference below says.
enum Meant {
    /// Nothing is said of lists, white space and other liberties.
    Unsaid,
    Whole,
    Part(Vec<u8>),
}

/// The plain reference: the bytes one by one (RFC 9110, sections 13.1.5 and 14.1.2).
fn meant(request: &HeaderMap, resource: &Resource) -> Meant {
    let whole = &identity(resource).body;
    let tag = tag_of(identity(resource));
    let if_range = lines(request, header::IF_RANGE);
    if whole.is_empty() || if_range.iter().any(|line| line.trim_ascii() != tag.as_bytes()) {
        return Meant::Whole;
    }
    let [range] = lines(request, header::RANGE)[..] else { return Meant::Whole };
    let Some((first, last)) = plain(range).filter(|_| if_range.len() < 2) else { return Meant::Unsaid };
    let length = whole.len() as u128;
    let is_in = |at: u128| match (first, last) {
        (Some(first), Some(last)) => first <= at && at <= last,
        (Some(first), None) => first <= at,
        (None, Some(count)) => length - at <= count,
        (None, None) => false,
    };
    match (first, last) {
        (None, None) => Meant::Whole,
        (Some(first), Some(last)) if first > last => Meant::Whole,
        _ => Meant::Part((0..length).filter(|at| is_in(*at)).map(|at| whole[at as usize]).collect()),
    }
}

/// The numbers of `bytes=first-last`, either of which may be missing; `None` for any other text, and for numbers that do
/// not fit here either.
fn plain(range: &[u8]) -> Option<(Option<u128>, Option<u128>)> {
    let (first, last) = str::from_utf8(range).ok()?.strip_prefix("bytes=")?.split_once('-')?;
    let number = |digits: &str| match digits {
        "" => Some(None),
        _ if digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 30 => Some(digits.parse().ok()),
        _ => None,
    };
    Some((number(first)?, number(last)?))
}
