//! The log: a line an event, to standard output.
//!
//! Text for people, JSON for machines. In JSON all fields are at the top of the object. Two events are a contract, which
//! tests and other people's scripts rely on:
//!
//! - `listening`: `{"event":"listening","listener":"public"|"admin","address":"IP:PORT"|"unix:PATH", …}`
//! - `request`: `{"event":"request","method", "path", "status", "outcome", "bytes", "duration_us", …}`

use std::{
    fmt::{self, Write},
    time::Duration,
};

use axum::{
    body::HttpBody,
    http::{Method, request::Parts},
    response::Response,
};
use tracing::level_filters::LevelFilter;

use crate::outcome::Outcome;

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For reading.
    Text,
}

/// Starts writing events of `level` and above, for the whole process.
///
/// # Panics
///
/// If it is called twice.
pub fn start(level: LevelFilter, format: LogFormat, colours: bool) {
    let builder = tracing_subscriber::fmt().with_max_level(level).with_target(false);
    match format {
        LogFormat::Json => builder.json().flatten_event(true).with_current_span(false).with_span_list(false).init(),
        LogFormat::Text => builder.with_ansi(colours).init(),
    }
}

/// Writes the line of one request.
pub fn log_request(request: &Parts, outcome: Outcome, response: &Response, elapsed: Duration) {
    let status = response.status().as_u16();
    let bytes = if request.method == Method::HEAD { None } else { response.body().size_hint().exact() };
    tracing::info!(
        event = "request",
        method = %Plain(request.method.as_str()),
        path = %Plain(request.uri.path()),
        status,
        outcome = outcome.as_str(),
        bytes = bytes.unwrap_or(0),
        duration_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        "{status} {} {}",
        Plain(request.method.as_str()),
        Plain(request.uri.path()),
    );
}

/// What a stranger sent, fit for a line: control characters escaped, and not longer than a line should be.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 512;
        for c in self.0.chars().take(SHOWN) {
            if c.is_control() {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                f.write_char(c)?;
            }
        }
        if self.0.chars().nth(SHOWN).is_some() { f.write_char('…') } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stranger_sent_stays_on_one_line_of_bounded_length() {
        assert_eq!(Plain("/a\u{9b}31m\n/ü").to_string(), "/a\\u{9b}31m\\u{a}/ü");
        assert_eq!(Plain(&"x".repeat(9000)).to_string().chars().count(), 513);
    }
}
