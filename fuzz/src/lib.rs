//! What the targets share: the site in `site/`, asked in process, and header fields made from any bytes.

use std::{path::Path, sync::LazyLock};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Uri, header},
    response::Response,
};
use futures_util::FutureExt;
use homebody::{
    router::{self, App, AppOptions},
    site::{
        Site,
        prepare::{self, PreparedSite, Representation, Resource, encoding::Effort},
    },
};
use tower_service::Service;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/site");

/// More than hyper takes in one request.
const MOST_FIELDS: usize = 100;

/// The site as it was prepared: what its answers are held against.
pub static SITE: LazyLock<PreparedSite> = LazyLock::new(|| {
    prepare::prepare(Path::new(FOLDER), Effort::Fast, None).expect("the folder is in the repository, and is a site")
});

/// The public handler over the same site.
static HANDLER: LazyLock<Box<dyn Fn(Request) -> Response + Send + Sync>> = LazyLock::new(|| {
    let site = Site::from_folder(Path::new(FOLDER)).expect("the folder is in the repository, and is a site");
    let service = router::public(App::new(site, AppOptions::default()));
    Box::new(move |request| {
        let answered = service.clone().call(request).now_or_never();
        let Ok(response) = answered.expect("nothing is waited for without a source of links");
        response
    })
});

/// An answer, whole.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        // Not only ASCII: a query may be UTF-8, and is kept.
        self.headers.get(name).map(|value| str::from_utf8(value.as_bytes()).expect("fields of answers are text"))
    }

    /// The representation that the answer carries, by its tag.
    pub fn representation_of<'a>(&self, resource: &'a Resource) -> &'a Representation {
        let tag = self.header(header::ETAG).expect("what has a representation has its tag");
        let named = resource.representations.iter().find(|representation| tag_of(representation) == tag);
        named.unwrap_or_else(|| panic!("{tag} is no tag of {}", resource.file))
    }
}

/// Sends a GET, and holds what every answer has to: it is no error of ours, and its length is the one it names.
pub fn get(uri: Uri, fields: HeaderMap) -> Answer {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = uri;
    *request.headers_mut() = fields;
    request.headers_mut().insert(header::HOST, HeaderValue::from_static("test"));
    let (head, body) = HANDLER(request).into_parts();
    let body = to_bytes(body, usize::MAX).now_or_never().expect("bodies are in memory").expect("and whole");
    let answer = Answer { status: head.status.as_u16(), headers: head.headers, body };
    assert!(answer.status < 500, "answered {}", answer.status);
    if answer.status != 304 {
        assert_eq!(answer.header(header::CONTENT_LENGTH), Some(&*answer.body.len().to_string()));
    }
    answer
}

/// The file of that name.
pub fn resource(file: &str) -> &'static Resource {
    SITE.resources.iter().find(|resource| resource.file == file).expect("the site has the file")
}

/// The bytes of the file itself.
pub fn identity(resource: &Resource) -> &Representation {
    &resource.representations[0]
}

/// The value of ETag.
pub fn tag_of(representation: &Representation) -> String {
    format!("\"{}\"", representation.hash)
}

/// The request's fields that a text means: a line `if-range: "x"` is that field if it is one of `names`, any other line
/// is a value of the first of them. Left out is what cannot stand in a field, since hyper refuses it.
///
/// `$identity`, `$br` and so on stand for the hash of that representation of `resource`: no mutation finds a hash, and
/// no seed could name those that depend on the version of an encoder.
pub fn fields(text: &[u8], resource: &Resource, names: &[HeaderName]) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for line in text.split(|byte| *byte == b'\n').take(MOST_FIELDS) {
        let named = names.iter().find_map(|name| Some((name, value_of(name, line)?)));
        let (name, value) = named.unwrap_or((&names[0], line));
        if let Ok(value) = HeaderValue::from_bytes(&expand(value, resource)) {
            fields.append(name, value);
        }
    }
    fields
}

/// The lines of one field.
pub fn lines(fields: &HeaderMap, name: HeaderName) -> Vec<&[u8]> {
    fields.get_all(name).iter().map(HeaderValue::as_bytes).collect()
}

fn value_of<'a>(name: &HeaderName, line: &'a [u8]) -> Option<&'a [u8]> {
    line.strip_prefix(name.as_str().as_bytes())?.strip_prefix(b": ")
}

fn expand(value: &[u8], resource: &Resource) -> Vec<u8> {
    let mut parts = value.split(|byte| *byte == b'$');
    let mut expanded = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let named = resource.representations.iter().find_map(|representation| {
            Some((representation, part.strip_prefix(representation.encoding.token().as_bytes())?))
        });
        match named {
            Some((representation, rest)) => expanded.extend([representation.hash.as_bytes(), rest].concat()),
            None => expanded.extend([b"$", part].concat()),
        }
    }
    expanded
}
