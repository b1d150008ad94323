//! Any path and query leads to a page, a short link or the 404 of this site, and no redirect of the site's own leads off
//! this host.

#![no_main]

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use homebody::{
    links::{Link, LinkTable, Origin},
    site::prepare::paths,
};
use homebody_fuzz::{Answer, SITE, get, identity};
use libfuzzer_sys::fuzz_target;
use percent_encoding::percent_decode_str;

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

fuzz_target!(|target: &[u8]| {
    // What is no request target is refused by hyper.
    let Ok(uri) = Uri::try_from(target) else { return };
    let path = percent_decode_str(uri.path()).decode_utf8().ok();
    let answer = get(uri.clone(), HeaderMap::new());
    match (answer.status, answer.header(header::LOCATION)) {
        // Only the page that shows a link has this.
        (200, None) if answer.header(X_ROBOTS_TAG).is_some() => {
            let path = path.expect("what is no text names nothing");
            let name = path.trim_matches('/').strip_suffix('+').expect("a plus asks for it");
            named(name).expect("only a link is shown");
        }
        (200, None) => assert_is_page(&path.expect("what is no text names nothing"), &answer),
        (308, Some(location)) => assert_stays_here(location, target),
        (status @ (302 | 307), Some(location)) => {
            assert_is_link(&path.expect("what is no text names nothing"), status, location);
        }
        (404 | 414, None) => {}
        (status, location) => panic!("answered {status} with the location {location:?}"),
    }
});

fn assert_is_page(path: &str, answer: &Answer) {
    let named = SITE.resources.iter().find(|resource| paths::canonical(&resource.file) == path);
    assert_eq!(*answer.body, *identity(named.expect("a page is a file of the site")).body);
}

fn assert_stays_here(location: &str, target: &[u8]) {
    let bytes = location.as_bytes();
    assert!(bytes[0] == b'/' && !matches!(bytes.get(1), Some(b'/' | b'\\')), "leads to {location}");
    assert_eq!(query(bytes), query(target), "the query is changed");
    // The slash that it has more may be the one too many.
    let followed = get(location.parse().expect("a location is an address"), HeaderMap::new());
    assert!(matches!(followed.status, 200 | 414), "{location} is answered {}", followed.status);
}

fn assert_is_link(path: &str, status: u16, location: &str) {
    let name = path.trim_matches('/');
    let link = named(name).or_else(|| named(name.trim_end_matches(['.', ',', ';', ')', ']', '}'])));
    let link = link.expect("only a link leads elsewhere");
    assert_eq!((status, location), (link.status().as_u16(), link.target()));
}

/// The link of a name in any letters.
fn named(name: &str) -> Option<Arc<Link>> {
    let links = LinkTable::parse(&SITE.redirects, Origin::Site, StatusCode::FOUND);
    links.links().find(|link| link.alias().eq_ignore_ascii_case(name)).map(Arc::clone)
}

/// What stands behind the first question mark. A fragment is no part of a request, and http drops it.
fn query(target: &[u8]) -> Option<&[u8]> {
    let target = target.split(|byte| *byte == b'#').next()?;
    target.iter().position(|byte| *byte == b'?').map(|mark| &target[mark + 1..])
}
