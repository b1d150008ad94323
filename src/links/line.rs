//! The grammar of a line, the same in a Gist and in `_redirects`.
//!
//! ```text
//! # alias   target                             [status] [?]
//! gh        https://github.com/example
//! talk      https://example.com/slides.pdf     307
//! find      https://example.com/search         ?
//! docs/*    https://docs.example.com/:splat
//! old       /about/
//! ```
//!
//! - Fields are separated by spaces or tabs; a field that begins with `#` begins a comment. Line ends may be CRLF.
//! - The alias may have a slash before and behind it. With `/*` at its end it stands for everything below it, and for
//!   itself; `:splat` in the target is what was below.
//! - The target is an http or https address, or a path of this site.
//! - The status is one of [`STATUSES`]; `?` passes the query of a request on.

use std::{fmt, sync::Arc};

use axum::http::StatusCode;

use super::{
    link::{Link, Origin, STATUSES},
    target::Target,
};

/// A line that is no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The text it stands in.
    pub origin: Origin,
    /// Its number, from 1.
    pub line: usize,
    /// What it says.
    pub text: RejectedText,
    /// What is wrong.
    pub reason: RejectedReason,
}

/// The start of a rejected line. Displays without control characters, so that it can be logged and printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedText(Box<str>);

impl RejectedText {
    pub(super) fn of(line: &str) -> Self {
        const SHOWN: usize = 120;
        let clean = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        Self(line.trim().chars().take(SHOWN).map(clean).collect())
    }
}

impl fmt::Display for RejectedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a line is no link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RejectedReason {
    /// Longer than any address that browsers follow.
    #[error("the line is longer than {MAX_LINE} bytes")]
    LineTooLong,
    /// One field.
    #[error("there is no target behind the alias")]
    NoTarget,
    /// What stands behind the target is neither a status nor `?`, or comes twice.
    #[error("behind the target there is more than a status and a ?")]
    TooManyFields,
    /// The alias is empty or longer than 64 bytes.
    #[error("an alias has 1 to {MAX_ALIAS} bytes")]
    AliasLength,
    /// The alias has a character that would have to be escaped in an address, or is reserved.
    #[error("an alias is made of letters, digits and - . _ ~ @, in up to {MAX_PARTS} parts separated by /")]
    AliasCharacters,
    /// A part of the alias begins with a dot.
    #[error("no part of an alias begins with a dot")]
    AliasHidden,
    /// The target is neither an address with a host nor a path.
    #[error("the target is no http or https address and no path of this site")]
    Target,
    /// The host has characters that addresses do not have.
    #[error("the host of the target is not ASCII; write it in its xn-- form")]
    TargetHost,
    /// A splat where nothing was met, or where it would choose the host.
    #[error(":splat stands behind the host of a target, and only if the alias ends with /*")]
    Splat,
    /// Who follows it comes back to it.
    #[error("the target leads back to the alias")]
    Loop,
    /// The status is none of [`STATUSES`].
    #[error("the status is none of 301, 302, 303, 307, 308")]
    Status,
    /// The alias comes again.
    #[error("line {0} names the same alias, and the last one counts")]
    Repeated(usize),
}

/// Browsers and servers begin to refuse addresses somewhere above this.
const MAX_LINE: usize = 8192;
/// Bytes of an alias.
pub(super) const MAX_ALIAS: usize = 64;
/// Parts of an alias, separated by slashes.
pub(super) const MAX_PARTS: usize = 3;

/// The alias that a decoded path names: the slash before it and one behind it do not count.
pub(super) fn alias_of(path: &str) -> &str {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.strip_suffix('/').unwrap_or(path)
}

/// Whether a name may be an alias at all.
pub(super) fn check_alias(alias: &str) -> Result<(), RejectedReason> {
    if alias.is_empty() || alias.len() > MAX_ALIAS {
        return Err(RejectedReason::AliasLength);
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | '~' | '@');
    if alias.split('/').count() > MAX_PARTS
        || alias.split('/').any(|part| part.is_empty() || !part.chars().all(is_plain))
    {
        return Err(RejectedReason::AliasCharacters);
    }
    if alias.split('/').any(|part| part.starts_with('.')) {
        return Err(RejectedReason::AliasHidden);
    }
    Ok(())
}

