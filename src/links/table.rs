//! The link table, and the text it is written as.
//!
//! One line a link, the same in a Gist and in `_redirects`:
//!
//! ```text
//! # the code
//! gh      https://github.com/example
//! talk    https://example.com/slides.pdf   307
//! ```
//!
//! Fields are separated by spaces or tabs. The alias may have a slash before and behind it; the status is one of
//! [`STATUSES`]. A field that begins with `#` begins a comment. Line ends may be CRLF, and a byte order mark may come
//! first. Of two lines with one alias, the last counts. A bad line is rejected alone, with its number and the reason.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::http::{HeaderValue, StatusCode};
use url::Url;

use super::redirect::Redirect;

/// The statuses a link may have (RFC 9110, section 15.4).
pub const STATUSES: [StatusCode; 5] = [
    StatusCode::MOVED_PERMANENTLY,
    StatusCode::FOUND,
    StatusCode::SEE_OTHER,
    StatusCode::TEMPORARY_REDIRECT,
    StatusCode::PERMANENT_REDIRECT,
];

/// An alias with the place it leads to.
#[derive(Debug, Clone)]
pub struct Link {
    alias: Box<str>,
    target: Box<str>,
    origin: Origin,
    line: usize,
    status: StatusCode,
    pub(super) redirect: Redirect,
    /// How often it was followed; kept when the table is replaced by one that has the alias too.
    hits: Arc<AtomicU64>,
}

/// Where a link was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The site's `_redirects`.
    Site,
    /// The source, such as a Gist.
    Source,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Site => "site",
            Self::Source => "source",
        })
    }
}

/// A set of short links; immutable but for their hits.
#[derive(Debug, Default)]
pub struct LinkTable {
    links: HashMap<Box<str>, Arc<Link>>,
    rejected: Vec<Rejected>,
}

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
    fn of(line: &str) -> Self {
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
    /// Four fields or more.
    #[error("there is more than alias, target and status")]
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
    /// The target is no address with a host.
    #[error("the target is no http or https address")]
    Target,
    /// The host has characters that addresses do not have.
    #[error("the host of the target is not ASCII; write it in its xn-- form")]
    TargetHost,
    /// The status is none of [`STATUSES`].
    #[error("the status is none of 301, 302, 303, 307, 308")]
    Status,
    /// The alias comes again.
    #[error("line {0} names the same alias, and the last one counts")]
    Repeated(usize),
}

/// Browsers and servers begin to refuse addresses somewhere above this.
const MAX_LINE: usize = 8192;
const MAX_ALIAS: usize = 64;
const MAX_PARTS: usize = 3;

impl Link {
    /// The name, without slashes around it.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// The address it leads to, as it was written.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The status of the redirect.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Where it was written.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// How often it was followed.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    pub(super) fn count_hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }
}

impl LinkTable {
    /// Reads a table. Never fails: what is wrong is in [`LinkTable::rejected`].
    ///
    /// ```
    /// use axum::http::StatusCode;
    /// use homebody::links::{LinkTable, Origin};
    ///
    /// let table = LinkTable::parse("gh https://example.com/me 308\ncv javascript:alert(1)", Origin::Site, StatusCode::FOUND);
    /// assert_eq!(table.get("gh").map(|link| link.status()), Some(StatusCode::PERMANENT_REDIRECT));
    /// assert_eq!(table.rejected()[0].line, 2);
    /// ```
    pub fn parse(text: &str, origin: Origin, default_status: StatusCode) -> Self {
        let mut table = Self::default();
        for (line, number) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().zip(1..) {
            let reason = match parse_line(line, number, origin, default_status) {
                Ok(None) => continue,
                Ok(Some(link)) => match table.links.insert(link.alias.clone(), Arc::new(link)) {
                    None => continue,
                    Some(earlier) => {
                        let reason = RejectedReason::Repeated(number);
                        let text = RejectedText::of(&format!("{} {}", earlier.alias, earlier.target));
                        table.rejected.push(Rejected { origin, line: earlier.line, text, reason });
                        continue;
                    }
                },
                Err(reason) => reason,
            };
            table.rejected.push(Rejected { origin, line: number, text: RejectedText::of(line), reason });
        }
        table.rejected.sort_by_key(|rejected| rejected.line);
        table
    }

    /// The link of an alias.
    pub fn get(&self, alias: &str) -> Option<Arc<Link>> {
        self.links.get(alias).map(Arc::clone)
    }

