//! The commands, a file each, and how they end.

mod check;
mod healthcheck;
mod links;
mod serve;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Context;

use crate::{
    config::{Command, LinkArgs, SiteArgs, certificate_file, github_token},
    links::{HttpSource, Source, SourceAddress, file_source},
    site::Site,
};

/// Why a command did not succeed. Its text is one line for standard error.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration cannot work; judged before any port is bound.
    #[error("{0}")]
    Usage(String),
    /// It did not work.
    #[error("{0:#}")]
    Runtime(#[from] anyhow::Error),
}

impl Failure {
    /// 2 for bad usage or configuration, 1 for the rest.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Runtime(_) => ExitCode::FAILURE,
        }
    }
}

impl Command {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Serve(args) => serve::serve(args),
            Self::Check(args) => check::check(args),
            Self::Healthcheck(args) => healthcheck::healthcheck(args),
            Self::Links(args) => links::links(args),
        }
    }
}

/// The site that the flags ask for.
fn site(args: &SiteArgs) -> Result<Site, Failure> {
    match &args.dir {
        None => Ok(Site::embedded()),
        Some(dir) => Site::from_folder(dir).map_err(|error| Failure::Usage(format!("--dir (HOMEBODY_DIR): {error}"))),
    }
}

/// The source that the flags ask for.
fn source(args: &LinkArgs) -> Result<Option<Box<dyn Source>>, Failure> {
    Ok(match &args.redirects_url {
        None => None,
        Some(SourceAddress::File(path)) => Some(Box::new(file_source(path.clone()))),
        Some(SourceAddress::Web(address)) => {
            let token = github_token().map_err(|error| Failure::Usage(format!("HOMEBODY_GITHUB_TOKEN: {error}")))?;
            let roots = certificate_file();
            let source = HttpSource::new(address, roots.as_deref(), token).map_err(|error| {
                let file = roots.unwrap_or_default();
                Failure::Usage(format!("SSL_CERT_FILE: {}: cannot be used: {error}", file.display()))
            })?;
            Some(Box::new(source))
        }
    })
}

/// What is odd about the address of the source, if anything is.
fn source_warning(args: &LinkArgs) -> Option<&'static str> {
    match &args.redirects_url {
        Some(SourceAddress::Web(address)) if address.is_pinned() => Some(
            "--redirects-url (HOMEBODY_REDIRECTS_URL): the address names one revision, so edits never arrive; \
             leave its 40 characters out",
        ),
        _ => None,
    }
}

/// Writes what a command found to standard output.
fn print(text: &str) -> Result<(), Failure> {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    match written {
        // Whoever read it has seen enough: `homebody links | head -1`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written.context("writing to standard output")?),
    }
}

/// A runtime for a command that asks something and ends.
fn small_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.context("starting the runtime")?)
}
