//! Short links: a table that is read without waiting and replaced as a whole.
//!
//! The table has a floor, the site's own `_redirects`, and may have a [`Source`] that is laid over it, such as a Gist.
//! The source is asked once at start and then only when a look-up misses, as seldom as [`throttle`] allows; at intervals
//! and by the owner only if he wants so. Whatever the source does, the last good table stays, and in a [`LinksCache`] it
//! outlives the process.

mod cache;
mod line;
mod link;
mod redirect;
mod refresh;
mod source;
mod table;
mod target;
mod throttle;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, StatusCode};
use tokio::{sync::watch, time};

pub use cache::{CacheError, LinksCache};
pub use line::{Rejected, RejectedReason, RejectedText};
pub use link::{Link, Origin, STATUSES};
pub use redirect::Found;
pub use refresh::{RefreshError, RefreshResult, Refreshed};
pub use source::{
    Ask, FetchError, Fetched, Fetching, HttpSource, Source, SourceAddress, TIMEOUT, Token, WebAddress, fetch,
    file_source,
};
pub use table::{Difference, LinkTable};

use redirect::Purpose;
use refresh::{Cause, Gate, Outcome};
use table::Match;

/// Complaints of one kind that a new table may bring to the log; `homebody check` has them all.
const MOST_LOGGED: usize = 20;

/// Requests that may wait for a refresh at one time; whoever comes then hears at once that there is no such link.
const MOST_WAITING: usize = 256;

/// What the links of a site are made from.
pub struct LinkOptions {
    /// The text of the site's own `_redirects`.
    pub floor: String,
    /// Where more links come from, if from anywhere.
    pub source: Option<Box<dyn Source>>,
    /// Where the source's last good text is kept, if anywhere.
    pub cache: Option<LinksCache>,
    /// How long a fetch may take.
    pub fetch_timeout: Duration,
    /// For links that name no status of their own; one of [`STATUSES`].
    pub default_status: StatusCode,
    /// How long browsers and caches may keep the answer of a link, whatever its status.
    pub max_age: Duration,
    /// Whether the site itself answers a path, so that a link of that name is never reached.
    pub is_shadowed: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl fmt::Debug for LinkOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkOptions").field("default_status", &self.default_status).finish_non_exhaustive()
    }
}

impl Default for LinkOptions {
    /// No links at all; 302 for those to come, kept for a minute.
    fn default() -> Self {
        Self {
            floor: String::new(),
            source: None,
            cache: None,
            fetch_timeout: TIMEOUT,
            default_status: StatusCode::FOUND,
            max_age: Duration::from_secs(60),
            is_shadowed: Box::new(|_| false),
        }
    }
}

/// The short links in force. A clone is another handle to the same table.
#[derive(Clone)]
pub struct Links(Arc<Shared>);

struct Shared {
    options: LinkOptions,
    /// What every answer of a link has.
    fields: HeaderMap,
    /// The table in force: readers never wait, a refresh puts a whole new one in place.
    table: ArcSwap<LinkTable>,
    /// Decides whether there may be a refresh. Held for moments, and only by misses and refreshes.
    gate: Mutex<Gate>,
    /// How many requests wait for a refresh.
    waiting: AtomicUsize,
    /// How many texts of the source were accepted, which numbers them.
    accepted: AtomicU64,
    /// The number of the text that is in the cache.
    written: Mutex<u64>,
    /// How refreshes ended, indexed by [`RefreshResult`].
    results: [AtomicU64; RefreshResult::ALL.len()],
}

impl Links {
    /// The links of the floor, and over them those of the cache. The source is not asked yet.
    pub fn new(options: LinkOptions) -> Self {
        let fields = redirect::fields(options.max_age);
        let links = Self(Arc::new(Shared {
            options,
            fields,
            table: ArcSwap::default(),
            gate: Mutex::new(Gate::open()),
            waiting: AtomicUsize::new(0),
            accepted: AtomicU64::new(0),
            written: Mutex::new(0),
            results: std::array::from_fn(|_| AtomicU64::new(0)),
        }));
        let cached = links.0.options.cache.as_ref().map_or(Ok(None), LinksCache::read).unwrap_or_else(|error| {
            tracing::warn!("short links start without what the cache may have: {error}");
            None
        });
        let cached = cached.unwrap_or_default();
        links.0.put_in_force(LinkTable::parse(&cached, Origin::Source, links.0.options.default_status));
        links
    }

    /// Asks the source for the first time, in the background. It counts as a refresh, so misses meanwhile wait for it.
    ///
    /// Needs a tokio runtime.
    pub fn load(&self) {
        let _ = self.join_or_start();
    }

