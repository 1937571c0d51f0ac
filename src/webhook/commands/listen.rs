use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::events::warn_of_unknown_kinds;
use super::listen_view::{ListenReady, ListenSummary};
use super::secrets::webhook_secrets;
use super::{handler, trace};
use crate::app::{Context, bind, listen_for_signals, own_address};
use crate::booking::arguments::header;
use crate::outcome::{Error, Exit, Result};
use crate::platform::http_client::is_loopback;
use crate::platform::private_file::{beside, rename};
use crate::secrets::Secret;
use crate::service::client::Call;
use crate::webhook::Listening;
use crate::webhook::app::{App, MAX_SIGNATURE_AGE};
use crate::webhook::forwarder::Schedule;
use crate::webhook::handler::endpoint;
use crate::webhook::listener::Listener;
use crate::webhook::reporter::{ForwardOutcome, ListenerEvent, Totals};

/// How long restoring the URL may take: Ctrl-C ends the process within 200 ms.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(150);

/// Receive webhooks on this computer and forward them to your handler
///
/// Verifies and stores each delivery, then responds with 200. With --forward-to, posts each event to your handler as
/// received, in order for each booking, and retries after 30 s, 2 min and 10 min if the handler does not respond with
/// 2xx. Runs until Ctrl-C; the next listener forwards the events that are still waiting.
///
/// With a sandbox, the listener sets the webhook URL to its own address, and restores the previous URL on exit.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook listen --forward-to http://127.0.0.1:3000/webhooks\n  \
    bookctl webhook listen --events booking.confirmed,booking.failed --json\n  \
    bookctl webhook listen --forward-to http://127.0.0.1:3000/webhooks \\\n    \
      --port 0 --ready-file ready --retries 1s,5s")]
pub(crate) struct Args {
    /// Listen on this port, or on a free one with 0
    #[arg(long, value_name = "N", default_value_t = 4020)]
    port: u16,
    /// Forward events to this address
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    forward_to: Option<Url>,
    /// Trust the certificate authorities in this file
    #[arg(long, value_name = "FILE", requires = "forward_to")]
    ca_file: Option<PathBuf>,
    /// Add a header to forwarded events, repeatable
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header, requires = "forward_to")]
    headers: Vec<(String, String)>,
    /// Show and forward only these kinds of events
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    events: Vec<String>,
    /// Wait before each retry, or `none` [default: 30s,2m,10m]
    #[arg(long, value_name = "DURATION,…", value_parser = Schedule::parse, requires = "forward_to")]
    retries: Option<Schedule>,
    /// Write the address to this file when ready
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Listen on this address instead of 127.0.0.1
    #[arg(long, value_name = "ADDRESS")]
    expose: Option<IpAddr>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(crate) async fn run(context: &Context, mut args: Args) -> Result<Exit> {
    warn_of_unknown_kinds(context, &args.events);
    // `--verbose` shows deliveries, not the calls that set a sandbox's URL.
    context.shows_calls.set(false);
    // Before anything else: the file of a killed listener must not pass for this one's.
    let ready_file = args.ready_file.take().map(ReadyFile::new).transpose()?;
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let (socket, address) = bind(args.expose.unwrap_or(Ipv4Addr::LOCALHOST.into()), args.port)?;
    let app = forward_target(context, &mut args, address, secrets.signing())?;
    let store = context.webhooks()?;
    let _only_listener = store.lock_listener()?;
    let now = Timestamp::now();
    let retention = context.target().retention().ended(now);
    store.prune(retention, now).await?;
    // Before the address is shown anywhere, so that a signal from then on ends the listener cleanly.
    let mut signals = listen_for_signals()?;
    if !address.ip().is_loopback() {
        context.out.warn(&format!(
            "exposed on http://{address}/: anyone who can reach it can send deliveries; those with an invalid signature \
             are rejected"
        ));
    }
    let mut ready = ListenReady {
        url: format!("http://{}/", own_address(address)),
        forward_to: app.as_ref().map(|(app, _)| app.handler.url.to_string()),
        registered: false,
        left: store.waiting()?,
        sandbox_secret: secrets.is_sandboxs.then(|| secrets.signing().clone()),
    };
    let listening = Listening {
        secrets: secrets.all,
        adapter: context.adapter().clone(),
        kinds: args.events,
        trace: trace(context).map(|trace| (trace, ready.url.clone())),
    };
    let (listener, mut events) = Listener::start(listening, app, socket, store.clone())?;
    let mut display = Display { context, totals: Totals::default(), warnings: BTreeSet::new() };
    let mut takeover = None;
    let served = tokio::select! {
        biased;
        _ = signals.next() => Ok(()),
        served = async {
            takeover = UrlTakeover::take(context, ready.url.clone()).await?;
            ready.registered = takeover.is_some();
            if let Some(file) = &ready_file {
                file.write(&ready.url)?;
            }
            if !context.out.quiet {
                // A sandbox's secret is not masked: it is there to be copied.
                context.out.show_with_secret(&ready);
            }
            display.serve(&mut events).await
        } => served,
    };
    drop(ready_file);
    let restored = async {
        if let Some(takeover) = takeover {
            takeover.restore(context).await;
        }
    };
    tokio::join!(listener.stop(), restored);
    served?;
    // Events of deliveries that ended while the listener stopped.
    while let Ok(event) = events.try_recv()
        && display.show(event)?
    {}
    let waiting = store.waiting().unwrap_or_default();
    let summary = Totals { waiting, ..display.totals };
    context.out.emit_line(&ListenSummary { summary })?;
    Ok(Exit::Done)
}

