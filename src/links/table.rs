//! The link table: the links of a text, and what a path finds in them.
//!
//! A path is looked up in this order, and the first that is found counts:
//!
//! 1. the alias itself, with or without a slash behind it; in its own letters, else in any case of the ASCII ones;
//! 2. with a `+` behind it: the alias, to be shown instead of followed;
//! 3. a wildcard, `docs/*` for all below `docs` and `docs` itself; of several, the one that was written first;
//! 4. the alias without punctuation that was pasted along with it: `.` `,` `;` `)` `]` `}`.

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use axum::http::StatusCode;

use super::{
    line::{self, MAX_ALIAS, MAX_PARTS, Rejected, RejectedReason, RejectedText, alias_of},
    link::{Link, Origin},
};

/// A set of short links; immutable but for their hits.
#[derive(Debug, Default)]
pub struct LinkTable {
    /// By alias in lower case.
    links: HashMap<Box<str>, Named>,
    /// By prefix in lower case.
    wildcards: HashMap<Box<str>, Arc<Link>>,
    rejected: Vec<Rejected>,
    len: usize,
}

/// The links whose aliases differ only in the case of letters.
#[derive(Debug)]
struct Named {
    /// The one that was written last.
    link: Arc<Link>,
    /// The others; nearly always none.
    others: Vec<Arc<Link>>,
}

/// What a path found.
#[derive(Debug)]
pub(super) enum Match<'a> {
    /// A link to follow.
    Exact(&'a Arc<Link>),
    /// A wildcard to follow, and what it met.
    Below(&'a Arc<Link>, &'a str),
    /// A link to be shown.
    Preview(&'a Arc<Link>),
}

/// How a table differs from the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Difference {
    /// Links that were not there.
    pub added: usize,
    /// Links that lead elsewhere, or in another way.
    pub changed: usize,
    /// Links that are gone.
    pub removed: usize,
}