    /// How many links there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// All links, in no order.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.values().map(|link| &**link)
    }

    /// The lines that are no links, in the order of the text.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// This table, with those of `upper` in place of its own links of the same alias.
    pub(super) fn overlaid_with(mut self, upper: Self) -> Self {
        self.links.extend(upper.links);
        self.rejected.extend(upper.rejected);
        self
    }

    /// This table, counting on where `previous` stood.
    pub(super) fn with_hits_of(mut self, previous: &Self) -> Self {
        for (alias, link) in &mut self.links {
            if let Some(before) = previous.links.get(alias) {
                Arc::make_mut(link).hits = Arc::clone(&before.hits);
            }
        }
        self
    }
}

/// Whether a text says that it has no links on purpose: it has a line `# empty`.
///
/// Without it an empty text is taken for an accident, and the links that were there stay.
pub(super) fn says_empty(text: &str) -> bool {
    text.lines().any(|line| line.trim().eq_ignore_ascii_case("# empty"))
}

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
fn parse_line(
    line: &str,
    number: usize,
    origin: Origin,
    default_status: StatusCode,
) -> Result<Option<Link>, RejectedReason> {
    if line.len() > MAX_LINE {
        return Err(RejectedReason::LineTooLong);
    }
    let mut fields =
        line.split([' ', '\t', '\r']).filter(|field| !field.is_empty()).take_while(|field| !field.starts_with('#'));
    let Some(alias) = fields.next() else { return Ok(None) };
    let target = fields.next().ok_or(RejectedReason::NoTarget)?;
    let status = fields.next().map_or(Ok(default_status), parse_status)?;
    if fields.next().is_some() {
        return Err(RejectedReason::TooManyFields);
    }
    let alias = alias_of(alias);
    check_alias(alias)?;
    let redirect = Redirect::to(parse_target(target)?);
    let (alias, target) = (alias.into(), target.into());
    Ok(Some(Link { alias, target, origin, line: number, status, redirect, hits: Arc::default() }))
}

fn parse_status(field: &str) -> Result<StatusCode, RejectedReason> {
    STATUSES.into_iter().find(|status| status.as_str() == field).ok_or(RejectedReason::Status)
}

/// The value of Location. A parser judges the target, but does not rewrite it: its bytes stay as the owner wrote them,
/// but for letters outside ASCII, which cannot stand in a header and are percent-encoded (RFC 3987, section 3.1).
fn parse_target(target: &str) -> Result<HeaderValue, RejectedReason> {
    // Said before parsing, since the parser forgives: it reads `https:example.com` and `https:\\example.com` as well.
    let after_scheme = ["http://", "https://"].iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let rest = after_scheme.ok_or(RejectedReason::Target)?;
    if rest.starts_with(['/', '\\']) || rest.contains(char::is_control) {
        return Err(RejectedReason::Target);
    }
    let url = Url::parse(target).map_err(|_| RejectedReason::Target)?;
    if !url.has_host() {
        return Err(RejectedReason::Target);
    }
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    if !authority.is_ascii() {
        return Err(RejectedReason::TargetHost);
    }
    let location = percent_encoding::utf8_percent_encode(target, percent_encoding::CONTROLS).to_string();
    location.try_into().map_err(|_| RejectedReason::Target)
}

#[cfg(test)]
mod tests {
    use axum::http::header;
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> LinkTable {
        LinkTable::parse(text, Origin::Source, StatusCode::FOUND)
    }

    fn location(table: &LinkTable, alias: &str) -> Option<String> {
        let link = table.get(alias)?;
        link.redirect.headers[header::LOCATION].to_str().ok().map(str::to_owned)
    }

    fn reasons(text: &str) -> Vec<(usize, RejectedReason)> {
        parse(text).rejected().iter().map(|rejected| (rejected.line, rejected.reason.clone())).collect()
    }

    #[test]
    fn a_line_is_an_alias_a_target_and_maybe_a_status() {
        for (line, why) in [
            ("gh https://example.com/a", "a space"),
            ("gh\t\t https://example.com/a", "tabs and spaces"),
            ("  gh https://example.com/a  ", "space around"),
            ("/gh https://example.com/a", "a slash before the alias"),
            ("/gh/ https://example.com/a", "slashes around the alias"),
            ("gh https://example.com/a\r", "CRLF"),
            ("\u{feff}gh https://example.com/a", "a byte order mark"),
            ("gh https://example.com/a 302", "a status"),
            ("gh https://example.com/a # mine", "a comment behind"),
            ("gh https://example.com/a 302 # mine", "a comment behind the status"),
            ("gh https://other.example\ngh https://example.com/a", "the last of two lines"),
        ] {
            let table = parse(line);
            assert_eq!(location(&table, "gh").as_deref(), Some("https://example.com/a"), "{why}");
            assert_eq!(table.get("gh").map(|link| link.status()), Some(StatusCode::FOUND), "{why}");
            assert_eq!(table.len(), 1, "{why}");
        }
    }

