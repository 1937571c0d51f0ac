//! `--version`, and `--version --verbose`: what a report of a bug needs to say about the program.

use std::ffi::OsString;

use clap::Parser;
use serde_json::json;

use crate::app::flags::Flags;
use crate::config::Environment;
use crate::json::Document;
use crate::outcome::Exit;
use crate::terminal::output::{DocumentView, Page};

/// `--version` among global flags and without a command.
#[derive(Parser, Debug)]
#[command(name = "bookctl", disable_version_flag = true)]
struct VersionFlags {
    #[arg(long, short = 'V')]
    version: bool,
    #[command(flatten)]
    flags: Flags,
}

/// Writes the details if `--verbose` stands beside `--version`. `None` means that the version alone was asked for.
pub(super) fn details(arguments: &[OsString], environment: &Environment) -> Option<Exit> {
    let asked = VersionFlags::try_parse_from(arguments).ok()?;
    if !asked.version || !asked.flags.verbose {
        return None;
    }
    let out = asked.flags.output(environment);
    let written = out.and_then(|out| out.emit(&DocumentView(document(), page)));
    let outcome = written.map_err(|error| {
        asked.flags.report_only(environment).report(&error);
        error.exit
    });
    Some(outcome.map_or_else(|exit| exit, |()| Exit::Done))
}

/// The details: those of the build are from `build.rs`.
fn document() -> Document {
    let features: Vec<_> = env!("BUILT_FEATURES").split_whitespace().collect();
    let commit = env!("BUILT_COMMIT");
    json!({
        "name": "bookctl",
        "version": env!("CARGO_PKG_VERSION"),
        "commit": (commit != "unknown").then_some(commit),
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

fn page(details: &Document) -> Page {
    let (rustls, ring) = (env!("BUILT_RUSTLS"), env!("BUILT_RING"));
    let mut page = Page::default();
    page.line(concat!("bookctl ", env!("CARGO_PKG_VERSION")));
    page.field("commit", env!("BUILT_COMMIT"));
    for name in ["target", "profile", "sqlite"] {
        page.field_if(name, details.str(name));
    }
    let features = Some(env!("BUILT_FEATURES")).filter(|names| !names.is_empty());
    page.field("features", features.unwrap_or("none"));
    page.field("tls", format!("rustls {rustls} with ring {ring}"));
    page
}
