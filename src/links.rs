//! Short links: a table that is read without waiting and replaced as a whole.
//!
//! The table has a floor, the site's own `_redirects`, and may have a [`Source`] that is laid over it, such as a Gist.
//! The source is asked once at start and then only when a look-up misses, as seldom as [`refresh`] allows; at intervals
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

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use axum::http::{HeaderValue, StatusCode};
use tokio::{sync::watch, task, time};

pub use cache::{CacheError, LinksCache};
pub use line::{Rejected, RejectedReason, RejectedText};
pub use link::{Link, Origin, STATUSES};
pub use redirect::Found;
pub use source::{
    Ask, FetchError, Fetched, Fetching, HttpSource, Source, SourceAddress, TIMEOUT, Token, WebAddress, fetch,
    file_source,
};
pub use table::{Difference, LinkTable};

use redirect::Purpose;
use refresh::TokenBucket;
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
    /// The value of Cache-Control of every link.
    caching: HeaderValue,
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

struct Gate {
    bucket: TokenBucket,
    /// Until then the source does not want to be asked.
    closed_until: Option<time::Instant>,
    /// Gets the outcome of the last refresh, and has none while that is under way.
    running: Option<watch::Receiver<Option<Outcome>>>,
    /// What the source called the text whose links are in force.
    validator: Option<HeaderValue>,
}

/// A text whose links were put in force.
struct Accepted {
    number: u64,
    text: String,
}

/// What a refresh came to.
type Outcome = Arc<Result<Refreshed, FetchError>>;

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
enum Cause {
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

impl Links {
    /// The links of the floor, and over them those of the cache. The source is not asked yet.
    pub fn new(options: LinkOptions) -> Self {
        let caching = format!("public, max-age={}", options.max_age.as_secs());
        let gate = Gate { bucket: TokenBucket::full(), closed_until: None, running: None, validator: None };
        let links = Self(Arc::new(Shared {
            options,
            caching: caching.try_into().expect("a number is visible ASCII"),
            table: ArcSwap::default(),
            gate: Mutex::new(gate),
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
        links.0.put_in_force(&LinkTable::parse(&cached, Origin::Source, links.0.options.default_status));
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
                time::sleep(refresh::jittered(interval)).await;
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
    /// may be that of a link, the source is asked at most once, this waits for it at most [`refresh::PATIENCE`], and looks
    /// once more.
    pub async fn lookup(&self, path: &str) -> Option<Found> {
        let found = self.0.find(path);
        if found.is_some() || !refresh::may_be_link(table::without_pasted(line::alias_of(path))) {
            return found;
        }
        let mut running = self.join_or_start()?;
        let _place = Waiting::take(&self.0.waiting)?;
        let _ = time::timeout(refresh::PATIENCE, running.wait_for(Option::is_some)).await;
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

    /// A refresh of its own, after the one that may be under way: what that brings may be older than the owner's wish.
    async fn refresh(&self, cause: Cause) -> Result<Refreshed, RefreshError> {
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
    fn start(&self, gate: &mut Gate, cause: Cause) -> Result<watch::Receiver<Option<Outcome>>, Duration> {
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

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("table", &self.0.table).finish_non_exhaustive()
    }
}

impl Gate {
    /// The refresh under way.
    fn running(&self) -> Option<watch::Receiver<Option<Outcome>>> {
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
        Some(Found { link: Arc::clone(link), purpose, caching: self.caching.clone() })
    }

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
            let refreshed = shared.put_in_force(&fetched);
            let is_other = refreshed.difference != Difference::default();
            let number = shared.accepted.fetch_add(1, Ordering::Relaxed) + 1;
            Ok((refreshed, is_other.then_some(Accepted { number, text })))
        });
        let accepted = accepted.await.unwrap_or_else(|error| Err(FetchError::Unreachable(error.to_string())))?;
        self.gate().validator = validator;
        Ok(accepted)
    }

    /// Puts the floor in force, with these links over it.
    fn put_in_force(&self, upper: &LinkTable) -> Refreshed {
        let floor = LinkTable::parse(&self.options.floor, Origin::Site, self.options.default_status);
        let before = self.table.load();
        let table = floor.overlaid_with(upper).with_hits_of(&before);
        let difference = table.difference(&before);
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
