//! The answers that a short link gives: its redirect, and the page that only shows it.

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use serde_json::json;

use super::link::Link;
use crate::outcome::Outcome;

/// A link that a request has found, and what becomes of it.
#[derive(Debug)]
pub struct Found {
    pub(super) link: Arc<Link>,
    pub(super) purpose: Purpose,
    /// The fields that every answer of a link has.
    pub(super) fields: HeaderMap,
}

/// What a request wants of a link.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To follow it; below a wildcard, with what that met.
    Follow { splat: Option<Box<str>> },
    /// To see where it leads.
    Preview,
}

/// The fields that every answer of a link has, with room for the others.
pub(super) fn fields(max_age: Duration) -> HeaderMap {
    let caching = format!("public, max-age={}", max_age.as_secs());
    let mut fields = HeaderMap::with_capacity(8);
    fields.insert(header::CACHE_CONTROL, caching.try_into().expect("a number is visible ASCII"));
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    // The address that is worth finding is the one behind a link.
    fields.insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"));
    fields.insert(header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"));
    fields.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    fields
}

impl Found {
    /// The link.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Answers GET or HEAD. A link that is followed is counted.
    pub fn respond(self, request: &Parts) -> (Outcome, Response) {
        let Self { link, purpose, fields } = self;
        match purpose {
            Purpose::Follow { splat } => (Outcome::ShortLink, follow(&link, splat.as_deref(), request, fields)),
            Purpose::Preview => (Outcome::LinkPreview, preview(&link, request, fields)),
        }
    }
}

fn follow(link: &Link, splat: Option<&str>, request: &Parts, mut fields: HeaderMap) -> Response {
    link.count_hit();
    let query = if link.passes_query { request.uri.query() } else { None };
    let location = link.target.location(splat, query);
    // For who does not follow redirects by himself (RFC 9110, section 15.4).
    let address = escaped(location.as_bytes());
    let page = ["<!doctype html>\n<title>Redirect</title>\n<a href=\"", &address, "\">", &address, "</a>\n"].concat();
    fields.insert(header::LOCATION, location);
    response(link.status, fields, page)
}

/// A page that says where the link leads, or the same as JSON for who asks for that.
fn preview(link: &Link, request: &Parts, mut fields: HeaderMap) -> Response {
    let Link { alias, status, .. } = link;
    let target = link.target();
    fields.insert(header::VARY, HeaderValue::from_static("accept"));
    let nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    fields.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(nothing));
    let body = if wants_json(&request.headers) {
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        format!("{}\n", json!({ "alias": alias, "target": target, "status": status.as_u16() }))
    } else {
        let (alias, target) = (escaped(alias.as_bytes()), escaped(target.as_bytes()));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{alias}</title>\n\
             <p>The short link <b>{alias}</b> leads to</p>\n<p><a href=\"{target}\">{target}</a></p>\n</html>\n"
        )
    };
    response(StatusCode::OK, fields, body)
}

/// Whether JSON is asked for in so many words, and before HTML (RFC 9110, section 12.5.1). Weights are not compared: what
/// programs send names the one type they want, and browsers name HTML first.
fn wants_json(request: &HeaderMap) -> bool {
    let ranges = request.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let mut types =
        ranges.flat_map(|line| line.split(',')).map(|range| range.split(';').next().unwrap_or(range).trim());
    types.find(|range| ["application/json", "text/html"].contains(range)) == Some("application/json")
}

fn response(status: StatusCode, mut headers: HeaderMap, body: String) -> Response {
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
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
    if !text.bytes().any(|byte| matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'')) {
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
