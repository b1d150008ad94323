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
//! 2. give each file its paths ([`paths`]) and its header fields ([`fields`]): those of its type ([`kinds`]) and of its
//!    caching class ([`caching`]), with the owner's changes ([`headers`]);
//! 3. make the compressed representations that pay ([`encoding`]);
//! 4. hash every representation, for its validator ([`hash`]).
//!
//! It refuses, naming the path: a folder that is missing or is none, a file that cannot be read, a name that is not UTF-8
//! or has control characters, two files that claim one path, a `_headers` that cannot be meant. It warns, and goes on: no
//! `index.html`, an unknown extension, a hidden file, a compressed sibling that does not decode to its file, a giant that
//! does not get smaller, a header rule for nothing. For the site in the binary, `build.rs` refuses to go on without
//! `index.html` too ([`PreparedSite::require_home_page`]); a folder may be any folder.

pub mod cache;
pub mod caching;
mod draft;
pub mod encoding;
pub mod fields;
pub mod hash;
pub mod headers;
pub mod kinds;
pub mod manifest;
mod parallel;
pub mod paths;
mod problem;
mod walk;

use std::{borrow::Cow, collections::BTreeMap, path::Path};

pub use problem::{PrepareError, Warning};

use cache::Cache;
use draft::Draft;
use encoding::{Effort, Encoding};
use fields::Fields;
use headers::HeaderRules;

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
    /// The header fields that do not depend on the encoding; Content-Type is that of the decoded file (RFC 9110,
    /// section 8.3).
    pub fields: Fields,
    /// The bytes in each encoding; always holds the identity.
    pub representations: Vec<Representation>,
}

/// The bytes of a resource in one encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    /// How the bytes are encoded.
    pub encoding: Encoding,
    /// What names these bytes and fields: SHA-1, in hexadecimal, see [`hash::representation`].
    pub hash: Cow<'static, str>,
    /// The bytes, encoded.
    pub body: Cow<'static, [u8]>,
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
    let redirects = text(root, &files, paths::REDIRECTS_FILE)?.to_owned();
    let headers_wrong = |source| PrepareError::HeaderRule { path: root.join(paths::HEADERS_FILE), source };
    let rules = HeaderRules::parse(text(root, &files, paths::HEADERS_FILE)?).map_err(headers_wrong)?;

    let served = files.keys().filter(|file| !paths::is_reserved(file));
    let drafts: Vec<Draft> =
        served.map(|file| Draft::new(file, &rules)).collect::<Result<_, _>>().map_err(headers_wrong)?;
    let mut warnings: Vec<Warning> =
        hidden.iter().map(|file| Warning::new(file, "hidden, so it is not served (only .well-known is)")).collect();
    for (line, path) in rules.unmatched(&drafts.iter().map(Draft::paths).collect::<Vec<_>>()) {
        let reason = format!("line {line}: nothing of the site is at {path}, so the rule has no effect");
        warnings.push(Warning::new(paths::HEADERS_FILE, reason));
    }

    let compressed = parallel::in_parallel(&drafts, |draft| draft.compress(&files, effort, cache));
    let mut resources = Vec::with_capacity(drafts.len());
    for (draft, compressed) in drafts.into_iter().zip(compressed) {
        // Moved, not copied: a large site is not in memory twice.
        let body = files.remove(draft.file()).expect("what is served is one of the files");
        resources.push(draft.finish(body, compressed, &mut warnings));
    }
    let mut site = PreparedSite { resources, redirects: redirects.into(), warnings };
    if !site.has_home_page() {
        site.warnings.push(Warning::new("index.html", "missing, so there is no home page"));
    }
    Ok(site)
}

/// The text of a file that configures the site; empty if it has none.
fn text<'a>(root: &Path, files: &'a BTreeMap<String, Vec<u8>>, file: &str) -> Result<&'a str, PrepareError> {
    let bytes = files.get(file).map_or(&[][..], Vec::as_slice);
    str::from_utf8(bytes).map_err(|_| PrepareError::NotText(root.join(file)))
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
