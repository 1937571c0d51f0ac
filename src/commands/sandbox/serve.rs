use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::env::{Shell, Variables};
use super::start::{Files, start};
use crate::app::{Context, Signals};
use crate::json::Document;
use crate::model::duration::lasting;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};
use crate::platform::ownership;
use crate::sandbox::{Database, Options};
use crate::terminal::output::{Page, Tone, View};

/// Serve the sandbox over HTTP until Ctrl-C
///
/// Prints its address and key, then logs each request to stderr. Without --database or --ephemeral, it serves the sandbox
/// that is embedded in bookctl: other bookctl commands see the same bookings.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox serve\n  \
    bookctl sandbox serve --port 0 --ephemeral --json\n  \
    bookctl sandbox serve --fixtures fixtures.toml")]
pub(crate) struct Args {
    /// Port to listen on; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 4010)]
    port: u16,
    /// File to keep the state in [default: the embedded sandbox's file]
    #[arg(long, value_name = "FILE", conflicts_with = "ephemeral")]
    database: Option<PathBuf>,
    /// Keep the state in memory, and lose it when the server stops
    #[arg(long)]
    ephemeral: bool,
    /// Listen on this address instead of 127.0.0.1; anyone who can reach it can read and change everything
    ///
    /// The sandbox's controls need no key, and its keys are public. Use it only in a network of your own, such as a
    /// container's.
    #[arg(long, value_name = "ADDRESS")]
    expose: Option<IpAddr>,
    /// Answer requests to this host name too, such as host.docker.internal; repeatable
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    hosts: Vec<String>,
    #[command(flatten)]
    files: Files,
    /// Keep no requests for `sandbox requests` and the page, such as in a load test
    #[arg(long)]
    no_request_log: bool,
    /// How often to send due webhooks; the service itself does so every 30s
    // A worker that never pauses would keep the processor to itself.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = lasting)]
    delivery_interval: Duration,
}

/// A name that a `Host` header can have before its port.
fn host(text: &str) -> std::result::Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let in_brackets = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let is_address = in_brackets.is_some_and(|it| it.parse::<Ipv6Addr>().is_ok());
    if is_address || !text.is_empty() && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("give a name alone, such as host.docker.internal".to_owned())
    }
}

/// The folder of a file that a person named must exist: a mistyped path would otherwise become new folders with an empty
/// sandbox.
fn check_folder(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|it| !it.exists()) {
        let folder = folder.display().to_string();
        let what = format!("the folder {folder} of the database does not exist");
        let hint = format!("create it with: mkdir -p {}", shell::word(&folder));
        return Err(Error::config(what).hint(hint));
    }
    Ok(())
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if context.out.is_quiet() && context.is_verbose() {
        return Err(Error::usage(
            "--quiet and --verbose cannot be used together: one leaves the requests out, the other shows their bodies",
        ));
    }
    if let Some(file) = &args.database {
        check_folder(file)?;
    }
    let file = args.database;
    let file = (!args.ephemeral).then(|| file.unwrap_or_else(|| context.sandbox_file().to_owned()));
    let database = match &file {
        Some(file) => {
            ownership::refuse_others(file)?;
            Database::File(file.clone())
        }
        None => Database::Memory,
    };
    let address = args.expose.unwrap_or(Ipv4Addr::LOCALHOST.into());
    if !address.is_loopback() {
        context.out.warn(&format!(
            "exposed on {address}: anyone who can reach it can read and change everything, without a key"
        ));
    }
    let options = Options {
        delivery_interval: args.delivery_interval,
        hosts: args.hosts,
        keeps_requests: !args.no_request_log,
        ..Options::new(database)
    };
    let logs = !context.out.is_quiet();
    let starting = start(context, options, args.files, (address, args.port), logs).await?;
    // Listens for signals before the server is announced, so that a signal from then on ends it cleanly.
    let mut signals = Signals::listen()?;
    let address = starting.address;
    context.out.emit_line(&Ready {
        reached_elsewhere: address.ip().is_unspecified().then(|| address.port()),
        database: file.map(|it| it.display().to_string()),
        variables: starting.variables,
    })?;
    let shutdown = async move {
        signals.next().await;
    };
    let served = starting
        .sandbox
        .serve(starting.listener, starting.on_request, shutdown);
    served
        .await
        .map_err(|error| Error::io("the sandbox failed", error))?;
    context.out.note("sandbox stopped");
    Ok(Exit::Done)
}

struct Ready {
    /// The port, if the sandbox listens on all addresses.
    reached_elsewhere: Option<u16>,
    database: Option<String>,
    variables: Variables,
}

impl View for Ready {
    fn json(&self) -> Document {
        let origin = &self.variables.base_url;
        json!({
            "base_url": origin,
            "openapi_url": format!("{origin}/openapi.json"),
            "page": format!("{origin}/"),
            "database": self.database,
        })
        .into()
    }

    fn page(&self) -> Page {
        let origin = &self.variables.base_url;
        let mut page = Page::default();
        page.heading(Tone::Good, "sandbox", origin);
        let elsewhere = self
            .reached_elsewhere
            .map(|port| format!("other machines reach it at this machine's address, port {port}"));
        page.field_if("exposed", elsewhere);
        page.field("page", format!("{origin}/"));
        page.field("openapi", format!("{origin}/openapi.json"));
        page.field("state", self.database.as_deref().unwrap_or("in memory"));
        page.field("stop", "Ctrl-C");
        page.line("");
        page.line("To use it in another terminal:");
        page.line("");
        for line in self.variables.lines(Shell::USUAL) {
            page.secret(format!("  {line}"));
        }
        page.line("");
        page
    }
}
