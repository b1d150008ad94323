//! What the tests are written with.

mod app;
mod folder;
mod reply;
mod script;
mod server;
mod tls;
mod upstream;

pub use app::TestApp;
pub use folder::Folder;
pub use reply::Reply;
pub use script::{Answer, Script};
pub use server::{Server, exchange, homebody, read_reply, run};
pub use tls::TlsUpstream;
pub use upstream::{Upstream, Wire, nobody};

/// The value of a metric in Prometheus' text format, by its name with its labels as they are written there.
#[track_caller]
pub fn metric(text: &str, series: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    let value = line.unwrap_or_else(|| panic!("no series {series} in:\n{text}"));
    value.parse().unwrap_or_else(|_| panic!("{series} is no number: {value}"))
}

/// Text that compresses well, and is different for each seed.
pub fn prose(seed: &str) -> String {
    format!("<p>The house of {seed} stands on the hill, and the hill stands in the land.</p>\n").repeat(40)
}
