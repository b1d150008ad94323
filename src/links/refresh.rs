//! A refresh: the source is asked, and what it says is judged and put in force, or everything stays as it is.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use axum::http::HeaderValue;
use tokio::{sync::watch, task, time};

use super::{
    Ask, Difference, FetchError, Fetched, LinkTable, Links, Origin, Shared, fetch, table, throttle::TokenBucket,
};

/// Decides whether there may be a refresh.
#[derive(Debug)]
pub(super) struct Gate {
    bucket: TokenBucket,
    /// Until then the source does not want to be asked.
    closed_until: Option<time::Instant>,
    /// Gets the outcome of the last refresh, and has none while that is under way.
    running: Option<watch::Receiver<Option<Outcome>>>,
    /// What the source called the text whose links are in force.
    validator: Option<HeaderValue>,
}

/// What a good refresh came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// How the table in force differs from the one before.
    pub difference: Difference,
    /// Links in force.
    pub links: usize,
    /// Lines that are not used.
    pub rejected: usize,
}

/// Why the owner's refresh did not come about.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// There is nothing to ask.
    #[error("there is no source of links (--redirects-url)")]
    NoSource,
    /// The source said how long it does not want to be asked.
    #[error("the source does not want to be asked for another {} s", .0.as_secs())]
    NotYet(Duration),
    /// It was asked, to no avail.
    #[error("{0}")]
    Failed(String),
}

/// Who causes a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The start of the process, or a request for a name that is not known. Both pay from the bucket.
    Miss,
    /// The owner, who need not pay.
    Owner,
    /// The owner's clock, which need not either.
    Interval,
}

/// How a refresh ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshResult {
    /// A new table is in force.
    Accepted,
    /// The source has nothing new.
    Unchanged,
    /// The source could not be reached.
    Unreachable,
    /// Nobody who is trusted vouches for the source.
    Tls,
    /// The source was too slow.
    TimedOut,
    /// The source answered with another status than 200.
    Status,
    /// The answer was larger than any list of links.
    TooLarge,
    /// The answer was a page, or not UTF-8.
    NotText,
    /// The answer had not one good line.
    NoLinks,
}

impl RefreshResult {
    /// All results.
    pub const ALL: [Self; 9] = [
        Self::Accepted,
        Self::Unchanged,
        Self::Unreachable,
        Self::Tls,
        Self::TimedOut,
        Self::Status,
        Self::TooLarge,
        Self::NotText,
        Self::NoLinks,
    ];

    /// The word for it in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Unchanged => "unchanged",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::TimedOut => "timed_out",
            Self::Status => "status",
            Self::TooLarge => "too_large",
            Self::NotText => "not_text",
            Self::NoLinks => "no_links",
        }
    }
}

/// What a refresh came to.
pub(super) type Outcome = Arc<Result<Refreshed, FetchError>>;

/// A text whose links were put in force.
struct Accepted {
    number: u64,
    text: String,
}

impl Gate {
    /// Open, with a full bucket.
    pub(super) fn open() -> Self {
        Self { bucket: TokenBucket::full(), closed_until: None, running: None, validator: None }
    }

    /// The refresh under way.
    pub(super) fn running(&self) -> Option<watch::Receiver<Option<Outcome>>> {
        // Closed without an outcome is one that broke off.
        self.running.clone().filter(|running| running.borrow().is_none() && running.has_changed().is_ok())
    }

    /// Whether the source may be asked now, or how long not.
    fn may_start(&mut self, cause: Cause, now: time::Instant) -> Result<(), Duration> {
        if let Some(left) = self.closed_until.and_then(|until| until.checked_duration_since(now))
            && !left.is_zero()
        {
            return Err(left);
        }
        if cause == Cause::Miss && !self.bucket.take(now) {
            return Err(TokenBucket::REFILL);
        }
        Ok(())
    }
}

impl Links {
    /// A refresh of its own, after the one that may be under way: what that brings may be older than the owner's wish.
    pub(super) async fn refresh(&self, cause: Cause) -> Result<Refreshed, RefreshError> {
        if self.0.options.source.is_none() {
            return Err(RefreshError::NoSource);
        }
        let mut running = loop {
            let mut under_way = {
                let mut gate = self.0.gate();
                match gate.running() {
                    None => break self.start(&mut gate, cause).map_err(RefreshError::NotYet)?,
                    Some(running) => running,
                }
            };
            let _ = under_way.wait_for(Option::is_some).await;
        };
        let outcome = running.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        match outcome.as_deref() {
            Some(Ok(refreshed)) => Ok(*refreshed),
            Some(Err(error)) => Err(RefreshError::Failed(error.to_string())),
            None => Err(RefreshError::Failed("the refresh broke off".to_owned())),
        }
    }

