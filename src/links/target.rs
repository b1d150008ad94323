//! Where a link leads.
//!
//! A target is an http or https address with a host, or a path of this site. A URL parser judges it, but does not rewrite
//! it: its bytes are sent as the owner wrote them, but for letters outside ASCII, which cannot stand in a header and are
//! percent-encoded (RFC 3987, section 3.1).

use axum::http::HeaderValue;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::line::RejectedReason;

/// Stands in a target for what a wildcard met.
const SPLAT: &str = ":splat";

/// What a stranger may put in place of the splat as it is: what means nothing but itself in a path.
const NOT_IN_SPLAT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'@').remove(b'+');

/// A target that can be sent.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The value of Location; with a splat, all but that.
    location: HeaderValue,
    /// What was written, where it is something else.
    written: Option<Box<str>>,
}

impl Target {
    /// Judges a target. A splat may stand in it behind its host if the alias is a wildcard.
    pub(super) fn parse(written: &str, is_wildcard: bool) -> Result<Self, RejectedReason> {
        if written.contains(char::is_control) {
            return Err(RejectedReason::Target);
        }
        let authority = if written.starts_with('/') {
            // What a browser takes for a host is none of this site's paths.
            if written.starts_with("//") || written.starts_with("/\\") {
                return Err(RejectedReason::Target);
            }
            ""
        } else {
            // Said before parsing, since the parser forgives: it reads `https:example.com` and `https:\\example.com` too.
            let after_scheme = ["http://", "https://"].iter().find_map(|scheme| {
                let (start, rest) = written.split_at_checked(scheme.len())?;
                start.eq_ignore_ascii_case(scheme).then_some(rest)
            });
            let rest = after_scheme.filter(|rest| !rest.starts_with(['/', '\\'])).ok_or(RejectedReason::Target)?;
            let url = Url::parse(written).map_err(|_| RejectedReason::Target)?;
            if !url.has_host() {
                return Err(RejectedReason::Target);
            }
            rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest)
        };
        if !authority.is_ascii() {
            return Err(RejectedReason::TargetHost);
        }
        if authority.contains(SPLAT) || !is_wildcard && written.contains(SPLAT) {
            return Err(RejectedReason::Splat);
        }
        let encoded = utf8_percent_encode(written, CONTROLS).to_string();
        let written = (encoded != written).then(|| written.into());
        let location = HeaderValue::try_from(encoded).map_err(|_| RejectedReason::Target)?;
        Ok(Self { location, written })
    }

    pub(super) fn written(&self) -> &str {
        match &self.written {
            Some(written) => written,
            None => self.text(),
        }
    }

    /// The path, without query and fragment, if it is one of this site.
    pub(super) fn own_path(&self) -> Option<&str> {
        self.text().starts_with('/').then(|| self.text().split(['?', '#']).next().unwrap_or_default())
    }

    /// The value of Location, with what a wildcard met and the query of the request, where they are asked for.
    pub(super) fn location(&self, splat: Option<&str>, query: Option<&str>) -> HeaderValue {
        let with_splat = splat.filter(|_| self.text().contains(SPLAT));
        if with_splat.is_none() && query.is_none() {
            return self.location.clone();
        }
        let splat = with_splat.map(|splat| utf8_percent_encode(splat, NOT_IN_SPLAT).to_string());
        let filled = splat.map_or_else(|| self.text().to_owned(), |splat| self.text().replace(SPLAT, &splat));
        let location = match query {
            None => filled,
            Some(query) => {
                // The target's own query comes first, its fragment last.
                let (address, fragment) = filled.split_at(filled.find('#').unwrap_or(filled.len()));
                let joint = match address.split_once('?') {
                    None => "?",
                    Some((_, "")) => "",
                    Some(_) => "&",
                };
                [address, joint, query, fragment].concat()
            }
        };
        // Bytes, not text: a query may have letters that are not ASCII.
        HeaderValue::from_maybe_shared(location.into_bytes()).expect("a target and a query have no line break")
    }

    fn text(&self) -> &str {
        self.location.to_str().expect("a target is visible ASCII once encoded")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_target_is_sent_as_it_was_written() {
        for (written, sent) in [
            ("https://example.com", "https://example.com"),
            ("HTTPS://Example.COM:443/a/../b?q=1#x", "HTTPS://Example.COM:443/a/../b?q=1#x"),
            ("https://example.com/a%2fb?c=|", "https://example.com/a%2fb?c=|"),
            ("https://example.com/grüße", "https://example.com/gr%C3%BC%C3%9Fe"),
            ("http://user@example.com/", "http://user@example.com/"),
            ("/about/?a=1#here", "/about/?a=1#here"),
            ("/", "/"),
        ] {
            let target = Target::parse(written, false).expect(written);
            assert_eq!(target.location(None, None), sent);
            assert_eq!(target.written(), written);
        }
    }

    #[test]
    fn what_a_wildcard_met_stands_for_the_splat() {
        for (written, splat, sent) in [
            ("https://docs.example/:splat", "a/b", "https://docs.example/a/b"),
            ("https://docs.example/:splat/?from=:splat", "a", "https://docs.example/a/?from=a"),
            ("https://docs.example/:splat", "", "https://docs.example/"),
            ("https://docs.example/", "a/b", "https://docs.example/"),
            ("/new/:splat", "a b", "/new/a%20b"),
            ("/:splat", "\\evil.example", "/%5Cevil.example"),
            ("https://docs.example/?q=:splat", "a&b=c#d?e%2f", "https://docs.example/?q=a%26b%3Dc%23d%3Fe%252f"),
            ("https://docs.example/:splat", "é\r\nx: y", "https://docs.example/%C3%A9%0D%0Ax%3A%20y"),
        ] {
            let target = Target::parse(written, true).expect(written);
            assert_eq!(target.location(Some(splat), None), sent, "{written} with {splat:?}");
        }
    }

    #[test]
    fn a_query_goes_behind_that_of_the_target_as_it_came() {
        for (written, query, sent) in [
            ("https://a.example/b", "c=%20&d", "https://a.example/b?c=%20&d"),
            ("https://a.example", "c", "https://a.example?c"),
            ("https://a.example/b?own=1", "c", "https://a.example/b?own=1&c"),
            ("https://a.example/b?", "c", "https://a.example/b?c"),
            ("https://a.example/b#part", "c", "https://a.example/b?c#part"),
            ("https://a.example/#a?b", "c", "https://a.example/?c#a?b"),
            ("/own", "", "/own?"),
        ] {
            let target = Target::parse(written, false).expect(written);
            assert_eq!(target.location(None, Some(query)), sent);
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_leads_to_a_host_on_the_web_or_stays_here(
            written in "(https?:)?[/\\\\]{0,3}[a-z.@:\\[\\]%#?/\\\\é\u{1}-\u{8}]{0,20}(:splat)?",
            splat in "[a-z./\\\\?#%é\r\n]{0,10}",
        ) {
            let parts_are_plain = splat.split('/').all(|part| !matches!(part, "" | "." | ".."));
            if let Ok(target) = Target::parse(&written, true) {
                let splat = if parts_are_plain { &*splat } else { "" };
                let location = target.location(Some(splat), Some("a=//evil.example"));
                let here = Url::parse("https://here.example/x").expect("an address");
                let led = here.join(location.to_str().expect("ASCII")).expect("an address");
                prop_assert!(matches!(led.scheme(), "http" | "https") && led.has_host());
                if written.starts_with('/') {
                    prop_assert_eq!(led.host_str(), Some("here.example"), "{}", location.to_str().expect("ASCII"));
                }
            }
        }
    }
}
