//! A Gist as GitHub's API describes it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::FetchError;

/// What is needed of the description; see "Gists" in GitHub's REST API.
#[derive(Deserialize)]
struct Gist {
    files: BTreeMap<String, File>,
}

#[derive(Deserialize)]
struct File {
    content: Option<String>,
    /// Whether `content` is only the start, which is so above 1 MB.
    #[serde(default)]
    truncated: bool,
    raw_url: Option<String>,
}

/// Where the links of a Gist are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// Here.
    Text(String),
    /// At this address, whole.
    At(String),
}

/// The file that wins over others in a Gist that has more than one.
const PREFERRED: &str = "_redirects";

/// Whether an answer is JSON: no list of links begins so.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}

/// Finds the links of a Gist: in its file `_redirects` if it has one, else in the first by name, as GitHub's raw address
/// without the name of a file has it.
pub(super) fn read(json: &[u8]) -> Result<Links, FetchError> {
    let no_gist = |why: &dyn ToString| FetchError::NoGist(why.to_string());
    let Gist { mut files } = serde_json::from_slice(json).map_err(|error| no_gist(&error))?;
    let file = files.remove(PREFERRED).or_else(|| files.into_values().next());
    match file.ok_or_else(|| no_gist(&"it has no files"))? {
        File { content: Some(text), truncated: false, .. } => Ok(Links::Text(text)),
        File { raw_url: Some(address), .. } => Ok(Links::At(address)),
        File { .. } => Err(no_gist(&"its file has neither content nor an address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_of_a_gist_are_in_one_of_its_files() {
        let text = |text: &str| Links::Text(text.to_owned());
        for (json, expected, why) in [
            (r#"{"files":{"links.txt":{"content":"a","truncated":false}}}"#, text("a"), "the only file"),
            (r#"{"files":{"b":{"content":"b"},"a":{"content":"a"}}}"#, text("a"), "the first by name"),
            (r#"{"files":{"a":{"content":"a"},"_redirects":{"content":"b"}}}"#, text("b"), "the one with the name"),
            (
                r#"{"files":{"a":{"content":"half","truncated":true,"raw_url":"https://e.example/raw"}}}"#,
                Links::At("https://e.example/raw".to_owned()),
                "a large file is elsewhere",
            ),
            (r#"{"id":"1","public":true,"files":{"a":{"content":"","size":0}}}"#, text(""), "an empty file"),
        ] {
            assert_eq!(read(json.as_bytes()).expect(why), expected, "{why}");
        }
    }

    #[test]
    fn other_json_is_no_gist() {
        for json in [r#"{"message":"Not Found"}"#, r#"{"files":{}}"#, r#"{"files":{"a":{}}}"#, "{", r#"{"files":[]}"#] {
            assert!(matches!(read(json.as_bytes()), Err(FetchError::NoGist(_))), "{json}");
        }
    }
}
