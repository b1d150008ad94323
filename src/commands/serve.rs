//! `homebody serve`: the website.

use std::num::NonZero;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Failure;
use crate::{
    config::{self, ServeArgs},
    links::{LinkOptions, LinksCache},
    router::{App, AppOptions},
    server::{self, Limits, Listeners, Timeouts},
    telemetry,
};

pub(super) fn serve(args: &ServeArgs) -> Result<(), Failure> {
    telemetry::start(args.log.level(), args.log.format(), config::colours());
    let source = super::source(&args.links)?;
    let site = super::site(&args.site)?;
    for warning in site.warnings() {
        tracing::warn!("{warning}");
    }
    let limits = Limits {
        max_connections: args.max_connections.map_or_else(Limits::connections_from_file_limit, |limit| {
            usize::try_from(limit.get()).unwrap_or(usize::MAX)
        }),
        timeouts: Timeouts::default(),
        grace: args.grace,
    };
    if let Some(warning) = super::source_warning(&args.links) {
        tracing::warn!("{warning}");
    }
    let links = LinkOptions {
        source,
        cache: args.refresh.links_cache.clone().map(LinksCache::new),
        default_status: args.links.redirect_status,
        max_age: args.refresh.redirect_max_age,
        ..LinkOptions::default()
    };
    let app = App::new(site, AppOptions { links, request_log: args.log.requests() });
    runtime()?.block_on(async {
        // Before binding: from the moment that somebody can reach the server, a signal stops it properly.
        let stop = StopSignals::listen().context("listening for signals")?;
        let listeners = Listeners::bind(&args.listen, &args.admin.metrics_listen).map_err(anyhow::Error::from)?;
        app.links.load();
        if let Some(interval) = args.refresh.redirects_interval {
            app.links.poll(interval);
        }
        server::run(listeners, app, limits, stop.received()).await;
        Ok(())
    })
}

/// As many threads as processors; with one, no thread besides the main one, which saves waking another up.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let alone = std::thread::available_parallelism().is_ok_and(|processors| processors == NonZero::<usize>::MIN);
    let mut builder =
        if alone { tokio::runtime::Builder::new_current_thread() } else { tokio::runtime::Builder::new_multi_thread() };
    Ok(builder.enable_all().build().context("starting the runtime")?)
}

/// The signals that stop the server. Handlers of its own are needed as process 1 of a container, where the default is
/// to ignore them.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn one(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Resolves on the first signal. A second one, while draining, ends the process at once.
    async fn received(mut self) {
        self.one().await;
        tokio::spawn(async move {
            self.one().await;
            tracing::warn!("stopped at once by a second signal");
            std::process::exit(1);
        });
    }
}
