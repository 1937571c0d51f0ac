use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;

use super::env::{Shell, Variables};
use super::request_log;
use crate::app::{Context, Signals, sandbox_error};
use crate::flows::own_address;
use crate::model::duration::lasting;
use crate::model::shell;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::Source;
use crate::platform::ownership;
use crate::sandbox::{Database, LIVE_KEY, Options, Sandbox};
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
    /// Load venues and bookings of your own from this file, or - for standard input
    #[arg(long, value_name = "FILE", value_parser = Source::parse)]
    fixtures: Option<Source>,
    /// Write every request and response to this file, as HAR 1.2, which browsers open; keys are masked
    ///
    /// Of a body, the first 64 KB are written. A HAR file that bookctl wrote before is replaced; any other file is refused,
    /// and so is one that another sandbox is writing.
    #[arg(long, value_name = "FILE")]
    har: Option<PathBuf>,
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

/// Whether a file is one that `mktemp` has made: empty, and without a log next to it. The sandbox's own file is never
/// empty, so an empty one with a log has lost its content.
fn is_blank(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let is_empty = |file: &Path| fs::metadata(file).is_ok_and(|it| it.is_file() && it.len() == 0);
    is_empty(file) && !Path::new(&log).exists()
}

/// Prepares the place of a file that a person named. Its folder must exist: a mistyped path would otherwise become new
/// folders with an empty sandbox.
fn prepare(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|it| !it.exists()) {
        let folder = folder.display().to_string();
        let what = format!("the folder {folder} of the database does not exist");
        let hint = format!("create it with: mkdir -p {}", shell::word(&folder));
        return Err(Error::config(what).hint(hint));
    }
    if is_blank(file) {
        fs::remove_file(file)
            .map_err(|error| Error::io(format!("{} cannot be replaced", file.display()), error))?;
    }
    Ok(())
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    if context.out.is_quiet() && context.is_verbose() {
        return Err(Error::usage(
            "--quiet and --verbose cannot be used together: one leaves the requests out, the other shows their bodies",
        )
        .hint("leave out one of them"));
    }
    let named = args.database.clone();
    let database = match (args.ephemeral, args.database) {
        (true, _) => Database::Memory,
        (false, Some(file)) => Database::File(file),
        (false, None) => Database::File(context.sandbox_file().to_owned()),
    };
    let shown = match &database {
        Database::File(file) => Some(file.display().to_string()),
        Database::Memory => None,
    };
    if let Database::File(file) = &database {
        ownership::refuse_others(file)?;
    }
    if let Some(file) = named {
        prepare(&file)?;
    }
    let sandbox = Sandbox::open(Options {
        limits: context.has_sandbox_limits(),
        delivery_interval: args.delivery_interval,
        hosts: args.hosts,
        keeps_requests: !args.no_request_log,
        ..Options::new(database)
    })
    .map_err(|error| {
        Error::config(error.to_string()).hint(format!(
            "{}; or use another file with --database, or --ephemeral",
            error.hint()
        ))
    })?;
    super::load(&sandbox, args.fixtures).await?;
    let webhook_secret = sandbox.webhook_secret();
    let webhook_secret = webhook_secret.map_err(|error| sandbox_error(&error))?;
    let address = args.expose.unwrap_or(Ipv4Addr::LOCALHOST.into());
    if !address.is_loopback() {
        context.out.warn(&format!(
            "exposed on {address}: anyone who can reach it can read and change everything, without a key"
        ));
    }
    let listener = TcpListener::bind((address, args.port))
        .await
        .map_err(|error| {
            Error::io(
                format!("cannot listen on {address} port {}", args.port),
                error,
            )
            .hint("choose another port with --port; 0 picks a free one")
        })?;
    let address = listener
        .local_addr()
        .map_err(|error| Error::io("cannot read the port", error))?;
    let origin = format!("http://{}", own_address(address));
    let log = request_log::OnRequests {
        lines: !context.out.is_quiet(),
        bodies: context.is_verbose(),
        har: args.har.as_deref(),
        origin: origin.clone(),
        style: context.out.stderr_style(),
    };
    let log = log.on_request()?;
    // Listens for signals before the server is announced, so that a signal from then on ends it cleanly.
    let mut signals = Signals::listen()?;
    context.out.emit_line(&Ready {
        origin,
        reached_elsewhere: address.ip().is_unspecified().then(|| address.port()),
        database: shown,
        webhook_secret,
    })?;
    let shutdown = async move {
        signals.next().await;
    };
    sandbox
        .serve(listener, log, shutdown)
        .await
        .map_err(|error| Error::io("the sandbox failed", error))?;
    context.out.note("sandbox stopped");
    Ok(Exit::Done)
}

struct Ready {
    /// Where this machine reaches it.
    origin: String,
    /// The port, if the sandbox listens on all addresses.
    reached_elsewhere: Option<u16>,
    database: Option<String>,
    webhook_secret: String,
}

impl Ready {
    fn openapi_url(&self) -> String {
        format!("{}/openapi.json", self.origin)
    }
}

impl View for Ready {
    fn json(&self) -> crate::json::Document {
        json!({
            "base_url": self.origin,
            "openapi_url": self.openapi_url(),
            "page": format!("{}/", self.origin),
            "database": self.database,
        })
        .into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "sandbox", &self.origin);
        let elsewhere = self
            .reached_elsewhere
            .map(|port| format!("other machines reach it at this machine's address, port {port}"));
        page.field_if("exposed", elsewhere);
        page.field("page", format!("{}/", self.origin));
        page.field("openapi", self.openapi_url());
        page.field("state", self.database.as_deref().unwrap_or("in memory"));
        page.field("stop", "Ctrl-C");
        page.line("");
        page.line("To use it in another terminal:");
        page.line("");
        for line in self.how_to_use() {
            page.secret(format!("  {line}"));
        }
        page.line("");
        page
    }
}

impl Ready {
    /// The shell's lines that make bookctl use it.
    fn how_to_use(&self) -> Vec<String> {
        let variables = Variables {
            base_url: self.origin.clone(),
            key: LIVE_KEY.to_owned(),
            webhook_secret: self.webhook_secret.clone(),
        };
        variables.lines(Shell::USUAL)
    }
}
