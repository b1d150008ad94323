//! Compressed representations kept between builds, so that editing one page compresses one page.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{encoding::Encoding, hash};

/// A folder of compressed representations, each named by the hash of what it was made from.
///
/// Only one effort may use a folder: the name does not tell them apart. What goes wrong with the cache costs time, never
/// the build: an entry that cannot be read is made anew, one that cannot be written is made again next time.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// What this build asked for; the rest is old.
    used: Mutex<BTreeSet<String>>,
}

impl Cache {
    /// Opens the cache in `folder`, which is made if it is not there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), used: Mutex::default() })
    }

    /// These bytes in this encoding, made by `make` if they are not there yet.
    pub fn get_or_make(&self, bytes: &[u8], encoding: Encoding, make: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
        let name = format!("{}{}", hash::bytes(bytes), encoding.suffix());
        let path = self.folder.join(&name);
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        if let Ok(made) = fs::read(&path) {
            return made;
        }
        let made = make();
        // Renamed into place: a build that is stopped here leaves no half of an entry under its name.
        let partial = path.with_extension("partial");
        let _ = fs::write(&partial, &made).and_then(|()| fs::rename(&partial, &path));
        made
    }

    /// Removes what was not asked for since the cache was opened.
    pub fn remove_unused(&self) -> io::Result<()> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !entry.file_name().to_str().is_some_and(|name| used.contains(name)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}