    /// From now on also asks the source once in every `interval`, give or take a tenth, so that many machines do not ask
    /// at one time.
    ///
    /// Needs a tokio runtime.
    pub fn poll(&self, interval: Duration) {
        let links = self.clone();
        tokio::spawn(async move {
            loop {
                time::sleep(throttle::jittered(interval)).await;
                // A failure is logged and counted already; the next one comes in time.
                let _ = links.refresh(Cause::Interval).await;
            }
        });
    }

    /// Asks the source now, unless it does not want to be asked, and waits for what comes of it. For the owner; a
    /// stranger's request never leads here.
    pub async fn refresh_now(&self) -> Result<Refreshed, RefreshError> {
        self.refresh(Cause::Owner).await
    }

    /// The table in force.
    pub fn table(&self) -> Arc<LinkTable> {
        self.0.table.load_full()
    }

    /// The link that a decoded path names, in one of the ways that [`LinkTable`] knows. If there is none, and the name
    /// may be that of a link, the source is asked at most once, this waits for it at most [`throttle::PATIENCE`], and looks
    /// once more.
    pub async fn lookup(&self, path: &str) -> Option<Found> {
        let found = self.0.find(path);
        if found.is_some() || !throttle::may_be_link(table::meant(path)) {
            return found;
        }
        // In a box, since this future is part of that of every request, pages included, and is moved along with it.
        Box::pin(self.ask_and_find(path)).await
    }

    /// Waits for a refresh, if there is one, and looks once more.
    async fn ask_and_find(&self, path: &str) -> Option<Found> {
        let mut running = self.join_or_start()?;
        let _place = Waiting::take(&self.0.waiting)?;
        let _ = time::timeout(throttle::PATIENCE, running.wait_for(Option::is_some)).await;
        self.0.find(path)
    }

    /// How many refreshes have ended in each way.
    pub fn refreshes(&self) -> impl Iterator<Item = (RefreshResult, u64)> {
        RefreshResult::ALL.into_iter().map(|result| (result, self.0.results[result as usize].load(Ordering::Relaxed)))
    }

    /// The refresh under way, or a new one if the bucket has a token; `None` if there is nothing to wait for.
    fn join_or_start(&self) -> Option<watch::Receiver<Option<Outcome>>> {
        self.0.options.source.as_ref()?;
        let mut gate = self.0.gate();
        gate.running().or_else(|| self.start(&mut gate, Cause::Miss).ok())
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("table", &self.0.table).finish_non_exhaustive()
    }
}

/// A place among those who wait, given back when it goes out of scope.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn take(waiting: &'a AtomicUsize) -> Option<Self> {
        let place = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < MOST_WAITING).then_some(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, path: &str) -> Option<Found> {
        let table = self.table.load();
        let (link, purpose) = match table.find(path)? {
            Match::Exact(link) => (link, Purpose::Follow { splat: None }),
            Match::Below(link, splat) => (link, Purpose::Follow { splat: Some(splat.into()) }),
            Match::Preview(link) => (link, Purpose::Preview),
        };
        Some(Found { link: Arc::clone(link), purpose, fields: self.fields.clone() })
    }

    /// Puts the floor in force, with these links over it.
    fn put_in_force(&self, upper: LinkTable) -> Refreshed {
        let floor = LinkTable::parse(&self.options.floor, Origin::Site, self.options.default_status);
        let before = self.table.load();
        let mut table = upper.laid_over(floor);
        let difference = table.succeed(&before);
        let refreshed = Refreshed { difference, links: table.len(), rejected: table.rejected().len() };
        for Rejected { origin, line, reason, .. } in table.rejected().iter().take(MOST_LOGGED) {
            tracing::warn!(%origin, line, "line {line} of the {origin}'s short links is not used: {reason}");
        }
        let is_shadowed = |link: &&Arc<Link>| (self.options.is_shadowed)(&format!("/{}", link.alias()));
        for link in table.links().filter(is_shadowed).take(MOST_LOGGED) {
            let alias = link.alias();
            tracing::warn!(alias, "short link {alias} is never reached: the site has a file of that name");
        }
        let (Difference { added, changed, removed }, Refreshed { links, rejected, .. }) = (difference, refreshed);
        tracing::info!(
            links,
            added,
            changed,
            removed,
            rejected,
            "{links} short links in force: {added} added, {changed} changed, {removed} removed; {rejected} lines not used"
        );
        self.table.store(Arc::new(table));
        refreshed
    }
}
