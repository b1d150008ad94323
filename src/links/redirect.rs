//! The answers that a short link gives: its redirect, and the page that only shows it.

use std::{borrow::Cow, sync::Arc};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use serde_json::json;

use super::link::Link;
use crate::outcome::Outcome;

const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");
const REFERRER_POLICY: HeaderValue = HeaderValue::from_static("strict-origin-when-cross-origin");
/// The address that is worth finding is the one behind a link.
const NOT_INDEXED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// A link that a request has found, and what becomes of it.
#[derive(Debug)]
pub struct Found {
    pub(super) link: Arc<Link>,
    pub(super) purpose: Purpose,
    /// The value of Cache-Control.
    pub(super) caching: HeaderValue,
}

/// What a request wants of a link.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To follow it; below a wildcard, with what that met.
    Follow { splat: Option<Box<str>> },
    /// To see where it leads.
    Preview,
}

impl Found {
    /// The link.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Answers GET or HEAD. A link that is followed is counted.
    pub fn respond(&self, request: &Parts) -> (Outcome, Response) {
        match &self.purpose {
            Purpose::Follow { splat } => (Outcome::ShortLink, self.follow(splat.as_deref(), request)),
            Purpose::Preview => (Outcome::LinkPreview, self.preview(request)),
        }
    }

    fn follow(&self, splat: Option<&str>, request: &Parts) -> Response {
        self.link.count_hit();
        let query = request.uri.query().filter(|_| self.link.passes_query);
        let location = self.link.target.location(splat, query);
        // For who does not follow redirects by himself (RFC 9110, section 15.4).
        let address = escaped(location.as_bytes());
        let page =
            ["<!doctype html>\n<title>Redirect</title>\n<a href=\"", &address, "\">", &address, "</a>\n"].concat();
        let headers = HeaderMap::from_iter([
            (header::LOCATION, location),
            (header::CACHE_CONTROL, self.caching.clone()),
            (header::CONTENT_TYPE, HTML),
            (header::CONTENT_LENGTH, HeaderValue::from(page.len())),
            NOT_INDEXED,
            (header::REFERRER_POLICY, REFERRER_POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING),
        ]);
        response(self.link.status, headers, page)
    }

    /// A page that says where the link leads, or the same as JSON for who asks for that.
    fn preview(&self, request: &Parts) -> Response {
        let Link { alias, status, .. } = &*self.link;
        let target = self.link.target();
        let (content_type, body) = if wants_json(&request.headers) {
            let shown = json!({ "alias": alias, "target": target, "status": status.as_u16() });
            (HeaderValue::from_static("application/json"), format!("{shown}\n"))
        } else {
            let (alias, target) = (escaped(alias.as_bytes()), escaped(target.as_bytes()));
            let page = format!(
                "<!doctype html>\n<html lang=\"en\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
                 <meta name=\"color-scheme\" content=\"light dark\">\n<title>{alias}</title>\n\
                 <p>The short link <b>{alias}</b> leads to</p>\n<p><a href=\"{target}\">{target}</a></p>\n</html>\n"
            );
            (HTML, page)
        };
        let headers = HeaderMap::from_iter([
            (header::CACHE_CONTROL, self.caching.clone()),
            (header::CONTENT_TYPE, content_type),
            (header::CONTENT_LENGTH, HeaderValue::from(body.len())),
            (header::VARY, HeaderValue::from_static("accept")),
            NOT_INDEXED,
            (header::REFERRER_POLICY, REFERRER_POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING),
            (
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static(
                    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                ),
            ),
        ]);
        response(StatusCode::OK, headers, body)
    }
}

/// Whether JSON is asked for in so many words, and before HTML (RFC 9110, section 12.5.1). Weights are not compared: what
/// programs send names the one type they want, and browsers name HTML first.
fn wants_json(request: &HeaderMap) -> bool {
    let ranges = request.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut types =
        ranges.flat_map(|line| line.split(',')).map(|range| range.split(';').next().unwrap_or(range).trim());
    types.find(|range| ["application/json", "text/html"].contains(range)) == Some("application/json")
}

fn response(status: StatusCode, headers: HeaderMap, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// Text as it stands in HTML, in quotes too. What is not UTF-8 is replaced.
fn escaped(text: &[u8]) -> Cow<'_, str> {
    const SPECIAL: [char; 5] = ['&', '<', '>', '"', '\''];
    let text = String::from_utf8_lossy(text);
    // Most addresses have none of them.
    if !text.contains(SPECIAL) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for piece in text.split_inclusive(SPECIAL) {
        let (plain, last) = piece.split_at(piece.len() - usize::from(piece.ends_with(SPECIAL)));
        escaped.push_str(plain);
        escaped.push_str(match last {
            "&" => "&amp;",
            "<" => "&lt;",
            ">" => "&gt;",
            "\"" => "&quot;",
            "'" => "&#39;",
            _ => "",
        });
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_cannot_leave_its_place_in_the_page() {
        let address = "https://e.example/?a=1&b=\"><script>'é";
        assert_eq!(escaped(address.as_bytes()), "https://e.example/?a=1&amp;b=&quot;&gt;&lt;script&gt;&#39;é");
        assert_eq!(escaped(b""), "");
        assert_eq!(escaped(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn json_is_for_who_names_it_before_html() {
        for (accept, expected) in [
            (None, false),
            (Some("application/json"), true),
            (Some("application/json, text/html"), true),
            (Some("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), false),
            (Some("text/html, application/json;q=0.9"), false),
            (Some("text/plain, application/json;q=0.9"), true),
            (Some("*/*"), false),
        ] {
            let headers = accept.map(|accept| (header::ACCEPT, HeaderValue::from_static(accept)));
            assert_eq!(wants_json(&headers.into_iter().collect()), expected, "{accept:?}");
        }
    }
}
