//! What is wrong with a folder, so that it is no site, and what is only odd about it.

use std::{borrow::Cow, fmt, io, path::PathBuf};

use super::headers::HeaderRuleError;

/// Why a folder is no site.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// There is no such folder, or it is something else.
    #[error("{path}: not a folder", path = .0.display())]
    NotAFolder(PathBuf),
    /// A website starts somewhere: `/` has to be answered.
    #[error("{path}: no index.html in it, so the site has no home page", path = .0.display())]
    NoIndex(PathBuf),
    /// The file or folder is there, but cannot be read.
    #[error("{path}: cannot be read: {source}", path = path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A path of the site is text, so the name of a file has to be.
    #[error("{path}: the name is not UTF-8, so no address can name it; rename the file", path = .0.display())]
    NotUtf8(PathBuf),
    /// Such a name is an accident, and could not be shown in a log line.
    #[error("{0:?}: the name has a control character; rename the file")]
    ControlCharacter(PathBuf),
    /// `_redirects` and `_headers` are text.
    #[error("{path}: not UTF-8 text", path = .0.display())]
    NotText(PathBuf),
    /// A line of `_headers` cannot be meant.
    #[error("{path}: {source}", path = path.display())]
    HeaderRule {
        /// The file.
        path: PathBuf,
        /// Which line, and why.
        source: HeaderRuleError,
    },
    /// Only one of them could be served.
    #[error("{first} and {second}: both claim the path {path}; remove or rename one")]
    Collision {
        /// The contested path.
        path: String,
        /// The file that comes first in order.
        first: String,
        /// The other one.
        second: String,
    },
}

/// What is odd about a file, without being wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file, relative to the site's root.
    pub file: Cow<'static, str>,
    /// What is odd, in words.
    pub reason: Cow<'static, str>,
}

impl Warning {
    pub(super) fn new(file: &str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { file: file.to_owned().into(), reason: reason.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
}
