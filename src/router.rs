//! The public listener: one handler that walks down the ladder.
//!
//! It is an axum handler served as it is, without axum's path router above it. That would match before decoding, answer
//! what the site's own table must answer, and cost each request six allocations (1,500 of 19,800 instructions, counted by
//! callgrind) even with nothing but a fallback in it.

mod framing;

use std::{borrow::Cow, convert::Infallible, sync::Arc, time::Instant};

use axum::{
    body::Body,
    extract::{Request, State},
    handler::Handler,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    response::Response,
};
use percent_encoding::percent_decode_str;
use tower_service::Service;

use crate::{
    links::{LinkOptions, Links},
    metrics::Metrics,
    outcome::Outcome,
    site::{Resolved, Site},
    telemetry,
};

/// All that answers are made from.
#[derive(Debug)]
pub struct App {
    /// The pages.
    pub site: Arc<Site>,
    /// The short links.
    pub links: Links,
    /// What is counted.
    pub metrics: Metrics,
    /// Whether each request gets a line in the log.
    pub request_log: bool,
}

/// How an [`App`] differs from the plain one.
#[derive(Debug, Default)]
pub struct AppOptions {
    /// The short links; their floor, and what shadows them, is the site's.
    pub links: LinkOptions,
    /// Whether each request gets a line in the log.
    pub request_log: bool,
}

impl App {
    /// Puts the parts together. The source is not asked yet: see [`Links::load`].
    pub fn new(site: Site, options: AppOptions) -> Arc<Self> {
        let site = Arc::new(site);
        let shadowing = Arc::clone(&site);
        let links = Links::new(LinkOptions {
            floor: site.redirects().to_owned(),
            is_shadowed: Box::new(move |path| shadowing.resolve(path).is_some()),
            ..options.links
        });
        let metrics = Metrics::new();
        metrics.watch_links(&links);
        metrics.watch_site(&site);
        Arc::new(Self { site, links, metrics, request_log: options.request_log })
    }
}

/// The handler of the public listener, as a service.
pub fn public(
    app: Arc<App>,
) -> impl Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static {
    answer.with_state(app)
}

/// Answers a request, and records what happened to it.
async fn answer(State(app): State<Arc<App>>, request: Request) -> Response {
    let started = Instant::now();
    app.metrics.count_request();
    // The body is dropped unread: nothing here takes one.
    let (request, _) = request.into_parts();
    let (outcome, mut response) = ladder(&app, &request).await;
    let elapsed = started.elapsed();
    app.metrics.count_response(response.status(), elapsed);
    if app.request_log {
        telemetry::log_request(&request, outcome, &response, elapsed);
    }
    framing::close_after_chunked(&request, &mut response);
    if request.method == Method::HEAD {
        // Every answer has its Content-Length already, so it is the same as to GET (RFC 9110, section 9.3.2).
        *response.body_mut() = Body::empty();
    }
    response
}

/// The four steps, for what is a request at all; the first that has an answer gives it.
async fn ladder(app: &App, request: &Parts) -> (Outcome, Response) {
    if let Some(refusal) = framing::refuse(request) {
        return (Outcome::Refused, refusal);
    }
    if let Some(refusal) = refuse_method(&request.method) {
        return (Outcome::Method, refusal);
    }
    let Some(path) = decode(&request.uri) else {
        return (Outcome::NotFound, not_found(app, request));
    };
    if let Some(answer) = from_site(app, &path, request) {
        return answer;
    }
    if let Some(found) = app.links.lookup(&path).await {
        return found.respond(request);
    }
    (Outcome::NotFound, not_found(app, request))
}

/// Everything here is for reading (RFC 9110, sections 9.3.1, 9.3.2 and 9.3.7).
fn refuse_method(method: &Method) -> Option<Response> {
    let status = match *method {
        Method::GET | Method::HEAD => return None,
        Method::OPTIONS => StatusCode::NO_CONTENT,
        _ => StatusCode::METHOD_NOT_ALLOWED,
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(response)
}

/// The path, decoded once; `None` if it is not UTF-8 then, so that nothing can have that name.
fn decode(uri: &Uri) -> Option<Cow<'_, str>> {
    let path = uri.path();
    // Most paths have nothing to decode, and are text already.
    if path.contains('%') { percent_decode_str(path).decode_utf8().ok() } else { Some(path.into()) }
}

fn from_site(app: &App, path: &str, request: &Parts) -> Option<(Outcome, Response)> {
    Some(match app.site.resolve(path)? {
        Resolved::Resource(resource) => resource.respond(&request.method, &request.headers),
        Resolved::Canonical(redirect) => (Outcome::CanonicalRedirect, redirect.respond(request.uri.query())),
    })
}

fn not_found(app: &App, request: &Parts) -> Response {
    if let Some(page) = app.site.not_found_page() {
        return page.respond_not_found(&request.headers);
    }
    let text = "404 Not Found\n";
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::NOT_FOUND;
    *response.headers_mut() = HeaderMap::from_iter([
        (header::CONTENT_LENGTH, HeaderValue::from(text.len())),
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]);
    response
}
