//! What is counted, for Prometheus.
//!
//! A registry of its own, so that two apps can live in one process. Counters of requests go up as requests are answered,
//! without a lock or a look-up; what is known elsewhere (links, refreshes, the site) is read when somebody scrapes.
//! Every label comes from a closed set or from the link table: nothing that a client sends becomes one.

use std::{fmt, sync::Arc, time::Duration};

use axum::http::StatusCode;
use prometheus::{
    Encoder, Histogram, HistogramOpts, IntCounter, IntCounterVec, Opts, Registry, TextEncoder,
    core::{Collector, Desc},
    proto,
};

use crate::{links::Links, site::Site};

/// A metric's name and help, as Prometheus shows them.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The name.
    pub name: &'static str,
    /// The kind: counter, gauge or histogram.
    pub kind: Kind,
    /// The name of its label, if it has one.
    pub label: Option<&'static str>,
    /// The help text.
    pub help: &'static str,
}

/// The kinds of metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only goes up.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts in buckets.
    Histogram,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        })
    }
}

/// Every metric there is; the README's table is held to this.
pub const DEFINITIONS: [Definition; 9] = [
    REQUESTS,
    RESPONSES,
    DURATION,
    REDIRECTS_SERVED,
    REDIRECTS_DEFINED,
    REDIRECTS_REJECTED,
    REFRESHES,
    RESOURCES,
    BUILD,
];

const REQUESTS: Definition = Definition {
    name: "homebody_requests_total",
    kind: Kind::Counter,
    label: None,
    help: "Requests that reached the public listener's router.",
};
const RESPONSES: Definition = Definition {
    name: "homebody_responses_total",
    kind: Kind::Counter,
    label: Some("status"),
    help: "Responses by status code.",
};
const DURATION: Definition = Definition {
    name: "homebody_request_duration_seconds",
    kind: Kind::Histogram,
    label: None,
    help: "Time from the parsed request to its response, without sending it.",
};
const REDIRECTS_SERVED: Definition = Definition {
    name: "homebody_redirects_served_total",
    kind: Kind::Counter,
    label: Some("alias"),
    help: "Short links followed, by alias; only those of the table in force.",
};
const REDIRECTS_DEFINED: Definition =
    Definition { name: "homebody_redirects_defined", kind: Kind::Gauge, label: None, help: "Short links in force." };
const REDIRECTS_REJECTED: Definition = Definition {
    name: "homebody_redirects_rejected",
    kind: Kind::Gauge,
    label: None,
    help: "Lines of the table in force that are not used.",
};
const REFRESHES: Definition = Definition {
    name: "homebody_redirects_refreshes_total",
    kind: Kind::Counter,
    label: Some("result"),
    help: "Attempts to fetch the table of short links, by result.",
};
const RESOURCES: Definition =
    Definition { name: "homebody_site_resources", kind: Kind::Gauge, label: None, help: "Resources of the site." };
const BUILD: Definition = Definition {
    name: "homebody_build_info",
    kind: Kind::Gauge,
    label: Some("version"),
    help: "The version of the program; the value is always 1.",
};

/// The statuses that this server sends; anything else counts as `other`.
const STATUSES: [StatusCode; 16] = [
    StatusCode::OK,
    StatusCode::NO_CONTENT,
    StatusCode::PARTIAL_CONTENT,
    StatusCode::MOVED_PERMANENTLY,
    StatusCode::FOUND,
    StatusCode::SEE_OTHER,
    StatusCode::NOT_MODIFIED,
    StatusCode::TEMPORARY_REDIRECT,
    StatusCode::PERMANENT_REDIRECT,
    StatusCode::BAD_REQUEST,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::PRECONDITION_FAILED,
    StatusCode::URI_TOO_LONG,
    StatusCode::RANGE_NOT_SATISFIABLE,
    StatusCode::INTERNAL_SERVER_ERROR,
];

/// Bounds in seconds. Memory answers in microseconds; only a miss that waits for the source takes seconds.
const DURATION_BUCKETS: [f64; 15] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

/// The counters of one app.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounter,
    /// One counter for each of [`STATUSES`], in that order, and one for the rest.
    responses: [IntCounter; STATUSES.len() + 1],
    duration: Histogram,
}

