//! The last good text of the source in a file, so that a restart while the source is down loses nothing.
//!
//! The first line says what the file is, with a checksum of the rest; the rest is the text as it came.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use sha1::{Digest, Sha1};

const TITLE: &str = "# Short links as the source had them last, for homebody --links-cache. SHA-1 of what follows: ";

/// Such a file.
#[derive(Debug)]
pub struct LinksCache(PathBuf);

/// Why there is nothing to be had from it.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// It is there, but cannot be read.
    #[error("{path}: cannot be read: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what was written.
    #[error("{path}: damaged, or no cache of homebody", path = .0.display())]
    Damaged(PathBuf),
}

impl LinksCache {
    /// A cache in this file, which need not be there yet.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The text; none if there is no file.
    pub(super) fn read(&self) -> Result<Option<String>, CacheError> {
        let cached = match fs::read(&self.0) {
            Ok(cached) => cached,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CacheError::Unreadable { path: self.0.clone(), source }),
        };
        let text = String::from_utf8(cached).ok().and_then(|cached| {
            let (title, text) = cached.split_once('\n')?;
            (title == title_of(text)).then(|| text.to_owned())
        });
        text.map(Some).ok_or_else(|| CacheError::Damaged(self.0.clone()))
    }

    /// Puts a text in place of the one that is there. Whoever reads meanwhile, or after a fall at any moment, finds the one
    /// or the other, whole.
    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        let mut name = self.0.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = self.0.with_file_name(name);
        let mut file = File::create(&partial)?;
        file.write_all(title_of(text).as_bytes())?;
        file.write_all(b"\n")?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &self.0)
    }
}

fn title_of(text: &str) -> String {
    let mut title = TITLE.to_owned();
    for byte in Sha1::digest(text) {
        let _ = write!(title, "{byte:02x}");
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_damaged_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = LinksCache::new(folder.path().join("links"));
        assert!(cache.read().expect("no file is no error").is_none());
        for text in ["gh https://example.com/é\r\n", ""] {
            cache.write(text).expect("written");
            assert_eq!(cache.read().expect("read").as_deref(), Some(text));
        }
        cache.write("gh https://example.com/").expect("written");
        let whole = fs::read(cache.path()).expect("the file");
        for damage in [&whole[..whole.len() - 1], &whole[1..], b"gh https://example.com/", b"\xff", b""] {
            fs::write(cache.path(), damage).expect("damaged");
            assert!(matches!(cache.read(), Err(CacheError::Damaged(_))), "{damage:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is left behind");
    }
}
