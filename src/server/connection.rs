//! One connection, from its first byte to its last, and how long a client may take over it.
//!
//! hyper has a time-out for the head of a request, but arms a timer anew for each request. Here a request only counts
//! itself; one timer a connection looks every [`TICK`] at what has happened, so a client is cut at most a tick late.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{Router, extract::Request, response::Response};
use hyper::{body::Incoming, server::conn::http1, service::Service};
use hyper_util::{
    rt::TokioIo,
    server::graceful::Watcher,
    service::{TowerToHyperService, TowerToHyperServiceFuture},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Instant},
};

/// How often a connection is looked at.
const TICK: Duration = Duration::from_secs(5);

/// How long a client may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For the whole head of a request, however its bytes come; also until the first byte of a connection.
    pub head: Duration,
    /// From an answer to the next request.
    pub idle: Duration,
    /// Without taking a single byte of an answer.
    pub stall: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { head: Duration::from_secs(10), idle: Duration::from_secs(75), stall: Duration::from_secs(30) }
    }
}

/// Serves a connection until it ends, its client is overdue, or `drain` says so and it has answered what it has read.
pub(super) async fn serve<S>(stream: S, router: Router, timeouts: Timeouts, drain: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pace = Arc::new(Pace::default());
    let io = TokioIo::new(Paced { stream, pace: Arc::clone(&pace) });
    let service = Counting { service: TowerToHyperService::new(router), pace: Arc::clone(&pace) };
    let mut http = http1::Builder::new();
    http.header_read_timeout(None);
    let connection = drain.watch(http.serve_connection(io, service));
    tokio::select! {
        biased;
        // An error is a client that went away or sent no HTTP: nothing that the owner could do about.
        ended = connection => if let Err(error) = ended {
            tracing::debug!("connection ended: {error}");
        },
        phase = pace.overdue(timeouts) => tracing::debug!("connection cut: its client was too slow ({phase:?})"),
    }
}

/// What has happened on a connection. Written by its one task, so no order needs to be kept.
#[derive(Debug, Default)]
struct Pace {
    /// Requests that have begun.
    requests: AtomicU32,
    /// Whether bytes have come since the last request began: the head of another one is on its way.
    heard: AtomicBool,
    /// Writes that have taken something.
    writes: AtomicU32,
    /// Whether the client has not yet taken what was to be written.
    blocked: AtomicBool,
}

/// What a client is at, with the number that goes up when it gets on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head(u32),
    Idle(u32),
    Stalled(u32),
}

impl Pace {
    fn phase(&self) -> Phase {
        let requests = self.requests.load(Relaxed);
        if self.blocked.load(Relaxed) {
            Phase::Stalled(self.writes.load(Relaxed))
        } else if requests == 0 || self.heard.load(Relaxed) {
            Phase::Head(requests)
        } else {
            Phase::Idle(requests)
        }
    }

    /// Resolves when the client has been in one phase for longer than it may.
    async fn overdue(&self, timeouts: Timeouts) -> Phase {
        let (mut phase, mut since) = (self.phase(), Instant::now());
        loop {
            time::sleep(TICK).await;
            let now = self.phase();
            if now != phase {
                (phase, since) = (now, Instant::now());
                continue;
            }
            let limit = match phase {
                Phase::Head(_) => timeouts.head,
                Phase::Idle(_) => timeouts.idle,
                Phase::Stalled(_) => timeouts.stall,
            };
            if since.elapsed() >= limit {
                return phase;
            }
        }
    }
}

/// The router, telling the pace when a request begins.
struct Counting {
    service: TowerToHyperService<Router>,
    pace: Arc<Pace>,
}

impl Service<Request<Incoming>> for Counting {
    type Response = Response;
    type Error = std::convert::Infallible;
    type Future = TowerToHyperServiceFuture<Router, Request<Incoming>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        // A load and a store: there is one writer, and this is cheaper than a locked addition.
        self.pace.requests.store(self.pace.requests.load(Relaxed).wrapping_add(1).max(1), Relaxed);
        self.pace.heard.store(false, Relaxed);
        self.service.call(request)
    }
}

