//! The routers in process, with a registry of their own: a request without a socket.

use std::{convert::Infallible, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    response::Response,
};
use homebody::{
    admin::{self, Readiness},
    links::{LinkOptions, Source},
    router::{self, App, AppOptions},
    site::Site,
};
use tower::{ServiceExt, util::BoxCloneSyncService};

use super::{Folder, Reply, Script};

type Service = BoxCloneSyncService<Request, Response, Infallible>;

/// A site of a few files, its links, and what both listeners serve.
pub struct TestApp {
    app: Arc<App>,
    public: Service,
    admin: Service,
    pub readiness: Readiness,
}

/// The site and options of a [`TestApp`] to be.
pub struct Builder {
    folder: Folder,
    options: AppOptions,
}

impl TestApp {
    /// A site with a home page and nothing else.
    pub fn builder() -> Builder {
        Builder { folder: Folder::site(), options: AppOptions::default() }
    }

    /// The site that the binary carries.
    pub fn embedded() -> Self {
        Self::of(Site::embedded(), AppOptions::default())
    }

    fn of(site: Site, options: AppOptions) -> Self {
        let app = App::new(site, options);
        let readiness = Readiness::ready();
        let public = BoxCloneSyncService::new(router::public(Arc::clone(&app)));
        let admin = BoxCloneSyncService::new(admin::router(Arc::clone(&app), readiness.clone()));
        Self { app, public, admin, readiness }
    }

    /// What the routers work on.
    pub fn app(&self) -> &App {
        &self.app
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[]).await
    }

    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.request("GET", path, headers).await
    }

    pub async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(&self.public, method, path, headers).await
    }

    /// Asks the admin listener.
    pub async fn admin(&self, path: &str) -> Reply {
        send(&self.admin, "GET", path, &[]).await
    }

    /// Tells the admin listener to do something.
    pub async fn admin_post(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        send(&self.admin, "POST", path, headers).await
    }

    /// The value of a metric, by its name with labels as they are written in the text format.
    pub async fn metric(&self, series: &str) -> u64 {
        super::metric(self.admin("/metrics").await.text(), series)
    }
}

impl Builder {
    pub fn file(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.folder = self.folder.file(name, content);
        self
    }

    pub fn source(self, source: &Script) -> Self {
        self.any_source(source.clone())
    }

    pub fn any_source(mut self, source: impl Source + 'static) -> Self {
        self.options.links.source = Some(Box::new(source));
        self
    }

    /// How links differ from the plain ones otherwise.
    pub fn links(mut self, change: impl FnOnce(&mut LinkOptions)) -> Self {
        change(&mut self.options.links);
        self
    }

    #[track_caller]
    pub fn start(self) -> TestApp {
        let site = Site::from_folder(self.folder.path()).unwrap();
        TestApp::of(site, self.options)
    }
}

async fn send(service: &Service, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "test");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = service.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let headers = head.headers.iter();
    Reply {
        status: head.status.as_u16(),
        headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect(),
        body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
    }
}
