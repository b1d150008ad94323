//! The address of a source, as it is given, and what is asked for then.
//!
//! | given | asked for | with a token |
//! | --- | --- | --- |
//! | `https://gist.github.com/USER/ID` | `https://gist.githubusercontent.com/USER/ID/raw` | `https://api.github.com/gists/ID` |
//! | `https://gist.github.com/ID` | `https://gist.github.com/ID/raw` | `https://api.github.com/gists/ID` |
//! | either with `/REVISION` behind it | the same with `/REVISION` behind it | the same |
//! | a raw address, of the API, or any other | as given | as given |
//! | `gist.github.com/…` without `https://` | as with it | as with it |
//! | anything else without `://` | the file of that name | the file |

use std::{fmt, path::PathBuf, str::FromStr};

use url::Url;

/// The address of a source, as it is given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceAddress {
    /// An http or https address.
    Web(WebAddress),
    /// A file.
    File(PathBuf),
}

/// An http or https address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAddress {
    /// Where the text is.
    raw: Url,
    /// Where GitHub's API describes it.
    api: Option<Url>,
}

/// Hosts that people copy without the scheme before them.
const GITHUB: [&str; 4] =
    ["gist.github.com", "gist.githubusercontent.com", "api.github.com", "raw.githubusercontent.com"];

impl FromStr for SourceAddress {
    type Err = String;

    /// What has a scheme, or is GitHub's, is an address and has to be http or https; all else is a path.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty".into());
        }
        let is_github = GITHUB.iter().any(|host| text.strip_prefix(host).is_some_and(|rest| rest.starts_with('/')));
        let text = if is_github { format!("https://{text}") } else { text.to_owned() };
        let Some((scheme, _)) = text.split_once("://") else { return Ok(Self::File(text.into())) };
        if !["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
            return Err(format!("links come over http or https or from a file, not over {scheme}"));
        }
        let url = Url::parse(&text).map_err(|error| error.to_string())?;
        Ok(Self::Web(WebAddress::from(url)))
    }
}

impl From<Url> for WebAddress {
    fn from(url: Url) -> Self {
        Self::of_gist(&url).unwrap_or(Self { raw: url, api: None })
    }
}

impl WebAddress {
    /// What is asked for in place of the page of a Gist.
    fn of_gist(page: &Url) -> Option<Self> {
        if page.host_str() != Some("gist.github.com") {
            return None;
        }
        let parts: Vec<&str> = page.path_segments()?.filter(|part| !part.is_empty()).collect();
        let (user, id, rest) = match &parts[..] {
            // First, since there are users whose names are numbers.
            [user, id, rest @ ..] if is_id(id) => (Some(user), id, rest),
            [id, rest @ ..] if is_id(id) => (None, id, rest),
            _ => return None,
        };
        let revision = match rest {
            [] | ["edit" | "revisions"] => String::new(),
            [revision] if is_revision(revision) => format!("/{revision}"),
            // A raw address, or something that GitHub has added since.
            _ => return None,
        };
        let raw = user.map_or_else(
            || format!("https://gist.github.com/{id}/raw{revision}"),
            |user| format!("https://gist.githubusercontent.com/{user}/{id}/raw{revision}"),
        );
        let api = format!("https://api.github.com/gists/{id}{revision}");
        Some(Self { raw: Url::parse(&raw).ok()?, api: Some(Url::parse(&api).ok()?) })
    }

    /// The address to ask; GitHub's API, where there is one for it, only with a token, since without it allows less.
    pub(super) fn to_ask(&self, has_token: bool) -> &Url {
        self.api.as_ref().filter(|_| has_token).unwrap_or(&self.raw)
    }

    /// Whether it names one revision at GitHub, so that what it gives never changes.
    pub fn is_pinned(&self) -> bool {
        let is_github = self.raw.host_str().is_some_and(|host| GITHUB.contains(&host));
        is_github && self.raw.path_segments().is_some_and(|mut parts| parts.any(is_revision))
    }
}

