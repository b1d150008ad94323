//! The owner's header rules: the file `_headers` in the site's root, written as for Netlify and Cloudflare Pages.
//!
//! ```text
//! # What begins with a number sign is a comment.
//! /*
//!   Permissions-Policy: interest-cohort=()
//! /talks/:year/*
//!   X-Robots-Tag: noindex
//!   Link: </talks/:year/>; rel="up"
//! /embed/*
//!   ! Content-Security-Policy
//! ```
//!
//! A line with a path begins a rule, the lines behind it say what changes:
//!
//! - `*`, once in a path, stands for anything, slashes included; `:name` for one part of a path or a piece of one. In a
//!   value, `:splat` and `:name` stand for what they met.
//! - A rule is for every resource that it names by its canonical path or by any other of its paths ([`paths`]), so `/*`,
//!   `/talks`, `/talks/` and `/talks/index.html` all reach that page. It is not for redirects.
//! - `Name: value` sets a field, in place of the default. A field that two lines set has both values, separated by a
//!   comma, unless it is one that takes a single value: that is an error.
//! - `! Name` removes what is there so far, whether default or set by a rule above.
//!
//! What cannot be meant is refused with its line: what names no path and no field, fields that the server alone knows the
//! truth of, a rule for one host.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;

use super::paths;

/// What the owner changes about the fields of one resource: by name in lower case, the value, or none to remove it.
pub type Changes = BTreeMap<String, Option<String>>;

/// The rules of a site, in their order.
#[derive(Debug, Default)]
pub struct HeaderRules(Vec<Rule>);

/// A path and what holds there.
#[derive(Debug)]
struct Rule {
    /// The number of the line with the path, from 1.
    line: usize,
    /// The path as it is written.
    text: String,
    path: Vec<Token>,
    edits: Vec<Edit>,
}

/// A piece of a path.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// This text, decoded.
    Text(String),
    /// `:name`: one character or more, but no slash.
    Name(String),
    /// `*`: anything.
    Splat,
}

/// What one line does.
#[derive(Debug)]
struct Edit {
    /// Its number, from 1.
    line: usize,
    /// In lower case.
    name: String,
    /// None removes the field.
    value: Option<String>,
}

/// A line that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct HeaderRuleError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: HeaderRuleReason,
}

/// Why a line cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderRuleReason {
    /// Neither kind of line.
    #[error("neither a path (/posts/*), nor a field (Name: value), nor a removal (! Name)")]
    NoMeaning,
    /// A field at the start of the file.
    #[error("a field before the first path, so it is for nothing")]
    NoPath,
    /// A path with the next one right behind it.
    #[error("no field follows this path")]
    NoFields,
    /// `https://example.com/*`
    #[error("a rule is for a path, whatever the host; write the path alone")]
    Host,
    /// A space, a query or a fragment.
    #[error("a path has no space, ? or #; write %20, %3F or %23 if the name of a file has one")]
    PathCharacter,
    /// Escapes that are not text.
    #[error("the path is not UTF-8 once decoded")]
    PathEncoding,
    /// Two stars.
    #[error("more than one * in a path")]
    Splats,
    /// `:a` twice, or `:a:b`.
    #[error(":{0} comes twice, or has no text between it and what stands before it")]
    Placeholder(String),
    /// Not a token (RFC 9110, section 5.6.2).
    #[error("{0:?} is no name of a field")]
    Name(String),
    /// `Name:`
    #[error("no value; a field is removed with ! {0}")]
    NoValue(String),
    /// Control characters, or letters beyond ASCII (RFC 9110, section 5.5).
    #[error("the value has a character that is not printable ASCII")]
    ValueCharacter,
    /// Set by the server.
    #[error("{name} cannot be set: {why}")]
    Forbidden {
        /// The field.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// Two values of a field that takes one.
    #[error("{name} takes one value, and line {earlier} sets it for {path} too; remove that first with ! {name}")]
    SecondValue {
        /// The field.
        name: String,
        /// The line that sets the other one.
        earlier: usize,
        /// A resource that both are for.
        path: String,
    },
}

use HeaderRuleReason as Reason;

