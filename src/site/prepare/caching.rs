//! How long a cache may keep a file, judged by its name.

/// The caching classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// The name carries a hash of the content, so the content under this name never changes.
    Immutable,
    /// Machines ask for it often, and minutes do not matter: feeds, `robots.txt`, the sitemap.
    Brief,
    /// Everything else: ask each time, and mostly hear 304.
    Revalidate,
}

impl Caching {
    /// The class of a file by its name.
    pub fn of(file: &str) -> Self {
        let name = file.rsplit('/').next().unwrap_or(file);
        if is_fingerprinted(name) {
            Self::Immutable
        } else if is_brief(name) {
            Self::Brief
        } else {
            Self::Revalidate
        }
    }

    /// The value of Cache-Control (RFC 9111, section 5.2.2; `immutable`: RFC 8246).
    pub fn cache_control(self) -> &'static str {
        match self {
            Self::Immutable => "public, max-age=31536000, immutable",
            Self::Brief => "max-age=300",
            Self::Revalidate => "no-cache",
        }
    }
}

/// Files that feed readers and crawlers poll.
fn is_brief(name: &str) -> bool {
    let has_extension = |wanted| name.rsplit_once('.').is_some_and(|(_, extension)| extension == wanted);
    has_extension("atom")
        || has_extension("rss")
        || matches!(
            name,
            "robots.txt" | "sitemap.xml" | "feed.xml" | "atom.xml" | "rss.xml" | "index.xml" | "feed.json"
        )
}

/// Whether the name of a file carries a hash of its content.
///
/// The name is cut at `.`, `-` and `_`; its extension does not count. One part has to be a hash:
///
/// - 8 or more hexadecimal digits in one case, at least one of them a letter: `style.3f9a1c0e.css`. Digits alone are a
///   date or a number: `photo.20241031.jpg`.
/// - 8 or more characters of base32 (`A`–`Z`, `2`–`7`), at least one digit before a letter: `app-5NQZ3V2A.js`. Letters
///   with a number behind them are a name: `DSCN2345.jpg`, `CHAPTER2.html`.
///
/// A hash that is missed costs a question with a short answer; a name that is mistaken for a hash is stale for a year.
/// So the rule rather misses.
fn is_fingerprinted(name: &str) -> bool {
    let Some((stem, _extension)) = name.rsplit_once('.') else { return false };
    stem.split(['.', '-', '_']).any(|part| part.len() >= 8 && (is_hex_hash(part) || is_base32_hash(part)))
}

fn is_hex_hash(part: &str) -> bool {
    let in_one_case =
        !part.contains(|c: char| c.is_ascii_uppercase()) || !part.contains(|c: char| c.is_ascii_lowercase());
    in_one_case && part.bytes().all(|c| c.is_ascii_hexdigit()) && part.bytes().any(|c| c.is_ascii_alphabetic())
}

fn is_base32_hash(part: &str) -> bool {
    part.bytes().all(|c| matches!(c, b'A'..=b'Z' | b'2'..=b'7'))
        && part.trim_end_matches(|c: char| c.is_ascii_digit()).bytes().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_in_names_make_files_immutable() {
        for (file, fingerprinted, why) in [
            ("assets/style.3f9a1c0e.css", true, "8 hexadecimal digits"),
            ("style.min.0123456789abcdef0123456789abcdef.css", true, "as Hugo writes them"),
            ("app-5NQZ3V2A.js", true, "base32, as esbuild writes it"),
            ("app_deadbeef.js", true, "hexadecimal, letters alone"),
            ("APP.3F9A1C0E.JS", true, "in the other case"),
            ("photo.20241031.jpg", false, "a date"),
            ("photo-20241031120000.jpg", false, "a date and time"),
            ("DSCN2345.JPG", false, "the name a camera gives"),
            ("CHAPTER2.html", false, "a word and a number"),
            ("style.3f9a1c0.css", false, "7 are too few"),
            ("3f9a1c0e/style.css", false, "a folder is not the name"),
            ("style.3f9A1c0e.css", false, "two cases are no hexadecimal hash"),
            ("name.3f9a1c0e", false, "an extension is not a part"),
            ("index.html", false, "a stable name"),
        ] {
            assert_eq!(Caching::of(file) == Caching::Immutable, fingerprinted, "{file}: {why}");
        }
    }

    #[test]
    fn feeds_and_robots_are_kept_briefly() {
        for file in ["feed.atom", "posts/feed.rss", "robots.txt", "sitemap.xml", "index.xml"] {
            assert_eq!(Caching::of(file), Caching::Brief, "{file}");
        }
        assert_eq!(Caching::of("atom"), Caching::Revalidate, "a word is no extension");
    }
}
