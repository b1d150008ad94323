//! What a table of a hundred thousand links costs to read, and a path to look up in it: `cargo bench --bench links`.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::{fmt::Write, hint::black_box};

use axum::http::StatusCode;
use criterion::{Criterion, criterion_group, criterion_main};
use homebody::links::{LinkOptions, LinkTable, Links, Origin};

const LINKS: usize = 100_000;

/// Links as people write them, with a wildcard now and then.
fn text() -> String {
    let mut text = String::new();
    for n in 0..LINKS {
        let (below, splat) = if n % 1000 == 0 { ("/*", ":splat") } else { ("", "") };
        writeln!(text, "link-{n}{below} https://www.example.com/articles/2026/11/{n}/{splat}").unwrap();
    }
    text
}

fn links(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("links");
    group.sample_size(10);
    group.bench_function("read 100,000", |bencher| {
        // Without dropping it, for which nobody waits.
        bencher.iter_with_large_drop(|| LinkTable::parse(black_box(&text), Origin::Source, StatusCode::FOUND));
    });

    let links = Links::new(LinkOptions { floor: text.clone(), ..LinkOptions::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (name, path) in [
        ("an alias", "/link-77777"),
        ("in other letters", "/LINK-77777"),
        ("below a wildcard", "/link-77000/and/below"),
        ("pasted with a full stop", "/link-77777."),
        ("unknown", "/link-unknown"),
        ("unknown and long", "/a/path/that/is/longer/than/any/alias/can/be/and/so/is/not/looked/at/in/full.html"),
    ] {
        group.bench_function(format!("look up {name}"), |bencher| {
            bencher.iter(|| runtime.block_on(links.lookup(black_box(path))));
        });
    }
}

criterion_group!(benches, links);
criterion_main!(benches);
