//! The admin listener, for the owner and his machines; it is never reachable through the public one.
//!
//! | path | answer |
//! | --- | --- |
//! | `/metrics` | all metrics, in Prometheus' text format |
//! | `/healthz` | 200 as long as the process answers at all |
//! | `/readyz` | 200 while requests are taken, 503 once draining has begun; never depends on the source of links |

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
    routing::get,
};

use crate::{metrics::Metrics, router::App};

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
