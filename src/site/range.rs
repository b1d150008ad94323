//! Range requests: one part of a representation (RFC 9110, section 14).

use std::ops::Range;

use axum::http::{HeaderMap, HeaderValue, header};

/// A range as a client asks for it, not yet held against a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteRange {
    /// `first-last`, with an end that may lie behind the last byte.
    FromTo(u64, u64),
    /// `first-`
    From(u64),
    /// `-length`
    Last(u64),
}

impl ByteRange {
    /// The one range that a request asks for.
    ///
    /// `None`, so that the whole is sent, where the field may be ignored (section 14.2): it is missing, there are several
    /// lines or several ranges, the unit is not bytes, or it is malformed. The caller sees to the method.
    pub(super) fn of(request: &HeaderMap) -> Option<Self> {
        let mut lines = request.get_all(header::RANGE).iter();
        let (line, None) = (lines.next()?, lines.next()) else { return None };
        let (unit, set) = line.to_str().ok()?.split_once('=')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        let mut ranges = set.split(',').map(str::trim).filter(|range| !range.is_empty());
        let (range, None) = (ranges.next()?, ranges.next()) else { return None };
        match range.split_once('-')? {
            ("", length) => Some(Self::Last(position(length)?)),
            (first, "") => Some(Self::From(position(first)?)),
            (first, last) => {
                let range = Self::FromTo(position(first)?, position(last)?);
                is_at_most(first, last).then_some(range)
            }
        }
    }

