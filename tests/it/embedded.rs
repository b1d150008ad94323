//! The site in the binary: as it lies in `content/`, and sound.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use homebody::site::prepare::{caching::Caching, paths};

use crate::support::TestApp;

fn content() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("content")
}

/// Every file of the site by its name, but for what configures it.
fn files() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&content(), &mut found);
    let names = found.iter().map(|path| path.strip_prefix(content()).unwrap().to_str().unwrap().to_owned());
    names.filter(|name| !paths::is_reserved(name)).collect()
}

fn is_page(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "html")
}

#[tokio::test]
async fn every_file_is_served_as_it_lies_in_content() {
    let app = TestApp::embedded();
    for file in files() {
        let bytes = fs::read(content().join(&file)).unwrap();
        for accept in ["identity", "br", "zstd", "gzip"] {
            let reply = app.get_with(&paths::canonical(&file), &[("accept-encoding", accept)]).await;
            reply.assert_status(200);
            assert_eq!(reply.decoded(), bytes, "{file} as {accept}");
        }
    }
}

#[tokio::test]
async fn every_tag_is_well_formed_and_names_one_representation() {
    let app = TestApp::embedded();
    let mut tags = BTreeSet::new();
    for file in files() {
        for accept in ["identity", "br", "zstd", "gzip"] {
            let reply = app.get_with(&paths::canonical(&file), &[("accept-encoding", accept)]).await;
            let etag = reply.etag();
            let hash = etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')).unwrap();
            assert!(hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{etag}");
            let is_new = tags.insert(etag);
            let is_compressed = reply.header("content-encoding").is_some();
            assert!(is_new || !is_compressed && accept != "identity", "{file} as {accept} shares its tag");
        }
    }
}

#[tokio::test]
async fn what_the_site_needs_is_there() {
    let app = TestApp::embedded();
    for path in ["/", "/about/", "/posts/", "/favicon.ico", "/robots.txt", "/feed.atom", "/sitemap.xml"] {
        app.get(path).await.assert_status(200);
    }
    let missing = app.get("/nowhere").await;
    missing.assert_status(404);
    assert_eq!(missing.body, fs::read(content().join("404.html")).unwrap());
}

#[tokio::test]
async fn every_link_within_the_site_leads_somewhere() {
    let app = TestApp::embedded();
    let mut followed = 0;
    for file in files().iter().filter(|file| is_page(file)) {
        let page = fs::read_to_string(content().join(file)).unwrap();
        let links = page.split(['"']).filter(|part| part.starts_with('/'));
        for link in links {
            let status = app.get(link).await.status;
            assert!(matches!(status, 200 | 302 | 308), "{file} links to {link}, which is answered {status}");
            followed += 1;
        }
    }
    assert!(followed > 20, "links were followed");
}

#[tokio::test]
async fn the_sitemap_lists_exactly_the_pages() {
    let sitemap = fs::read_to_string(content().join("sitemap.xml")).unwrap();
    let listed: BTreeSet<String> = sitemap
        .split("<loc>")
        .skip(1)
        .map(|part| part.split("</loc>").next().unwrap().trim_start_matches("https://homebody.example").to_owned())
        .collect();
    let pages = files().into_iter().filter(|file| is_page(file) && file != paths::NOT_FOUND_FILE);
    assert_eq!(listed, pages.map(|file| paths::canonical(&file)).collect());
}

#[test]
fn a_fingerprint_is_the_start_of_the_files_sha256() {
    let mut seen = 0;
    for file in files().into_iter().filter(|file| Caching::of(file) == Caching::Immutable) {
        let stdin = Stdio::from(fs::File::open(content().join(&file)).unwrap());
        let sum = Command::new("sha256sum").stdin(stdin).output().unwrap();
        let hash = &str::from_utf8(&sum.stdout).unwrap()[..12];
        assert!(file.split('.').any(|part| part == hash), "{file} has the hash {hash}; rename it and what links to it");
        seen += 1;
    }
    assert!(seen > 0, "the stylesheet is fingerprinted");
}
