//! Preparing a site: the same at every build, and refused with the path and the reason when something is wrong.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use homebody::site::prepare::{PreparedSite, cache::Cache, encoding::Effort, encoding::Encoding, manifest, prepare};

use crate::support::{Folder, prose};

fn prepared(site: &Folder) -> PreparedSite {
    prepare(site.path(), Effort::Fast, None).unwrap()
}

#[track_caller]
fn refusal(path: &Path) -> String {
    prepare(path, Effort::Fast, None).unwrap_err().to_string()
}

#[test]
fn each_file_is_a_resource_with_type_class_and_representations() {
    let site = Folder::site().file("style.3f9a1c0e.css", prose("css")).file("a/photo.jpg", prose("jpg"));
    let prepared = prepared(&site);
    let files: Vec<&str> = prepared.resources.iter().map(|resource| &*resource.file).collect();
    assert_eq!(files, ["a/photo.jpg", "index.html", "style.3f9a1c0e.css"]);
    let [photo, _, style] = &prepared.resources[..] else { unreachable!("three were counted") };
    assert_eq!(photo.representations.len(), 1, "pictures are compressed already");
    assert_eq!(style.fields.get("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(style.fields.get("cache-control"), Some("public, max-age=31536000, immutable"));
    let encodings: Vec<Encoding> = style.representations.iter().map(|each| each.encoding).collect();
    assert_eq!(encodings, Encoding::ALL);
}

#[test]
fn a_representation_that_saves_less_than_five_per_cent_is_not_kept() {
    let site = Folder::site().file("short.txt", "too short to shrink").file("long.txt", prose("long"));
    let count = |file: &str| {
        let prepared = prepared(&site);
        prepared.resources.iter().find(|resource| resource.file == file).unwrap().representations.len()
    };
    assert_eq!(count("short.txt"), 1);
    assert_eq!(count("long.txt"), 4);
    let every = prepared(&site).resources;
    for resource in &every {
        let identity = resource.representations[0].body.len();
        for smaller in &resource.representations[1..] {
            assert!(smaller.body.len() * 20 <= identity * 19, "{}: {}", resource.file, smaller.encoding);
        }
    }
}

#[test]
fn the_best_effort_is_never_larger_than_the_fast_one() {
    let site = Folder::site().file("table.txt", include_str!("prepare.rs"));
    let best = prepare(site.path(), Effort::Best, None).unwrap();
    for (best, fast) in best.resources.iter().zip(&prepared(&site).resources) {
        for (best, fast) in best.representations.iter().zip(&fast.representations) {
            assert!(best.body.len() <= fast.body.len(), "{}", best.encoding);
        }
    }
}

#[test]
fn the_same_files_make_the_same_output_whatever_their_order_and_time() {
    let names = ["index.html", "b.css", "a.js", "c/d/e.svg", "c/a.html", "_redirects"];
    let output = |names: &mut dyn Iterator<Item = &&str>| {
        let site = names.fold(Folder::empty(), |site, name| site.file(name, prose(name)));
        let out = Folder::empty();
        manifest::write(&prepare(site.path(), Effort::Best, None).unwrap(), &out.path().join("site")).unwrap();
        let files = fs::read_dir(out.path().join("site")).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            files.map(|path| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    };
    assert_eq!(output(&mut names.iter()), output(&mut names.iter().rev()));
}

#[test]
fn what_is_written_is_what_is_read() {
    let site = Folder::site()
        .file("page.html", prose("round trip"))
        .file("odd.xyzzy", "")
        .file("_redirects", "gh https://example.com/")
        .file("_headers", "/*\n  X-Own: a: b");
    let written = prepared(&site);
    let out = Folder::empty();
    let folder = out.path().join("site");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("left-over"), "from the build before").unwrap();
    manifest::write(&written, &folder).unwrap();
    let read = manifest::read(|name| fs::read(folder.join(name)).ok().map(Into::into));
    assert_eq!(read.resources, written.resources);
    assert_eq!(read.redirects, written.redirects);
    assert_eq!(read.warnings, written.warnings);
    assert_eq!(read.resources[0].fields.get("x-own"), Some("a: b"));
    assert!(!folder.join("left-over").exists());
}

#[test]
fn only_what_has_changed_is_compressed_again() {
    let site = Folder::site().file("same.html", prose("same")).file("edited.html", prose("before"));
    let out = Folder::empty();
    let build = || {
        let cache = Cache::open(&out.path().join("cache")).unwrap();
        let prepared = prepare(site.path(), Effort::Best, Some(&cache)).unwrap();
        cache.remove_unused().unwrap();
        let body = |file: &str| {
            let resource = prepared.resources.iter().find(|resource| resource.file == file).unwrap();
            resource.representations[1].body.to_vec()
        };
        (body("same.html"), body("edited.html"))
    };
    build();
    // Whatever is taken from the cache now bears this mark.
    for entry in fs::read_dir(out.path().join("cache")).unwrap() {
        fs::write(entry.unwrap().path(), "from the cache").unwrap();
    }
    site.write("edited.html", prose("after"));
    let (same, edited) = build();
    assert_eq!(same, b"from the cache");
    assert_ne!(edited, b"from the cache");
    let entries = fs::read_dir(out.path().join("cache")).unwrap().count();
    assert_eq!(entries, 3 * 3, "three encodings of three pages; those of the page before are gone");
}

#[test]
fn a_folder_that_is_missing_or_none_is_refused() {
    let folder = Folder::empty().file("file", "");
    for path in [folder.path().join("missing"), folder.path().join("file")] {
        assert_eq!(refusal(&path), format!("{}: not a folder", path.display()));
    }
}

#[test]
fn a_site_without_home_page_is_refused_where_it_is_built_and_warned_of_elsewhere() {
    let site = Folder::empty().file("about/index.html", "about");
    let prepared = prepared(&site);
    let refusal = prepared.require_home_page(site.path()).unwrap_err().to_string();
    assert!(refusal.starts_with(&format!("{}: no index.html", site.display())), "{refusal}");
    assert_eq!(prepared.warnings.len(), 1);
    assert_eq!(prepared.warnings[0].to_string(), "index.html: missing, so there is no home page");
}

#[test]
fn a_name_that_no_address_can_have_is_refused() {
    let site = Folder::site();
    fs::write(site.path().join(OsStr::from_bytes(b"caf\xe9.html")), "").unwrap();
    assert!(refusal(site.path()).contains("the name is not UTF-8"));
    let site = Folder::site().file("a\tb.html", "");
    assert!(refusal(site.path()).contains("\"a\\tb.html\": the name has a control character"));
}

#[test]
fn two_files_that_claim_one_path_are_refused() {
    let site = Folder::site().file("posts/index.html", "").file("posts/index.htm", "");
    assert_eq!(
        refusal(site.path()),
        "posts/index.htm and posts/index.html: both claim the path /posts/; remove or rename one"
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    let site = Folder::site();
    std::os::unix::fs::symlink("/nowhere/at/all", site.path().join("broken.html")).unwrap();
    let error = refusal(site.path());
    assert!(error.contains("broken.html: cannot be read"), "{error}");

    let site = Folder::site();
    let pipe = site.path().join("pipe.html");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = refusal(site.path());
    assert!(error.contains("pipe.html: cannot be read: neither a file nor a folder"), "{error}");
}

#[test]
fn a_giant_that_does_not_get_smaller_is_warned_of() {
    let giant = vec![0; 5_000_001];
    let site = Folder::site().file("film.mp4", &giant).file("zeros.txt", &giant).file("short.mp4", &giant[1..]);
    let warnings: Vec<String> = prepared(&site).warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["film.mp4: 5 MB that compressing makes no smaller; visitors wait for it, and it stays in memory"]
    );
}

#[test]
fn redirects_that_are_no_text_are_refused() {
    let site = Folder::site().file("_redirects", [0xff]);
    assert!(refusal(site.path()).ends_with("_redirects: not UTF-8 text"));
}

#[test]
fn what_is_odd_is_warned_of_and_goes_on() {
    let site = Folder::site().file("notes.xyzzy", "?").file(".git/config", "").file("a/.DS_Store", "");
    let found: Vec<String> = prepared(&site).warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            ".git: hidden, so it is not served (only .well-known is)",
            "a/.DS_Store: hidden, so it is not served (only .well-known is)",
            "notes.xyzzy: unknown extension, served as application/octet-stream",
        ]
    );
}
