//! `homebody links`: the short links that would be in force.

use std::fmt::Write;

use serde_json::json;

use super::Failure;
use crate::{
    config::LinksArgs,
    links::{Link, LinkOptions, Links},
};

/// Prints the links in the order of their aliases: alias, target, status and origin, separated by tabs, or as JSON.
pub(super) fn links(args: &LinksArgs) -> Result<(), Failure> {
    let LinksArgs { check, json } = args;
    let site = super::site(&check.site)?;
    let source = super::source(&check.links)?;
    let has_source = source.is_some();
    let links = Links::new(LinkOptions {
        floor: site.redirects().to_owned(),
        source,
        default_status: check.links.redirect_status,
        ..LinkOptions::default()
    });
    let refreshed = if has_source { super::small_runtime()?.block_on(links.refresh_now()).map(drop) } else { Ok(()) };
    let table = links.table();
    let mut found: Vec<&Link> = table.links().map(|link| &**link).collect();
    found.sort_by_key(|link| link.alias());
    super::print(&if *json { as_json(&found) } else { as_text(&found) })?;
    Ok(refreshed.map_err(anyhow::Error::from)?)
}

fn as_text(links: &[&Link]) -> String {
    let mut text = String::new();
    for link in links {
        let (alias, target, status) = (link.alias(), link.target(), link.status().as_u16());
        let _ = writeln!(text, "{alias}\t{target}\t{status}\t{}", link.origin());
    }
    text
}

fn as_json(links: &[&Link]) -> String {
    let links: Vec<_> = links
        .iter()
        .map(|link| {
            json!({
                "alias": link.alias(),
                "target": link.target(),
                "status": link.status().as_u16(),
                "passes_query": link.passes_query(),
                "origin": link.origin().to_string(),
            })
        })
        .collect();
    format!("{:#}\n", json!(links))
}
