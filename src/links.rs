//! Short links: a table that is read without waiting and replaced as a whole.
//!
//! The table has a floor, the site's own `_redirects`, and may have a [`Source`] that is laid over it, such as a Gist.
//! The source is asked once at start and then only when a look-up misses, as seldom as [`refresh`] allows. Whatever the
//! source does, the last good table stays.

mod redirect;
mod refresh;
mod source;
mod table;

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use axum::http::StatusCode;
use tokio::{sync::watch, time};

pub use source::{FetchError, Fetching, HttpSource, Source, SourceAddress, file_source};
pub use table::{Link, LinkTable, Origin, Rejected, RejectedReason, RejectedText, STATUSES};

use refresh::TokenBucket;

/// Complaints of one kind that a new table may bring to the log; `homebody check` has them all.
const MOST_LOGGED: usize = 20;

/// What the links of a site are made from.
pub struct LinkOptions {
    /// The text of the site's own `_redirects`.
    pub floor: String,
    /// Where more links come from, if from anywhere.
    pub source: Option<Box<dyn Source>>,
    /// For links that name no status of their own; one of [`STATUSES`].
    pub default_status: StatusCode,
    /// Whether the site itself answers a path, so that a link of that name is never reached.
    pub is_shadowed: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl fmt::Debug for LinkOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkOptions").field("default_status", &self.default_status).finish_non_exhaustive()
    }
}

impl Default for LinkOptions {
    /// No links at all, 302 for those to come.
    fn default() -> Self {
        Self { floor: String::new(), source: None, default_status: StatusCode::FOUND, is_shadowed: Box::new(|_| false) }
    }
}

/// The short links in force. A clone is another handle to the same table.
#[derive(Clone)]
pub struct Links(Arc<Shared>);

struct Shared {
    options: LinkOptions,
    /// The table in force: readers never wait, a refresh puts a whole new one in place.
    table: ArcSwap<LinkTable>,
    /// Decides whether a miss may cause a refresh. Held for moments, and only by misses.
    gate: Mutex<Gate>,
    /// How refreshes ended, indexed by [`RefreshResult`].
    results: [AtomicU64; RefreshResult::ALL.len()],
}

struct Gate {
    bucket: TokenBucket,
    /// Closed when the refresh that is under way has ended.
    running: Option<watch::Receiver<()>>,
}

/// How a refresh ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshResult {
    /// A new table is in force.
    Accepted,
    /// The source could not be reached.
    Unreachable,
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
    pub const ALL: [Self; 7] =
        [Self::Accepted, Self::Unreachable, Self::TimedOut, Self::Status, Self::TooLarge, Self::NotText, Self::NoLinks];

    /// The word for it in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Status => "status",
            Self::TooLarge => "too_large",
            Self::NotText => "not_text",
            Self::NoLinks => "no_links",
        }
    }
}

impl Links {
    /// The links of the floor. The source is not asked yet.
    pub fn new(options: LinkOptions) -> Self {
        let floor = LinkTable::parse(&options.floor, Origin::Site, options.default_status);
        let links = Self(Arc::new(Shared {
            options,
            table: ArcSwap::default(),
            gate: Mutex::new(Gate { bucket: TokenBucket::full(), running: None }),
            results: std::array::from_fn(|_| AtomicU64::new(0)),
        }));
        links.0.put_in_force(floor);
        links
    }

    /// Asks the source for the first time, in the background. It counts as a refresh, so misses meanwhile wait for it.
    ///
    /// Needs a tokio runtime.
    pub fn load(&self) {
        let _ = self.join_or_start();
    }

    /// Asks the source now, whatever was asked before, and waits for the answer. For the owner; a stranger's request never
    /// leads here.
    pub async fn refresh(&self) -> Result<(), FetchError> {
        self.0.refresh().await
    }

    /// The table in force.
    pub fn table(&self) -> Arc<LinkTable> {
        self.0.table.load_full()
    }

    /// The link that a decoded path names. If there is none, and the name may be that of a link, the source is asked at
    /// most once, this waits for it at most [`refresh::PATIENCE`], and looks once more.
    pub async fn lookup(&self, path: &str) -> Option<Arc<Link>> {
        let alias = table::alias_of(path);
        let found = self.0.table.load().get(alias);
        if found.is_some() || !refresh::may_be_link(alias) {
            return found;
        }
        let mut running = self.join_or_start()?;
        // An error means that the sender is gone, which is how a refresh says that it has ended.
        let _ = time::timeout(refresh::PATIENCE, running.changed()).await;
        self.0.table.load().get(alias)
    }

    /// How many refreshes have ended in each way.
    pub fn refreshes(&self) -> impl Iterator<Item = (RefreshResult, u64)> {
        RefreshResult::ALL.into_iter().map(|result| (result, self.0.results[result as usize].load(Ordering::Relaxed)))
    }

    /// The refresh under way, or a new one if the bucket has a token; `None` if there is nothing to wait for.
    ///
    /// A refresh is a task of its own: the request that caused it may go away without taking it from others.
    fn join_or_start(&self) -> Option<watch::Receiver<()>> {
        self.0.options.source.as_ref()?;
        let mut gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = gate.running.as_ref().filter(|running| running.has_changed().is_ok()) {
            return Some(running.clone());
        }
        if !gate.bucket.take(time::Instant::now()) {
            return None;
        }
        let (ended, running) = watch::channel(());
        gate.running = Some(running.clone());
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            // A failure is logged and counted already.
            let _ = shared.refresh().await;
            drop(ended);
        });
        Some(running)
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("table", &self.0.table).finish_non_exhaustive()
    }
}

impl Shared {
    /// Fetches the source's table and puts it in force, or leaves everything as it is.
    async fn refresh(&self) -> Result<(), FetchError> {
        let Some(source) = &self.options.source else { return Ok(()) };
        let refreshed = source.fetch().await.and_then(|text| self.accept(&text));
        let result = refreshed.as_ref().map_or_else(FetchError::result, |()| RefreshResult::Accepted);
        if let Err(error) = &refreshed {
            let result = result.as_str();
            tracing::warn!(result, "short links not refreshed, the last good ones stay: {error}");
        }
        self.results[result as usize].fetch_add(1, Ordering::Relaxed);
        refreshed
    }

    /// Judges a fetched text, and puts its links in force over the floor.
    fn accept(&self, text: &str) -> Result<(), FetchError> {
        let default_status = self.options.default_status;
        let fetched = LinkTable::parse(text, Origin::Source, default_status);
        if fetched.is_empty() && !table::says_empty(text) {
            return Err(FetchError::NoLinks { rejected: fetched.rejected().len() });
        }
        let floor = LinkTable::parse(&self.options.floor, Origin::Site, default_status);
        self.put_in_force(floor.overlaid_with(fetched));
        Ok(())
    }

    fn put_in_force(&self, table: LinkTable) {
        let table = table.with_hits_of(&self.table.load());
        for Rejected { origin, line, reason, .. } in table.rejected().iter().take(MOST_LOGGED) {
            tracing::warn!(%origin, line, "line {line} of the {origin}'s short links is not used: {reason}");
        }
        let is_shadowed = |link: &&Link| (self.options.is_shadowed)(&format!("/{}", link.alias()));
        for link in table.links().filter(is_shadowed).take(MOST_LOGGED) {
            let alias = link.alias();
            tracing::warn!(alias, "short link {alias} is never reached: the site has a file of that name");
        }
        tracing::info!(links = table.len(), rejected = table.rejected().len(), "{} short links in force", table.len());
        self.table.store(Arc::new(table));
    }
}