    #[test]
    fn empty_lines_and_comments_are_no_links() {
        let table = parse("\n   \n# a comment\n  # another\n#gh https://example.com\n\t\r\n");
        assert!(table.is_empty());
        assert!(table.rejected().is_empty());
    }

    #[test]
    fn each_status_is_the_one_that_was_written() {
        for status in STATUSES {
            let table = parse(&format!("a https://example.com {}", status.as_str()));
            assert_eq!(table.get("a").map(|link| link.status()), Some(status));
        }
    }

    #[test]
    fn a_bad_line_is_rejected_alone_with_its_number_and_reason() {
        use RejectedReason as R;
        for (line, reason, why) in [
            ("gh", R::NoTarget, "an alias alone"),
            ("gh # https://example.com", R::NoTarget, "the target in a comment"),
            ("gh https://example.com 302 x", R::TooManyFields, "a fourth field"),
            ("gh https://example.com 200", R::Status, "not a redirect"),
            ("gh https://example.com 3o2", R::Status, "not a number"),
            ("/ https://example.com", R::AliasLength, "the home page is no alias"),
            ("a?b https://example.com", R::AliasCharacters, "a query is no part of a path"),
            ("a%20b https://example.com", R::AliasCharacters, "aliases are written decoded"),
            ("a//b https://example.com", R::AliasCharacters, "an empty part"),
            ("a/b/c/d https://example.com", R::AliasCharacters, "too deep"),
            (".env https://example.com", R::AliasHidden, "a hidden file"),
            ("gh example.com", R::Target, "no scheme"),
            ("gh /about/", R::Target, "a path"),
            ("gh //example.com", R::Target, "no scheme, but a host"),
            ("gh https:example.com", R::Target, "no slashes"),
            ("gh https:///example.com", R::Target, "three slashes"),
            (r"gh https://\example.com", R::Target, "a backslash"),
            ("gh https://", R::Target, "no host"),
            ("gh https://exa\u{7}mple.com", R::Target, "a control character"),
            ("gh javascript:alert(1)", R::Target, "a script"),
            ("gh data:text/html,hi", R::Target, "a document in the address"),
            ("gh ftp://example.com", R::Target, "another protocol"),
            ("gh https://[::1", R::Target, "half an address"),
            ("gh https://münchen.example/", R::TargetHost, "a host outside ASCII"),
        ] {
            let text = format!("before https://example.com\n{line}\nafter https://example.com");
            assert_eq!(reasons(&text), [(2, reason)], "{why}: {line}");
            assert_eq!(parse(&text).len(), 2, "{why}: the other lines are links");
        }
        assert_eq!(reasons(&format!("gh https://example.com/{}", "a".repeat(MAX_LINE))), [(1, R::LineTooLong)]);
        assert_eq!(reasons("gh https://a.example\ngh https://b.example"), [(1, R::Repeated(2))]);
    }

    #[test]
    fn the_target_is_sent_as_it_was_written() {
        for (target, sent) in [
            ("https://example.com", "https://example.com"),
            ("HTTPS://Example.COM:443/a/../b?q=1#x", "HTTPS://Example.COM:443/a/../b?q=1#x"),
            ("https://example.com/a%2fb?c=|", "https://example.com/a%2fb?c=|"),
            ("https://example.com/grüße", "https://example.com/gr%C3%BC%C3%9Fe"),
            ("http://user@example.com/", "http://user@example.com/"),
        ] {
            assert_eq!(location(&parse(&format!("a {target}")), "a").as_deref(), Some(sent));
        }
    }

    #[test]
    fn only_a_text_that_says_so_is_empty_on_purpose() {
        assert!(says_empty("# my links\n# Empty\r\n"));
        assert!(!says_empty(""));
        assert!(!says_empty("# nothing here"));
    }

    #[test]
    fn rejected_lines_are_shown_without_what_could_harm_a_terminal() {
        let table = parse("gh \u{1b}[31m\u{9b}evil");
        let shown = table.rejected()[0].text.to_string();
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic_and_every_line_is_accounted_for(text in "(?s).{0,300}") {
            let table = parse(&text);
            let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines();
            let meant = lines.filter(|line| {
                let first = line.split([' ', '\t', '\r']).find(|field| !field.is_empty());
                first.is_some_and(|field| !field.starts_with('#'))
            });
            prop_assert_eq!(table.len() + table.rejected().len(), meant.count());
        }

        #[test]
        fn every_location_is_an_absolute_web_address(target in "(https?:)?[/\\\\]{0,3}[a-z.@:\\[\\]%#?/\\\\é\u{1}-\u{8}]{0,20}") {
            let table = parse(&format!("a {target}"));
            if let Some(location) = location(&table, "a") {
                let url = Url::parse(&location).expect("an accepted target is an address");
                prop_assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
            }
        }
    }
}
