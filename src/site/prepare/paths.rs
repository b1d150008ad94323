//! From the name of a file to the paths it is served under.
//!
//! The layout of the files decides, so that nothing has to be configured, and each file has one canonical path:
//!
//! | file | canonical path | leads there by a redirect |
//! | --- | --- | --- |
//! | `posts/index.html` | `/posts/` | `/posts`, `/posts/index`, `/posts/index.html` |
//! | `about.html` | `/about.html` | `/about`, `/about/` |
//! | `style.css` | `/style.css` | |
//!
//! A path that is the canonical one of another file is never a redirect. Where both `about.html` and `about/index.html`
//! are there, `/about` leads to the folder.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The site's own short links; never served itself.
pub const REDIRECTS_FILE: &str = "_redirects";

/// The site's own header rules; never served itself.
pub const HEADERS_FILE: &str = "_headers";

/// The page for paths that do not exist.
pub const NOT_FOUND_FILE: &str = "404.html";

/// Names that stand for the folder they are in.
const INDEX_NAMES: [&str; 2] = ["index.html", "index.htm"];

/// All but what may stand in a path as it is (RFC 3986, section 3.3: pchar and the slash).
const NOT_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');

/// Whether a file configures the site instead of being part of it.
pub fn is_reserved(file: &str) -> bool {
    file == REDIRECTS_FILE || file == HEADERS_FILE
}

/// The one path under which a file is served.
///
/// The path is decoded text; [`encoded`] makes it fit for a header.
pub fn canonical(file: &str) -> String {
    match folder_of_index(file) {
        Some(folder) => format!("/{folder}"),
        None => format!("/{file}"),
    }
}

/// The other names of a folder with an index file; none of any other file.
pub fn folder_variants(file: &str) -> Vec<String> {
    let Some(folder) = folder_of_index(file) else { return Vec::new() };
    let mut variants = vec![format!("/{file}"), format!("/{folder}index")];
    if let Some(without_slash) = folder.strip_suffix('/') {
        variants.push(format!("/{without_slash}"));
    }
    variants
}

/// The other names of a page that is no index file: without its extension, as people type and say it.
pub fn page_variants(file: &str) -> Vec<String> {
    match file.strip_suffix(".html") {
        Some(page) if folder_of_index(file).is_none() && !page.is_empty() && !page.ends_with('/') => {
            vec![format!("/{page}"), format!("/{page}/")]
        }
        _ => Vec::new(),
    }
}

/// A decoded path as it stands in a header or a link.
pub fn encoded(path: &str) -> String {
    utf8_percent_encode(path, NOT_IN_PATH).to_string()
}

/// The folder that an index file stands for, with its final slash; empty for the root.
fn folder_of_index(file: &str) -> Option<&str> {
    let (folder, name) = file.split_at(file.rfind('/').map_or(0, |slash| slash + 1));
    INDEX_NAMES.contains(&name).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_stands_for_its_folder() {
        assert_eq!(canonical("index.html"), "/");
        assert_eq!(canonical("posts/index.html"), "/posts/");
        assert_eq!(canonical("posts/index.htm"), "/posts/");
    }

    #[test]
    fn any_other_file_is_served_at_its_name() {
        assert_eq!(canonical("style.css"), "/style.css");
        assert_eq!(canonical("about.html"), "/about.html");
        assert_eq!(canonical("posts/myindex.html"), "/posts/myindex.html");
    }

    #[test]
    fn a_folder_is_also_found_without_its_slash_and_with_its_index() {
        assert_eq!(folder_variants("posts/index.html"), ["/posts/index.html", "/posts/index", "/posts"]);
        assert_eq!(folder_variants("index.html"), ["/index.html", "/index"]);
        assert!(folder_variants("about.html").is_empty());
    }

    #[test]
    fn a_page_is_also_found_without_its_extension() {
        assert_eq!(page_variants("about.html"), ["/about", "/about/"]);
        assert_eq!(page_variants("posts/first.html"), ["/posts/first", "/posts/first/"]);
        for file in ["index.html", "posts/index.html", "style.css", "posts/.html"] {
            assert!(page_variants(file).is_empty(), "{file}");
        }
    }

    #[test]
    fn a_path_is_encoded_for_a_header() {
        assert_eq!(encoded("/grüße & more/"), "/gr%C3%BC%C3%9Fe%20&%20more/");
    }
}
