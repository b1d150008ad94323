//! `homebody`: a personal website as one program.
//!
//! The site is compiled into the binary, short links come from a text that the owner edits elsewhere, and a second port
//! shows what happens. A request walks one way through the house:
//!
//! ```text
//! socket ─► server   accept, limit, drain
//!        ─► router   the ladder:
//!             1. method    GET or HEAD, else 405 (OPTIONS 204)
//!             2. site      the path of a resource: 200, 206, 304; another name of one: 308
//!             3. links     a short link: its redirect
//!             4. neither   the site's 404
//!        ─► outcome  counted once, logged once
//! ```
//!
//! The modules, in the order to read them. Imports go down this list, never up; [`site`] and [`links`] know nothing of
//! each other, of the router or of the metrics.

pub mod router;

pub mod site;

pub mod links;

pub mod outcome;

pub mod metrics;

pub mod admin;

pub mod server;

pub mod telemetry;

pub mod config;

pub mod commands;
