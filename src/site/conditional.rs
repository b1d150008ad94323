//! Conditional requests: does the client have this representation already?

use axum::http::{HeaderMap, HeaderValue, header};

/// Whether If-None-Match names the representation, so that the answer is 304 (RFC 9110, section 13.1.2).
///
/// - Several header lines are one list (section 5.3).
/// - The comparison is weak: `W/"x"` names `"x"`, since proxies that compress weaken a tag (section 8.8.3.2).
/// - `*`, alone, names any representation.
/// - What is no entity-tag, such as a tag without its quotes, names nothing; the rest of the list still counts.
pub(super) fn none_match_names(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let mut lines = request.get_all(header::IF_NONE_MATCH).iter();
    let Some(first) = lines.next() else { return false };
    if first == etag {
        return true; // The one tag that a browser sends.
    }
    if first.as_bytes().trim_ascii() == b"*" {
        return lines.next().is_none();
    }
    std::iter::once(first).chain(lines).any(|line| Tags(line.as_bytes()).any(|opaque| opaque == etag.as_bytes()))
}

/// The opaque tags of one line of a list of entity-tags, each with its quotes and without `W/`.
struct Tags<'a>(&'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.0.trim_ascii_start();
            if rest.is_empty() {
                return None;
            }
            let tag = rest.strip_prefix(b"W/").unwrap_or(rest);
            let opaque = opaque_len(tag).map(|len| tag.split_at(len));
            let (opaque, after) = opaque.unwrap_or((b"", rest));
            // To behind the next comma; whatever stands between makes the element malformed.
            let comma = after.iter().position(|byte| *byte == b',');
            let (between, next) = comma.map_or((after, &b""[..]), |comma| (&after[..comma], &after[comma + 1..]));
            self.0 = next;
            if !opaque.is_empty() && between.trim_ascii().is_empty() {
                return Some(opaque);
            }
        }
    }
}

/// The length of the quoted tag at the start, quotes included (RFC 9110, section 8.8.3: `DQUOTE *etagc DQUOTE`).
fn opaque_len(bytes: &[u8]) -> Option<usize> {
    let inside = bytes.strip_prefix(b"\"")?;
    let len = inside.iter().position(|byte| !matches!(byte, 0x21 | 0x23..=0x7e | 0x80..))?;
    (inside[len] == b'"').then_some(len + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(lines: &[&[u8]], etag: &'static str) -> bool {
        let mut request = HeaderMap::new();
        for line in lines {
            request.append(header::IF_NONE_MATCH, HeaderValue::from_bytes(line).expect("a header value"));
        }
        none_match_names(&request, &HeaderValue::from_static(etag))
    }

    #[test]
    fn if_none_match_is_read_as_the_rfc_says() {
        for (lines, expected, why) in [
            (&[r#""a""#][..], true, "the tag itself"),
            (&[r#""b""#], false, "another tag"),
            (&[r#"W/"a""#], true, "weak comparison"),
            (&[r#"w/"a""#], false, "W is case-sensitive"),
            (&[r#""b", "a""#], true, "a list"),
            (&[r#""b","a""#], true, "a list without spaces"),
            (&[r#""b" ,	"a" "#], true, "a list with white space"),
            (&[r#","b",,"a""#], true, "empty elements"),
            (&[r#""b""#, r#""a""#], true, "several lines"),
            (&["*"], true, "anything"),
            (&[" * "], true, "anything, with spaces"),
            (&["*", r#""b""#], false, "the star only stands alone"),
            (&[r#""*""#], false, "a quoted star is a tag"),
            (&["a"], false, "a tag without quotes is none"),
            (&[r#"a, "a""#], true, "what is malformed does not hide the rest"),
            (&[r#""a"b"#], false, "something behind the tag"),
            (&[r#""a"#], false, "the second quote is missing"),
            (&[r#""b,"a""#], false, "a comma inside quotes does not end the tag"),
            (&[r#""x,y", "a""#], true, "a tag with a comma, then ours"),
            (&[""], false, "nothing"),
            (&[], false, "no such header"),
        ] {
            let bytes: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(names(&bytes, r#""a""#), expected, "{why}: {lines:?}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(line in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(value) = HeaderValue::from_bytes(&line) {
                let _ = names(&[value.as_bytes()], r#""a""#);
            }
        }

        #[test]
        fn a_tag_is_found_wherever_it_stands_in_a_list(
            before in proptest::collection::vec("(W/)?\"[!#-+\\--~]{0,8}\"", 0..5),
            after in proptest::collection::vec("(W/)?\"[!#-~]{0,8}\"", 0..5),
            weak in any::<bool>(),
        ) {
            let ours = if weak { r#"W/"our,tag""# } else { r#""our,tag""# };
            let others: Vec<&str> = before.iter().chain(&after).map(String::as_str).collect();
            let mut list = others.clone();
            list.insert(before.len(), ours);
            prop_assert!(names(&[list.join(", ").as_bytes()], r#""our,tag""#));
            prop_assert!(others.contains(&ours) || !names(&[others.join(", ").as_bytes()], r#""our,tag""#));
        }
    }
}
