//! Prepares a site: a folder of files becomes resources with all their representations.
//!
//! The same code runs in two places. `build.rs` compiles this folder into itself and prepares the site that the binary
//! carries, with the best compression there is; `--dir` prepares a folder at start, with quick compression. That is why
//! this module uses nothing of the crate outside itself, and why it is a `mod.rs`: both find its parts by the same
//! relative paths.
//!
//! Preparing does, in this order:
//!
//! 1. walk the folder, sorted, so that the result does not depend on directory order ([`walk`]);
//! 2. give each file its content type ([`kinds`]), its caching class ([`caching`]) and its path ([`paths`]);
//! 3. make the compressed representations that pay ([`encoding`]);
//! 4. hash every representation, for its validator ([`hash`]).
//!
//! It refuses, naming the path: a folder that is missing or is none, a file that cannot be read, a name that is not UTF-8
//! or has control characters, two files that claim one path. It warns, and goes on: no `index.html`, an unknown extension,
//! a hidden file, a compressed sibling that does not decode to its file. For the site in the binary, `build.rs` refuses to
//! go on without `index.html` too ([`PreparedSite::require_home_page`]); a folder may be any folder.

pub mod cache;
pub mod caching;
pub mod encoding;
pub mod hash;
pub mod kinds;
pub mod manifest;
pub mod paths;
mod walk;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt, io,
    num::NonZero,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use cache::Cache;
use caching::Caching;
use encoding::{Effort, Encoding};
use kinds::Kind;

/// A site, ready to be embedded or served.
#[derive(Debug, Default)]
pub struct PreparedSite {
    /// The resources, sorted by the name of their file.
    pub resources: Vec<Resource>,
    /// The text of the site's own short links, the file `_redirects` in its root; empty without one.
    pub redirects: Cow<'static, str>,
    /// What the owner should look at; nothing of it stops the site.
    pub warnings: Vec<Warning>,
}

/// One path of the site, with its representations (RFC 9110, section 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The file it came from, relative to the site's root, with `/` between the parts: `posts/index.html`.
    pub file: Cow<'static, str>,
    /// The value of Content-Type: that of the decoded file (RFC 9110, section 8.3).
    pub content_type: &'static str,
    /// How long a cache may keep it.
    pub caching: Caching,
    /// The bytes in each encoding; always holds the identity.
    pub representations: Vec<Representation>,
}

/// The bytes of a resource in one encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    /// How the bytes are encoded.
    pub encoding: Encoding,
    /// SHA-1 of the bytes, in hexadecimal.
    pub hash: Cow<'static, str>,
    /// The bytes, encoded.
    pub body: Cow<'static, [u8]>,
}

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
    /// `_redirects` is text.
    #[error("{path}: not UTF-8 text", path = .0.display())]
    NotText(PathBuf),
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
    pub file: String,
    /// What is odd.
    pub reason: WarningReason,
}

/// The kinds of [`Warning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningReason {
    /// There is no home page.
    Missing,
    /// Nothing is known of this extension.
    UnknownType,
    /// Names that begin with a dot are private by custom (`.git`, `.env`), so they are left out; `.well-known` is not.
    Hidden,
    /// `page.html.gz` beside `page.html` holds something else, most likely an older page.
    StaleSibling(Encoding),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file;
        match self.reason {
            WarningReason::Missing => write!(f, "{file}: missing, so there is no home page"),
            WarningReason::UnknownType => {
                write!(f, "{file}: unknown extension, served as {}", kinds::UNKNOWN.content_type)
            }
            WarningReason::Hidden => write!(f, "{file}: hidden, so it is not served (only .well-known is)"),
            WarningReason::StaleSibling(encoding) => {
                let suffix = encoding.suffix();
                write!(
                    f,
                    "{file}{suffix}: does not decode to {file}, so it is not used as its {encoding} representation"
                )
            }
        }
    }
}

impl PreparedSite {
    /// Refuses a site that does not answer `/`.
    pub fn require_home_page(&self, root: &Path) -> Result<(), PrepareError> {
        if self.has_home_page() { Ok(()) } else { Err(PrepareError::NoIndex(root.to_owned())) }
    }

