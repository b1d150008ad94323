//! `homebody healthcheck`: is the server beside this process taking requests? For containers without a shell.

use std::time::Duration;

use anyhow::{Context, bail};
use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time,
};

use super::Failure;
use crate::{config::AdminArgs, server::ListenAddress};

/// A server that takes longer is not healthy.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn healthcheck(args: &AdminArgs) -> Result<(), Failure> {
    let address = args.metrics_listen.from_here();
    let asked = super::small_runtime()?.block_on(async { time::timeout(PATIENCE, ask(&address)).await });
    let status = match asked {
        Ok(status) => status.with_context(|| format!("asking {address}"))?,
        Err(_) => return Err(anyhow::anyhow!("{address} does not answer within {PATIENCE:?}").into()),
    };
    if !status.is_success() {
        return Err(anyhow::anyhow!("{address} answers {status}").into());
    }
    Ok(())
}

async fn ask(address: &ListenAddress) -> anyhow::Result<StatusCode> {
    match address {
        ListenAddress::Tcp(address) => ask_over(TcpStream::connect(address).await?).await,
        ListenAddress::Unix(path) => ask_over(UnixStream::connect(path).await?).await,
    }
}

async fn ask_over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> anyhow::Result<StatusCode> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get("/readyz").header(header::HOST, "localhost").body(Body::empty())?;
    tokio::select! {
        response = sender.send_request(request) => Ok(response?.status()),
        ended = connection => {
            ended?;
            bail!("the connection was closed without an answer")
        }
    }
}
