//! What kind of file an extension names: its content type, and whether compressing it can pay.
//!
//! An own table, because the usual crates are stale where it hurts (`.mjs`, `.woff2`, `.otf`) and know no charsets.

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The value of Content-Type; text that needs one has its charset.
    pub content_type: &'static str,
    /// Whether the format leaves something to compress.
    pub compressible: bool,
}

/// What is served for an extension that nobody knows: bytes, to be saved and not to be guessed at.
pub const UNKNOWN: Kind = packed("application/octet-stream");

const fn text(content_type: &'static str) -> Kind {
    Kind { content_type, compressible: true }
}

const fn packed(content_type: &'static str) -> Kind {
    Kind { content_type, compressible: false }
}

/// The kind of a file by its name; `None` if the extension is unknown.
///
/// A file without an extension has no type to be wrong about: it is [`UNKNOWN`], and known to be.
pub fn of(file: &str) -> Option<Kind> {
    let name = file.rsplit('/').next().unwrap_or(file);
    if file == ".well-known/apple-app-site-association" {
        return Some(text("application/json"));
    }
    let Some((_, extension)) = name.rsplit_once('.') else { return Some(UNKNOWN) };
    Some(match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => text("text/html; charset=utf-8"),
        "xhtml" => text("application/xhtml+xml; charset=utf-8"),
        "css" => text("text/css; charset=utf-8"),
        // RFC 9239, section 6: one type for all scripts and modules.
        "js" | "mjs" | "cjs" => text("text/javascript; charset=utf-8"),
        "txt" | "text" | "asc" => text("text/plain; charset=utf-8"),
        "md" | "markdown" => text("text/markdown; charset=utf-8"),
        "csv" => text("text/csv; charset=utf-8"),
        "vcf" => text("text/vcard; charset=utf-8"),
        "vtt" => text("text/vtt; charset=utf-8"),
        "ics" => text("text/calendar; charset=utf-8"),
        "xml" | "xsl" | "xslt" => text("application/xml; charset=utf-8"),
        "atom" => text("application/atom+xml; charset=utf-8"),
        "rss" => text("application/rss+xml; charset=utf-8"),
        // RFC 8259, section 11: JSON has no charset parameter.
        "json" | "map" => text("application/json"),
        "jsonld" => text("application/ld+json"),
        "geojson" => text("application/geo+json"),
        "webmanifest" => text("application/manifest+json"),
        "yaml" | "yml" => text("application/yaml"),
        "toml" => text("application/toml"),
        // Exactly this, or browsers refuse to compile while the bytes arrive.
        "wasm" => text("application/wasm"),
        "svg" => text("image/svg+xml"),
        "ico" => text("image/x-icon"),
        "bmp" => text("image/bmp"),
        "png" => packed("image/png"),
        "apng" => packed("image/apng"),
        "jpg" | "jpeg" => packed("image/jpeg"),
        "gif" => packed("image/gif"),
        "webp" => packed("image/webp"),
        "avif" => packed("image/avif"),
        "jxl" => packed("image/jxl"),
        "tif" | "tiff" => packed("image/tiff"),
        "ttf" => text("font/ttf"),
        "otf" => text("font/otf"),
        "woff" => packed("font/woff"),
        "woff2" => packed("font/woff2"),
        "mp4" | "m4v" => packed("video/mp4"),
        "webm" => packed("video/webm"),
        "mov" => packed("video/quicktime"),
        "mp3" => packed("audio/mpeg"),
        "m4a" => packed("audio/mp4"),
        "ogg" | "oga" | "opus" => packed("audio/ogg"),
        "ogv" => packed("video/ogg"),
        "flac" => packed("audio/flac"),
        "wav" => text("audio/wav"),
        "pdf" => packed("application/pdf"),
        "epub" => packed("application/epub+zip"),
        "zip" => packed("application/zip"),
        "gz" | "tgz" => packed("application/gzip"),
        "br" => packed("application/x-brotli"),
        "zst" => packed("application/zstd"),
        "xz" => packed("application/x-xz"),
        "bz2" => packed("application/x-bzip2"),
        "7z" => packed("application/x-7z-compressed"),
        "tar" => text("application/x-tar"),
        "bin" => UNKNOWN,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_known_in_any_case() {
        assert_eq!(of("a/PHOTO.JPG"), Some(packed("image/jpeg")));
        assert_eq!(of("feed.atom").map(|kind| kind.content_type), Some("application/atom+xml; charset=utf-8"));
    }

    #[test]
    fn unknown_extensions_are_told_from_missing_ones() {
        assert_eq!(of("notes.xyzzy"), None);
        assert_eq!(of("CNAME"), Some(UNKNOWN));
        assert_eq!(of("v1.2/CNAME"), Some(UNKNOWN), "a dot in a folder is no extension");
    }

    #[test]
    fn types_are_the_registered_ones_with_the_charset_they_need_and_no_other_parameter() {
        for (extensions, content_type) in [
            ("html htm", "text/html; charset=utf-8"),
            ("css", "text/css; charset=utf-8"),
            // Modules are refused under another type.
            ("js mjs cjs", "text/javascript; charset=utf-8"),
            // JSON has no charset parameter.
            ("json map", "application/json"),
            ("webmanifest", "application/manifest+json"),
            // With a parameter, it is not compiled while it arrives.
            ("wasm", "application/wasm"),
            ("xml", "application/xml; charset=utf-8"),
            ("atom", "application/atom+xml; charset=utf-8"),
            ("rss", "application/rss+xml; charset=utf-8"),
            ("txt", "text/plain; charset=utf-8"),
            ("md", "text/markdown; charset=utf-8"),
            ("csv", "text/csv; charset=utf-8"),
            ("ics", "text/calendar; charset=utf-8"),
            ("svg", "image/svg+xml"),
            ("avif", "image/avif"),
            ("webp", "image/webp"),
            ("jxl", "image/jxl"),
            ("ico", "image/x-icon"),
            ("woff2", "font/woff2"),
            ("woff", "font/woff"),
            ("ttf", "font/ttf"),
            ("otf", "font/otf"),
            ("pdf", "application/pdf"),
        ] {
            for extension in extensions.split(' ') {
                let kind = of(&format!("a.{extension}"));
                assert_eq!(kind.map(|kind| kind.content_type), Some(content_type), "{extension}");
            }
        }
        let association = of(".well-known/apple-app-site-association");
        assert_eq!(association.map(|kind| kind.content_type), Some("application/json"));
    }

    #[test]
    fn only_what_is_not_compressed_already_is_compressed() {
        let compressible = |extension| of(&format!("a.{extension}")).is_some_and(|kind| kind.compressible);
        for extension in ["html", "css", "js", "svg", "wasm", "ico", "ttf", "otf", "json", "xml", "webmanifest"] {
            assert!(compressible(extension), "{extension}");
        }
        for extension in ["png", "jpg", "webp", "avif", "woff2", "mp4", "zip", "gz", "pdf"] {
            assert!(!compressible(extension), "{extension}");
        }
    }
}