impl LinkTable {
    /// Reads a table. Never fails: what is wrong is in [`LinkTable::rejected`]. A byte order mark may come first; of two
    /// lines with one alias, the last counts.
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
        // Growing by doubling would hash every alias twice. A link takes more bytes than this, whatever the lines are.
        let most = text.lines().count().min(text.len() / "a http://b\n".len());
        let mut table = Self { links: HashMap::with_capacity(most), ..Self::default() };
        for (text, number) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().zip(1..) {
            match line::parse(text, number, origin, default_status) {
                Ok(None) => {}
                Ok(Some(link)) => {
                    if let Some(earlier) = table.insert(Arc::new(link)) {
                        let reason = RejectedReason::Repeated(number);
                        let text = RejectedText::of(&format!("{} {}", earlier.alias(), earlier.target()));
                        table.rejected.push(Rejected { origin, line: earlier.line, text, reason });
                    }
                }
                Err(reason) => {
                    table.rejected.push(Rejected { origin, line: number, text: RejectedText::of(text), reason });
                }
            }
        }
        table.rejected.sort_by_key(|rejected| rejected.line);
        table
    }

    /// Adds a link, in place of one with the same alias, which is given back.
    fn insert(&mut self, link: Arc<Link>) -> Option<Arc<Link>> {
        let earlier = if let Some(prefix) = link.prefix() {
            self.wildcards.insert(folded(prefix).into(), link)
        } else if let Some(named) = self.links.get_mut(&*folded(link.alias())) {
            let before = std::mem::replace(&mut named.link, link);
            named.others.push(before);
            let same = named.others.iter().position(|other| other.alias() == named.link.alias());
            same.map(|place| named.others.swap_remove(place))
        } else {
            self.links.insert(folded(link.alias()).into(), Named { link, others: Vec::new() });
            None
        };
        self.len += usize::from(earlier.is_none());
        earlier
    }

    /// What a decoded path finds.
    pub(super) fn find<'a>(&'a self, path: &'a str) -> Option<Match<'a>> {
        let name = alias_of(path);
        let preview = || name.strip_suffix('+').and_then(|name| self.named(name)).map(Match::Preview);
        let pasted = || {
            let name = Some(without_pasted(name)).filter(|trimmed| trimmed.len() < name.len())?;
            self.named(name).map(Match::Exact)
        };
        self.named(name).map(Match::Exact).or_else(preview).or_else(|| self.below(path)).or_else(pasted)
    }

    fn named(&self, name: &str) -> Option<&Arc<Link>> {
        // What is longer than any alias need not be put into lower case to be compared with them.
        let named = self.links.get(&*folded(Some(name).filter(|name| name.len() <= MAX_ALIAS)?))?;
        named.others.iter().find(|link| link.alias() == name).or(Some(&named.link))
    }

    /// The first wildcard that a path is below, and the rest of the path.
    fn below<'a>(&'a self, path: &'a str) -> Option<Match<'a>> {
        if self.wildcards.is_empty() {
            return None;
        }
        let path = path.strip_prefix('/').unwrap_or(path);
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]).take(MAX_PARTS);
        let met = ends.take_while(|end| *end <= MAX_ALIAS).filter_map(|end| {
            let (prefix, rest) = path.split_at(end);
            let link = self.wildcards.get(&*folded(prefix))?;
            Some((link, rest.strip_prefix('/').unwrap_or(rest)))
        });
        let (link, splat) = met.min_by_key(|(link, _)| (link.origin(), link.line))?;
        // A way up would leave the place that the owner meant, an empty part the host.
        let parts = splat.strip_suffix('/').unwrap_or(splat);
        let is_plain = splat.is_empty() || !parts.split('/').any(|part| matches!(part, "" | "." | ".."));
        is_plain.then_some(Match::Below(link, splat))
    }

    /// The link with exactly this alias; that of a wildcard ends with `/*`.
    pub fn get(&self, alias: &str) -> Option<Arc<Link>> {
        let link = match alias.strip_suffix("/*") {
            Some(prefix) => self.wildcards.get(&*folded(prefix)),
            None => self.named(alias),
        };
        link.filter(|link| link.alias() == alias).map(Arc::clone)
    }

    /// How many links there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All links, in no order.
    pub fn links(&self) -> impl Iterator<Item = &Arc<Link>> {
        let named = self.links.values().flat_map(|named| std::iter::once(&named.link).chain(&named.others));
        named.chain(self.wildcards.values())
    }

    /// The lines that are no links, in the order of the text.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// This table, with those of `floor` whose aliases it does not have.
    pub(super) fn laid_over(mut self, floor: Self) -> Self {
        let named = floor.links.into_values().flat_map(|Named { link, others }| others.into_iter().chain([link]));
        for link in named {
            match self.links.entry(folded(link.alias()).into()) {
                Entry::Vacant(place) => drop(place.insert(Named { link, others: Vec::new() })),
                Entry::Occupied(place) => {
                    let Named { link: own, others } = place.into_mut();
                    if others.iter().chain([&*own]).any(|own| own.alias() == link.alias()) {
                        continue;
                    }
                    others.push(link);
                }
            }
            self.len += 1;
        }
        for (prefix, link) in floor.wildcards {
            if let Entry::Vacant(place) = self.wildcards.entry(prefix) {
                place.insert(link);
                self.len += 1;
            }
        }
        self.rejected.extend(floor.rejected);
        self
    }

    /// How this table differs from the one before it, on whose hits it counts on from here.
    pub(super) fn succeed(&mut self, previous: &Self) -> Difference {
        let mut difference = Difference::default();
        for before in previous.links() {
            match self.get_mut(before.alias()) {
                None => difference.removed += 1,
                Some(link) => {
                    difference.changed += usize::from(!link.leads_as(before));
                    Arc::make_mut(link).hits = Arc::clone(&before.hits);
                }
            }
        }
        difference.added = self.len - (previous.len - difference.removed);
        difference
    }

    fn get_mut(&mut self, alias: &str) -> Option<&mut Arc<Link>> {
        let link = match alias.strip_suffix("/*") {
            Some(prefix) => self.wildcards.get_mut(&*folded(prefix))?,
            None => {
                let Named { link, others } = self.links.get_mut(&*folded(alias))?;
                others.iter_mut().chain([link]).find(|link| link.alias() == alias)?
            }
        };
        Some(link).filter(|link| link.alias() == alias)
    }
}

