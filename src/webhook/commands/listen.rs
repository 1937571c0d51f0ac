use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;
use serde::Serialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::events::warn_of_unknown_kinds;
use super::{handler, trace, webhook_secrets};
use crate::app::ready_file::ReadyFile;
use crate::app::{Api, Facts, Parts, Settings, Ui, bind, listen_for_signals, own_address};
use crate::booking::arguments::header;
use crate::outcome::{Error, Exit, Result};
use crate::platform::http_client::is_loopback;
use crate::platform::shell::EnvFormat;
use crate::secrets::Secret;
use crate::service::client::Call;
use crate::service::documents::plural;
use crate::service::time::text::whole_seconds;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{Draw, Page, TableCell, Tone};
use crate::webhook::forwarder::{App, MAX_SIGNATURE_AGE, Schedule};
use crate::webhook::handler::endpoint;
use crate::webhook::reporter::{ForwardAttempt, ForwardOutcome, ListenerEvent, Totals};
use crate::webhook::{Listening, listener};

/// How long restoring the URL may take, at a sandbox that is busy: usually 5 ms.
const RESTORE_TIMEOUT: Duration = Duration::from_millis(500);

/// Receive webhooks on this computer and forward them to your handler
///
/// Verifies and stores each delivery, then responds with 200. With --forward-to, posts each event
/// to your handler as received, in order for each booking, and retries after 30 s, 2 min and 10 min
/// if the handler does not respond with 2xx. Runs until Ctrl-C; the next listener forwards the
/// events that are still waiting.
///
/// With a sandbox, the listener sets the webhook URL to its own address, and restores the previous
/// URL on exit.
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

pub(crate) async fn run(parts: &Parts, mut args: Args) -> Result<Exit> {
    let Parts { api, records, ui, settings } = parts;
    warn_of_unknown_kinds(&ui.out, &args.events);
    // `--verbose` shows deliveries, not the calls that set a sandbox's URL.
    api.shows_calls.set(false);
    // Before anything else: the file of a killed listener must not pass for this one's.
    let ready_file = args.ready_file.take().map(ReadyFile::new).transpose()?;
    let secrets = webhook_secrets(api, ui, settings, args.secret_stdin).await?;
    let (socket, address) = bind(args.expose.unwrap_or(Ipv4Addr::LOCALHOST.into()), args.port)?;
    let app = forward_target(&api.facts, settings, &mut args, address, secrets.signing())?;
    let store = records.webhooks()?;
    let _only_listener = store.lock_listener()?;
    let now = Timestamp::now();
    store.prune(api.facts.target().retention.ended(now), now).await?;
    // Before the address is shown, so that a signal from then on ends the listener cleanly.
    let mut signals = listen_for_signals()?;
    if !address.ip().is_loopback() {
        ui.out.warn(&format!(
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
        mapping: api.facts.mapping().clone(),
        kinds: args.events,
        trace: trace(settings).map(|trace| (trace, ready.url.clone())),
    };
    let (stop, mut events) = listener::start(listening, app, socket, store.clone())?;
    let mut display = Display { ui, totals: Totals::default(), warnings: BTreeSet::new() };
    let served = tokio::select! {
        biased;
        _ = signals.next() => Ok(()),
        served = async {
            // Another service has a dashboard for it.
            if api.is_sandbox().await {
                set_url(api, Some(&ready.url), true).await?;
                ready.registered = true;
            }
            if let Some(file) = &ready_file {
                file.write(&ready.url)?;
            }
            if !ui.out.quiet {
                // A sandbox's secret is not masked: it is there to be copied.
                ui.out.show_with_secret(&ready);
            }
            display.serve(&mut events).await
        } => served,
    };
    drop(ready_file);
    let restored = async {
        if ready.registered {
            restore_url(api, ui, &ready.url).await;
        }
    };
    tokio::join!(listener::stop(stop), restored);
    served?;
    // Events of deliveries that ended while the listener stopped.
    while let Ok(event) = events.try_recv()
        && display.show(event)?
    {}
    let waiting = store.waiting().unwrap_or_default();
    let summary = Totals { waiting, ..display.totals };
    ui.out.emit_line(&ListenSummary { summary })?;
    Ok(Exit::Done)
}

fn forward_target(
    facts: &Facts,
    settings: &Settings,
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
        handler: handler(facts, settings, url, args.ca_file.as_deref())?,
        dialect: facts.dialect().clone(),
        signing: Some((secret.clone(), MAX_SIGNATURE_AGE)),
        headers: std::mem::take(&mut args.headers),
    };
    Ok(Some((app, args.retries.take().unwrap_or_default())))
}

struct Display<'a> {
    ui: &'a Ui,
    totals: Totals,
    /// Those that were given: once is enough.
    warnings: BTreeSet<String>,
}

impl Display<'_> {
    async fn serve(&mut self, events: &mut UnboundedReceiver<ListenerEvent>) -> Result<()> {
        let ui = self.ui;
        let displayed = async {
            while let Some(event) = events.recv().await {
                if !self.show(event)? {
                    break;
                }
            }
            Ok(())
        };
        tokio::select! {
            displayed = displayed => displayed,
            () = ui.out.reader_gone() => Ok(()),
        }
    }

    /// Returns whether anybody still reads the events.
    fn show(&mut self, event: ListenerEvent) -> Result<bool> {
        self.totals.count(event.outcome);
        if event.outcome == ForwardOutcome::Warning {
            let warning = event.reason.unwrap_or_default();
            if self.warnings.insert(warning.clone()) {
                self.ui.out.warn(&warning);
            }
            return Ok(true);
        }
        if !event.is_shown { Ok(true) } else { self.ui.out.emit_line(&event) }
    }
}

