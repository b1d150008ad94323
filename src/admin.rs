//! The admin listener, for the owner and his machines; it is never reachable through the public one.
//!
//! | path | answer |
//! | --- | --- |
//! | `/metrics` | all metrics, in Prometheus' text format |
//! | `/healthz` | 200 as long as the process answers at all |
//! | `/readyz` | 200 while requests are taken, 503 once draining has begun; never depends on the source of links |
//! | `POST /-/refresh` | asks the source of links now, and says as JSON what came of it |

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use crate::{
    links::{Difference, RefreshError, Refreshed},
    metrics::Metrics,
    router::App,
};

/// Whether requests are taken: true until draining begins.
#[derive(Debug, Clone)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Ready.
    pub fn ready() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// From now on not ready: whoever sends requests here should send them elsewhere.
    pub fn drain(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The router of the admin listener.
pub fn router(app: Arc<App>, readiness: Readiness) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/-/refresh", post(refresh))
        .with_state(app)
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(ready).with_state(readiness))
}

async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, Metrics::CONTENT_TYPE), (header::CACHE_CONTROL, "no-store")], app.metrics.render())
}

async fn ready(State(readiness): State<Readiness>) -> impl IntoResponse {
    if readiness.is_ready() { (StatusCode::OK, "ready\n") } else { (StatusCode::SERVICE_UNAVAILABLE, "draining\n") }
}

/// Refreshes the links past the bucket, but not past what the source asked for.
async fn refresh(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if is_from_another_site(&headers) {
        return (StatusCode::FORBIDDEN, "not for other sites\n").into_response();
    }
    let refreshed = app.links.refresh_now().await;
    let (status, answer) = match &refreshed {
        Ok(Refreshed { difference: Difference { added, changed, removed }, links, rejected }) => {
            let counts = json!({
                "added": added, "changed": changed, "removed": removed, "rejected": rejected, "links": links,
            });
            (StatusCode::OK, counts)
        }
        Err(error) => {
            let status = match error {
                RefreshError::NoSource => StatusCode::CONFLICT,
                RefreshError::NotYet(_) => StatusCode::SERVICE_UNAVAILABLE,
                RefreshError::Failed(_) => StatusCode::BAD_GATEWAY,
            };
            (status, json!({ "error": error.to_string() }))
        }
    };
    let fields = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    let mut response = (status, fields, format!("{answer}\n")).into_response();
    if let Err(RefreshError::NotYet(left)) = refreshed {
        // Rounded up, so that whoever comes back then is not too early.
        response.headers_mut().insert(header::RETRY_AFTER, (left.as_secs() + 1).into());
    }
    response
}

/// Whether a browser sends the request on behalf of a page that is not this listener's: what the owner visits must not
/// work for him here. Programs say nothing of the kind.
fn is_from_another_site(headers: &HeaderMap) -> bool {
    match headers.get("sec-fetch-site") {
        Some(site) => site != "same-origin" && site != "none",
        // Older browsers name the origin of what posts.
        None => headers.get(header::ORIGIN).is_some_and(|origin| {
            let host = headers.get(header::HOST).map_or(&b""[..], |host| host.as_bytes());
            origin.as_bytes().strip_prefix(b"http://").or(origin.as_bytes().strip_prefix(b"https://")) != Some(host)
        }),
    }
}
