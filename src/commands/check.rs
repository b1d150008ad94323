//! `homebody check`: what would go wrong, before it does.

use std::fmt::Write;

use super::Failure;
use crate::{
    config::CheckArgs,
    links::{self, Ask, LinkTable, Origin, Rejected},
};

/// Prints a line for each finding. Rejected lines of short links are errors, and so is a source that gives no table; what
/// is odd about files is a warning.
pub(super) fn check(args: &CheckArgs) -> Result<(), Failure> {
    let site = super::site(&args.site)?;
    let status = args.links.redirect_status;
    let mut tables = vec![LinkTable::parse(site.redirects(), Origin::Site, status)];
    if let Some(source) = super::source(&args.links)? {
        let ask = Ask { newest: true, ..Ask::default() };
        let fetched = super::small_runtime()?.block_on(links::fetch(&*source, ask, links::TIMEOUT));
        let text = fetched.map_err(anyhow::Error::from)?.text.unwrap_or_default();
        tables.push(LinkTable::parse(&text, Origin::Source, status));
    }

    let mut report = String::new();
    if let Some(warning) = super::source_warning(&args.links) {
        let _ = writeln!(report, "warning: {warning}");
    }
    for warning in site.warnings() {
        let _ = writeln!(report, "warning: {warning}");
    }
    for link in
        tables.iter().flat_map(LinkTable::links).filter(|link| site.resolve(&format!("/{}", link.alias())).is_some())
    {
        let _ =
            writeln!(report, "warning: short link {}: never reached, the site has a file of that name", link.alias());
    }
    if site.not_found_page().is_none() {
        let _ = writeln!(report, "warning: 404.html: missing, so unknown paths get a plain line of text");
    }
    let rejected: Vec<&Rejected> = tables.iter().flat_map(LinkTable::rejected).collect();
    for Rejected { origin, line, text, reason } in &rejected {
        let _ = writeln!(report, "error: line {line} of the {origin}'s short links: {reason}: {text}");
    }
    let links: usize = tables.iter().map(LinkTable::len).sum();
    let _ = writeln!(report, "{} resources, {links} short links, {} errors", site.len(), rejected.len());
    super::print(&report)?;
    if rejected.is_empty() {
        Ok(())
    } else {
        Err(anyhow::anyhow!("{} lines of short links are wrong", rejected.len()).into())
    }
}
