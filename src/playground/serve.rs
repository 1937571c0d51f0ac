use std::path::PathBuf;

use serde::Serialize;

use super::start::{Files, ServerFlags, start};
use crate::app::{Parts, listen_for_signals};
use crate::outcome::{Error, Exit, Result};
use crate::platform::ownership;
use crate::platform::shell::EnvFormat;
use crate::sandbox::Options;
use crate::terminal::output::{Draw, Page, Tone};

/// Serve the sandbox over HTTP until Ctrl-C
///
/// Prints its address and key, then logs each request to stderr. Without --database or --ephemeral,
/// it serves the sandbox that is embedded in bookctl: other bookctl commands see the same bookings.
/// --no-limits or BOOKCTL_SANDBOX_NO_LIMITS=1 turns off its rate limits and test quota.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox serve\n  \
    bookctl sandbox serve --port 0 --ephemeral --json\n  \
    bookctl sandbox serve --fixtures fixtures.toml")]
pub(crate) struct Args {
    /// Listen on this port, or on a free one with 0
    #[arg(long, value_name = "N", default_value_t = 4010)]
    port: u16,
    /// Keep the state in this file [default: the sandbox's file]
    #[arg(long, value_name = "FILE", conflicts_with = "ephemeral")]
    database: Option<PathBuf>,
    /// Keep the state in memory, and lose it when the server stops
    #[arg(long)]
    ephemeral: bool,
    #[command(flatten)]
    server: ServerFlags,
    #[command(flatten)]
    files: Files,
    /// Keep no log of requests, as in a load test
    #[arg(long)]
    no_request_log: bool,
    /// Keep no report, as in a load test
    #[arg(long)]
    no_report: bool,
}

pub(crate) async fn run(parts: &Parts, args: Args) -> Result<Exit> {
    let Parts { ui, settings, .. } = parts;
    let file = args.database;
    let file = (!args.ephemeral).then(|| file.unwrap_or_else(|| settings.paths.sandbox.clone()));
    if let Some(file) = &file {
        ownership::refuse_others(file)?;
    }
    let options = Options {
        keeps_requests: !args.no_request_log,
        keeps_report: !args.no_report,
        ..Options::new(file.clone())
    };
    let logs = !ui.out.quiet;
    let starting = start(parts, options, args.files, args.server, args.port, logs).await?;
    // Listens for signals before the server is announced, so that each ends it cleanly.
    let mut signals = listen_for_signals()?;
    let address = starting.address;
    let variables = &starting.variables;
    ui.out.emit_line(&ServeReady {
        openapi_url: format!("{}/openapi.json", variables.base_url),
        page: format!("{}/", variables.base_url),
        database: file.map(|it| it.display().to_string()),
        reached_elsewhere: address.ip().is_unspecified().then(|| address.port()),
        lines: variables.lines(EnvFormat::USUAL),
        base_url: variables.base_url.clone(),
    })?;
    starting.announce()?;
    let shutdown = async move {
        signals.next().await;
    };
    let served = starting.sandbox.serve(starting.listener, starting.on_request, shutdown);
    served.await.map_err(|error| Error::io("the sandbox failed", error))?;
    if starting.log.is_none_or(|it| it.end()) {
        ui.out.note("sandbox stopped");
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct ServeReady {
    base_url: String,
    openapi_url: String,
    page: String,
    database: Option<String>,
    /// The port, if the sandbox listens on all addresses.
    #[serde(skip)]
    reached_elsewhere: Option<u16>,
    /// The lines for a shell that make bookctl use it.
    #[serde(skip)]
    lines: Vec<String>,
}

impl Draw for ServeReady {
    fn draw(&self, page: &mut Page) {
        page.heading(Tone::Good, "sandbox", &self.base_url);
        let elsewhere = self.reached_elsewhere.map(|port| {
            format!("other computers reach it at this computer's address, port {port}")
        });
        page.field_if("exposed", elsewhere);
        page.field("page", &self.page);
        page.field("openapi", &self.openapi_url);
        page.field("state", self.database.as_deref().unwrap_or("in memory"));
        page.field("stop", "Ctrl-C");
        page.line("");
        page.line("To use it in another terminal:");
        page.line("");
        for line in &self.lines {
            page.secret(format!("  {line}"));
        }
        page.line("");
    }
}
