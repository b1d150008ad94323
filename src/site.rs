//! The site: an immutable index from paths to resources.
//!
//! A [`Site`] is made from a [`PreparedSite`], whoever prepared it: `build.rs` for the site in the binary
//! ([`Site::embedded`]), `--dir` for a folder ([`Site::from_folder`]), a test for three files. All that an answer needs
//! is made then: header maps and bodies. A request only selects and hands out.

pub mod prepare;

mod canonical;
mod conditional;
mod embedded;
mod negotiate;
mod range;
mod resource;

use std::{borrow::Cow, collections::HashMap, path::Path};

pub use canonical::CanonicalRedirect;
pub use resource::Resource;

use prepare::{PrepareError, PreparedSite, Warning, encoding::Effort, paths};

/// All paths of a site.
#[derive(Debug)]
pub struct Site {
    /// By decoded path. One look-up answers a request for any path of the site, canonical or not.
    index: HashMap<Box<str>, Entry>,
    /// The site's `404.html`.
    not_found: Option<Resource>,
    resources: usize,
    /// The text of the site's `_redirects`.
    redirects: Cow<'static, str>,
    /// What its owner should look at.
    warnings: Vec<Warning>,
}

#[derive(Debug)]
enum Entry {
    Resource(Resource),
    Canonical(CanonicalRedirect),
}

/// What a path of the site means.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// It is the path of a resource.
    Resource(&'a Resource),
    /// It is another name of a path of this site.
    Canonical(&'a CanonicalRedirect),
}

impl Site {
    /// The site that is compiled into this binary.
    pub fn embedded() -> Self {
        Self::new(embedded::prepared())
    }

    /// The site in a folder, prepared now.
    pub fn from_folder(folder: &Path) -> Result<Self, PrepareError> {
        Ok(Self::new(prepare::prepare(folder, Effort::Fast, None)?))
    }

    /// Builds the index. Every header value and body of every answer is made here, once.
    ///
    /// # Panics
    ///
    /// If a field or a hash of the prepared site cannot stand in a header.
    pub fn new(prepared: PreparedSite) -> Self {
        let PreparedSite { resources, redirects, warnings } = prepared;
        let mut site = Self { index: HashMap::new(), not_found: None, resources: resources.len(), redirects, warnings };
        let files: Vec<_> = resources.iter().map(|resource| resource.file.clone()).collect();
        for resource in resources {
            if resource.file == paths::NOT_FOUND_FILE {
                site.not_found = Some(Resource::not_found_page(resource.clone()));
            }
            site.index.insert(paths::canonical(&resource.file).into(), Entry::Resource(Resource::new(resource)));
        }
        // A path of a file is never taken by another name of one, nor that of a folder by that of a page.
        for variants in [paths::folder_variants, paths::page_variants] {
            for file in &files {
                for variant in variants(file) {
                    let redirect = || Entry::Canonical(CanonicalRedirect::to(&paths::canonical(file)));
                    site.index.entry(variant.into()).or_insert_with(redirect);
                }
            }
        }
        site
    }

    /// Looks a decoded path up; `None` if the site does not have it.
    pub fn resolve(&self, path: &str) -> Option<Resolved<'_>> {
        self.index.get(path).map(|entry| match entry {
            Entry::Resource(resource) => Resolved::Resource(resource),
            Entry::Canonical(redirect) => Resolved::Canonical(redirect),
        })
    }

    /// The page for paths that do not exist, if the site has one.
    pub fn not_found_page(&self) -> Option<&Resource> {
        self.not_found.as_ref()
    }

    /// The text of the site's own short links; empty if it has none.
    pub fn redirects(&self) -> &str {
        &self.redirects
    }

    /// What is odd about the site; nothing of it stops an answer.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How many resources there are.
    pub fn len(&self) -> usize {
        self.resources
    }

    /// Whether there are none. A site that was prepared has its home page at least.
    pub fn is_empty(&self) -> bool {
        self.resources == 0
    }
}