/// Fields that are not the owner's to set, and why.
const FORBIDDEN: [(&[&str], &str); 4] = [
    (
        &[
            "connection",
            "content-length",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ],
        "it belongs to the connection",
    ),
    (
        &[
            "accept-ranges",
            "age",
            "allow",
            "content-encoding",
            "content-range",
            "date",
            "etag",
            "last-modified",
            "location",
        ],
        "the server works it out for each answer",
    ),
    (&["set-cookie"], "caches keep the answers, so everyone would share the cookie"),
    (&["basic-auth"], "pages have no passwords here, and this would publish one"),
];

/// Fields that mean nothing, or something else, with two values.
const SINGLE: [&str; 10] = [
    "access-control-allow-credentials",
    "access-control-allow-origin",
    "content-location",
    "content-type",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "strict-transport-security",
    "x-content-type-options",
    "x-frame-options",
];

impl HeaderRules {
    /// Reads the text of a `_headers` file.
    pub fn parse(text: &str) -> Result<Self, HeaderRuleError> {
        let mut rules: Vec<Rule> = Vec::new();
        for (written, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().zip(1..) {
            let written = written.trim();
            let wrong = |reason| HeaderRuleError { line, reason };
            if written.is_empty() || written.starts_with('#') {
                continue;
            }
            if written.starts_with('/') {
                let path = tokens(written).map_err(wrong)?;
                rules.push(Rule { line, text: written.to_owned(), path, edits: Vec::new() });
            } else if written.starts_with("http://") || written.starts_with("https://") {
                return Err(wrong(Reason::Host));
            } else {
                let (name, value) = edit(written).map_err(wrong)?;
                rules.last_mut().ok_or(wrong(Reason::NoPath))?.edits.push(Edit { line, name, value });
            }
        }
        match rules.iter().find(|rule| rule.edits.is_empty()) {
            Some(Rule { line, .. }) => Err(HeaderRuleError { line: *line, reason: Reason::NoFields }),
            None => Ok(Self(rules)),
        }
    }

    /// What changes for the resource with these paths, the canonical one first.
    pub fn changes(&self, paths: &[String]) -> Result<Changes, HeaderRuleError> {
        let mut changes = Changes::new();
        // The lines that set the fields there are.
        let mut set_by = BTreeMap::new();
        for rule in &self.0 {
            let Some(met) = rule.meets(paths) else { continue };
            for Edit { line, name, value } in &rule.edits {
                let Some(value) = value else {
                    set_by.remove(name);
                    changes.insert(name.clone(), None);
                    continue;
                };
                let mut value = filled_in(value, &met);
                if let Some(earlier) = set_by.insert(name, *line) {
                    if SINGLE.contains(&&**name) {
                        let path = paths.first().cloned().unwrap_or_default();
                        let reason = Reason::SecondValue { name: name.clone(), earlier, path };
                        return Err(HeaderRuleError { line: *line, reason });
                    }
                    let first = changes.get(name).and_then(Option::as_deref).unwrap_or_default();
                    // A placeholder may have met nothing, and nothing is no element of a list.
                    let joint = if first.is_empty() || value.is_empty() { "" } else { ", " };
                    value = [first, joint, &value].concat();
                }
                changes.insert(name.clone(), Some(value));
            }
        }
        Ok(changes)
    }

    /// Line and path of each rule that is for none of the resources with these paths.
    pub fn unmatched(&self, resources: &[&[String]]) -> Vec<(usize, &str)> {
        let unmatched = self.0.iter().filter(|rule| !resources.iter().any(|paths| rule.meets(paths).is_some()));
        unmatched.map(|rule| (rule.line, &*rule.text)).collect()
    }
}

/// What the placeholders of a path stand for, by their name.
type Met<'a> = Vec<(&'a str, &'a str)>;

impl Rule {
    /// What its placeholders stand for in the first of the paths that it names.
    fn meets<'a>(&'a self, paths: &'a [String]) -> Option<Met<'a>> {
        paths.iter().find_map(|path| {
            let mut met = Met::new();
            meet(&self.path, path, &mut met).then_some(met)
        })
    }
}

/// Whether the tokens are the path; `met` gets what they stand for.
fn meet<'a>(tokens: &'a [Token], path: &'a str, met: &mut Met<'a>) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return path.is_empty() };
    let (name, shortest, longest) = match token {
        Token::Text(text) => return path.strip_prefix(&**text).is_some_and(|path| meet(rest, path, met)),
        Token::Name(name) => (&**name, 1, path.find('/').unwrap_or(path.len())),
        Token::Splat => ("splat", 0, path.len()),
    };
    // As much as possible, as little as necessary.
    (shortest..=longest).rev().filter_map(|end| path.split_at_checked(end)).any(|(piece, path)| {
        let meets = meet(rest, path, met);
        if meets {
            met.push((name, piece));
        }
        meets
    })
}

