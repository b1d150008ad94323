//! The answer that a short link gives.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};

use super::table::Link;

/// The table can be edited at any time, so whatever the status, nobody keeps an answer longer than a minute: a permanent
/// redirect without this would outlive its link in every browser that has seen it.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// The header fields of a redirect to `location`.
pub(super) fn headers(location: HeaderValue) -> HeaderMap {
    let length = HeaderValue::from_static("0");
    HeaderMap::from_iter([
        (header::LOCATION, location),
        (header::CACHE_CONTROL, CACHE_CONTROL),
        (header::CONTENT_LENGTH, length),
    ])
}

impl Link {
    /// Answers GET or HEAD with the redirect, and counts it.
    pub fn follow(&self) -> Response {
        self.count_hit();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        *response.headers_mut() = self.headers.clone();
        response
    }
}