/// The Gist's name for itself: 20 or 32 hexadecimal digits, or decimal ones in old ones.
fn is_id(part: &str) -> bool {
    let is_hexadecimal = part.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal
        && (matches!(part.len(), 20 | 32) || part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty())
}

/// The hash of a commit.
fn is_revision(part: &str) -> bool {
    part.len() == 40 && part.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl fmt::Display for SourceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Web(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for WebAddress {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.raw.clone();
        // Both fail only on addresses that cannot have them.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";
    const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

    fn web(text: &str) -> WebAddress {
        match text.parse() {
            Ok(SourceAddress::Web(address)) => address,
            other => panic!("{text} is no address: {other:?}"),
        }
    }

    #[test]
    fn every_form_of_a_gists_address_becomes_one_that_gives_its_text() {
        let raw = format!("https://gist.githubusercontent.com/me/{ID}/raw");
        let api = format!("https://api.github.com/gists/{ID}");
        for (given, asked, with_token) in [
            (format!("https://gist.github.com/me/{ID}"), raw.clone(), api.clone()),
            (format!("https://gist.github.com/me/{ID}/"), raw.clone(), api.clone()),
            (format!("https://gist.github.com/me/{ID}/edit"), raw.clone(), api.clone()),
            (format!("https://gist.github.com/me/{ID}#file-links-txt"), raw.clone(), api.clone()),
            (format!("gist.github.com/me/{ID}"), raw.clone(), api.clone()),
            (format!("https://gist.github.com/{ID}"), format!("https://gist.github.com/{ID}/raw"), api.clone()),
            (
                "https://gist.github.com/me/1234567".into(),
                "https://gist.githubusercontent.com/me/1234567/raw".into(),
                "https://api.github.com/gists/1234567".into(),
            ),
            (
                format!("https://gist.github.com/me/{ID}/{REVISION}"),
                format!("{raw}/{REVISION}"),
                format!("{api}/{REVISION}"),
            ),
            (raw.clone(), raw.clone(), raw.clone()),
            (format!("{raw}/links.txt"), format!("{raw}/links.txt"), format!("{raw}/links.txt")),
            (
                format!("https://gist.github.com/me/{ID}/raw"),
                format!("https://gist.github.com/me/{ID}/raw"),
                format!("https://gist.github.com/me/{ID}/raw"),
            ),
            (api.clone(), api.clone(), api.clone()),
            (
                "https://example.com/links?a=1".into(),
                "https://example.com/links?a=1".into(),
                "https://example.com/links?a=1".into(),
            ),
            ("HTTP://example.com/".into(), "http://example.com/".into(), "http://example.com/".into()),
        ] {
            let address = web(&given);
            assert_eq!(address.to_ask(false).as_str(), asked, "{given}");
            assert_eq!(address.to_ask(true).as_str(), with_token, "{given} with a token");
        }
    }

    #[test]
    fn a_revision_pins_an_address() {
        for (given, expected) in [
            (format!("https://gist.github.com/me/{ID}/{REVISION}"), true),
            (format!("https://gist.githubusercontent.com/me/{ID}/raw/{REVISION}/links.txt"), true),
            (format!("https://api.github.com/gists/{ID}/{REVISION}"), true),
            (format!("https://raw.githubusercontent.com/me/site/{REVISION}/links.txt"), true),
            (format!("https://gist.github.com/me/{ID}"), false),
            (format!("https://gist.githubusercontent.com/me/{ID}/raw/links.txt"), false),
            (format!("https://example.com/{REVISION}/links"), false),
        ] {
            assert_eq!(web(&given).is_pinned(), expected, "{given}");
        }
    }

    #[test]
    fn what_is_no_address_is_a_file() {
        for path in ["links.txt", "/srv/links", "gist.github.com", "C:/links"] {
            assert_eq!(path.parse(), Ok(SourceAddress::File(path.into())));
        }
        for bad in ["", "ftp://example.com/links", "https://"] {
            assert!(bad.parse::<SourceAddress>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        assert_eq!(web("https://me:secret@example.com/links").to_string(), "https://example.com/links");
    }
}