/// The value with what was met in place of its placeholders, encoded as in an address.
fn filled_in(value: &str, met: &Met<'_>) -> String {
    let mut pieces = value.split(':');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, behind) = piece.split_at(name_len(piece));
        match met.iter().find(|(known, _)| *known == name) {
            Some((_, met)) => filled.push_str(&paths::encoded(met)),
            None => filled.extend([":", name]),
        }
        filled.push_str(behind);
    }
    filled.trim().to_owned()
}

/// The pieces of a path.
fn tokens(path: &str) -> Result<Vec<Token>, Reason> {
    if path.contains(|c: char| c.is_whitespace() || c == '?' || c == '#') {
        return Err(Reason::PathCharacter);
    }
    let mut tokens = Vec::new();
    let mut names = BTreeSet::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('*') {
            if tokens.contains(&Token::Splat) {
                return Err(Reason::Splats);
            }
            if !names.insert("splat") {
                return Err(Reason::Placeholder("splat".to_owned()));
            }
            tokens.push(Token::Splat);
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix(':').filter(|behind| name_len(behind) > 0) {
            let (name, behind) = behind.split_at(name_len(behind));
            // Two placeholders in a row could share what they meet in many ways.
            if !names.insert(name) || !matches!(tokens.last(), Some(Token::Text(_))) {
                return Err(Reason::Placeholder(name.to_owned()));
            }
            tokens.push(Token::Name(name.to_owned()));
            rest = behind;
        } else {
            // A colon without a name is text, and so the first character here is never looked at again.
            let end =
                rest.char_indices().skip(1).find(|(_, c)| matches!(c, '*' | ':')).map_or(rest.len(), |(at, _)| at);
            let (text, behind) = rest.split_at(end);
            let text = percent_decode_str(text).decode_utf8().map_err(|_| Reason::PathEncoding)?;
            tokens.push(Token::Text(text.into_owned()));
            rest = behind;
        }
    }
    Ok(tokens)
}

/// The length of the name that the text begins with: a letter, then letters, digits and underscores.
fn name_len(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return 0;
    }
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Name and value of a field that is set, or the name of one that is removed.
fn edit(written: &str) -> Result<(String, Option<String>), Reason> {
    let (name, value) = match written.strip_prefix('!') {
        Some(name) => (name.trim(), None),
        None => {
            written.split_once(':').map(|(name, value)| (name.trim(), Some(value.trim()))).ok_or(Reason::NoMeaning)?
        }
    };
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(Reason::Name(name.to_owned()));
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, why)) = FORBIDDEN.iter().find(|(names, _)| names.contains(&&*lower)) {
        return Err(Reason::Forbidden { name: name.to_owned(), why });
    }
    match value {
        Some("") => Err(Reason::NoValue(name.to_owned())),
        Some(value) if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) => Err(Reason::ValueCharacter),
        value => Ok((lower, value.map(str::to_owned))),
    }
}

