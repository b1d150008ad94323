//! The site in the binary.

use super::prepare::{PreparedSite, manifest};

/// What `build.rs` wrote; embedded in debug builds too, so that both serve the same.
#[derive(rust_embed::RustEmbed)]
#[folder = "$OUT_DIR/site"]
struct Embedded;

/// Reads the manifest; bodies stay where they are in the binary.
pub(super) fn prepared() -> PreparedSite {
    manifest::read(|name| Embedded::get(name).map(|file| file.data))
}
