//! `--dir`: any folder, with the same code.

use std::{fs, os::unix::fs::symlink, time::SystemTime};

use homebody::site::Site;

use crate::support::{Folder, Server, TestApp, prose};

#[test]
fn a_folder_is_served_instead_of_the_site_in_the_binary() {
    let site =
        Folder::empty().file("index.html", "<title>Mine</title>").file("_redirects", "me https://example.com/me");
    let server = Server::start(&["--dir", &site.display()]);
    assert_eq!(server.get("/").text(), "<title>Mine</title>");
    server.get("/me").assert_redirects_to(302, "https://example.com/me");
    server.get("/about/").assert_status(404);
}

#[test]
fn any_folder_will_do() {
    let folder = Folder::empty().file("data.txt", "data");
    let server = Server::start(&["--dir", &folder.display()]);
    server.get("/data.txt").assert_status(200);
    server.get("/").assert_status(404);
    assert!(server.log().iter().any(|line| line.contains("index.html: missing")), "the owner is told");
}

#[tokio::test]
async fn compressed_siblings_are_the_representations() {
    let text = prose("siblings");
    let sibling = zstd::bulk::compress(text.as_bytes(), 1).unwrap();
    let app = TestApp::builder().file("page.html", &text).file("page.html.zst", &sibling).start();
    let reply = app.get_with("/page.html", &[("accept-encoding", "zstd")]).await;
    assert_eq!(reply.header("content-encoding").as_deref(), Some("zstd"));
    assert_eq!(reply.body, sibling, "the very bytes of the sibling");
    let brotli = app.get_with("/page.html", &[("accept-encoding", "br")]).await;
    assert_eq!(brotli.decoded(), text.as_bytes(), "what has no sibling is made");
    app.get("/page.html.zst").await.assert_status(200).assert_header("content-type", "application/zstd");
}

#[tokio::test]
async fn a_sibling_of_another_version_is_not_used() {
    let old = zstd::bulk::compress(prose("old").as_bytes(), 1).unwrap();
    let site =
        Folder::site().file("page.html", prose("new")).file("page.html.zst", &old).file("page.html.gz", "no gzip");
    let warnings: Vec<String> =
        Site::from_folder(site.path()).unwrap().warnings().iter().map(ToString::to_string).collect();
    let stale = |sibling, encoding| {
        format!(
            "page.html: the file {sibling} beside it holds something else, so it is not its {encoding} representation"
        )
    };
    assert_eq!(warnings, [stale("page.html.zst", "zstd"), stale("page.html.gz", "gzip")]);
    let app = TestApp::builder().file("page.html", prose("new")).file("page.html.zst", &old).start();
    let reply = app.get_with("/page.html", &[("accept-encoding", "zstd")]).await;
    assert_eq!(reply.decoded(), prose("new").as_bytes());
}

#[tokio::test]
async fn file_times_do_not_matter() {
    let site = Folder::site().file("page.html", "page");
    let tag = |site: &Folder| {
        let site = Site::from_folder(site.path()).unwrap();
        format!("{:?}", site.resolve("/page.html").unwrap())
    };
    let before = tag(&site);
    let file = fs::File::options().write(true).open(site.path().join("page.html")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(tag(&site), before);
}

#[test]
fn links_in_the_file_system_are_followed_but_not_in_circles() {
    let store = Folder::empty().file("page.html", "from the store");
    let site = Folder::site();
    symlink(store.path().join("page.html"), site.path().join("page.html")).unwrap();
    let prepared = Site::from_folder(site.path()).unwrap();
    assert!(prepared.resolve("/page.html").is_some());
    symlink(site.path(), site.path().join("again")).unwrap();
    let error = Site::from_folder(site.path()).unwrap_err().to_string();
    assert!(error.contains("again") && error.contains("leads back"), "{error}");
}
