//! The command line is a contract; what is wrong with it is said in one line, before a port is bound.

use std::{fs, net::TcpListener, process::Output};

use crate::support::{Folder, Upstream, Wire, homebody, nobody, run};

#[track_caller]
fn assert_fails(output: &Output, code: i32, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(error.lines().count(), 1, "one line, not: {error}");
    assert!(error.starts_with("homebody: "), "{error}");
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

#[test]
fn a_bad_flag_is_bad_usage() {
    assert_fails(&run(&["--listen", "8080"]), 2, &["--listen", "HOMEBODY_LISTEN", "\"8080\""]);
    assert_fails(&run(&["--no-such-flag"]), 2, &["--no-such-flag"]);
    assert_fails(&run(&["frobnicate"]), 2, &["frobnicate"]);
}

#[test]
fn a_bad_variable_is_named() {
    let output = homebody(&[]).env("HOMEBODY_REDIRECT_STATUS", "200").output().unwrap();
    assert_fails(&output, 2, &["--redirect-status (HOMEBODY_REDIRECT_STATUS)", "\"200\""]);
}

#[test]
fn a_folder_that_is_none_is_bad_configuration() {
    let folder = Folder::empty();
    let missing = folder.path().join("missing").display().to_string();
    assert_fails(&run(&["--dir", &missing]), 2, &["--dir (HOMEBODY_DIR)", &missing, "not a folder"]);
    let file = folder.file("file", "");
    let file = file.path().join("file").display().to_string();
    assert_fails(&run(&["--dir", &file]), 2, &["--dir (HOMEBODY_DIR)", &file, "not a folder"]);
}

#[test]
fn a_taken_port_is_a_failure_that_names_the_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["--listen", &address, "--metrics-listen", "127.0.0.1:0"]);
    assert_fails(&output, 1, &["--listen (HOMEBODY_LISTEN)", &address, "in use"]);
    let output = run(&["--listen", "127.0.0.1:0", "--metrics-listen", &address]);
    assert_fails(&output, 1, &["--metrics-listen (HOMEBODY_METRICS_LISTEN)", &address, "in use"]);
}

#[test]
fn a_certificate_file_that_is_none_is_bad_configuration() {
    let folder = Folder::empty().file("roots.pem", "not a certificate");
    let file = folder.path().join("roots.pem");
    let mut command = homebody(&["links", "--redirects-url", "https://127.0.0.1:1/links"]);
    assert_fails(&command.env("SSL_CERT_FILE", &file).output().unwrap(), 2, &["SSL_CERT_FILE", "roots.pem"]);
}

