//! Conditional requests (RFC 9110, section 13): is this the representation that the client means, and does he have it?
//!
//! No date of a resource is known here, since a file's time says nothing of its content, so If-Modified-Since and
//! If-Unmodified-Since do not apply (sections 13.1.3 and 13.1.4).

use axum::http::{HeaderMap, HeaderValue, header};

/// What the preconditions of a request come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preconditions {
    /// Answer as if there were none.
    Hold,
    /// The client has the representation: 304.
    NotModified,
    /// The client means another version: 412.
    Failed,
}

/// Evaluates the preconditions of GET or HEAD for the selected representation, in the order of section 13.2.2.
pub(super) fn evaluate(request: &HeaderMap, etag: &HeaderValue) -> Preconditions {
    if !match_allows(request, etag) {
        Preconditions::Failed
    } else if none_match_names(request, etag) {
        Preconditions::NotModified
    } else {
        Preconditions::Hold
    }
}

/// Whether If-Match is missing or names the representation (section 13.1.1). The comparison is strong: a weak tag never
/// does.
fn match_allows(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = request.get_all(header::IF_MATCH);
    if lines.iter().next().is_none() {
        return true;
    }
    let mut stars = lines.iter().filter(|line| line.as_bytes().trim_ascii() == b"*");
    stars.next().is_some() && lines.iter().count() == 1
        || lines.iter().any(|line| Tags(line.as_bytes()).any(|tag| !tag.weak && tag.opaque == etag.as_bytes()))
}

/// Whether If-None-Match names the representation, so that the answer is 304 (RFC 9110, section 13.1.2).
///
/// - Several header lines are one list (section 5.3).
/// - The comparison is weak: `W/"x"` names `"x"`, since proxies that compress weaken a tag (section 8.8.3.2).
/// - `*`, alone, names any representation.
/// - What is no entity-tag, such as a tag without its quotes, names nothing; the rest of the list still counts.
fn none_match_names(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let mut lines = request.get_all(header::IF_NONE_MATCH).iter();
    let Some(first) = lines.next() else { return false };
    if first == etag {
        return true; // The one tag that a browser sends.
    }
    let is_star = first.as_bytes().trim_ascii() == b"*";
    let second = lines.next();
    if is_star && second.is_none() {
        return true;
    }
    let mut lines = std::iter::once(first).chain(second).chain(lines);
    lines.any(|line| Tags(line.as_bytes()).any(|tag| tag.opaque == etag.as_bytes()))
}

/// An entity-tag of a list.
struct Tag<'a> {
    /// Whether it has `W/` before it.
    weak: bool,
    /// With its quotes.
    opaque: &'a [u8],
}

/// The entity-tags of one line; what is none is passed over.
struct Tags<'a>(&'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let rest = self.0.trim_ascii_start();
            if rest.is_empty() {
                return None;
            }
            let (weak, tag) = rest.strip_prefix(b"W/").map_or((false, rest), |tag| (true, tag));
            let (opaque, after) = opaque_len(tag).map_or((&b""[..], rest), |len| tag.split_at(len));
            // To behind the next comma; whatever stands between makes the element malformed.
            let comma = after.iter().position(|byte| *byte == b',');
            let (between, next) = comma.map_or((after, &b""[..]), |comma| (&after[..comma], &after[comma + 1..]));
            self.0 = next;
            if !opaque.is_empty() && between.trim_ascii().is_empty() {
                return Some(Tag { weak, opaque });
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
            (&["*", r#""a""#], true, "what is malformed does not hide the next line"),
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

    #[test]
    fn if_match_is_compared_strongly() {
        for (lines, expected, why) in [
            (&[][..], true, "no such header"),
            (&[r#""a""#], true, "the tag"),
            (&[r#""b", "a""#], true, "a list"),
            (&[r#""b""#, r#""a""#], true, "several lines"),
            (&["*"], true, "anything"),
            (&[r#""b""#], false, "another tag"),
            (&[r#"W/"a""#], false, "a weak tag never"),
            (&["a"], false, "a tag without quotes"),
            (&["*", r#""b""#], false, "the star only stands alone"),
            (&[""], false, "an empty list names nothing"),
        ] {
            let mut request = HeaderMap::new();
            for line in lines {
                request.append(header::IF_MATCH, HeaderValue::from_static(line));
            }
            assert_eq!(match_allows(&request, &HeaderValue::from_static(r#""a""#)), expected, "{why}: {lines:?}");
        }
    }

    #[test]
    fn a_failed_if_match_comes_before_if_none_match() {
        let etag = HeaderValue::from_static(r#""a""#);
        let both = |if_match: &'static str| {
            let fields = [(header::IF_MATCH, if_match), (header::IF_NONE_MATCH, r#""a""#)];
            HeaderMap::from_iter(fields.map(|(name, value)| (name, HeaderValue::from_static(value))))
        };
        assert_eq!(evaluate(&both(r#""b""#), &etag), Preconditions::Failed);
        assert_eq!(evaluate(&both(r#""a""#), &etag), Preconditions::NotModified);
        assert_eq!(evaluate(&HeaderMap::new(), &etag), Preconditions::Hold);
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
