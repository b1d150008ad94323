//! Any `_headers` file is refused with the number of a line, or makes fields that can be sent and are the owner's to set.

#![no_main]

use axum::http::{HeaderName, HeaderValue};
use homebody::site::prepare::headers::HeaderRules;
use libfuzzer_sys::fuzz_target;

/// Paths of a few resources, the canonical one first.
const RESOURCES: [&[&str]; 4] =
    [&["/", "/index.html", "/index"], &["/a/b.html", "/a/b", "/a/b/"], &["/grüße & more/x.css"], &["/a:b*c"]];

/// What only the server knows the truth of.
const NEVER: [&str; 6] =
    ["content-length", "content-encoding", "content-range", "transfer-encoding", "etag", "connection"];

fuzz_target!(|text: &[u8]| {
    let Ok(text) = str::from_utf8(text) else { return };
    let lines = text.lines().count();
    let rules = match HeaderRules::parse(text) {
        Ok(rules) => rules,
        Err(error) => return assert!((1..=lines).contains(&error.line), "{error}"),
    };
    for paths in RESOURCES {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        match rules.changes(&paths) {
            Err(error) => assert!((1..=lines).contains(&error.line), "{error}"),
            Ok(changes) => {
                for (name, value) in changes {
                    HeaderName::from_lowercase(name.as_bytes()).expect("a name that can be sent");
                    assert!(!NEVER.contains(&&*name), "{name} is not the owner's to set");
                    let value = HeaderValue::try_from(value.unwrap_or_default()).expect("a value that can be sent");
                    assert!(value.to_str().is_ok_and(|value| value.trim() == value), "{value:?}");
                }
            }
        }
    }
});
