//! A folder of files that a test writes.

use std::{fs, path::Path};

use tempfile::TempDir;

/// Removed when it goes out of scope.
pub struct Folder(TempDir);

impl Folder {
    /// Without files.
    pub fn empty() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// With the least a site has.
    pub fn site() -> Self {
        Self::empty().file("index.html", "<title>Home</title>")
    }

    /// With one more file; folders are made as needed.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    /// Writes a file, or writes it anew.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn display(&self) -> String {
        self.path().display().to_string()
    }
}