/// A stream that tells the pace what comes and goes.
struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
}

impl<S: Unpin> Paced<S> {
    fn wrote(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.pace.blocked.store(result.is_pending(), Relaxed);
        let written = ready!(result)?;
        self.pace.writes.store(self.pace.writes.load(Relaxed).wrapping_add(1), Relaxed);
        Poll::Ready(Ok(written))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.pace.heard.store(true, Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use hyper_util::server::graceful::GracefulShutdown;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        task::JoinHandle,
    };

    use super::*;

    const BODY: usize = 100_000;
    const HEAD: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";

    /// A connection to a server of 100 KB pages, over a pipe that holds a hundredth of one.
    fn connect() -> (DuplexStream, JoinHandle<Duration>) {
        let (client, server) = duplex(1000);
        let router = Router::new().fallback(|| async { "x".repeat(BODY) });
        let lifetime = tokio::spawn(async move {
            let started = Instant::now();
            let drain = GracefulShutdown::new();
            serve(server, router, Timeouts::default(), drain.watcher()).await;
            started.elapsed()
        });
        (client, lifetime)
    }

    /// Fails unless the connection lives for `limit`, and at most a tick longer.
    #[track_caller]
    fn assert_cut_after(lived: Duration, limit: Duration) {
        assert!(lived >= limit && lived <= limit + TICK, "it lived {lived:?}, with a limit of {limit:?}");
    }

    async fn read_answer(client: &mut DuplexStream) {
        let mut answer = Vec::new();
        while !answer.ends_with("x".repeat(BODY).as_bytes()) {
            assert!(client.read_buf(&mut answer).await.expect("the connection is open") > 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_is_cut() {
        let (_client, lifetime) = connect();
        assert_cut_after(lifetime.await.expect("no panic"), Timeouts::default().head);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_comes_byte_by_byte_is_cut() {
        let (mut client, lifetime) = connect();
        let drip = async {
            for byte in HEAD.iter().cycle().take(60) {
                time::sleep(Duration::from_secs(1)).await;
                if client.write_all(&[if *byte == b'\r' { b'a' } else { *byte }]).await.is_err() {
                    break;
                }
            }
        };
        tokio::join!(drip, async { assert_cut_after(lifetime.await.expect("no panic"), Timeouts::default().head) });
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_has_its_answer_may_be_idle_for_longer() {
        let (mut client, lifetime) = connect();
        client.write_all(HEAD).await.expect("the connection is open");
        read_answer(&mut client).await;
        assert_cut_after(lifetime.await.expect("no panic"), Timeouts::default().idle);
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_head_has_to_come_as_quickly_as_the_first() {
        let (mut client, lifetime) = connect();
        client.write_all(HEAD).await.expect("the connection is open");
        read_answer(&mut client).await;
        client.write_all(&HEAD[..10]).await.expect("the connection is open");
        assert_cut_after(lifetime.await.expect("no panic"), Timeouts::default().head);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_take_its_answer_is_cut() {
        let (mut client, lifetime) = connect();
        client.write_all(HEAD).await.expect("the connection is open");
        assert_cut_after(lifetime.await.expect("no panic"), Timeouts::default().stall);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_gets_on_is_not_cut_however_slow() {
        let (mut client, lifetime) = connect();
        client.write_all(HEAD).await.expect("the connection is open");
        let started = Instant::now();
        let mut taken = 0;
        while taken < BODY {
            time::sleep(Duration::from_secs(4)).await;
            let read = client.read(&mut [0; 1000]).await.expect("the connection is open");
            assert!(read > 0, "it was cut after {taken} bytes and {:?}", started.elapsed());
            taken += read;
        }
        assert!(started.elapsed() > Duration::from_secs(300) && !lifetime.is_finished());
    }
}
