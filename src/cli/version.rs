//! `--version`, and `--version --verbose`: what a report of a bug needs to say about the program.

use std::ffi::OsString;

use clap::Parser;
use serde_json::json;

use crate::app::flags::Flags;
use crate::config::Environment;
use crate::json::Document;
use crate::outcome::Exit;
use crate::terminal::output::{Page, View};

/// `--version` among global flags and without a command.
#[derive(Parser, Debug)]
#[command(name = "bookctl", disable_version_flag = true)]
struct Asked {
    #[arg(long, short = 'V')]
    version: bool,
    #[command(flatten)]
    flags: Flags,
}

/// Writes the details if `--verbose` stands beside `--version`. `None` means that the version alone was asked for.
pub(super) fn details(arguments: &[OsString], environment: &Environment) -> Option<Exit> {
    let asked = Asked::try_parse_from(arguments).ok()?;
    if !asked.version || !asked.flags.verbose {
        return None;
    }
    let written = asked
        .flags
        .output(environment)
        .and_then(|out| out.emit(&Details));
    let outcome = written.map_err(|error| {
        asked.flags.report_only(environment).report(&error);
        error.exit
    });
    Some(outcome.map_or_else(|exit| exit, |()| Exit::Done))
}

/// The details: those of the build are from `build.rs`.
struct Details;

impl Details {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const COMMIT: &str = env!("BUILT_COMMIT");
    const TARGET: &str = env!("BUILT_TARGET");
    const PROFILE: &str = env!("BUILT_PROFILE");
    const RUSTLS: &str = env!("BUILT_RUSTLS");
    const RING: &str = env!("BUILT_RING");

    fn commit() -> Option<&'static str> {
        (Self::COMMIT != "unknown").then_some(Self::COMMIT)
    }

    fn features() -> impl Iterator<Item = &'static str> {
        env!("BUILT_FEATURES").split_whitespace()
    }
}

impl View for Details {
    fn json(&self) -> Document {
        json!({
            "name": "bookctl",
            "version": Self::VERSION,
            "commit": Self::commit(),
            "target": Self::TARGET,
            "profile": Self::PROFILE,
            "features": Self::features().collect::<Vec<_>>(),
            "sqlite": rusqlite::version(),
            "tls": {
                "library": "rustls",
                "version": Self::RUSTLS,
                "provider": "ring",
                "provider_version": Self::RING,
            },
        })
        .into()
    }

    fn page(&self) -> Page {
        let features: Vec<_> = Self::features().collect();
        let features = if features.is_empty() {
            "none".to_owned()
        } else {
            features.join(", ")
        };
        let mut page = Page::default();
        page.line(format!("bookctl {}", Self::VERSION))
            .field("commit", Self::commit().unwrap_or("unknown"))
            .field("target", Self::TARGET)
            .field("profile", Self::PROFILE)
            .field("features", features)
            .field("sqlite", rusqlite::version())
            .field(
                "tls",
                format!("rustls {} with ring {}", Self::RUSTLS, Self::RING),
            );
        page
    }
}