/// Restores a sandbox's previous webhook URL, which it keeps, unless another one than `ours` has been
/// set since. A listener that was killed restores nothing.
async fn restore_url(api: &Api, ui: &Ui, ours: &str) {
    let mut previous = "URL".to_owned();
    let restored = async {
        let settings = api.control(Call::get(SETTINGS)).await?.document;
        let url = settings.str("webhook_url").unwrap_or_default();
        let is_listeners = settings.value()["webhook_url_stays"] == true;
        if url == ours || is_listeners && !listens(url).await {
            let before = settings.str("webhook_url_before");
            before.unwrap_or("null").clone_into(&mut previous);
            set_url(api, before, false).await?;
        }
        Ok::<_, Error>(())
    };
    if !matches!(timeout(RESTORE_TIMEOUT, restored).await, Ok(Ok(()))) {
        ui.out.warn(&format!(
            "the sandbox's webhook URL is still {ours}; restore it with: \
             bookctl sandbox organization -F webhook_url={previous}"
        ));
    }
}

const SETTINGS: &str = "/sandbox/organization";

async fn listens(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(|it| it.host_str().zip(it.port_or_known_default())) {
        Some(address) => TcpStream::connect(address).await.is_ok(),
        None => false,
    }
}

async fn set_url(api: &Api, url: Option<&str>, stays: bool) -> Result<()> {
    // A listener's URL outlasts a reset: otherwise events would go nowhere for a while.
    let settings = json!({ "webhook_url": url, "webhook_url_stays": stays });
    api.control(Call::put(SETTINGS, settings)).await.map(drop)
}

#[derive(Serialize)]
pub(crate) struct ListenReady {
    pub(crate) url: String,
    pub(crate) forward_to: Option<String>,
    /// Whether the sandbox's webhook URL is set to the listener.
    pub(crate) registered: bool,
    /// How many events earlier listeners did not forward.
    pub(crate) left: u32,
    /// The secret, if it is a sandbox's: no other is shown.
    #[serde(skip)]
    pub(crate) sandbox_secret: Option<Secret>,
}

impl Draw for ListenReady {
    fn draw(&self, page: &mut Page) {
        page.heading(Tone::Good, "listening", &self.url);
        page.field_if("forward to", self.forward_to.as_deref());
        if self.left > 0 {
            let left = plural(self.left as usize, "event", "events");
            let what = match &self.forward_to {
                Some(_) => "they are forwarded when they are due",
                None => "pass --forward-to to forward them",
            };
            page.field("waiting", format!("{left} from before: {what}"));
        }
        page.field(
            "service",
            if self.registered {
                "sandbox webhook URL set to this listener (restored on exit)"
            } else {
                "set the webhook URL in the dashboard to this address, or to a tunnel to it"
            },
        );
        page.field("stop", "Ctrl-C");
        if let Some(secret) = &self.sandbox_secret {
            page.line("").line("For your handler:").line("");
            let line = EnvFormat::USUAL.export("BOOKCTL_WEBHOOK_SECRET", secret.expose());
            page.secret(format!("  {line}")).line("");
        }
    }
}

impl Draw for ListenerEvent {
    fn draw(&self, page: &mut Page) {
        let at = self.at.to_zoned(system_zone());
        let time = at.strftime("%H:%M:%S").to_string();
        // So wide that an app's response fits into 80 columns beside them.
        let received = whole_seconds(self.at);
        let mut cells = vec![(TableCell::from(received).in_short(Some(time)), 8)];
        if let Some(event) = &self.event {
            let booking = event.booking.as_deref().unwrap_or(&event.id);
            cells.extend([
                (event.shown_kind().into(), 23),
                (booking.into(), 16),
                (event.status.as_deref().unwrap_or_default().into(), 15),
            ]);
        }
        cells.push((self.result(), 0));
        page.columns(cells);
    }
}

impl ListenerEvent {
    fn result(&self) -> TableCell {
        let reason = self.reason.as_deref().unwrap_or_default();
        let answer = self.attempt.as_ref().map(ForwardAttempt::in_words).unwrap_or_default();
        let (tone, text) = match self.outcome {
            ForwardOutcome::Kept => return "kept".into(),
            ForwardOutcome::Duplicate => (Tone::Dim, "duplicate".to_owned()),
            ForwardOutcome::Refused => (Tone::Bad, format!("rejected: {reason}")),
            ForwardOutcome::Unwritten => (Tone::Bad, format!("not stored: {reason}")),
            ForwardOutcome::Warning => (Tone::Warn, reason.to_owned()),
            ForwardOutcome::Delivered => (Tone::Good, answer),
            ForwardOutcome::Abandoned => (Tone::Bad, format!("{answer}, abandoned")),
            ForwardOutcome::Failed => {
                let next = self.next_attempt_at.unwrap_or(self.at);
                let pause = next.duration_since(self.at).as_secs_f64().round();
                (Tone::Warn, format!("{answer}, retry in {pause} s"))
            }
        };
        TableCell::toned(text, tone)
    }
}

#[derive(Serialize)]
pub(crate) struct ListenSummary {
    pub(crate) summary: Totals,
}

impl Draw for ListenSummary {
    fn draw(&self, page: &mut Page) {
        let it = &self.summary;
        let received = format!(
            "{} received, {}, {} rejected",
            it.received,
            plural(it.duplicates as usize, "duplicate", "duplicates"),
            it.refused
        );
        page.heading(Tone::Strong, "stopped", received);
        let forwarded = format!(
            "{} forwarded, {} failed attempts, {} abandoned, {} waiting",
            it.forwarded, it.failed, it.abandoned, it.waiting
        );
        page.field("handler", forwarded);
        if it.abandoned > 0 {
            page.next("bookctl webhook events list --state abandoned");
        }
    }
}
