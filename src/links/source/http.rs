//! A text, or a Gist, over HTTP.

use std::{
    error::Error,
    fmt, io,
    path::Path,
    time::{Duration, SystemTime},
};

use reqwest::{Client, RequestBuilder, Response, StatusCode, header, redirect};
use url::Url;

use super::{Ask, FetchError, Fetched, Fetching, MAX_BYTES, Source, WebAddress, gist, tls, wait};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_REDIRECTS: usize = 5;

/// GitHub's API, the one place that is told the token.
const API_HOST: &str = "api.github.com";

/// Hosts that keep an answer for five minutes whatever is asked, unless its address is a new one.
const KEEPING: [&str; 3] = ["gist.githubusercontent.com", "gist.github.com", "raw.githubusercontent.com"];

/// A text over HTTP.
pub struct HttpSource {
    client: Client,
    url: Url,
    token: Option<Token>,
}

/// A secret that stands for the owner at GitHub. It is never shown.
#[derive(Clone)]
pub struct Token(header::HeaderValue);

impl Token {
    /// A token as GitHub gives it; none if it cannot stand in a header.
    pub fn new(token: &str) -> Option<Self> {
        let mut value = header::HeaderValue::try_from(format!("Bearer {token}")).ok().filter(|_| !token.is_empty())?;
        // Left out of whatever is printed for debugging, and not sent along when a redirect leads to another host.
        value.set_sensitive(true);
        Some(Self(value))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl HttpSource {
    /// A source at `address`. Servers are trusted whom `roots` (a PEM file of certificates) vouches for, or without it the
    /// authorities that browsers trust. `token` is for GitHub's API alone.
    ///
    /// # Errors
    ///
    /// If `roots` cannot be read or has no certificate.
    pub fn new(address: &WebAddress, roots: Option<&Path>, token: Option<Token>) -> io::Result<Self> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls::client(roots)?)
            .user_agent(concat!("homebody/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::custom(follow))
            // A source is asked once in a while: a connection kept open would be closed by the other side until then.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(io::Error::other)?;
        Ok(Self { client, url: address.to_ask(token.is_some()).clone(), token })
    }

    async fn get(&self, ask: Ask) -> Result<Fetched, FetchError> {
        let mut request = self.request(self.url.clone(), ask.newest);
        let is_conditional = ask.validator.is_some();
        if let Some(validator) = ask.validator {
            request = request.header(header::IF_NONE_MATCH, validator);
        }
        let response = request.send().await?;
        let wait = wait::wanted(response.headers(), SystemTime::now());
        let validator = response.headers().get(header::ETAG).cloned();
        if response.status() == StatusCode::NOT_MODIFIED && is_conditional {
            return Ok(Fetched { text: None, validator, wait });
        }
        let from = response.url().clone();
        let bytes = body(response).await?;
        let text = if gist::is_json(&bytes) {
            match gist::read(&bytes)? {
                gist::Links::Text(text) => super::text(text.into_bytes())?,
                gist::Links::At(address) => super::text(self.elsewhere(&from, &address).await?)?,
            }
        } else {
            super::text(bytes)?
        };
        Ok(Fetched { text: Some(text), validator, wait })
    }

    /// The bytes at an address that an answer names.
    async fn elsewhere(&self, from: &Url, address: &str) -> Result<Vec<u8>, FetchError> {
        let url = Url::parse(address).ok().filter(|url| may_lead_to(from, url));
        let url = url.ok_or_else(|| FetchError::NoGist(format!("{address:?} is no address of a file")))?;
        body(self.request(url, false).send().await?).await
    }

    fn request(&self, mut url: Url, newest: bool) -> RequestBuilder {
        if newest && url.host_str().is_some_and(|host| KEEPING.contains(&host)) {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            url.query_pairs_mut().append_pair("cachebust", &now.as_millis().to_string());
        }
        let is_api = url.host_str() == Some(API_HOST);
        let token = self.token.as_ref().filter(|_| is_api && url.scheme() == "https");
        let mut request = self.client.get(url);
        request = if is_api {
            request.header(header::ACCEPT, "application/vnd.github+json").header("x-github-api-version", "2022-11-28")
        } else {
            request.header(header::ACCEPT, "text/plain, application/json;q=0.9, */*;q=0.5")
        };
        if newest {
            request = request.header(header::CACHE_CONTROL, "no-cache");
        }
        match token {
            Some(Token(value)) => request.header(header::AUTHORIZATION, value.clone()),
            None => request,
        }
    }
}

impl Source for HttpSource {
    fn fetch(&self, ask: Ask) -> Fetching<'_> {
        Box::pin(self.get(ask))
    }
}

/// The bytes of a 200 that is no page.
async fn body(mut response: Response) -> Result<Vec<u8>, FetchError> {
    if response.status() != StatusCode::OK {
        let wait = wait::wanted(response.headers(), SystemTime::now());
        return Err(FetchError::Status { status: response.status(), wait });
    }
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_html = content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > MAX_BYTES {
            return Err(FetchError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    if is_html { Err(FetchError::Html) } else { Ok(bytes) }
}

/// Follows a few redirects.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error("too many redirects");
    }
    if attempt.previous().iter().any(|from| !may_lead_to(from, attempt.url())) {
        return attempt.error("a redirect from https to http");
    }
    attempt.follow()
}

/// Whether an answer from one address may name another: never from https to http, where anybody could answer.
fn may_lead_to(from: &Url, to: &Url) -> bool {
    to.scheme() == "https" || to.scheme() == "http" && from.scheme() == "http"
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::TimedOut;
        }
        // The innermost cause says what happened; the outer ones repeat the address, which may hold a secret.
        let mut innermost = None;
        let mut cause = error.source();
        while let Some(inner) = cause {
            if let Some(tls) = tls_error(inner) {
                return Self::Tls(tls.to_string());
            }
            innermost = Some(inner.to_string());
            cause = inner.source();
        }
        Self::Unreachable(innermost.unwrap_or_else(|| error.without_url().to_string()))
    }
}

