//! The answer that a short link gives.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::Response,
};

use super::table::Link;

/// The table can be edited at any time, so whatever the status, nobody keeps an answer longer than a minute: a permanent
/// redirect without this would outlive its link in every browser that has seen it.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// An answer made once, when the table is read.
#[derive(Debug, Clone)]
pub(super) struct Redirect {
    pub(super) headers: HeaderMap,
    /// For who does not follow redirects by itself (RFC 9110, section 15.4).
    body: Bytes,
}

impl Redirect {
    pub(super) fn to(location: HeaderValue) -> Self {
        let address = escaped(&location);
        let body = format!("<!doctype html>\n<title>Redirect</title>\n<a href=\"{address}\">{address}</a>\n");
        let headers = HeaderMap::from_iter([
            (header::LOCATION, location),
            (header::CACHE_CONTROL, CACHE_CONTROL),
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (header::CONTENT_LENGTH, HeaderValue::from(body.len())),
            // The address that is worth finding is the one behind it.
            (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
            (header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin")),
            (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        ]);
        Self { headers, body: body.into() }
    }
}

impl Link {
    /// Answers GET or HEAD with the redirect, and counts it.
    pub fn follow(&self) -> Response {
        self.count_hit();
        let mut response = Response::new(Body::from(self.redirect.body.clone()));
        *response.status_mut() = self.status();
        *response.headers_mut() = self.redirect.headers.clone();
        response
    }
}

/// The text of an address in HTML, where a quote would end the attribute.
fn escaped(location: &HeaderValue) -> String {
    let mut escaped = String::with_capacity(location.len());
    for byte in location.as_bytes() {
        match byte {
            b'&' => escaped.push_str("&amp;"),
            b'<' => escaped.push_str("&lt;"),
            b'>' => escaped.push_str("&gt;"),
            b'"' => escaped.push_str("&quot;"),
            b'\'' => escaped.push_str("&#39;"),
            // An address in a header is visible ASCII.
            byte => escaped.push(char::from(*byte)),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_cannot_leave_its_place_in_the_page() {
        let redirect = Redirect::to(HeaderValue::from_static("https://e.example/?a=1&b=\"><script>'"));
        let page = str::from_utf8(&redirect.body).expect("UTF-8");
        let escaped = "https://e.example/?a=1&amp;b=&quot;&gt;&lt;script&gt;&#39;";
        assert!(page.ends_with(&format!("<a href=\"{escaped}\">{escaped}</a>\n")), "{page}");
    }
}
