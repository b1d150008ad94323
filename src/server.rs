//! From the socket to the router: bind, accept, limit, drain.
//!
//! An accept loop of its own, because `axum::serve` has no header time-out, no cap on connections and no deadline for
//! draining.

mod address;
mod connection;
mod pace;
mod refuse;

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{
    extract::Request,
    response::Response,
    serve::{Listener as Accept, ListenerExt},
};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::{
    net::TcpStream,
    sync::{Semaphore, watch},
    time,
};
use tower_service::Service;

pub use address::{ListenAddress, Listener};
pub use pace::Timeouts;

use crate::{admin, admin::Readiness, router, router::App};
use pace::{Connections, Pace};
use refuse::Refusals;

/// What one listener allows.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at one time. Above it a connection is answered 503 at once.
    pub max_connections: usize,
    /// How long a client may take.
    pub timeouts: Timeouts,
    /// How long requests may take to finish once draining has begun.
    pub grace: Duration,
}

/// Scrapes and probes come one after the other; this many at once is a mistake.
const ADMIN_CONNECTIONS: usize = 64;

/// Files that are open besides connections: listeners, the runtime's own, a fetch, a log.
const RESERVED_FILES: usize = 64;

impl Limits {
    /// As many connections as this process may have open files, less what it needs itself.
    pub fn connections_from_file_limit() -> usize {
        const FEWEST: usize = 16;
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let files = limit.map_or(Semaphore::MAX_PERMITS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        files.saturating_sub(ADMIN_CONNECTIONS + RESERVED_FILES).clamp(FEWEST, Semaphore::MAX_PERMITS)
    }
}

/// The two listeners, bound.
#[derive(Debug)]
pub struct Listeners {
    /// The site.
    pub public: Listener,
    /// Metrics and health.
    pub admin: Listener,
}

/// Serves until `stop` resolves, then drains: no connection is accepted any more, requests in flight finish within
/// [`Limits::grace`], `/readyz` says 503 meanwhile.
pub async fn run(listeners: Listeners, app: Arc<App>, limits: Limits, stop: impl Future<Output = ()>) {
    let readiness = Readiness::ready();
    let (stop_public, public_stopped) = watch::channel(());
    let (stop_admin, admin_stopped) = watch::channel(());
    let admin_limits = Limits { max_connections: ADMIN_CONNECTIONS, ..limits };
    let admin_router = admin::router(Arc::clone(&app), readiness.clone());
    let mut public = tokio::spawn(listeners.public.serve(router::public(app), limits, public_stopped));
    let mut admin = tokio::spawn(listeners.admin.serve(admin_router, admin_limits, admin_stopped));

    stop.await;
    readiness.drain();
    tracing::info!(event = "draining", "draining: requests in flight have {:?}", limits.grace);
    // The senders' going away is the signal. One grace for both: the admin listener answers until the site is done.
    let drained = time::timeout(limits.grace, async {
        drop(stop_public);
        let _ = (&mut public).await;
        drop(stop_admin);
        let _ = (&mut admin).await;
    });
    match drained.await {
        Ok(()) => tracing::info!(event = "stopped", "stopped"),
        Err(_) => tracing::warn!(event = "stopped", "stopped, with connections cut that were still busy"),
    }
}

impl Listener {
    async fn serve<S>(self, service: S, limits: Limits, stopped: watch::Receiver<()>)
    where
        S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static,
    {
        match self {
            Self::Tcp(listener) => {
                let set_no_delay = |stream: &mut TcpStream| {
                    // A response goes out in one write; waiting for more to send with it only makes it late.
                    let _ = stream.set_nodelay(true);
                };
                serve(listener.tap_io(set_no_delay), service, limits, stopped).await;
            }
            Self::Unix { listener, file: _file } => serve(listener, service, limits, stopped).await,
        }
    }
}

/// Accepts until the other end of `stopped` is dropped, then waits for the connections there are.
async fn serve<L, S>(mut listener: L, service: S, limits: Limits, mut stopped: watch::Receiver<()>)
where
    L: Accept,
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static,
{
    let drain = GracefulShutdown::new();
    let mut connections = Connections::new(limits.timeouts);
    let slots = Arc::new(Semaphore::new(limits.max_connections));
    let refusals = Refusals::new();
    let mut tick = time::interval(pace::TICK);
    loop {
        let stream = tokio::select! {
            (stream, _) = listener.accept() => stream,
            _ = tick.tick() => {
                connections.cut_overdue();
                continue;
            }
            _ = stopped.changed() => break,
        };
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
            refusals.refuse(stream);
            continue;
        };
        let pace = Arc::new(Pace::default());
        let connection = connection::serve(stream, service.clone(), Arc::clone(&pace), drain.watcher());
        let task = tokio::spawn(async move {
            connection.await;
            drop(slot);
        });
        connections.watch(&pace, task.abort_handle());
    }
    // Closed before draining, so that whoever comes now is told so and goes elsewhere.
    drop(listener);
    drain.shutdown().await;
}

impl Listeners {
    /// Binds both addresses and says so, a line each.
    ///
    /// # Errors
    ///
    /// Names the flag of the address that cannot be bound.
    pub fn bind(public: &ListenAddress, admin: &ListenAddress) -> Result<Self, BindError> {
        let bind = |address: &ListenAddress, listener, flag| {
            let bound = address.bind().map_err(|source| BindError { flag, address: address.clone(), source })?;
            let address = bound.address();
            tracing::info!(event = "listening", listener, %address, "{listener} listener on {}", address.url());
            Ok(bound)
        };
        Ok(Self {
            public: bind(public, "public", "--listen (HOMEBODY_LISTEN)")?,
            admin: bind(admin, "admin", "--metrics-listen (HOMEBODY_METRICS_LISTEN)")?,
        })
    }
}

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("{flag}: cannot listen on {address}: {source}")]
pub struct BindError {
    flag: &'static str,
    address: ListenAddress,
    source: io::Error,
}