    fn has_home_page(&self) -> bool {
        self.resources.iter().any(|resource| paths::canonical(&resource.file) == "/")
    }
}

/// Prepares the site in `root`.
///
/// `cache` remembers compressed representations between calls, by the hash of what they were made from; without one,
/// everything is compressed anew.
pub fn prepare(root: &Path, effort: Effort, cache: Option<&Cache>) -> Result<PreparedSite, PrepareError> {
    let walk::Walked { mut files, hidden } = walk::walk(root)?;
    refuse_collisions(files.keys())?;

    let redirects = match files.get(paths::REDIRECTS_FILE) {
        Some(bytes) => {
            String::from_utf8(bytes.clone()).map_err(|_| PrepareError::NotText(root.join(paths::REDIRECTS_FILE)))?
        }
        None => String::new(),
    };

    let served: Vec<String> = files.keys().filter(|file| !paths::is_reserved(file)).cloned().collect();
    let mut resources = Vec::with_capacity(served.len());
    let mut warnings: Vec<Warning> =
        hidden.into_iter().map(|file| Warning { file, reason: WarningReason::Hidden }).collect();
    let compressed = in_parallel(&served, |file| compress(file, &files, effort, cache));
    for (file, Compressed { kind, hash, representations, odd }) in served.into_iter().zip(compressed) {
        // Moved, not copied: a large site is not in memory twice.
        let body = files.remove(&file).expect("what is served is one of the files");
        let identity = Representation { encoding: Encoding::Identity, hash: hash.into(), body: body.into() };
        let representations = std::iter::once(identity).chain(representations).collect();
        let caching = Caching::of(&file);
        warnings.extend(odd.into_iter().map(|reason| Warning { file: file.clone(), reason }));
        resources.push(Resource { file: file.into(), content_type: kind.content_type, caching, representations });
    }
    let mut site = PreparedSite { resources, redirects: redirects.into(), warnings };
    if !site.has_home_page() {
        site.warnings.push(Warning { file: "index.html".to_owned(), reason: WarningReason::Missing });
    }
    Ok(site)
}

/// Refuses two files that would be served under one path.
fn refuse_collisions<'a>(files: impl Iterator<Item = &'a String>) -> Result<(), PrepareError> {
    let mut claimed = BTreeMap::new();
    for file in files {
        let path = paths::canonical(file);
        if let Some(first) = claimed.insert(path.clone(), file) {
            return Err(PrepareError::Collision { path, first: first.clone(), second: file.clone() });
        }
    }
    Ok(())
}

/// All that has to be worked out for a file.
struct Compressed {
    kind: Kind,
    /// Of the file as it is.
    hash: String,
    /// Those that pay, without the identity.
    representations: Vec<Representation>,
    odd: Vec<WarningReason>,
}

/// Compresses and hashes one of the files, which is where the time goes.
fn compress(file: &str, files: &BTreeMap<String, Vec<u8>>, effort: Effort, cache: Option<&Cache>) -> Compressed {
    let mut odd = Vec::new();
    let kind = kinds::of(file).unwrap_or_else(|| {
        odd.push(WarningReason::UnknownType);
        kinds::UNKNOWN
    });
    let identity = &files[file];
    let identity_hash = hash::sha1_hex(identity);
    let mut representations = Vec::new();
    for encoding in Encoding::COMPRESSED {
        let sibling = files.get(&format!("{file}{}", encoding.suffix()));
        let body = match sibling {
            Some(sibling) if encoding::decodes_to(encoding, sibling, identity) => sibling.clone(),
            _ => {
                if sibling.is_some() {
                    odd.push(WarningReason::StaleSibling(encoding));
                }
                if !kind.compressible {
                    continue;
                }
                let compress = || encoding::compress(encoding, identity, effort);
                cache.map_or_else(compress, |cache| cache.get_or_make(&identity_hash, encoding, compress))
            }
        };
        if encoding::pays(body.len(), identity.len()) {
            representations.push(Representation { encoding, hash: hash::sha1_hex(&body).into(), body: body.into() });
        }
    }
    Compressed { kind, hash: identity_hash, representations, odd }
}

/// Maps `items` on all processors; the results are in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let made = make(item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((index, made));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, made)| made).collect()
}
