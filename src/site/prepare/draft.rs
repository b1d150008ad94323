//! A file on its way to a resource.

use std::collections::BTreeMap;

use super::{
    Representation, Resource, Warning,
    cache::Cache,
    caching::Caching,
    encoding::{self, Effort, Encoding},
    fields::Fields,
    hash,
    headers::{Changes, HeaderRuleError, HeaderRules},
    kinds::{self, Kind},
    paths,
};

/// A file that will be served, with what is known from its name alone.
pub(super) struct Draft {
    file: String,
    /// Where it will be found, the canonical path first.
    paths: Vec<String>,
    /// What the owner says of its fields.
    changes: Changes,
    kind: Kind,
    odd: Option<String>,
}

/// What was made of the bytes.
pub(super) struct Compressed {
    /// Of the identity.
    hash: String,
    /// Those that pay, without the identity.
    representations: Vec<Representation>,
    odd: Vec<String>,
}

/// What is larger and cannot be compressed is worth a second thought: visitors wait for it, and it stays in memory.
const GIANT: usize = 5_000_000;

impl Draft {
    pub(super) fn new(file: &str, rules: &HeaderRules) -> Result<Self, HeaderRuleError> {
        let mut paths = vec![paths::canonical(file)];
        paths.extend(paths::folder_variants(file));
        paths.extend(paths::page_variants(file));
        let changes = rules.changes(&paths)?;
        let known = kinds::of(file);
        let kind = known.unwrap_or(kinds::UNKNOWN);
        let odd = (known.is_none() && !changes.contains_key("content-type"))
            .then(|| format!("unknown extension, served as {}", kind.content_type));
        Ok(Self { file: file.to_owned(), paths, changes, kind, odd })
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Compresses and hashes the file, which is where the time goes. A sibling among the files that decodes to it, such
    /// as `page.html.gz`, is taken instead.
    pub(super) fn compress(
        &self,
        files: &BTreeMap<String, Vec<u8>>,
        effort: Effort,
        cache: Option<&Cache>,
    ) -> Compressed {
        let Self { file, changes, kind, .. } = self;
        let identity = &files[file];
        let mut representations = Vec::new();
        let mut odd = Vec::new();
        for encoding in Encoding::COMPRESSED {
            let suffix = encoding.suffix();
            let body = match files.get(&format!("{file}{suffix}")) {
                Some(sibling) if encoding::decodes_to(encoding, sibling, identity) => sibling.clone(),
                sibling => {
                    if sibling.is_some() {
                        odd.push(format!(
                            "the file {file}{suffix} beside it holds something else, so it is not its {encoding} representation"
                        ));
                    }
                    if !kind.compressible {
                        continue;
                    }
                    let compress = || encoding::compress(encoding, identity, effort);
                    cache.map_or_else(compress, |cache| cache.get_or_make(identity, encoding, compress))
                }
            };
            if encoding::pays(body.len(), identity.len()) {
                let hash = hash::representation(changes, &body).into();
                representations.push(Representation { encoding, hash, body: body.into() });
            }
        }
        if identity.len() > GIANT && representations.is_empty() {
            let megabytes = identity.len() / 1_000_000;
            odd.push(format!(
                "{megabytes} MB that compressing makes no smaller; visitors wait for it, and it stays in memory"
            ));
        }
        Compressed { hash: hash::representation(changes, identity), representations, odd }
    }

    /// The resource, with the bytes of the file.
    pub(super) fn finish(self, body: Vec<u8>, compressed: Compressed, warnings: &mut Vec<Warning>) -> Resource {
        let Compressed { hash, representations, odd } = compressed;
        warnings.extend(self.odd.into_iter().chain(odd).map(|reason| Warning::new(&self.file, reason)));
        let identity = Representation { encoding: Encoding::Identity, hash: hash.into(), body: body.into() };
        let representations = std::iter::once(identity).chain(representations).collect();
        let fields = Fields::new(self.kind.content_type, Caching::of(&self.file), self.changes);
        Resource { file: self.file.into(), fields, representations }
    }
}