/// The link that a line makes; none for an empty line and a comment.
pub(super) fn parse(
    text: &str,
    line: usize,
    origin: Origin,
    default_status: StatusCode,
) -> Result<Option<Link>, RejectedReason> {
    if text.len() > MAX_LINE {
        return Err(RejectedReason::LineTooLong);
    }
    let mut fields =
        text.split([' ', '\t', '\r']).filter(|field| !field.is_empty()).take_while(|field| !field.starts_with('#'));
    let Some(alias) = fields.next() else { return Ok(None) };
    let target = fields.next().ok_or(RejectedReason::NoTarget)?;
    let (mut status, mut passes_query) = (None, false);
    for field in fields {
        match field {
            "?" if !passes_query => passes_query = true,
            _ if status.is_none() => status = Some(parse_status(field)?),
            _ => return Err(RejectedReason::TooManyFields),
        }
    }
    let alias = alias_of(alias);
    let prefix = alias.strip_suffix("/*");
    check_alias(prefix.unwrap_or(alias))?;
    let target = Target::parse(target, prefix.is_some())?;
    if target.own_path().is_some_and(|path| leads_back(path, alias, prefix)) {
        return Err(RejectedReason::Loop);
    }
    let status = status.unwrap_or(default_status);
    Ok(Some(Link { alias: alias.into(), target, status, passes_query, origin, line, hits: Arc::default() }))
}

/// Whether a path of this site is found under the alias again, or under the wildcard with this prefix.
fn leads_back(path: &str, alias: &str, prefix: Option<&str>) -> bool {
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    let name = alias_of(&path);
    match prefix {
        None => name.eq_ignore_ascii_case(alias),
        Some(prefix) => name.split_at_checked(prefix.len()).is_some_and(|(start, rest)| {
            start.eq_ignore_ascii_case(prefix) && (rest.is_empty() || rest.starts_with('/'))
        }),
    }
}

