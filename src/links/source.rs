//! Where more links come from: a text over HTTP, a Gist, or a file.

mod address;
mod file;
mod gist;
mod http;
mod tls;
mod wait;

use std::{pin::Pin, time::Duration};

use axum::http::{HeaderValue, StatusCode};
use tokio::time;

pub use address::{SourceAddress, WebAddress};
pub use file::file_source;
pub use http::{HttpSource, Token};

use super::RefreshResult;

/// A fetch under way.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Fetched, FetchError>> + Send + 'a>>;

/// Somewhere to fetch the text of a link table from.
pub trait Source: Send + Sync {
    /// Fetches the text. May be dropped at any time.
    fn fetch(&self, ask: Ask) -> Fetching<'_>;
}

/// What is asked of a source.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// The validator of the text that is there already.
    pub validator: Option<HeaderValue>,
    /// Whether caches on the way are to be passed by, because somebody is waiting for a new link.
    pub newest: bool,
}

/// What came.
#[derive(Debug, Clone, Default)]
pub struct Fetched {
    /// The text; none if it is what the validator stands for.
    pub text: Option<String>,
    /// What names this version of the text, if the source says.
    pub validator: Option<HeaderValue>,
    /// How long the source wants not to be asked.
    pub wait: Option<Duration>,
}

/// Why a fetch gave no table.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No connection, or it broke; or the file cannot be read.
    #[error("the source cannot be reached: {0}")]
    Unreachable(String),
    /// There is a server, but nobody who is trusted vouches for it.
    #[error("the source is not trusted: {0}")]
    Tls(String),
    /// [`TIMEOUT`] is over.
    #[error("the source did not answer in time")]
    TimedOut,
    /// Not 200.
    #[error("the source answered {status}")]
    Status {
        /// What it answered.
        status: StatusCode,
        /// How long the source wants not to be asked.
        wait: Option<Duration>,
    },
    /// More than [`MAX_BYTES`].
    #[error("the answer is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// The bytes are not text.
    #[error("the answer is not UTF-8 text")]
    NotUtf8,
    /// The text is a page, such as an error page or a login form.
    #[error("the answer is an HTML page, not a list of links")]
    Html,
    /// JSON, but not as GitHub describes a Gist.
    #[error("the answer is JSON, but no Gist with a file in it: {0}")]
    NoGist(String),
    /// Not one line is a link. (A list that is empty on purpose has a line `# empty`.)
    #[error(
        "the answer has no link in it ({rejected} lines rejected); a list that is empty on purpose says so: # empty"
    )]
    NoLinks {
        /// How many lines were rejected.
        rejected: usize,
    },
}

impl FetchError {
    /// What to count it as.
    pub fn result(&self) -> RefreshResult {
        match self {
            Self::Unreachable(_) => RefreshResult::Unreachable,
            Self::Tls(_) => RefreshResult::Tls,
            Self::TimedOut => RefreshResult::TimedOut,
            Self::Status { .. } => RefreshResult::Status,
            Self::TooLarge => RefreshResult::TooLarge,
            Self::NotUtf8 | Self::Html | Self::NoGist(_) => RefreshResult::NotText,
            Self::NoLinks { .. } => RefreshResult::NoLinks,
        }
    }
}

/// More than a hundred thousand links.
const MAX_BYTES: usize = 8 << 20;

/// For one fetch, with all its redirects.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks a source, and waits no longer than `timeout`.
pub async fn fetch(source: &dyn Source, ask: Ask, timeout: Duration) -> Result<Fetched, FetchError> {
    time::timeout(timeout, source.fetch(ask)).await.unwrap_or(Err(FetchError::TimedOut))
}

/// Judges what came whether it can be a list of links at all.
fn text(bytes: Vec<u8>) -> Result<String, FetchError> {
    let text = String::from_utf8(bytes).map_err(|_| FetchError::NotUtf8)?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('<') { Err(FetchError::Html) } else { Ok(text) }
}
