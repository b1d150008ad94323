//! A resource with its representations, ready to be sent.

use std::borrow::Cow;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::Response,
};

use super::{
    conditional::{self, Preconditions},
    negotiate::AcceptEncoding,
    prepare::{self, encoding::Encoding, fields::Fields},
    range::{self, ByteRange},
};
use crate::outcome::Outcome;

/// One path of the site, with its representations (RFC 9110, section 3.1).
#[derive(Debug)]
pub struct Resource {
    /// Smallest first, which is the order of preference among equally wanted ones.
    representations: Box<[Representation]>,
    /// The place of the identity, for those who accept nothing that is offered: a page they can read beats a 406.
    identity: usize,
}

/// The bytes of a resource in one encoding, with the header fields they are sent with.
#[derive(Debug)]
struct Representation {
    encoding: Encoding,
    /// A strong validator of its own for each encoding (RFC 9110, section 8.8.3.3).
    etag: HeaderValue,
    /// The fields of a 200, complete but for those of the connection.
    headers: HeaderMap,
    /// The fields of a 304.
    not_modified: HeaderMap,
    body: Bytes,
}

impl Resource {
    pub(super) fn new(prepared: prepare::Resource) -> Self {
        let prepare::Resource { fields, representations, .. } = prepared;
        let varies = representations.len() > 1;
        let mut representations: Vec<Representation> = representations
            .into_iter()
            .map(|representation| Representation::new(representation, &fields, varies))
            .collect();
        representations.sort_by_key(|representation| representation.body.len());
        let identity = representations.iter().position(|representation| representation.encoding == Encoding::Identity);
        let identity = identity.expect("every prepared resource has its identity");
        Self { representations: representations.into(), identity }
    }

    /// The page for paths that do not exist. It has no validator, since it is no representation of the path that was
    /// asked for, and is never kept, since the path may become a page or a link soon.
    pub(super) fn not_found_page(prepared: prepare::Resource) -> Self {
        let mut page = Self::new(prepared);
        for representation in &mut page.representations {
            representation.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            representation.headers.remove(header::ETAG);
            representation.headers.remove(header::ACCEPT_RANGES);
        }
        page
    }

    /// Answers GET or HEAD. (The body for HEAD is left out by the caller.)
    ///
    /// - 412 if the client means another version (If-Match);
    /// - 304 if he has the one he would get (If-None-Match);
    /// - 206 for one range, 416 if it has no byte;
    /// - 200 for all else.
    ///
    /// A part always comes from the identity, under its tag: the parts of a compressed body would count compressed bytes
    /// (RFC 9110, section 14.1.2), and nobody could use them. Ranges are for GET (section 14.2), and an empty file has none.
    pub fn respond(&self, method: &Method, request: &HeaderMap) -> (Outcome, Response) {
        let identity = &self.representations[self.identity];
        let part = if method == Method::GET && request.contains_key(header::RANGE) && !identity.body.is_empty() {
            ByteRange::of(request).filter(|_| range::if_range_allows(request, &identity.etag))
        } else {
            None
        };
        let selected = if part.is_some() { identity } else { self.select(request) };
        match (conditional::evaluate(request, &selected.etag), part) {
            (Preconditions::Failed, _) => (Outcome::PreconditionFailed, refusal(StatusCode::PRECONDITION_FAILED)),
            (Preconditions::NotModified, _) => {
                let headers = selected.not_modified.clone();
                (Outcome::NotModified, response(StatusCode::NOT_MODIFIED, headers, Body::empty()))
            }
            (Preconditions::Hold, None) => (Outcome::Asset, selected.respond(StatusCode::OK)),
            (Preconditions::Hold, Some(part)) => selected.respond_part(part),
        }
    }

    /// Answers with this page as the body of a 404; preconditions do not apply to it (RFC 9110, section 13.2.1).
    pub fn respond_not_found(&self, request: &HeaderMap) -> Response {
        self.select(request).respond(StatusCode::NOT_FOUND)
    }

    fn select(&self, request: &HeaderMap) -> &Representation {
        if let [only] = &*self.representations {
            return only;
        }
        let offered = self.representations.iter().map(|representation| representation.encoding);
        let chosen = AcceptEncoding::of(request).choose(offered);
        &self.representations[chosen.unwrap_or(self.identity)]
    }
}

/// The fields that a 304 repeats, so that a cache can bring its copy up to date (RFC 9110, section 15.4.5).
const OF_NOT_MODIFIED: [HeaderName; 5] =
    [header::ETAG, header::CACHE_CONTROL, header::VARY, header::CONTENT_LOCATION, header::EXPIRES];

impl Representation {
    fn new(prepared: prepare::Representation, fields: &Fields, varies: bool) -> Self {
        let prepare::Representation { encoding, hash, body } = prepared;
        let body = match body {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        let etag = HeaderValue::try_from(format!("\"{hash}\"")).expect("a hash in hexadecimal is visible ASCII");

        let mut headers = HeaderMap::with_capacity(12);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(header::ETAG, etag.clone());
        if encoding == Encoding::Identity {
            // Of the others, no part can be had.
            headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        } else {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.token()));
        }
        if varies {
            headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        for (name, value) in fields.iter() {
            let name = HeaderName::try_from(&**name).expect("a field of a prepared site has a name");
            let value = match value {
                Cow::Borrowed(value) => HeaderValue::from_static(value),
                Cow::Owned(value) => HeaderValue::try_from(value).expect("a field of a prepared site is printable"),
            };
            // The owner may have reasons for a Vary of his own; no other field comes twice.
            headers.append(name, value);
        }

        let mut not_modified = HeaderMap::with_capacity(OF_NOT_MODIFIED.len());
        for name in &OF_NOT_MODIFIED {
            for value in headers.get_all(name) {
                not_modified.append(name, value.clone());
            }
        }
        Self { encoding, etag, headers, not_modified, body }
    }

    fn respond(&self, status: StatusCode) -> Response {
        response(status, self.headers.clone(), Body::from(self.body.clone()))
    }

    /// 206 with the part (RFC 9110, section 15.3.7), or 416 with the length there is (section 15.5.17).
    fn respond_part(&self, part: ByteRange) -> (Outcome, Response) {
        let length = self.body.len();
        let Some(range) = part.within(length) else {
            let mut refusal = refusal(StatusCode::RANGE_NOT_SATISFIABLE);
            refusal.headers_mut().insert(header::CONTENT_RANGE, range::unsatisfied(length));
            return (Outcome::RangeNotSatisfiable, refusal);
        };
        let mut headers = self.headers.clone();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(range.len()));
        headers.insert(header::CONTENT_RANGE, range::content_range(&range, length));
        (Outcome::Asset, response(StatusCode::PARTIAL_CONTENT, headers, Body::from(self.body.slice(range))))
    }
}

/// An answer about the request and not of the resource, so it has none of the resource's fields.
fn refusal(status: StatusCode) -> Response {
    let fields = [(header::CONTENT_LENGTH, "0"), (header::CACHE_CONTROL, "no-cache")];
    let fields = fields.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response(status, HeaderMap::from_iter(fields), Body::empty())
}

fn response(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
