//! What has to hold for any request, whatever it asks for, and that hyper does not see to.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, Version, header, request::Parts},
    response::Response,
};

/// Longer than any address a browser makes. Bytes of path and query.
const MAX_TARGET: usize = 8192;

/// Refuses a request that has
///
/// - more than one Host, one that is no host, or over HTTP/1.1 none: 400 (RFC 9112, section 3.2);
/// - a path and query of more than 8 KiB: 414 (RFC 9110, section 15.5.15).
pub(super) fn refuse(request: &Parts) -> Option<Response> {
    let mut hosts = request.headers.get_all(header::HOST).iter();
    let is_host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.as_bytes().iter().all(|byte| may_stand_in_host(*byte)),
        (None, _) => request.version < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    let status = if !is_host {
        StatusCode::BAD_REQUEST
    } else if request.uri.path_and_query().is_some_and(|target| target.as_str().len() > MAX_TARGET) {
        StatusCode::URI_TOO_LONG
    } else {
        return None;
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    for (name, value) in [(header::CONTENT_LENGTH, "0"), (header::CACHE_CONTROL, "no-cache")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    close(&mut response);
    Some(response)
}

/// Whether a host with its port may have the byte (RFC 3986, section 3.2.2), but for the comma: what joins lines joins
/// two hosts with it.
fn may_stand_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+;=".contains(&byte)
}

/// Closes the connection after a request with Transfer-Encoding. Nobody who reads a site sends one, and beside a
/// Content-Length (of which hyper tells nothing) it is how requests are smuggled past a proxy (RFC 9112, section 6.1).
pub(super) fn close_after_chunked(request: &Parts, response: &mut Response) {
    if request.headers.contains_key(header::TRANSFER_ENCODING) {
        close(response);
    }
}

fn close(response: &mut Response) {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
}
