//! The site is for reading.

use crate::support::{TestApp, prose};

fn app() -> TestApp {
    TestApp::builder()
        .file("page.html", prose("methods"))
        .file("posts/index.html", "posts")
        .file("_redirects", "gh https://example.com/")
        .start()
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let app = app();
    for path in ["/page.html", "/posts", "/gh", "/nowhere"] {
        let get = app.get(path).await;
        let head = app.request("HEAD", path, &[]).await;
        assert_eq!(head.status, get.status, "{path}");
        assert_eq!(head.headers, get.headers, "{path}");
        assert!(head.body.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_work() {
    let app = app();
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"] {
        for path in ["/page.html", "/gh", "/nowhere"] {
            app.request(method, path, &[]).await.assert_status(405).assert_header("allow", "GET, HEAD, OPTIONS");
        }
    }
}

#[tokio::test]
async fn options_tells_the_methods() {
    let app = app();
    for path in ["/page.html", "*"] {
        app.request("OPTIONS", path, &[]).await.assert_status(204).assert_header("allow", "GET, HEAD, OPTIONS");
    }
}
