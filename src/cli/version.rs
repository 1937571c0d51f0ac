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

const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMMIT: &str = env!("BUILT_COMMIT");

impl View for Details {
    fn json(&self) -> Document {
        let features: Vec<_> = env!("BUILT_FEATURES").split_whitespace().collect();
        json!({
            "name": "bookctl",
            "version": VERSION,
            "commit": (COMMIT != "unknown").then_some(COMMIT),
            "target": env!("BUILT_TARGET"),
            "profile": env!("BUILT_PROFILE"),
            "features": features,
            "sqlite": rusqlite::version(),
            "tls": {
                "library": "rustls",
                "version": env!("BUILT_RUSTLS"),
                "provider": "ring",
                "provider_version": env!("BUILT_RING"),
            },
        })
        .into()
    }

    fn page(&self) -> Page {
        let features: Vec<_> = env!("BUILT_FEATURES").split_whitespace().collect();
        let features = if features.is_empty() {
            "none".to_owned()
        } else {
            features.join(", ")
        };
        let (rustls, ring) = (env!("BUILT_RUSTLS"), env!("BUILT_RING"));
        let mut page = Page::default();
        page.line(format!("bookctl {VERSION}"))
            .field("commit", COMMIT)
            .field("target", env!("BUILT_TARGET"))
            .field("profile", env!("BUILT_PROFILE"))
            .field("features", features)
            .field("sqlite", rusqlite::version())
            .field("tls", format!("rustls {rustls} with ring {ring}"));
        page
    }
}
