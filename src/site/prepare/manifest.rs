//! A prepared site as a flat folder of files: how `build.rs` hands it to the library.
//!
//! The folder holds each body once, named by its hash, the site's `_redirects`, what is odd about the site, and the
//! manifest. In that, a line names a file, and the lines behind it that begin with a tab are its header fields and its
//! representations:
//!
//! ```text
//! posts/index.html
//! <tab>content-type: text/html; charset=utf-8
//! <tab>cache-control: no-cache
//! <tab>identity 94e66df8cd09d410c62d9e0dc59d3a884e458e05
//! <tab>br 3f786850e387550fdab836ed7e6dc881de23001b
//! ```
//!
//! Neither the name of a file nor a field can hold a tab or a line break.

use std::{borrow::Cow, fmt::Write, fs, io, path::Path};

use super::{
    PreparedSite, Representation, Resource, Warning,
    encoding::Encoding,
    fields::{Field, Fields},
    paths::REDIRECTS_FILE,
};

/// The name of the manifest in the folder.
pub const MANIFEST_FILE: &str = "manifest";

/// The warnings: on each line, a file, a tab and what is odd about it.
const WARNINGS_FILE: &str = "warnings";

/// Writes `site` into `folder`, which is emptied first.
pub fn write(site: &PreparedSite, folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(folder)?,
    }
    let mut manifest = String::new();
    for Resource { file, fields, representations } in &site.resources {
        let _ = writeln!(manifest, "{file}");
        for (name, value) in fields.iter() {
            let _ = writeln!(manifest, "\t{name}: {value}");
        }
        for Representation { encoding, hash, body } in representations {
            let _ = writeln!(manifest, "\t{encoding} {hash}");
            fs::write(folder.join(&**hash), body)?;
        }
    }
    let mut warnings = String::new();
    for Warning { file, reason } in &site.warnings {
        let _ = writeln!(warnings, "{file}\t{reason}");
    }
    fs::write(folder.join(WARNINGS_FILE), warnings)?;
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
    let mut resources = Vec::new();
    let mut lines = text(file(MANIFEST_FILE)).lines().peekable();
    while let Some(name) = lines.next() {
        let mut fields = Vec::new();
        let mut representations = Vec::new();
        while let Some(detail) = lines.next_if(|line| line.starts_with('\t')).map(|line| &line[1..]) {
            match detail.split_once(": ") {
                Some((name, value)) => fields.push(Field::from((name.into(), value.into()))),
                None => representations.push(representation(detail, &file)),
            }
        }
        resources.push(Resource { file: name.into(), fields: Fields::from_iter(fields), representations });
    }
    let warnings = text(file(WARNINGS_FILE)).lines().filter_map(|line| line.split_once('\t'));
    let warnings = warnings.map(|(file, reason)| Warning { file: file.into(), reason: reason.into() }).collect();
    PreparedSite { resources, redirects: text(file(REDIRECTS_FILE)).into(), warnings }
}

fn representation(line: &'static str, file: &impl Fn(&str) -> Cow<'static, [u8]>) -> Representation {
    let parts = line.split_once(' ').and_then(|(token, hash)| {
        let encoding = Encoding::ALL.into_iter().find(|encoding| encoding.token() == token)?;
        Some((encoding, hash))
    });
    let (encoding, hash) = parts.unwrap_or_else(|| panic!("neither field nor representation in the manifest: {line}"));
    Representation { encoding, hash: hash.into(), body: file(hash) }
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
