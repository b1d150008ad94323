//! A prepared site as a flat folder of files: how `build.rs` hands it to the library.
//!
//! The folder holds each body once, named by its hash, the site's `_redirects`, and the manifest: one line a resource,
//! fields separated by tabs:
//!
//! ```text
//! FILE<tab>CONTENT-TYPE<tab>CACHING<tab>ENCODING:HASH[<tab>ENCODING:HASH]…
//! ```
//!
//! No field can hold a tab: file names have no control characters, and all else comes from tables of this module.

use std::{borrow::Cow, fmt::Write, fs, io, path::Path};

use super::{PreparedSite, Representation, Resource, caching::Caching, encoding::Encoding, paths::REDIRECTS_FILE};

/// The name of the manifest in the folder.
pub const MANIFEST_FILE: &str = "manifest";

/// Writes `site` into `folder`, which is emptied first.
pub fn write(site: &PreparedSite, folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(folder)?,
    }
    let mut manifest = String::new();
    for resource in &site.resources {
        let Resource { file, content_type, caching, representations } = resource;
        let _ = write!(manifest, "{file}\t{content_type}\t{caching}");
        for Representation { encoding, hash, body } in representations {
            let _ = write!(manifest, "\t{encoding}:{hash}");
            fs::write(folder.join(&**hash), body)?;
        }
        manifest.push('\n');
    }
    fs::write(folder.join(REDIRECTS_FILE), site.redirects.as_bytes())?;
    fs::write(folder.join(MANIFEST_FILE), manifest)
}

/// Reads a site out of such a folder, of which `get` gives the files.
///
/// # Panics
///
/// If the folder is not as [`write()`] left it. It is compiled in, so that would be an error of the build, and the first
/// start of the binary shows it.
pub fn read(get: impl Fn(&str) -> Option<Cow<'static, [u8]>>) -> PreparedSite {
    let file = |name: &str| get(name).unwrap_or_else(|| panic!("{name} is missing from the prepared site"));
    let resources = text(file(MANIFEST_FILE)).lines().map(|line| resource(line, &file)).collect();
    let redirects = text(file(REDIRECTS_FILE)).into();
    PreparedSite { resources, redirects, warnings: Vec::new() }
}

fn resource(line: &'static str, file: &impl Fn(&str) -> Cow<'static, [u8]>) -> Resource {
    let mut fields = line.split('\t');
    let mut field = || fields.next().unwrap_or_else(|| panic!("a field is missing in the manifest: {line}"));
    let (name, content_type, caching) = (field(), field(), field());
    let caching = Caching::from_word(caching).unwrap_or_else(|| panic!("no caching class: {line}"));
    let representations = fields
        .map(|field| {
            let (token, hash) = field.split_once(':').unwrap_or_else(|| panic!("no representation: {line}"));
            let encoding = Encoding::ALL.into_iter().find(|encoding| encoding.token() == token);
            Representation {
                encoding: encoding.unwrap_or_else(|| panic!("no encoding: {line}")),
                hash: hash.into(),
                body: file(hash),
            }
        })
        .collect();
    Resource { file: name.into(), content_type, caching, representations }
}

/// The text of an embedded file.
fn text(bytes: Cow<'static, [u8]>) -> &'static str {
    let bytes: &'static [u8] = match bytes {
        Cow::Borrowed(bytes) => bytes,
        // Only tests come here; what is embedded is borrowed from the binary.
        Cow::Owned(bytes) => bytes.leak(),
    };
    str::from_utf8(bytes).expect("the prepared site's texts are UTF-8")
}
