//! Where more links come from: a text over HTTP, or a file.

use std::{
    error::Error,
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    pin::Pin,
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use reqwest::{Client, StatusCode, header, redirect};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use url::Url;

use super::RefreshResult;

/// A fetch under way.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<String, FetchError>> + Send + 'a>>;

/// Somewhere to fetch the text of a link table from.
pub trait Source: Send + Sync {
    /// Fetches the text. Has to end by itself within seconds.
    fn fetch(&self) -> Fetching<'_>;
}

/// Why a fetch gave no table.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No connection, or it broke; or the file cannot be read.
    #[error("the source cannot be reached: {0}")]
    Unreachable(String),
    /// [`CONNECT_TIMEOUT`] or [`TIMEOUT`] is over.
    #[error("the source did not answer in time")]
    TimedOut,
    /// Not 200.
    #[error("the source answered {0}")]
    Status(StatusCode),
    /// More than [`MAX_BYTES`].
    #[error("the answer is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// The bytes are not text.
    #[error("the answer is not UTF-8 text")]
    NotUtf8,
    /// The text is a page, such as an error page or a login form.
    #[error("the answer is an HTML page, not a list of links")]
    Html,
    /// Not one line is a link. (A list that is empty on purpose has a line `# empty`.)
    #[error(
        "the answer has no link in it ({rejected} lines rejected); a list that is empty on purpose says so: # empty"
    )]
    NoLinks {
        /// How many lines were rejected.
        rejected: usize,
    },
}

impl FetchError {
    /// What to count it as.
    pub fn result(&self) -> RefreshResult {
        match self {
            Self::Unreachable(_) => RefreshResult::Unreachable,
            Self::TimedOut => RefreshResult::TimedOut,
            Self::Status(_) => RefreshResult::Status,
            Self::TooLarge => RefreshResult::TooLarge,
            Self::NotUtf8 | Self::Html => RefreshResult::NotText,
            Self::NoLinks { .. } => RefreshResult::NoLinks,
        }
    }
}

/// More than a hundred thousand links.
const MAX_BYTES: usize = 8 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// From the first byte sent to the last received.
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_REDIRECTS: usize = 5;

/// The address of a source, as it is given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceAddress {
    /// An http or https address.
    Web(Url),
    /// A file.
    File(PathBuf),
}

impl FromStr for SourceAddress {
    type Err = String;

    /// What has a scheme is an address and has to be http or https; all else is a path.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, _)) = text.split_once("://") else {
            return if text.is_empty() { Err("it is empty".into()) } else { Ok(Self::File(text.into())) };
        };
        if !["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
            return Err(format!("links come over http or https or from a file, not over {scheme}"));
        }
        Url::parse(text).map(Self::Web).map_err(|error| error.to_string())
    }
}

impl fmt::Display for SourceAddress {
    /// As it was given, without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Web(url) => {
                let mut url = url.clone();
                // Both fail only on addresses that cannot have them.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.fmt(f)
            }
        }
    }
}

/// A text over HTTP.
#[derive(Debug)]
pub struct HttpSource {
    client: Client,
    url: Url,
}

impl HttpSource {
    /// A source at `url`. Servers are trusted whom `roots` (a PEM file of certificates) vouches for, or without it the
    /// authorities that browsers trust.
    ///
    /// # Errors
    ///
    /// If `roots` cannot be read or has no certificate.
    pub fn new(url: Url, roots: Option<&Path>) -> io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has what TLS 1.2 and 1.3 need")
            .with_root_certificates(trusted(roots)?)
            .with_no_client_auth();
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("homebody/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::custom(follow))
            // A source is asked once in a while: a connection kept open would be closed by the other side until then.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(io::Error::other)?;
        Ok(Self { client, url })
    }

    async fn get(&self) -> Result<String, FetchError> {
        let request = self.client.get(self.url.clone()).header(header::ACCEPT, "text/plain, */*;q=0.5");
        let mut response = request.send().await?;
        if response.status() != StatusCode::OK {
            return Err(FetchError::Status(response.status()));
        }
        let is_html = response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if bytes.len() + chunk.len() > MAX_BYTES {
                return Err(FetchError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        if is_html {
            return Err(FetchError::Html);
        }
        text(bytes)
    }
}

impl Source for HttpSource {
    fn fetch(&self) -> Fetching<'_> {
        Box::pin(self.get())
    }
}

/// Follows a few redirects, but never from https to http, where anybody could answer.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error("too many redirects");
    }
    if attempt.url().scheme() != "https" && attempt.previous().iter().any(|url| url.scheme() == "https") {
        return attempt.error("a redirect from https to http");
    }
    attempt.follow()
}

fn trusted(roots: Option<&Path>) -> io::Result<RootCertStore> {
    let Some(file) = roots else {
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() });
    };
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(io::Error::other)?;
    for certificate in certificates {
        store.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    if store.is_empty() {
        return Err(io::Error::other("no certificate in it"));
    }
    Ok(store)
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::TimedOut;
        }
        // The innermost cause says what happened; the outer ones repeat the address, which may hold a secret.
        let mut cause: &dyn Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        Self::Unreachable(if cause.source().is_none() && error.source().is_none() {
            error.without_url().to_string()
        } else {
            cause.to_string()
        })
    }
}

/// A text in a file.
pub fn file_source(path: PathBuf) -> impl Source {
    FileSource(path)
}

struct FileSource(PathBuf);

impl Source for FileSource {
    fn fetch(&self) -> Fetching<'_> {
        let path = self.0.clone();
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || read_file(&path)).await;
            read.unwrap_or_else(|error| Err(FetchError::Unreachable(error.to_string())))
        })
    }
}

fn read_file(path: &Path) -> Result<String, FetchError> {
    let failed = |error: io::Error| FetchError::Unreachable(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        return Err(FetchError::TooLarge);
    }
    text(bytes)
}

fn text(bytes: Vec<u8>) -> Result<String, FetchError> {
    let text = String::from_utf8(bytes).map_err(|_| FetchError::NotUtf8)?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('<') { Err(FetchError::Html) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_on_the_web_or_a_file() {
        let web = |text: &str| Ok(SourceAddress::Web(Url::parse(text).expect("an address")));
        assert_eq!("https://example.com/links".parse(), web("https://example.com/links"));
        assert_eq!("HTTP://example.com/".parse(), web("http://example.com/"));
        assert_eq!("links.txt".parse(), Ok(SourceAddress::File("links.txt".into())));
        assert_eq!("/srv/links".parse(), Ok(SourceAddress::File("/srv/links".into())));
        for bad in ["", "ftp://example.com/links", "https://"] {
            assert!(bad.parse::<SourceAddress>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address: SourceAddress = "https://me:secret@example.com/links".parse().expect("an address");
        assert_eq!(address.to_string(), "https://example.com/links");
    }
}
