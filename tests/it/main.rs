//! The tests of homebody's promises, a file each, in one binary: one link step, one set of helpers.
//!
//! In process (`TestApp`) where the promise is about answers, with the real binary (`Server`) where it is about the
//! process. No test needs the network or waits for time to pass: clocks are paused, ports come from the system.

#![allow(clippy::unwrap_used, reason = "a test panics when something is wrong")]
#![allow(clippy::print_stderr, reason = "what a failing test has to say")]
#![allow(missing_docs, unreachable_pub, reason = "nobody uses a test from outside")]

mod support;

mod cli;
mod conditional;
mod conformance;
mod embedded;
mod encoding;
mod folder;
mod framing;
mod headers;
mod links_cache;
mod methods;
mod metrics;
mod not_found;
mod owner_headers;
mod pages;
mod paths;
mod prepare;
mod process;
mod ranges;
mod readme;
mod refresh;
mod short_links;
mod source;