/// The error of TLS, which comes inside errors of reading and writing.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    cause.downcast_ref().or_else(|| tls_error(cause.downcast_ref::<io::Error>()?.get_ref()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::SourceAddress;

    fn request(address: &str, newest: bool) -> reqwest::Request {
        let Ok(SourceAddress::Web(address)) = address.parse() else { panic!("{address} is no address") };
        let source = HttpSource::new(&address, None, Token::new("secret")).expect("a source");
        source.request(source.url.clone(), newest).build().expect("a request")
    }

    #[test]
    fn the_token_is_for_githubs_api_alone_and_never_in_the_clear() {
        for (address, expected) in [
            ("https://api.github.com/gists/1", true),
            ("https://gist.github.com/me/1234567", true),
            ("http://api.github.com/gists/1", false),
            ("https://api.github.com.evil.example/gists/1", false),
            ("https://gist.githubusercontent.com/me/1/raw", false),
            ("https://example.com/", false),
        ] {
            let request = request(address, true);
            assert_eq!(request.headers().contains_key(header::AUTHORIZATION), expected, "{address}");
            assert!(!format!("{request:?}").contains("secret"), "{request:?}");
        }
        assert!(Token::new("").is_none() && Token::new("a\nb").is_none());
        assert_eq!(format!("{:?}", Token::new("secret").expect("a token")), "Token");
    }

    #[test]
    fn who_waits_for_a_new_link_is_not_given_an_old_list() {
        let kept = "https://gist.githubusercontent.com/me/1/raw";
        assert!(request(kept, true).url().query().is_some_and(|query| query.starts_with("cachebust=")));
        assert_eq!(request(kept, false).url().query(), None);
        let elsewhere = request("https://example.com/links?a=1", true);
        assert_eq!(elsewhere.url().query(), Some("a=1"), "other servers may not know what to do with it");
        assert_eq!(elsewhere.headers()[header::CACHE_CONTROL], "no-cache");
    }

    #[test]
    fn nothing_leads_from_https_to_http() {
        let url = |text: &str| Url::parse(text).expect("an address");
        assert!(may_lead_to(&url("http://a.example"), &url("https://b.example")));
        assert!(may_lead_to(&url("http://a.example"), &url("http://b.example")));
        assert!(!may_lead_to(&url("https://a.example"), &url("http://b.example")));
        assert!(!may_lead_to(&url("http://a.example"), &url("file:///etc/passwd")));
    }
}
