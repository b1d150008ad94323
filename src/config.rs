//! Flags and their environment variables, typed; the only reader of the environment.
//!
//! The names are a contract: other people's scripts rely on them. What a value can be judged by itself is judged here,
//! before anything is opened or bound.

use std::{
    env,
    ffi::OsString,
    fmt::Write,
    io::{self, IsTerminal},
    num::NonZero,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use axum::http::StatusCode;
use clap::{
    Args, CommandFactory, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ErrorKind},
};
use tracing::level_filters::LevelFilter;

use crate::{
    links::{STATUSES, SourceAddress, Token},
    server::ListenAddress,
    telemetry::LogFormat,
};

/// A personal website as one program: pages embedded, short links from a Gist, metrics on a second port.
#[derive(Debug, Parser)]
#[command(name = "homebody", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do; `serve` if nothing is said.
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the site (the default)
    Serve(ServeArgs),
    /// Judge a site and its short links before they go live
    Check(CheckArgs),
    /// Ask the admin listener whether the server takes requests: exit code 0 if it does, 1 if not
    Healthcheck(AdminArgs),
    /// Print the short links
    Links(LinksArgs),
}

/// What `serve` takes.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where the site is.
    #[arg(help = "Address of the site: IP:PORT, [IPV6]:PORT ([::]:8080 takes IPv4 too) or unix:PATH")]
    #[arg(long, env = "HOMEBODY_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: ListenAddress,
    /// The second listener.
    #[command(flatten)]
    pub admin: AdminArgs,
    /// The pages.
    #[command(flatten)]
    pub site: SiteArgs,
    /// The short links.
    #[command(flatten)]
    pub links: LinkArgs,
    /// How links are kept up to date.
    #[command(flatten)]
    pub refresh: RefreshArgs,
    /// The log.
    #[command(flatten)]
    pub log: LogArgs,
    /// Connections at one time; above it a connection is answered 503 [default: from the file-descriptor limit]
    #[arg(long, env = "HOMEBODY_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<NonZero<u32>>,
    /// How long a stop signal lets requests finish, such as 4s or 500ms
    #[arg(long, env = "HOMEBODY_GRACE", value_name = "DURATION", default_value = "4s")]
    #[arg(value_parser = humantime::parse_duration)]
    pub grace: Duration,
}

/// Where the admin listener is.
#[derive(Debug, Args)]
pub struct AdminArgs {
    /// Where metrics and health are.
    #[arg(help = "Address of metrics and health: IP:PORT, [IPV6]:PORT or unix:PATH")]
    #[arg(long, env = "HOMEBODY_METRICS_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:8081")]
    pub metrics_listen: ListenAddress,
}

/// Which pages.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// Folder to serve instead of the site in the binary; prepared at start
    #[arg(long, env = "HOMEBODY_DIR", value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Which short links.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// Text with more short links: a Gist, another http or https address, or a file
    #[arg(long, env = "HOMEBODY_REDIRECTS_URL", value_name = "URL")]
    pub redirects_url: Option<SourceAddress>,
    /// Status of short links that name none: 301, 302, 303, 307 or 308
    #[arg(long, env = "HOMEBODY_REDIRECT_STATUS", value_name = "N", default_value = "302")]
    #[arg(value_parser = redirect_status)]
    pub redirect_status: StatusCode,
}

/// How short links are kept up to date, and by whom.
#[derive(Debug, Args)]
pub struct RefreshArgs {
    /// How long browsers may keep the answer of a short link, such as 60s or 10m
    #[arg(long, env = "HOMEBODY_REDIRECT_MAX_AGE", value_name = "DURATION", default_value = "1m")]
    #[arg(value_parser = humantime::parse_duration)]
    pub redirect_max_age: Duration,
    /// Ask for the links once in this time, too, such as 10m [default: only when a name is not known]
    #[arg(long, env = "HOMEBODY_REDIRECTS_INTERVAL", value_name = "DURATION", requires = "redirects_url")]
    #[arg(value_parser = interval)]
    pub redirects_interval: Option<Duration>,
    /// File that keeps the last good links for a start while their source is down
    #[arg(long, env = "HOMEBODY_LINKS_CACHE", value_name = "FILE", requires = "redirects_url")]
    pub links_cache: Option<PathBuf>,
}