fn parse_status(field: &str) -> Result<StatusCode, RejectedReason> {
    STATUSES.into_iter().find(|status| status.as_str() == field).ok_or(RejectedReason::Status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(line: &str) -> Option<Link> {
        parse(line, 1, Origin::Source, StatusCode::FOUND).expect(line)
    }

    #[test]
    fn a_line_is_an_alias_a_target_and_maybe_more() {
        for (line, why) in [
            ("gh https://example.com/a", "a space"),
            ("gh\t\t https://example.com/a", "tabs and spaces"),
            ("  gh https://example.com/a  ", "space around"),
            ("/gh https://example.com/a", "a slash before the alias"),
            ("/gh/ https://example.com/a", "slashes around the alias"),
            ("gh https://example.com/a\r", "CRLF"),
            ("gh https://example.com/a 302", "a status"),
            ("gh https://example.com/a # mine", "a comment behind"),
            ("gh https://example.com/a 302 # mine", "a comment behind the status"),
        ] {
            let link = link(line).expect(why);
            assert_eq!((link.alias(), link.target()), ("gh", "https://example.com/a"), "{why}");
            assert_eq!((link.status(), link.passes_query()), (StatusCode::FOUND, false), "{why}");
        }
    }

    #[test]
    fn a_question_mark_passes_the_query_on() {
        for line in ["a https://e.example ? 307", "a https://e.example 307 ?", "a https://e.example 307 ? # both"] {
            let link = link(line).expect(line);
            assert!(link.passes_query() && link.status() == StatusCode::TEMPORARY_REDIRECT, "{line}");
        }
    }

    #[test]
    fn empty_lines_and_comments_are_no_links() {
        for line in ["", "   ", "# a comment", "  # another", "#gh https://example.com", "\t\r"] {
            assert!(link(line).is_none(), "{line:?}");
        }
    }

    #[test]
    fn each_status_is_the_one_that_was_written() {
        for status in STATUSES {
            let link = link(&format!("a https://example.com {}", status.as_str()));
            assert_eq!(link.map(|link| link.status()), Some(status));
        }
    }

    #[test]
    fn a_bad_line_is_rejected_with_its_reason() {
        use RejectedReason as R;
        for (line, reason, why) in [
            ("gh", R::NoTarget, "an alias alone"),
            ("gh # https://example.com", R::NoTarget, "the target in a comment"),
            ("gh https://example.com 302 303", R::TooManyFields, "a second status"),
            ("gh https://example.com ? ?", R::Status, "a second question mark"),
            ("gh https://example.com 200", R::Status, "not a redirect"),
            ("gh https://example.com 3o2", R::Status, "not a number"),
            ("/ https://example.com", R::AliasLength, "the home page is no alias"),
            ("/* https://example.com", R::AliasCharacters, "a wildcard for everything would hide every typing mistake"),
            ("a?b https://example.com", R::AliasCharacters, "a query is no part of a path"),
            ("a%20b https://example.com", R::AliasCharacters, "aliases are written decoded"),
            ("a//b https://example.com", R::AliasCharacters, "an empty part"),
            ("a/b/c/d https://example.com", R::AliasCharacters, "too deep"),
            ("a*b https://example.com", R::AliasCharacters, "a star within"),
            ("a/*/b https://example.com", R::AliasCharacters, "a star before the end"),
            (".env https://example.com", R::AliasHidden, "a hidden file"),
            ("gh example.com", R::Target, "no scheme"),
            ("gh //example.com", R::Target, "no scheme, but a host"),
            (r"gh /\example.com", R::Target, "a host to browsers"),
            ("gh https:example.com", R::Target, "no slashes"),
            ("gh https:///example.com", R::Target, "three slashes"),
            (r"gh https://\example.com", R::Target, "a backslash"),
            ("gh https://", R::Target, "no host"),
            ("gh https://exa\u{7}mple.com", R::Target, "a control character"),
            ("gh /a\u{7}", R::Target, "a control character in a path"),
            ("gh javascript:alert(1)", R::Target, "a script"),
            ("gh data:text/html,hi", R::Target, "a document in the address"),
            ("gh ftp://example.com", R::Target, "another protocol"),
            ("gh https://[::1", R::Target, "half an address"),
            ("gh https://münchen.example/", R::TargetHost, "a host outside ASCII"),
            ("gh https://example.com/:splat", R::Splat, "a splat of nothing"),
            ("gh/* https://:splat/", R::Target, "a splat that chooses the host"),
            ("gh/* https://example.com:splat/", R::Target, "a splat that goes on with the host"),
            ("gh/* https://me:splat@example.com/", R::Splat, "a splat that is a password"),
            ("gh /gh", R::Loop, "itself"),
            ("gh /GH/?a#b", R::Loop, "itself in other letters"),
            ("gh /%67h", R::Loop, "itself encoded"),
            ("gh/* /gh/:splat", R::Loop, "itself, below"),
            ("gh/* /gh", R::Loop, "itself, without what is below"),
        ] {
            assert_eq!(parse(line, 1, Origin::Source, StatusCode::FOUND).err(), Some(reason), "{why}: {line}");
        }
        let long = format!("gh https://example.com/{}", "a".repeat(MAX_LINE));
        assert_eq!(parse(&long, 1, Origin::Source, StatusCode::FOUND).err(), Some(R::LineTooLong));
    }

    #[test]
    fn what_only_resembles_a_loop_is_none() {
        for line in
            ["gh /ghost", "gh/* /ghost/:splat", "gh /gh/more", "gh https://example.com/gh", "gh/* /new/gh/:splat"]
        {
            assert!(link(line).is_some(), "{line}");
        }
    }
}