    /// Begins a refresh, or says how long there is none.
    ///
    /// It is a task of its own: the request that caused it may go away without taking it from others.
    pub(super) fn start(&self, gate: &mut Gate, cause: Cause) -> Result<watch::Receiver<Option<Outcome>>, Duration> {
        gate.may_start(cause, time::Instant::now())?;
        let (ended, running) = watch::channel(None);
        gate.running = Some(running.clone());
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            let (outcome, text) = shared.refresh(cause).await;
            // Whoever waits goes on now, and need not wait for the disk.
            let _ = ended.send(Some(Arc::new(outcome)));
            if let Some(text) = text {
                shared.keep(text).await;
            }
        });
        Ok(running)
    }
}

impl Shared {
    /// Fetches the source's table and puts it in force, or leaves everything as it is. Gives the text, too, if its links
    /// are others than before.
    async fn refresh(self: &Arc<Self>, cause: Cause) -> (Result<Refreshed, FetchError>, Option<Accepted>) {
        let mut result = RefreshResult::Accepted;
        let refreshed = match self.fetch(cause).await {
            Ok(Fetched { text: None, .. }) => {
                result = RefreshResult::Unchanged;
                let table = self.table.load();
                let (links, rejected) = (table.len(), table.rejected().len());
                Ok((Refreshed { difference: Difference::default(), links, rejected }, None))
            }
            Ok(Fetched { text: Some(text), validator, .. }) => self.accept(text, validator).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &refreshed {
            result = error.result();
            tracing::warn!(result = result.as_str(), "short links not refreshed, the last good ones stay: {error}");
        }
        self.results[result as usize].fetch_add(1, Ordering::Relaxed);
        match refreshed {
            Ok((refreshed, text)) => (Ok(refreshed), text),
            Err(error) => (Err(error), None),
        }
    }

    /// Asks the source, and notes how long it does not want to be asked again.
    async fn fetch(&self, cause: Cause) -> Result<Fetched, FetchError> {
        let source = self.options.source.as_ref().expect("refreshes begin only where there is a source");
        let ask = Ask { validator: self.gate().validator.clone(), newest: cause != Cause::Interval };
        let fetched = fetch(&**source, ask, self.options.fetch_timeout).await;
        let wait = match &fetched {
            Ok(Fetched { wait, .. }) | Err(FetchError::Status { wait, .. }) => *wait,
            Err(_) => None,
        };
        if let Some(wait) = wait {
            tracing::info!(seconds = wait.as_secs(), "the source of short links wants to be left alone for a while");
            self.gate().closed_until = Some(time::Instant::now() + wait);
        }
        fetched
    }

    /// Judges a fetched text, and puts its links in force over the floor. Gives the text back if they are others than
    /// before.
    async fn accept(
        self: &Arc<Self>,
        text: String,
        validator: Option<HeaderValue>,
    ) -> Result<(Refreshed, Option<Accepted>), FetchError> {
        let shared = Arc::clone(self);
        // Reading a long list takes longer than pages may wait.
        let accepted = task::spawn_blocking(move || {
            let fetched = LinkTable::parse(&text, Origin::Source, shared.options.default_status);
            if fetched.is_empty() && !table::says_empty(&text) {
                return Err(FetchError::NoLinks { rejected: fetched.rejected().len() });
            }
            let refreshed = shared.put_in_force(fetched);
            let is_other = refreshed.difference != Difference::default();
            let number = shared.accepted.fetch_add(1, Ordering::Relaxed) + 1;
            Ok((refreshed, is_other.then_some(Accepted { number, text })))
        });
        let accepted = accepted.await.unwrap_or_else(|error| Err(FetchError::Unreachable(error.to_string())))?;
        self.gate().validator = validator;
        Ok(accepted)
    }

    /// Writes a text into the cache, if there is one and nothing newer is in it.
    async fn keep(self: Arc<Self>, Accepted { number, text }: Accepted) {
        let kept = task::spawn_blocking(move || {
            let Some(cache) = &self.options.cache else { return };
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if *written < number {
                *written = number;
                if let Err(error) = cache.write(&text) {
                    let file = cache.path().display();
                    tracing::warn!(%file, "short links not written to {file}: {error}");
                }
            }
        });
        // It fails only while the process ends.
        let _ = kept.await;
    }
}