/// What `links` takes.
#[derive(Debug, Args)]
pub struct LinksArgs {
    /// What `check` takes too.
    #[command(flatten)]
    pub check: CheckArgs,
    /// Print JSON
    #[arg(long, env = "HOMEBODY_JSON")]
    pub json: bool,
}

/// What `check` and `links` take.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The pages.
    #[command(flatten)]
    pub site: SiteArgs,
    /// The short links.
    #[command(flatten)]
    pub links: LinkArgs,
}

/// What is logged, and how.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Least important events to log
    #[arg(long, env = "HOMEBODY_LOG_LEVEL", value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,
    /// How events are written [default: text on a terminal, else json]
    #[arg(long, env = "HOMEBODY_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Whether each request gets a line
    #[arg(long, env = "HOMEBODY_REQUEST_LOG", value_name = "SWITCH", default_value = "on")]
    request_log: Switch,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl LogArgs {
    /// The least important level that is logged.
    pub fn level(&self) -> LevelFilter {
        match self.log_level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Trace => LevelFilter::TRACE,
        }
    }

    /// The format that was asked for, or the one that suits standard output.
    pub fn format(&self) -> LogFormat {
        let suiting = if io::stdout().is_terminal() { LogFormat::Text } else { LogFormat::Json };
        self.log_format.unwrap_or(suiting)
    }

    /// Whether each request gets a line.
    pub fn requests(&self) -> bool {
        self.request_log == Switch::On
    }
}

/// Whether standard output may have colours: it is a terminal, and `NO_COLOR` is not set.
pub fn colours() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The file of certificates to trust instead of the built-in ones, by the variable that OpenSSL and others read too.
pub fn certificate_file() -> Option<PathBuf> {
    env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// The owner's token for GitHub; a variable only, since a command line can be read by others.
///
/// # Errors
///
/// If it cannot stand in a header.
pub fn github_token() -> Result<Option<Token>, &'static str> {
    let Some(token) = env::var_os("HOMEBODY_GITHUB_TOKEN").filter(|token| !token.is_empty()) else { return Ok(None) };
    let token = token.to_str().and_then(Token::new).ok_or("it is not printable ASCII, so it is no token")?;
    Ok(Some(token))
}

/// A source that is asked more often than this is not asked, but pestered.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

fn interval(text: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if interval < SHORTEST_INTERVAL { Err("it is shorter than a second".to_owned()) } else { Ok(interval) }
}

fn redirect_status(text: &str) -> Result<StatusCode, &'static str> {
    let status = StatusCode::from_str(text).ok().filter(|status| STATUSES.contains(status));
    status.ok_or("a redirect has the status 301, 302, 303, 307 or 308")
}

/// What the command line came to when it is not a command.
#[derive(Debug, PartialEq, Eq)]
pub enum NoCommand {
    /// Help or version was asked for: print this and end well.
    Print(String),
    /// It makes no sense, in one line.
    Usage(String),
}

impl Cli {
    /// Reads the command line and the environment.
    pub fn read(args: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Command, NoCommand> {
        let cli = Self::try_parse_from(args).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                let text = error.render();
                NoCommand::Print(if colours() { text.ansi().to_string() } else { text.to_string() })
            }
            _ => NoCommand::Usage(explain(&error)),
        })?;
        let command = cli.command.unwrap_or(Command::Serve(cli.serve));
        if let Command::Serve(ServeArgs { listen, admin, .. }) = &command
            && *listen == admin.metrics_listen
            && !matches!(listen, ListenAddress::Tcp(address) if address.port() == 0)
        {
            return Err(NoCommand::Usage(format!(
                "--listen (HOMEBODY_LISTEN) and --metrics-listen (HOMEBODY_METRICS_LISTEN) are both {listen}: \
                 metrics have a listener of their own"
            )));
        }
        Ok(command)
    }
}

/// One line that names the flag, its variable, the value and the reason.
fn explain(error: &clap::Error) -> String {
    use std::error::Error;
    let context = |kind| error.get(kind).map(ToString::to_string);
    let Some(flag) = context(ContextKind::InvalidArg)
        .filter(|_| matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation))
    else {
        // Clap's own words, without the page of usage behind them.
        let text = error.render().to_string();
        let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
        let said: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        return said.join("; ").trim_start_matches("error: ").to_owned() + "; homebody --help lists what there is";
    };
    let name = flag.split(' ').next().unwrap_or(&flag);
    let value = context(ContextKind::InvalidValue).unwrap_or_default();
    let mut line = name.to_owned();
    if let Some(variable) = variable_of(name) {
        let _ = write!(line, " ({variable})");
    }
    let _ = match (value.as_str(), error.source(), context(ContextKind::ValidValue)) {
        ("", _, _) => write!(line, ": a value is missing"),
        (value, Some(reason), _) => write!(line, ": {value:?}: {reason}"),
        (value, None, Some(valid)) => write!(line, ": {value:?}: it is one of {valid}"),
        (value, None, None) => write!(line, ": {value:?} is no value for it"),
    };
    line
}