#[test]
fn help_and_version_end_well() {
    let help = run(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    for flag in ["--listen", "--dir", "--redirects-url", "HOMEBODY_GRACE", "healthcheck"] {
        assert!(String::from_utf8_lossy(&help.stdout).contains(flag), "{flag} is not in the help");
    }
    assert!(!help.stdout.contains(&0x1b), "no colours where there is no terminal");
    let version = run(&["--version"]);
    assert_eq!(String::from_utf8_lossy(&version.stdout), concat!("homebody ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn links_prints_the_table_in_force() {
    let site = Folder::site().file("_redirects", "a https://example.com/site\nb https://example.com/b 307");
    let upstream = Upstream::start(Wire::Text("a https://example.com/source".to_owned()));
    let output = run(&["links", "--dir", &site.display(), "--redirects-url", &upstream.url()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "a\thttps://example.com/source\t302\tsource\nb\thttps://example.com/b\t307\tsite\n"
    );
}

#[test]
fn links_prints_json_for_programs() {
    let site = Folder::site().file("_redirects", "b/* /posts/:splat 308 ?\na https://example.com/é");
    let output = run(&["links", "--json", "--dir", &site.display()]);
    assert_eq!(output.status.code(), Some(0));
    let links: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let link = |alias, target, status, passes_query| serde_json::json!({ "alias": alias, "target": target, "status": status, "passes_query": passes_query, "origin": "site" });
    let expected = [link("a", "https://example.com/é", 302, false), link("b/*", "/posts/:splat", 308, true)];
    assert_eq!(links, serde_json::json!(expected));
}

#[test]
fn an_address_that_never_changes_is_reported() {
    let id = "0123456789abcdef0123456789abcdef";
    let pinned = format!("https://gist.github.com/me/{id}/0123456789abcdef0123456789abcdef01234567");
    // The address leads nowhere from here; the warning needs no answer.
    let (_bound, nobody) = nobody();
    let server = homebody(&["serve", "--listen", &nobody.to_string(), "--redirects-url", &pinned]).output().unwrap();
    assert_eq!(server.status.code(), Some(1), "the port is taken, so it ends");
    assert!(String::from_utf8_lossy(&server.stdout).contains("the address names one revision"), "{server:?}");
}

#[test]
fn what_needs_a_source_is_bad_usage_without_one() {
    for args in [["--links-cache", "links"], ["--redirects-interval", "10m"]] {
        assert_fails(&run(&args), 2, &["--redirects-url"]);
    }
    assert_fails(
        &run(&["--redirects-url", "links", "--redirects-interval", "10ms"]),
        2,
        &["HOMEBODY_REDIRECTS_INTERVAL"],
    );
    let output =
        homebody(&["--redirects-url", "http://127.0.0.1:1/"]).env("HOMEBODY_GITHUB_TOKEN", "a\nb").output().unwrap();
    assert_fails(&output, 2, &["HOMEBODY_GITHUB_TOKEN"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("a\nb"), "a secret is not repeated");
}

#[test]
fn links_prints_the_floor_and_fails_when_the_source_does() {
    let site = Folder::site().file("_redirects", "a https://example.com/site");
    let upstream = Upstream::start(Wire::Answer(503, "text/plain", String::new()));
    let output = run(&["links", "--dir", &site.display(), "--redirects-url", &upstream.url()]);
    assert_fails(&output, 1, &["503"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\thttps://example.com/site\t302\tsite\n");
}

#[test]
fn check_passes_a_good_site() {
    let site = Folder::site().file("404.html", "Lost?").file("_redirects", "a https://example.com/");
    let output = run(&["check", "--dir", &site.display()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2 resources, 1 short links, 0 errors\n");
}

#[test]
fn check_finds_what_is_odd_and_fails_on_what_is_wrong() {
    let site = Folder::site()
        .file("notes.xyzzy", "?")
        .file("about/index.html", "about")
        .file("_headers", "/nowhere/*\n  X-Own: 1")
        .file("_redirects", "about https://example.com/\nb javascript:alert(1)");
    let output = run(&["check", "--dir", &site.display()]);
    assert_fails(&output, 1, &["1 line"]);
    let report = String::from_utf8_lossy(&output.stdout);
    for finding in [
        "warning: notes.xyzzy: unknown extension",
        "warning: _headers: line 1: nothing of the site is at /nowhere/*",
        "warning: short link about: never reached",
        "warning: 404.html: missing",
        "error: line 2 of the site's short links: the target is no http or https address and no path of this site: b javascript:alert(1)",
    ] {
        assert!(report.contains(finding), "{finding:?} is not in:\n{report}");
    }
}

#[test]
fn check_judges_a_source_before_it_goes_live() {
    let site = Folder::site().file("404.html", "Lost?");
    let links = site.path().join("links.txt");
    fs::write(&links, "a https://example.com/\nb nowhere").unwrap();
    let output = run(&["check", "--dir", &site.display(), "--redirects-url", links.to_str().unwrap()]);
    assert_fails(&output, 1, &["1 line"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("error: line 2 of the source's short links"));
}

#[test]
fn check_passes_the_site_in_the_binary() {
    let output = run(&["check"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("warning"), "{output:?}");
}
