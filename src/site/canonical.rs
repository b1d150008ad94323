//! Redirects from another name of a path to the path itself: `/posts` to `/posts/`.

use super::prepare::paths;
use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};

/// Permanent, but a wrong layout must not stick in browsers for ever.
const CACHE_CONTROL: HeaderValue = HeaderValue::from_static("max-age=300");

/// A redirect to the canonical path of a resource.
///
/// The target comes from the site's own table, never from the request: it has no host and begins with one slash, so no
/// path that a stranger types leads off this host.
#[derive(Debug)]
pub struct CanonicalRedirect {
    /// The canonical path, encoded.
    location: HeaderValue,
}

impl CanonicalRedirect {
    pub(super) fn to(path: &str) -> Self {
        Self { location: paths::encoded(path).try_into().expect("a percent-encoded path is visible ASCII") }
    }

    /// The redirect, with the query of the request passed on as it came.
    pub fn respond(&self, query: Option<&str>) -> Response {
        let location = match query {
            None => self.location.clone(),
            Some(query) => {
                let located = [self.location.as_bytes(), b"?", query.as_bytes()].concat();
                HeaderValue::from_maybe_shared(located)
                    .expect("the query came in a request line, which has no line break")
            }
        };
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        response.headers_mut().insert(header::LOCATION, location);
        response.headers_mut().insert(header::CACHE_CONTROL, CACHE_CONTROL);
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_location_is_encoded_and_keeps_the_query() {
        let redirect = CanonicalRedirect::to("/grüße & more/");
        let location = |query| redirect.respond(query).headers()[header::LOCATION].clone();
        assert_eq!(location(None), "/gr%C3%BC%C3%9Fe%20&%20more/");
        assert_eq!(location(Some("a=//b&c=%20")), "/gr%C3%BC%C3%9Fe%20&%20more/?a=//b&c=%20");
    }
}