/// Letters of ASCII in lower case.
fn folded(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.into() }
}

/// The alias that a decoded path may mean, besides wildcards.
pub(super) fn meant(path: &str) -> &str {
    let name = alias_of(path);
    name.strip_suffix('+').unwrap_or(without_pasted(name))
}

/// The name without the punctuation that comes along when an address is copied out of a sentence.
fn without_pasted(name: &str) -> &str {
    name.trim_end_matches(['.', ',', ';', ')', ']', '}'])
}

/// Whether a text says that it has no links on purpose: it has a line `# empty`.
///
/// Without it an empty text is taken for an accident, and the links that were there stay.
pub(super) fn says_empty(text: &str) -> bool {
    text.lines().any(|line| line.trim().eq_ignore_ascii_case("# empty"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> LinkTable {
        LinkTable::parse(text, Origin::Source, StatusCode::FOUND)
    }

    /// Where a path leads, and whether it is only shown.
    fn found(table: &LinkTable, path: &str) -> Option<String> {
        let target = |link: &Link, splat| link.target.location(splat, None).to_str().map(str::to_owned).ok();
        match table.find(path)? {
            Match::Exact(link) => target(link, None),
            Match::Below(link, splat) => target(link, Some(splat)),
            Match::Preview(link) => target(link, None).map(|target| format!("preview of {target}")),
        }
    }

    fn reasons(text: &str) -> Vec<(usize, RejectedReason)> {
        parse(text).rejected().iter().map(|rejected| (rejected.line, rejected.reason.clone())).collect()
    }

    #[test]
    fn a_path_finds_what_its_reader_means() {
        let table = parse(
            "gh https://e.example/gh\nGH2 https://e.example/gh2\nGo https://e.example/Go\ngo https://e.example/go\n\
             docs/* https://d.example/:splat\nDocs/old/* https://d.example/hidden\nwiki/deep/x/* https://w.example/:splat\n\
             v1. https://e.example/dot\n",
        );
        for (path, expected, why) in [
            ("/gh", Some("https://e.example/gh"), "the alias"),
            ("/gh/", Some("https://e.example/gh"), "a slash behind"),
            ("/gh//", None, "two slashes"),
            ("/GH", Some("https://e.example/gh"), "other letters"),
            ("/gh2", Some("https://e.example/gh2"), "other letters, the other way round"),
            ("/Go", Some("https://e.example/Go"), "its own letters come first"),
            ("/go", Some("https://e.example/go"), "its own letters come first, both"),
            ("/GO", Some("https://e.example/go"), "of several, the last"),
            ("/gh.", Some("https://e.example/gh"), "the end of a sentence"),
            ("/gh).", Some("https://e.example/gh"), "the end of a sentence in brackets"),
            ("/GH,", Some("https://e.example/gh"), "other letters and a comma"),
            ("/v1.", Some("https://e.example/dot"), "a dot that is meant"),
            ("/gh!", None, "punctuation that is not pasted"),
            ("/gh+", Some("preview of https://e.example/gh"), "a plus shows it"),
            ("/GH+", Some("preview of https://e.example/gh"), "in other letters too"),
            ("/nothing+", None, "nothing to show"),
            ("/docs", Some("https://d.example/"), "a wildcard stands for itself"),
            ("/docs/", Some("https://d.example/"), "with a slash too"),
            ("/docs/a/b", Some("https://d.example/a/b"), "and for all below"),
            ("/docs/a/", Some("https://d.example/a/"), "with the slash behind"),
            ("/DOCS/A", Some("https://d.example/A"), "in other letters, but below they stay"),
            ("/docs/old/a", Some("https://d.example/old/a"), "the first that was written"),
            ("/docs/c++", Some("https://d.example/c++"), "below, a plus is a plus"),
            ("/docsy", None, "not below"),
            ("/docs/../x", None, "a way up"),
            ("/docs/a/..", None, "a way up at the end"),
            ("/docs//evil.example", None, "an empty part"),
            ("/wiki/deep/x/y", Some("https://w.example/y"), "three parts deep"),
            ("/wiki/deep", None, "above it"),
        ] {
            assert_eq!(found(&table, path).as_deref(), expected, "{path}: {why}");
        }
    }

    #[test]
    fn of_two_lines_with_one_alias_the_last_counts_and_the_other_is_reported() {
        assert_eq!(reasons("gh https://a.example\ngh https://b.example"), [(1, RejectedReason::Repeated(2))]);
        assert_eq!(reasons("a/* https://a.example\na/* https://b.example"), [(1, RejectedReason::Repeated(2))]);
        let three = parse("a https://1.example\nA https://2.example\na https://3.example");
        assert_eq!((three.len(), three.rejected().len()), (2, 1));
        assert_eq!(found(&three, "/a").as_deref(), Some("https://3.example"));
        assert_eq!(found(&three, "/A").as_deref(), Some("https://2.example"));
    }

    #[test]
    fn a_bad_line_is_rejected_alone_with_its_number_and_reason() {
        let text = "\u{feff}before https://example.com\nb javascript:alert(1)\r\nafter https://example.com";
        assert_eq!(reasons(text), [(2, RejectedReason::Target)]);
        assert_eq!(parse(text).len(), 2);
    }

    #[test]
    fn the_upper_table_is_laid_over_the_lower_one() {
        let upper = parse("a https://upper.example/a\nd/x/* https://upper.example/d\nC https://upper.example/c\nbad");
        let lower = "a https://lower.example/a\nb https://lower.example/b\nd/* https://lower.example/d\n\
             c https://lower.example/c\nD/X/* https://lower.example/x\nbad";
        let table = upper.laid_over(LinkTable::parse(lower, Origin::Site, StatusCode::FOUND));
        assert_eq!((table.len(), table.links().count(), table.rejected().len()), (6, 6, 2));
        assert_eq!(found(&table, "/c").as_deref(), Some("https://lower.example/c"), "its own letters");
        assert_eq!(found(&table, "/a").as_deref(), Some("https://upper.example/a"));
        assert_eq!(found(&table, "/b").as_deref(), Some("https://lower.example/b"));
        assert_eq!(found(&table, "/d/x/y").as_deref(), Some("https://upper.example/d"), "its wildcards come first");
    }

    #[test]
    fn a_difference_counts_what_was_added_changed_and_removed() {
        let before =
            parse("same https://e.example\nled https://e.example\nstatus https://e.example\ngone https://e.example");
        let after = parse(
            "same https://e.example\nled https://f.example\nstatus https://e.example 308\nnew/* https://e.example",
        );
        before.get("led").expect("a link").count_hit();
        let mut after = after;
        assert_eq!(after.succeed(&before), Difference { added: 1, changed: 2, removed: 1 });
        assert_eq!(after.get("led").map(|link| link.hits()), Some(1), "hits go on");
        let mut empty = LinkTable::default();
        assert_eq!(empty.succeed(&before), Difference { removed: 4, ..Difference::default() });
        let mut same = parse(
            "new/* https://e.example\nstatus https://e.example 308\nled https://f.example\nsame https://e.example",
        );
        assert_eq!(same.succeed(&after), Difference::default(), "the order of lines does not matter");
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
        fn every_link_is_found_and_no_path_makes_it_panic(
            text in "([aAb]{1,2}(/\\*)? /x/(:splat)?\n){0,8}", path in "/[aAbé/.+)*]{0,8}",
        ) {
            let table = parse(&text);
            prop_assert_eq!(table.links().count(), table.len());
            for link in table.links() {
                prop_assert!(table.get(link.alias()).is_some_and(|found| Arc::ptr_eq(&found, link)));
            }
            let _ = found(&table, &path);
        }
    }
}
