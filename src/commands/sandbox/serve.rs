use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;

use crate::app::{Context, Signals};
use crate::model::duration::lasting;
use crate::outcome::{Error, Exit, Result, reason};
use crate::platform::ownership;
use crate::sandbox::{Database, OnRequest, Options, Sandbox, Speech};
use crate::terminal::output::{Output, Page, Tone, View};

/// Serve the sandbox on this machine until Ctrl-C or SIGTERM
///
/// It listens on 127.0.0.1 alone unless --expose says otherwise. Without --database or --ephemeral it is the very sandbox that bookctl embeds: what
/// one books, the other sees.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl sandbox serve\n  \
    bookctl sandbox serve --port 0 --ephemeral --json\n  \
    bookctl sandbox serve --speak enveloped")]
pub(crate) struct Args {
    /// Port; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 4010)]
    port: u16,
    /// File that keeps its state
    #[arg(long, value_name = "FILE", conflicts_with = "ephemeral")]
    database: Option<PathBuf>,
    /// Keep nothing: the state ends with the server
    #[arg(long)]
    ephemeral: bool,
    /// No rate limits and no test allowance: for load tests
    #[arg(long)]
    no_limits: bool,
    /// Listen on this address instead of 127.0.0.1; whoever reaches it reads and changes everything
    ///
    /// The sandbox's controls ask for no key, and its keys are known to everybody. For a container's own network.
    #[arg(long, value_name = "ADDRESS")]
    expose: Option<IpAddr>,
    /// Speak as another service would: enveloped, camel, plain, or a file that describes one
    #[arg(long, value_name = "FILE|NAME")]
    speak: Option<String>,
    /// How often the webhook worker looks for what is due; the service's own pace is 30s
    // A worker that never pauses would keep the processor to itself.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = lasting)]
    delivery_interval: Duration,
}

/// Whether a file that a person names is one that `mktemp` has made: empty, and without a log beside it. The sandbox's
/// own file is never empty, so that one of these has lost what was in it.
fn is_blank(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let is_empty = |file: &Path| fs::metadata(file).is_ok_and(|it| it.is_file() && it.len() == 0);
    is_empty(file) && !Path::new(&log).exists()
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let speech = args.speak.as_deref().map(super::speech).transpose()?;
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
    if let Some(file) = named.filter(|file| is_blank(file)) {
        fs::remove_file(&file)
            .map_err(|error| Error::io(format!("{} cannot be replaced", file.display()), &error))?;
    }
    let sandbox = Sandbox::open(Options {
        limits: !args.no_limits,
        delivery_interval: args.delivery_interval,
        speech: speech.clone(),
        ..Options::new(database)
    })
    .map_err(|error| {
        Error::config(error.to_string()).hint(format!(
            "{}; or name another file with --database, or use --ephemeral",
            error.hint()
        ))
    })?;
    let address = args.expose.unwrap_or(Ipv4Addr::LOCALHOST.into());
    if !address.is_loopback() {
        context.out.warn(&format!(
            "exposed on {address}: whoever reaches it reads and changes everything, without a key"
        ));
    }
    let listener = TcpListener::bind((address, args.port))
        .await
        .map_err(|error| {
            Error::io(
                format!("port {} of this machine cannot be used", args.port),
                &error,
            )
            .hint("name another one with --port; 0 picks a free one")
        })?;
    let address = listener
        .local_addr()
        .map_err(|error| Error::io("the port is unknown", &error))?;
    // Before anybody is told that it is ready: a signal then ends it cleanly at once.
    let mut signals = Signals::listen()?;
    context.out.emit_line(&Ready {
        origin: format!("http://{address}"),
        database: shown,
        speech,
    })?;
    let log: OnRequest = Box::new(|request| {
        let milliseconds = request.duration.as_secs_f64() * 1000.0;
        Output::trace(&format!(
            "{} {} {} {milliseconds:.1} ms",
            request.method, request.path, request.status
        ));
        if let Some(failure) = request.failure {
            Output::trace(&failure);
        }
    });
    let log = (!context.out.is_quiet()).then_some(log);
    let shutdown = async move {
        signals.next().await;
    };
    sandbox
        .serve(listener, log, shutdown)
        .await
        .map_err(|error| Error::io(format!("the sandbox ended: {}", reason(&error)), &error))?;
    context.out.note("the sandbox has ended");
    Ok(Exit::Done)
}

struct Ready {
    origin: String,
    database: Option<String>,
    speech: Option<Arc<Speech>>,
}

impl Ready {
    fn base_url(&self) -> String {
        let path = self.speech.as_ref().map_or("", |it| it.base_path());
        format!("{}{path}", self.origin)
    }

    fn openapi_url(&self) -> String {
        format!("{}/openapi.json", self.origin)
    }
}

impl View for Ready {
    fn json(&self) -> crate::json::Document {
        let mut ready = json!({
            "base_url": self.base_url(),
            "openapi_url": self.openapi_url(),
            "database": self.database,
        });
        if let Some(speech) = &self.speech {
            ready["speak"] = json!(speech.name);
        }
        ready.into()
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.heading(Tone::Good, "sandbox", self.base_url());
        if let Some(speech) = &self.speech {
            page.field("speaks", &speech.name);
        }
        page.field("openapi", self.openapi_url());
        page.field("key", crate::sandbox::LIVE_KEY);
        page.field(
            "state",
            self.database
                .as_deref()
                .unwrap_or("in memory: it ends with the server"),
        );
        page.next(format!("BOOKCTL_BASE_URL={} BOOKCTL_API_KEY={} bookctl search dining --near Sandbox --at 'tomorrow 19:30'", self.base_url(), crate::sandbox::LIVE_KEY));
        page
    }
}