/// The app that `--forward-to` names, and when to retry.
fn forward_target(
    context: &Context,
    args: &mut Args,
    listener: SocketAddr,
    secret: &Secret,
) -> Result<Option<(App, Schedule)>> {
    let Some(url) = args.forward_to.take() else {
        return Ok(None);
    };
    if is_loopback(&url) && url.port_or_known_default() == Some(listener.port()) {
        return Err(Error::usage("--forward-to is the address of this listener")
            .hint("pass your handler's address, or choose another --port"));
    }
    let app = App {
        handler: handler(context, url, args.ca_file.as_deref())?,
        dialect: context.dialect().clone(),
        signing: Some((secret.clone(), MAX_SIGNATURE_AGE)),
        headers: std::mem::take(&mut args.headers),
    };
    Ok(Some((app, args.retries.take().unwrap_or_default())))
}

struct Display<'a> {
    context: &'a Context,
    totals: Totals,
    /// Those that were given: once is enough.
    warnings: BTreeSet<String>,
}

impl Display<'_> {
    /// Shows events until nobody reads the output any more.
    async fn serve(&mut self, events: &mut UnboundedReceiver<ListenerEvent>) -> Result<()> {
        let context = self.context;
        let shown = async {
            while let Some(event) = events.recv().await {
                if !self.show(event)? {
                    break;
                }
            }
            Ok(())
        };
        tokio::select! {
            shown = shown => shown,
            () = context.out.reader_gone() => Ok(()),
        }
    }

    /// Returns whether anybody still reads the events.
    fn show(&mut self, event: ListenerEvent) -> Result<bool> {
        self.totals.count(event.outcome);
        if event.outcome == ForwardOutcome::Warning {
            let warning = event.reason.unwrap_or_default();
            if self.warnings.insert(warning.clone()) {
                self.context.out.warn(&warning);
            }
            return Ok(true);
        }
        if !event.is_shown {
            return Ok(true);
        }
        self.context.out.emit_line(&event)
    }
}

/// The file of `--ready-file`, which holds the address as long as the listener is ready: dropping this removes it.
struct ReadyFile(PathBuf);

impl ReadyFile {
    /// Removes the file that an earlier listener left.
    fn new(path: PathBuf) -> Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(unwritable(&path, error))
            }
            _ => Ok(ReadyFile(path)),
        }
    }

    fn write(&self, address: &str) -> Result<()> {
        let new = beside(&self.0, ".new");
        // A pipe in its place would block, and a link lead elsewhere. Another user's file cannot be removed.
        let _ = fs::remove_file(&new);
        let written = File::create_new(&new)
            .and_then(|mut file| file.write_all(address.as_bytes()))
            .and_then(|()| rename(&new, &self.0));
        written.map_err(|error| unwritable(&self.0, error))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    let shown = path.display();
    Error::io(format!("cannot write the ready file {shown}"), error)
}

/// A sandbox's webhook URL that is set to the listener, and the one from before.
struct UrlTakeover {
    ours: String,
    previous: Option<String>,
}

impl UrlTakeover {
    /// Sets the webhook URL to `ours`; `None` if the service is not a sandbox, whose URL is set in its dashboard.
    async fn take(context: &Context, ours: String) -> Result<Option<Self>> {
        if !context.is_sandbox().await {
            return Ok(None);
        }
        // A listener that was killed on the same port had the same URL.
        let previous = current_url(context).await?.filter(|url| *url != ours);
        set_url(context, Some(&ours), true).await?;
        Ok(Some(UrlTakeover { ours, previous }))
    }

    /// Restores the previous URL, unless somebody has set another one since.
    async fn restore(self, context: &Context) {
        let UrlTakeover { ours, previous } = &self;
        let restored = async {
            if current_url(context).await?.as_ref() == Some(ours) {
                set_url(context, previous.as_deref(), false).await?;
            }
            Ok::<_, Error>(())
        };
        if !matches!(timeout(RESTORE_TIMEOUT, restored).await, Ok(Ok(()))) {
            let url = previous.as_deref().unwrap_or("null");
            context.out.warn(&format!(
                "the sandbox's webhook URL is still {ours}; restore it with: \
                 bookctl sandbox organization -F webhook_url={url}"
            ));
        }
    }
}

async fn current_url(context: &Context) -> Result<Option<String>> {
    let settings = context.control(Call::get("/sandbox/organization")).await?;
    Ok(settings.document.str("webhook_url").map(str::to_owned))
}

async fn set_url(context: &Context, url: Option<&str>, stays: bool) -> Result<()> {
    // A listener's URL outlasts a reset: otherwise events would go nowhere until the listener notices.
    let settings = json!({ "webhook_url": url, "webhook_url_stays": stays });
    let call = Call::put("/sandbox/organization", settings);
    context.control(call).await.map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_never_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        fs::write(at("other"), "kept").unwrap();
        std::os::unix::fs::symlink(at("other"), at("ready.new")).unwrap();
        let ready = ReadyFile::new(at("ready")).unwrap();
        ready.write("http://127.0.0.1:1/").unwrap();
        let read = |name| fs::read_to_string(at(name)).unwrap();
        assert_eq!(
            (read("ready").as_str(), read("other").as_str()),
            ("http://127.0.0.1:1/", "kept")
        );
    }
}
