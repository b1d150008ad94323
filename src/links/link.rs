//! One short link.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::http::StatusCode;

use super::target::Target;

/// The statuses a link may have (RFC 9110, section 15.4).
pub const STATUSES: [StatusCode; 5] = [
    StatusCode::MOVED_PERMANENTLY,
    StatusCode::FOUND,
    StatusCode::SEE_OTHER,
    StatusCode::TEMPORARY_REDIRECT,
    StatusCode::PERMANENT_REDIRECT,
];

/// An alias with the place it leads to.
#[derive(Debug, Clone)]
pub struct Link {
    pub(super) alias: Box<str>,
    pub(super) target: Target,
    pub(super) status: StatusCode,
    pub(super) passes_query: bool,
    pub(super) origin: Origin,
    pub(super) line: usize,
    /// How often it was followed; kept when the table is replaced by one that has the alias too.
    pub(super) hits: Arc<AtomicU64>,
}

/// Where a link was written. The source's links come before those of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The source, such as a Gist.
    Source,
    /// The site's `_redirects`.
    Site,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Site => "site",
            Self::Source => "source",
        })
    }
}

impl Link {
    /// The name, without slashes around it; of a wildcard with `/*` behind it.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// The address it leads to, as it was written.
    pub fn target(&self) -> &str {
        self.target.written()
    }

    /// The status of the redirect.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether the query of a request goes along.
    pub fn passes_query(&self) -> bool {
        self.passes_query
    }

    /// Where it was written.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// How often it was followed.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    pub(super) fn count_hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// The part before `/*`, if it is a wildcard.
    pub(super) fn prefix(&self) -> Option<&str> {
        self.alias.strip_suffix("/*")
    }

    /// Whether it does what another does.
    pub(super) fn leads_as(&self, other: &Self) -> bool {
        self.target() == other.target() && self.status == other.status && self.passes_query == other.passes_query
    }
}
