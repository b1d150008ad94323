//! A text in a file.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{Ask, FetchError, Fetched, Fetching, MAX_BYTES, Source};

/// The source that a file is; it is read anew at each fetch.
pub fn file_source(path: PathBuf) -> impl Source {
    FileSource(path)
}

struct FileSource(PathBuf);

impl Source for FileSource {
    fn fetch(&self, _: Ask) -> Fetching<'_> {
        let path = self.0.clone();
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || read(&path)).await;
            let text = read.unwrap_or_else(|error| Err(FetchError::Unreachable(error.to_string())))?;
            Ok(Fetched { text: Some(text), ..Fetched::default() })
        })
    }
}

fn read(path: &Path) -> Result<String, FetchError> {
    let failed = |error: io::Error| FetchError::Unreachable(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        return Err(FetchError::TooLarge);
    }
    super::text(bytes)
}
