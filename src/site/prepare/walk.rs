//! The files of a folder, by name.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use walkdir::{DirEntry, WalkDir};

use super::PrepareError;

/// What is in a folder.
pub(super) struct Walked {
    /// The bytes of each file by its name, relative to the folder, with `/` between the parts.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// What was left out because its name begins with a dot; a folder stands for all in it.
    pub(super) hidden: Vec<String>,
}

/// Reads every file below `root`. Symbolic links are followed: a site in a Nix store is often made of them.
pub(super) fn walk(root: &Path) -> Result<Walked, PrepareError> {
    if !root.is_dir() {
        return Err(PrepareError::NotAFolder(root.to_owned()));
    }
    let mut walked = Walked { files: BTreeMap::new(), hidden: Vec::new() };
    let mut entries = WalkDir::new(root).min_depth(1).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|error| unreadable(root, error))?;
        let name = name_of(root, entry.path())?;
        if is_hidden(&entry) {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
            walked.hidden.push(name);
        } else if entry.file_type().is_file() {
            let bytes = fs::read(entry.path())
                .map_err(|source| PrepareError::Unreadable { path: entry.path().to_owned(), source })?;
            walked.files.insert(name, bytes);
        } else if !entry.file_type().is_dir() {
            // Opening a pipe or a socket would wait for ever.
            let source = io::Error::new(io::ErrorKind::InvalidInput, "neither a file nor a folder");
            return Err(PrepareError::Unreadable { path: entry.path().to_owned(), source });
        }
    }
    Ok(walked)
}

fn is_hidden(entry: &DirEntry) -> bool {
    let name = entry.file_name().as_encoded_bytes();
    name.starts_with(b".") && name != b".well-known"
}

/// The name of a file relative to the root, as a path of the site spells it.
fn name_of(root: &Path, path: &Path) -> Result<String, PrepareError> {
    let relative = path.strip_prefix(root).expect("the walk stays below its root");
    let parts: Option<Vec<&str>> = relative.iter().map(|part| part.to_str()).collect();
    let name = parts.ok_or_else(|| PrepareError::NotUtf8(path.to_owned()))?.join("/");
    if name.contains(char::is_control) {
        return Err(PrepareError::ControlCharacter(PathBuf::from(name)));
    }
    Ok(name)
}

fn unreadable(root: &Path, error: walkdir::Error) -> PrepareError {
    let path = error.path().unwrap_or(root).to_owned();
    let source = match error.loop_ancestor() {
        Some(ancestor) => io::Error::other(format!("a link that leads back to {}", ancestor.display())),
        None => error.into_io_error().unwrap_or_else(|| io::Error::other("unknown failure")),
    };
    PrepareError::Unreadable { path, source }
}
