//! Prepares the site that the binary carries: the folder named by `HOMEBODY_SITE_DIR`, or `content/`.
//!
//! What is prepared, and what is refused, is in `src/site/prepare`, which the library uses too (for `--dir`).

use std::{env, error::Error, path::Path, process::ExitCode};

#[path = "src/site/prepare/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "the library uses the rest, and from outside")]
mod prepare;

use prepare::{cache::Cache, encoding::Effort, manifest};

/// The environment variable that names another site; a relative path starts at the package.
const SITE_DIR: &str = "HOMEBODY_SITE_DIR";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let site_dir = env::var_os(SITE_DIR).filter(|dir| !dir.is_empty()).unwrap_or_else(|| "content".into());
    let out_dir = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; cargo sets it")?;
    let (site_dir, out_dir) = (Path::new(&site_dir), Path::new(&out_dir));

    // For a folder, cargo looks at all below it, so added and removed files count.
    println!("cargo::rerun-if-changed={}", site_dir.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/site/prepare");
    println!("cargo::rerun-if-env-changed={SITE_DIR}");

    let cache = Cache::open(&out_dir.join("cache"))?;
    let site = prepare::prepare(site_dir, Effort::Best, Some(&cache))
        .and_then(|site| site.require_home_page(site_dir).map(|()| site))
        .map_err(|error| format!("the site: {error}"))?;
    for warning in &site.warnings {
        println!("cargo::warning={}", format_args!("{}/{warning}", site_dir.display()));
    }
    manifest::write(&site, &out_dir.join("site"))?;
    cache.remove_unused()?;
    Ok(())
}