/// `tchar` of RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What changes for the resource at `path`, a field a line.
    #[track_caller]
    fn changes(text: &str, path: &str) -> Vec<String> {
        let rules = HeaderRules::parse(text).expect("rules that can be meant");
        let changes = rules.changes(&[path.to_owned()]).expect("no two values where one is taken");
        let line = |(name, value)| match value {
            Some(value) => format!("{name}: {value}"),
            None => format!("! {name}"),
        };
        changes.into_iter().map(line).collect()
    }

    #[test]
    fn a_rule_is_for_the_paths_it_names() {
        for (rule, path, expected, why) in [
            ("/", "/", true, "the home page"),
            ("/", "/about.html", false, "and nothing else"),
            ("/about.html", "/about.html", true, "itself"),
            ("/about.html", "/About.html", false, "letters count"),
            ("/*", "/", true, "a star may stand for nothing"),
            ("/*", "/a/b/c.css", true, "a star goes over slashes"),
            ("/posts/*", "/posts/", true, "the folder too"),
            ("/posts/*", "/postscript", false, "the slash is text"),
            ("/*.css", "/a/b.css", true, "a star at the start"),
            ("/*.css", "/a/b.css.map", false, "what stands behind the star counts"),
            ("/:page", "/about.html", true, "one part"),
            ("/:page", "/posts/", false, "no slash in a placeholder"),
            ("/:page", "/", false, "a placeholder is not empty"),
            ("/:year/:month/", "/2026/11/", true, "two parts"),
            ("/:name.css", "/style.css", true, "a piece of a part"),
            ("/a:b", "/axyz", true, "a colon and a letter are a placeholder wherever they stand"),
            ("/a%3Ab", "/a:b", true, "an encoded colon is a colon"),
            ("/a%2Ab", "/a*b", true, "an encoded star is a star"),
            ("/a:", "/a:", true, "a colon alone is text"),
            ("/a:*", "/a:xyz", true, "a colon before a star too"),
            ("/gr%C3%BC%C3%9Fe/", "/grüße/", true, "encoded as in an address"),
            ("/grüße/", "/grüße/", true, "or written plainly"),
            ("/:x.ü", "/üü.ü", true, "letters of two bytes are not cut"),
        ] {
            let rules = HeaderRules::parse(&format!("{rule}\n  X-A: b")).expect(rule);
            let changes = rules.changes(&[path.to_owned()]).expect("one line");
            assert_eq!(!changes.is_empty(), expected, "{rule} for {path}: {why}");
        }
    }

    #[test]
    fn a_resource_is_named_by_any_of_its_paths() {
        let rules = HeaderRules::parse("/posts\n X-A: b\n/x\n X-B: c").expect("two rules");
        let posts = ["/posts/", "/posts/index.html", "/posts"].map(str::to_owned).to_vec();
        assert_eq!(rules.changes(&posts).expect("one line").len(), 1);
        assert_eq!(rules.unmatched(&[&posts]), [(3, "/x")]);
    }

    #[test]
    fn all_rules_that_are_for_a_path_hold_in_their_order() {
        let text = "\u{feff}# every page\r\n/*\r\n  X-Robots-Tag: noindex\r\n\r\n/a\r\n\tx-robots-tag: nofollow\r\n\tX-A: a:b\r\n";
        assert_eq!(changes(text, "/b"), ["x-robots-tag: noindex"]);
        assert_eq!(changes(text, "/a"), ["x-a: a:b", "x-robots-tag: noindex, nofollow"]);
        assert_eq!(changes("/a\nX-A: 1\nX-A: 2\n/a\nX-A: 3", "/a"), ["x-a: 1, 2, 3"]);
    }

    #[test]
    fn a_removal_takes_away_what_is_there_so_far() {
        let text = "/*\n X-A: 1\n Content-Type: text/html\n/a\n ! X-A\n ! X-Frame-Options\n ! content-type\n content-type: text/plain\n/a\n X-B: 2";
        assert_eq!(changes(text, "/a"), ["content-type: text/plain", "! x-a", "x-b: 2", "! x-frame-options"]);
        assert_eq!(changes("/a\n ! X-A\n X-A: 1", "/a"), ["x-a: 1"]);
    }

    #[test]
    fn what_was_met_stands_in_the_value() {
        for (text, path, expected) in [
            ("/:a/:b/*\n X-A: :b-:a-:splat", "/x/y/z/w", "x-a: y-x-z/w"),
            ("/*\n X-A: a :splat", "/", "x-a: a"),
            ("/*\n X-A: <https://e.example/:splat>; :other", "/ü d", "x-a: <https://e.example/%C3%BC%20d>; :other"),
            ("/:year\n X-A: :years :year_ :year:year :year", "/26", "x-a: :years :year_ 2626 26"),
            ("/a\n X-A: :splat data: :", "/a", "x-a: :splat data: :"),
        ] {
            assert_eq!(changes(text, path), [expected], "{text}");
        }
    }

    #[test]
    fn what_met_nothing_adds_nothing_to_a_list() {
        for text in ["/*\n X-A: :splat\n X-A: b", "/*\n X-A: b\n X-A: :splat"] {
            assert_eq!(changes(text, "/"), ["x-a: b"], "{text}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_line() {
        let forbidden = |name: &str, why| Reason::Forbidden { name: name.to_owned(), why };
        for (text, line, reason) in [
            ("/a\n X-A: b\nnonsense", 3, Reason::NoMeaning),
            ("# nothing yet\nX-A: b", 2, Reason::NoPath),
            ("/a\n/b\n X-A: b", 1, Reason::NoFields),
            ("/a\n X-A: b\n/b", 3, Reason::NoFields),
            ("https://example.com/*\n X-A: b", 1, Reason::Host),
            ("/a X-A: b", 1, Reason::PathCharacter),
            ("/a?b\n X-A: b", 1, Reason::PathCharacter),
            ("/%ff\n X-A: b", 1, Reason::PathEncoding),
            ("/*/a/*\n X-A: b", 1, Reason::Splats),
            ("/:a/:a\n X-A: b", 1, Reason::Placeholder("a".to_owned())),
            ("/:a:b\n X-A: b", 1, Reason::Placeholder("b".to_owned())),
            ("/*:b\n X-A: b", 1, Reason::Placeholder("b".to_owned())),
            ("/:splat/*\n X-A: b", 1, Reason::Placeholder("splat".to_owned())),
            ("/a\n X A: b", 2, Reason::Name("X A".to_owned())),
            ("/a\n : b", 2, Reason::Name(String::new())),
            ("/a\n !", 2, Reason::Name(String::new())),
            ("/a\n ! X-A: b", 2, Reason::Name("X-A: b".to_owned())),
            ("/a\n X-A:", 2, Reason::NoValue("X-A".to_owned())),
            ("/a\n X-A: grün", 2, Reason::ValueCharacter),
            ("/a\n X-A: a\tb", 2, Reason::ValueCharacter),
            ("/a\n Content-Length: 5", 2, forbidden("Content-Length", "it belongs to the connection")),
            ("/a\n ! ETag", 2, forbidden("ETag", "the server works it out for each answer")),
        ] {
            let error = HeaderRules::parse(text).expect_err(text);
            assert_eq!(error, HeaderRuleError { line, reason }, "{text}");
        }
    }

    #[test]
    fn no_field_that_the_server_answers_for_can_be_set() {
        for name in
            ["Transfer-Encoding", "Connection", "Content-Encoding", "Date", "Last-Modified", "Set-Cookie", "Basic-Auth"]
        {
            let error = HeaderRules::parse(&format!("/a\n {name}: b")).expect_err(name);
            assert!(error.to_string().starts_with(&format!("line 2: {name} cannot be set: ")), "{error}");
        }
    }

    #[test]
    fn a_second_value_of_a_field_that_takes_one_is_refused_where_both_hold() {
        let text = "/*\n Content-Type: text/html\n/a\n Content-Type: text/plain";
        let rules = HeaderRules::parse(text).expect("each rule alone is good");
        assert!(rules.changes(&["/b".to_owned()]).is_ok());
        let error = rules.changes(&["/a".to_owned()]).expect_err("two types");
        assert_eq!(
            error.to_string(),
            "line 4: content-type takes one value, and line 2 sets it for /a too; remove that first with ! content-type"
        );
    }

    /// Whether a path with one star, or none, names another, in the plainest way.
    fn names(rule: &str, path: &str) -> bool {
        match rule.split_once('*') {
            None => rule == path,
            Some((start, end)) => {
                path.len() >= start.len() + end.len() && path.starts_with(start) && path.ends_with(end)
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_makes_fields_that_can_be_sent(
            text in "(/|/\\*|/:a/|a|\n|\r\n|\n  |: |! |X-A: b|ETag: c|:splat|:a|#|%|é|[ -~]|\\PC){0,40}",
        ) {
            if let Ok(rules) = HeaderRules::parse(&text) {
                let paths = ["/a/é b.html".to_owned(), "/".to_owned()];
                for (name, value) in rules.changes(&paths).unwrap_or_default() {
                    prop_assert!(!name.is_empty() && name.bytes().all(|byte| is_token(byte) && !byte.is_ascii_uppercase()));
                    prop_assert!(!FORBIDDEN.iter().any(|(names, _)| names.contains(&&*name)));
                    let value = value.unwrap_or_default();
                    prop_assert!(value.trim() == value && value.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{}", value);
                }
            }
        }

        #[test]
        fn a_star_stands_for_anything_and_nothing_else_does(
            rule in "/[ab/]{0,3}\\*?[ab/]{0,3}", path in "/[ab/]{0,5}",
        ) {
            let rules = HeaderRules::parse(&format!("{rule}\n  X-A: b")).expect("one rule");
            let changes = rules.changes(std::slice::from_ref(&path)).expect("one line");
            prop_assert_eq!(!changes.is_empty(), names(&rule, &path));
        }
    }
}
