//! From the name of a file to the paths it is served under.

/// The site's own short links; never served itself.
pub const REDIRECTS_FILE: &str = "_redirects";

/// The site's own header rules; never served itself.
pub const HEADERS_FILE: &str = "_headers";

/// The page for paths that do not exist.
pub const NOT_FOUND_FILE: &str = "404.html";

/// Names that stand for the folder they are in.
const INDEX_NAMES: [&str; 2] = ["index.html", "index.htm"];

/// Whether a file configures the site instead of being part of it.
pub fn is_reserved(file: &str) -> bool {
    file == REDIRECTS_FILE || file == HEADERS_FILE
}

/// The one path under which a file is served: `posts/index.html` at `/posts/`, any other at its own name.
///
/// The path is decoded text, not yet fit for a header.
pub fn canonical(file: &str) -> String {
    match folder_of_index(file) {
        Some(folder) => format!("/{folder}"),
        None => format!("/{file}"),
    }
}

/// Paths that lead to a file by a redirect: `/posts` and `/posts/index.html` to `/posts/`.
pub fn variants(file: &str) -> Vec<String> {
    let Some(folder) = folder_of_index(file) else { return Vec::new() };
    let mut variants = vec![format!("/{file}")];
    if let Some(without_slash) = folder.strip_suffix('/') {
        variants.push(format!("/{without_slash}"));
    }
    variants
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
        assert_eq!(canonical("posts/myindex.html"), "/posts/myindex.html");
    }

    #[test]
    fn a_folder_is_also_found_without_its_slash_and_with_its_index() {
        assert_eq!(variants("posts/index.html"), ["/posts/index.html", "/posts"]);
        assert_eq!(variants("index.html"), ["/index.html"]);
        assert!(variants("style.css").is_empty());
    }
}
