//! `homebody links`: the short links that would be in force.

use std::fmt::Write;

use super::Failure;
use crate::{config::CheckArgs, links::LinkOptions, links::Links};

/// Prints alias, target, status and origin of each link, separated by tabs, in the order of the aliases.
pub(super) fn links(args: &CheckArgs) -> Result<(), Failure> {
    let site = super::site(&args.site)?;
    let links = Links::new(LinkOptions {
        floor: site.redirects().to_owned(),
        source: super::source(&args.links)?,
        default_status: args.links.redirect_status,
        ..LinkOptions::default()
    });
    let fetched = super::small_runtime()?.block_on(links.refresh());
    let table = links.table();
    let mut lines: Vec<_> = table.links().collect();
    lines.sort_by_key(|link| link.alias());
    let mut text = String::new();
    for link in lines {
        let _ = writeln!(text, "{}\t{}\t{}\t{}", link.alias(), link.target(), link.status().as_u16(), link.origin());
    }
    super::print(&text)?;
    Ok(fetched.map_err(anyhow::Error::from)?)
}
