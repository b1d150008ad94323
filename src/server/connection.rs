//! One connection, from its first byte to its last.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{body::Body, extract::Request, response::Response};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::TokioIo,
    server::graceful::Watcher,
    service::{TowerToHyperService, TowerToHyperServiceFuture},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tower_service::Service;

use super::pace::Pace;

/// Serves a connection until it ends, or `drain` says so and it has answered what it has read. Whoever calls this cuts
/// clients that are too slow, by what `pace` says.
pub(super) async fn serve<IO, S>(stream: IO, service: S, pace: Arc<Pace>, drain: Watcher)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone,
{
    let io = TokioIo::new(Paced { stream, pace: Arc::clone(&pace) });
    let service = Counting { service: TowerToHyperService::new(service), pace };
    let mut http = http1::Builder::new();
    http.header_read_timeout(None);
    // An error is a client that went away or sent no HTTP: nothing that the owner could do about.
    if let Err(error) = drain.watch(http.serve_connection(io, service)).await {
        tracing::debug!("connection ended: {error}");
    }
}

/// A service, telling the pace when a request begins.
struct Counting<S> {
    service: TowerToHyperService<S>,
    pace: Arc<Pace>,
}

impl<S> hyper::service::Service<Request<Incoming>> for Counting<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone,
{
    type Response = Response;
    type Error = Infallible;
    type Future = TowerToHyperServiceFuture<S, Request>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.pace.request();
        hyper::service::Service::call(&self.service, request.map(Body::new))
    }
}

/// A stream that tells the pace what comes and goes.
struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
}

impl<S> Paced<S> {
    fn wrote(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match result {
            Poll::Pending => self.pace.blocked(),
            Poll::Ready(_) => self.pace.wrote(),
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.pace.heard();
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
    use std::time::Duration;

    use axum::Router;
    use hyper_util::server::graceful::GracefulShutdown;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
        task::JoinHandle,
        time::{self, Instant},
    };

    use super::super::pace::{Connections, TICK, Timeouts};

    use super::*;

    const BODY: usize = 100_000;
    const HEAD: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";

    /// A connection to a server of 100 KB pages, over a pipe that holds a hundredth of one.
    fn connect() -> (DuplexStream, JoinHandle<Duration>) {
        let (client, server) = duplex(1000);
        let router = Router::new().fallback(|| async { "x".repeat(BODY) });
        let lifetime = tokio::spawn(async move {
            let started = Instant::now();
            let (drain, pace) = (GracefulShutdown::new(), Arc::new(Pace::default()));
            let mut connection = tokio::spawn(serve(server, router, Arc::clone(&pace), drain.watcher()));
            let mut connections = Connections::new(Timeouts::default());
            connections.watch(&pace, connection.abort_handle());
            drop(pace);
            while time::timeout(TICK, &mut connection).await.is_err() {
                connections.cut_overdue();
            }
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