impl Metrics {
    /// A registry with all counters at zero.
    ///
    /// # Panics
    ///
    /// If [`DEFINITIONS`] holds a name twice or one that Prometheus forbids.
    pub fn new() -> Self {
        const VALID: &str = "the definitions are valid and have no name twice";
        let registry = Registry::new();
        let requests = IntCounter::new(REQUESTS.name, REQUESTS.help).expect(VALID);
        let by_status = IntCounterVec::new(Opts::new(RESPONSES.name, RESPONSES.help), &["status"]).expect(VALID);
        let responses = std::array::from_fn(|index| {
            by_status.with_label_values(&[STATUSES.get(index).map_or("other", StatusCode::as_str)])
        });
        let buckets = DURATION_BUCKETS.to_vec();
        let duration =
            Histogram::with_opts(HistogramOpts::new(DURATION.name, DURATION.help).buckets(buckets)).expect(VALID);
        registry.register(Box::new(requests.clone())).expect(VALID);
        registry.register(Box::new(by_status)).expect(VALID);
        registry.register(Box::new(duration.clone())).expect(VALID);

        let metrics = Self { registry, requests, responses, duration };
        metrics.watch(BUILD, |put| put(env!("CARGO_PKG_VERSION"), 1));
        metrics
    }

    /// Counts a request that has come.
    pub fn count_request(&self) {
        self.requests.inc();
    }

    /// Counts a response that is about to be sent, and the time it took to find.
    pub fn count_response(&self, status: StatusCode, elapsed: Duration) {
        let index = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len());
        self.responses[index].inc();
        self.duration.observe(elapsed.as_secs_f64());
    }

    /// From now on, a scrape shows these links.
    pub fn watch_links(&self, links: &Links) {
        let read = links.clone();
        self.watch(REDIRECTS_SERVED, move |put| {
            for link in read.table().links() {
                put(link.alias(), link.hits());
            }
        });
        let read = links.clone();
        self.watch(REDIRECTS_DEFINED, move |put| put("", read.table().len() as u64));
        let read = links.clone();
        self.watch(REDIRECTS_REJECTED, move |put| put("", read.table().rejected().len() as u64));
        let read = links.clone();
        self.watch(REFRESHES, move |put| {
            for (result, count) in read.refreshes() {
                put(result.as_str(), count);
            }
        });
    }

    /// From now on, a scrape shows this site.
    pub fn watch_site(&self, site: &Arc<Site>) {
        let read = Arc::clone(site);
        self.watch(RESOURCES, move |put| put("", read.len() as u64));
    }

    /// All metrics in Prometheus' text format.
    ///
    /// # Panics
    ///
    /// If a metric cannot be written as text, which its registration would have refused.
    pub fn render(&self) -> String {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text).expect("registered metrics can be written");
        String::from_utf8(text).expect("the text format is UTF-8")
    }

    /// The media type of [`Metrics::render`].
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    fn watch(&self, definition: Definition, read: impl Fn(&mut dyn FnMut(&str, u64)) + Send + Sync + 'static) {
        let watched = Watched::new(definition, Box::new(read));
        self.registry.register(Box::new(watched)).expect("the definitions are valid and have no name twice");
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// Calls back with each label value (empty without a label) and its number.
type Read = Box<dyn Fn(&mut dyn FnMut(&str, u64)) + Send + Sync>;

/// A metric whose numbers are kept elsewhere and read at each scrape. A series is there exactly as long as its number is.
struct Watched {
    definition: Definition,
    desc: Desc,
    read: Read,
}

impl Watched {
    fn new(definition: Definition, read: Read) -> Self {
        let labels = definition.label.map(str::to_owned).into_iter().collect();
        let desc = Desc::new(definition.name.into(), definition.help.into(), labels, std::collections::HashMap::new());
        Self { definition, desc: desc.expect("the definitions are valid"), read }
    }
}

impl Collector for Watched {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.desc]
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let Definition { name, kind, label, help } = self.definition;
        let mut metrics = Vec::new();
        (self.read)(&mut |value, number| {
            let mut metric = proto::Metric::from_label(label.map(|label| pair(label, value)).into_iter().collect());
            #[expect(clippy::cast_precision_loss, reason = "Prometheus has no other numbers; they are exact to 2^53")]
            let number = number as f64;
            if kind == Kind::Counter {
                let mut counter = proto::Counter::default();
                counter.set_value(number);
                metric.set_counter(counter);
            } else {
                let mut gauge = proto::Gauge::default();
                gauge.set_value(number);
                metric.set_gauge(gauge);
            }
            metrics.push(metric);
        });
        let mut family = proto::MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(match kind {
            Kind::Counter => proto::MetricType::COUNTER,
            Kind::Gauge | Kind::Histogram => proto::MetricType::GAUGE,
        });
        family.set_metric(metrics);
        vec![family]
    }
}

fn pair(name: &str, value: &str) -> proto::LabelPair {
    let mut pair = proto::LabelPair::default();
    pair.set_name(name.to_owned());
    pair.set_value(value.to_owned());
    pair
}