    /// The bytes it means in a representation of `length`; `None` if it has none of them (section 15.5.17).
    pub(super) fn within(self, length: usize) -> Option<Range<usize>> {
        let clamp = |position: u64| usize::try_from(position).map_or(length, |position| position.min(length));
        let range = match self {
            Self::FromTo(first, last) => clamp(first)..clamp(last.saturating_add(1)),
            Self::From(first) => clamp(first)..length,
            Self::Last(count) => length - clamp(count)..length,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// Whether one number is not above another, however long they are.
fn is_at_most(first: &str, last: &str) -> bool {
    let (first, last) = (first.trim_start_matches('0'), last.trim_start_matches('0'));
    (first.len(), first) <= (last.len(), last)
}

/// A number of any length: what does not fit is behind the end of everything.
fn position(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Whether If-Range allows a part to be sent: it is missing, or it is the strong tag of the representation that the part
/// would come from (section 13.1.5). A date never is, since no date of a resource is known here.
pub(super) fn if_range_allows(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let mut lines = request.get_all(header::IF_RANGE).iter();
    match (lines.next(), lines.next()) {
        (None, _) => true,
        (Some(line), None) => line.as_bytes().trim_ascii() == etag.as_bytes(),
        (Some(_), Some(_)) => false,
    }
}

/// The value of Content-Range for a part (section 14.4).
pub(super) fn content_range(range: &Range<usize>, length: usize) -> HeaderValue {
    let value = format!("bytes {}-{}/{length}", range.start, range.end - 1);
    value.try_into().expect("numbers are visible ASCII")
}

/// The value of Content-Range for a range that has no byte.
pub(super) fn unsatisfied(length: usize) -> HeaderValue {
    format!("bytes */{length}").try_into().expect("a number is visible ASCII")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(lines: &[&str]) -> Option<ByteRange> {
        let mut request = HeaderMap::new();
        for line in lines {
            request.append(header::RANGE, HeaderValue::from_str(line).expect("a header value"));
        }
        ByteRange::of(&request)
    }

    #[test]
    fn one_range_is_read_and_everything_else_is_ignored() {
        use ByteRange::{From, FromTo, Last};
        for (lines, expected, why) in [
            (&["bytes=0-0"][..], Some(FromTo(0, 0)), "one byte"),
            (&["bytes=2-5"], Some(FromTo(2, 5)), "a part"),
            (&["bytes=2-"], Some(From(2)), "an open end"),
            (&["bytes=-3"], Some(Last(3)), "the end"),
            (&["BYTES=0-1"], Some(FromTo(0, 1)), "units have no case"),
            (&["bytes= 0-1 "], Some(FromTo(0, 1)), "white space"),
            (&["bytes=,0-1,"], Some(FromTo(0, 1)), "empty elements"),
            (&["bytes=0-99999999999999999999999"], Some(FromTo(0, u64::MAX)), "an end behind everything"),
            (&["bytes=0-1,3-4"], None, "several ranges"),
            (&["bytes=0-1", "bytes=3-4"], None, "several lines"),
            (&["bytes=5-2"], None, "backwards"),
            (&["bytes=0009-10"], Some(FromTo(9, 10)), "zeros before a number"),
            (&["bytes=99999999999999999999999-99999999999999999999998"], None, "backwards behind everything"),
            (&["bytes=-"], None, "neither end"),
            (&["bytes="], None, "nothing"),
            (&["bytes"], None, "no equals sign"),
            (&["bytes=a-b"], None, "no numbers"),
            (&["bytes=+1-2"], None, "a sign"),
            (&["bytes=1-2-3"], None, "three numbers"),
            (&["bytes=1 - 2"], None, "space inside"),
            (&["lines=1-2"], None, "another unit"),
            (&[], None, "no such header"),
        ] {
            assert_eq!(asked(lines), expected, "{why}: {lines:?}");
        }
    }

    #[test]
    fn a_range_is_held_against_the_length() {
        use ByteRange::{From, FromTo, Last};
        for (range, length, expected, why) in [
            (FromTo(0, 0), 10, Some(0..1), "the first byte"),
            (FromTo(9, 9), 10, Some(9..10), "the last byte"),
            (FromTo(5, 99), 10, Some(5..10), "an end behind the end"),
            (FromTo(5, u64::MAX), 10, Some(5..10), "an end behind everything"),
            (FromTo(10, 10), 10, None, "a start at the end"),
            (From(0), 10, Some(0..10), "all of it"),
            (From(10), 10, None, "an open end from the end"),
            (From(u64::MAX), 10, None, "a start behind everything"),
            (Last(3), 10, Some(7..10), "the end"),
            (Last(99), 10, Some(0..10), "more than there is"),
            (Last(0), 10, None, "none of it"),
        ] {
            assert_eq!(range.within(length), expected, "{why}");
        }
    }

    #[test]
    fn if_range_is_compared_strongly() {
        let etag = HeaderValue::from_static("\"a\"");
        for (lines, expected, why) in [
            (&[][..], true, "no such header"),
            (&["\"a\""], true, "the tag"),
            (&["\"b\""], false, "another tag"),
            (&["W/\"a\""], false, "a weak tag never"),
            (&["Sat, 21 Nov 2026 00:00:00 GMT"], false, "a date, where none is known"),
            (&["*"], false, "no tag"),
            (&["\"a\"", "\"a\""], false, "two lines"),
        ] {
            let lines = lines.iter().map(|line| (header::IF_RANGE, HeaderValue::from_static(line)));
            let mut request = HeaderMap::new();
            for (name, value) in lines {
                request.append(name, value);
            }
            assert_eq!(if_range_allows(&request, &etag), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_read_without_panic(line in "(bytes=)?[0-9, -]{0,30}", length in 0_usize..20) {
            let _ = asked(&[&line]).and_then(|range| range.within(length));
        }

        /// The plain reference: the bytes one by one.
        #[test]
        fn a_range_means_the_bytes_that_the_rfc_says(first in 0_u64..15, last in 0_u64..15, length in 0_usize..12) {
            let picked = |is_in: &dyn Fn(u64) -> bool| (0..length).filter(|at| is_in(*at as u64)).collect::<Vec<_>>();
            let meant = |line: String| asked(&[&line]).and_then(|range| range.within(length)).map_or(Vec::new(), Iterator::collect);
            if first <= last {
                prop_assert_eq!(meant(format!("bytes={first}-{last}")), picked(&|at| first <= at && at <= last));
            }
            prop_assert_eq!(meant(format!("bytes={first}-")), picked(&|at| first <= at));
            prop_assert_eq!(meant(format!("bytes=-{last}")), picked(&|at| at + last >= length as u64));
        }
    }
}