/// The environment variable of a flag.
fn variable_of(flag: &str) -> Option<String> {
    let mut cli = Cli::command();
    cli.build();
    let commands = std::iter::once(&cli).chain(cli.get_subcommands());
    let argument = commands
        .flat_map(clap::Command::get_arguments)
        .find(|argument| argument.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)))?;
    argument.get_env()?.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Command, NoCommand> {
        Cli::read(std::iter::once("homebody").chain(args.iter().copied()))
    }

    fn usage(args: &[&str]) -> String {
        match read(args) {
            Err(NoCommand::Usage(line)) => line,
            other => panic!("{args:?} is not refused: {other:?}"),
        }
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_is_the_default_command() {
        for args in [&["--grace", "1s"][..], &["serve", "--grace", "1s"]] {
            let Ok(Command::Serve(serve)) = read(args) else { panic!("{args:?} is not serve") };
            assert_eq!(serve.grace, Duration::from_secs(1));
            assert_eq!(serve.listen.to_string(), "127.0.0.1:8080");
        }
    }

    #[test]
    fn every_flag_has_the_variable_of_its_name() {
        let mut cli = Cli::command();
        cli.build();
        let commands = std::iter::once(&cli).chain(cli.get_subcommands());
        let flags = commands.flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long);
        let mut seen = 0;
        for flag in flags.filter(|flag| !["help", "version"].contains(flag)) {
            let variable = format!("HOMEBODY_{}", flag.to_uppercase().replace('-', "_"));
            assert_eq!(variable_of(&format!("--{flag}")), Some(variable));
            seen += 1;
        }
        assert!(seen >= 10, "flags were looked at");
    }

    #[test]
    fn a_bad_value_is_named_with_its_flag_and_variable_in_one_line() {
        for (args, expected) in [
            (
                &["--listen", "8080"][..],
                "--listen (HOMEBODY_LISTEN): \"8080\": an address is IP:PORT, [IPV6]:PORT or unix:PATH, such as 127.0.0.1:8080",
            ),
            (
                &["--redirect-status", "200"],
                "--redirect-status (HOMEBODY_REDIRECT_STATUS): \"200\": a redirect has the status 301, 302, 303, 307 or 308",
            ),
            (&["--request-log", "yes"], "--request-log (HOMEBODY_REQUEST_LOG): \"yes\": it is one of on, off"),
            (&["--log-format"], "--log-format (HOMEBODY_LOG_FORMAT): a value is missing"),
            (
                &["--redirects-url", "ftp://example.com"],
                "--redirects-url (HOMEBODY_REDIRECTS_URL): \"ftp://example.com\": \
                 links come over http or https or from a file, not over ftp",
            ),
        ] {
            assert_eq!(usage(args), expected);
        }
        for args in [
            &["--grace", "4"][..],
            &["--max-connections", "0"],
            &["--max-connections", "many"],
            &["--log-level", "loud"],
            &["healthcheck", "--metrics-listen", "nowhere"],
        ] {
            let line = usage(args);
            let flag = args.iter().find(|arg| arg.starts_with("--")).expect("each row has a flag");
            assert!(line.starts_with(&format!("{flag} (HOMEBODY_")), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn other_mistakes_take_one_line_too() {
        let line = usage(&["--lisen", "127.0.0.1:1"]);
        assert!(line.contains("'--lisen'") && line.contains("'--listen'") && !line.contains('\n'), "{line}");
        assert!(!usage(&["frobnicate"]).contains('\n'));
    }

    #[test]
    fn metrics_do_not_share_the_sites_address() {
        let line = usage(&["--listen", "127.0.0.1:9000", "--metrics-listen", "127.0.0.1:9000"]);
        assert!(line.contains("HOMEBODY_METRICS_LISTEN"), "{line}");
        assert!(read(&["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]).is_ok());
    }
}
