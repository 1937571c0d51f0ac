//! `bookctl webhook listen`.

mod ready_file;
mod url_takeover;
mod view;

use std::future::pending;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{mpsc, watch};

use self::ready_file::ReadyFile;
use self::url_takeover::{UrlTakeover, clock_offset};
use self::view::{EventLine, Ready, SecretShown, Summary, exchange};
use super::consumer;
use super::input::warn_of_unknown_kinds;
use crate::app::{Context, Signals};
use crate::commands::field::header;
use crate::flows::{own_address, webhook_secrets};
use crate::outcome::{Error, Exit, Result};
use crate::secrets::Secret;
use crate::terminal::output::Output;
use crate::webhook::{
    App, DeliveryOutcome, Endpoint, Listener, ListenerEvent, Listening, Names, Schedule, Store,
    Totals,
};

/// Receive webhooks on this computer and forward them to your app
///
/// Verifies and stores each delivery, then responds with 200. With --forward-to, posts each event to your app as
/// received, in order for each booking, and retries after 30 s, 2 min and 10 min if the app does not respond with
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
    /// Port to listen on; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 4020)]
    port: u16,
    /// Forward events to this address
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    forward_to: Option<Endpoint>,
    /// Header to add to forwarded events; can be repeated
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header, requires = "forward_to")]
    headers: Vec<(String, String)>,
    /// Show and forward only these kinds of events; the others are only stored
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    events: Vec<String>,
    /// Delay before each retry of a failed event; `none` disables retries [default: 30s,2m,10m]
    #[arg(long, value_name = "DURATION,…", value_parser = Schedule::parse, requires = "forward_to")]
    retries: Option<Schedule>,
    /// Write the listener's address to this file when it is ready; removed on exit
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Print the webhook secret, to configure the app
    #[arg(long)]
    print_secret: bool,
    /// Listen on this address instead of 127.0.0.1; unsigned deliveries are refused
    #[arg(long, value_name = "ADDRESS")]
    expose: Option<IpAddr>,
    /// Read the webhook secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, mut args: Args) -> Result<Exit> {
    warn_of_unknown_kinds(context, &args.events);
    // `--verbose` shows deliveries, not the calls that keep a sandbox's URL set.
    context.hide_calls();
    // Before anything else: the file of a killed listener must not pass for this one's.
    let ready_file = args.ready_file.take().map(ReadyFile::new).transpose()?;
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let (socket, address) = bind(args.expose, args.port)?;
    let app = forward_target(context, &mut args, address, &secrets.signing)?;
    let mut webhooks = context.webhooks()?;
    let _only_listener = webhooks.lock_listener()?;
    let now = Timestamp::now();
    webhooks.prune(context.target().retention().ended(now), now)?;
    let store = Store::new(webhooks);
    store.recover().await?;
    // Before the address is shown anywhere, so that a signal from then on ends the listener cleanly.
    let mut signals = Signals::listen()?;
    let ready = Ready {
        url: format!("http://{}/", own_address(address)),
        forwards_to: app.as_ref().map(|(app, _)| app.url().to_owned()),
        registered: false,
        exposed: warn_if_exposed(context, address),
        left: store.waiting().await?,
        sandbox_secret: secrets.is_sandboxs.then(|| secrets.signing.clone()),
        due_in: 0.0,
    };
    let first = store.turns(now, 1).await?;
    let first_due = first.first().and_then(|turn| turn.next_attempt_at);
    let (moved, clock) = watch::channel(SignedDuration::ZERO);
    let shown_secret = args.print_secret.then_some(secrets.signing);
    let listening = Listening {
        secrets: secrets.all,
        names: Names::new(context.adapter()),
        kinds: args.events,
        app,
        shows_contents: context.is_verbose(),
        clock,
    };
    let (listener, mut events) = Listener::start(listening, socket, store.clone())?;
    let mut takeover = None;
    let served = tokio::select! {
        biased;
        _ = signals.next() => Ok(()),
        served = async {
            takeover = UrlTakeover::take(context, &store, &ready.url).await?;
            if takeover.is_some() {
                moved.send_replace(clock_offset(context).await?);
            }
            let now = Timestamp::now() + *moved.borrow();
            let due_in = first_due.map(|at| at.duration_since(now).as_secs_f64().ceil());
            let ready = Ready { due_in: due_in.unwrap_or_default().max(0.0), ..ready };
            announce(context, ready, takeover.is_some(), shown_secret, ready_file.as_ref())?;
            serve(context, takeover.as_ref(), &moved, &mut events).await
        } => served,
    };
    drop(ready_file);
    let restore_url = async {
        if let Some(takeover) = takeover {
            takeover.restore(context, &store).await;
        }
    };
    let (totals, ()) = tokio::join!(listener.stop(), restore_url);
    served?;
    // Events of deliveries that ended while the listener stopped.
    while let Ok(event) = events.try_recv()
        && emit(context, event)?
    {}
    let summary = Totals {
        waiting: store.waiting().await.unwrap_or_default(),
        ..totals
    };
    context.out.emit_line(&Summary { summary })?;
    Ok(Exit::Done)
}

/// Warns if other machines can reach the listener, and returns its address there.
fn warn_if_exposed(context: &Context, address: SocketAddr) -> Option<String> {
    if address.ip().is_loopback() {
        return None;
    }
    context.out.warn(&format!(
        "exposed on {}: anyone who can reach it can send deliveries; those with an invalid signature are refused",
        address.ip()
    ));
    Some(format!("http://{address}/"))
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
    if url.is_own_port(listener.port()) {
        return Err(Error::usage("--forward-to is the address of this listener")
            .hint("pass your app's address, or choose another --port"));
    }
    let app = consumer::app(context, url, Some(secret.clone()), &args.headers)?;
    Ok(Some((app, args.retries.take().unwrap_or_default())))
}

/// Tells people and scripts that the listener is ready.
fn announce(
    context: &Context,
    ready: Ready,
    registered: bool,
    secret: Option<Secret>,
    file: Option<&ReadyFile>,
) -> Result<()> {
    if let Some(secret) = secret {
        context.out.emit_line(&SecretShown(secret))?;
    }
    if let Some(file) = file {
        file.write(&ready.url)?;
    }
    if !context.out.is_quiet() {
        // A sandbox's secret is not masked: it is there to be copied.
        context.out.show_with_secret(&Ready {
            registered,
            ..ready
        });
    }
    Ok(())
}

/// Shows an event, or says a warning. Returns whether anybody still reads the events.
fn emit(context: &Context, event: ListenerEvent) -> Result<bool> {
    match &event.outcome {
        DeliveryOutcome::Doubtful(warning) => {
            context.out.warn(warning);
            Ok(true)
        }
        _ => {
            let exchange = if context.is_verbose() {
                exchange(&event)
            } else {
                Vec::new()
            };
            let is_read = context.out.emit_next(&EventLine(event))?;
            for line in exchange {
                Output::trace(&line);
            }
            Ok(is_read)
        }
    }
}

/// Shows events, and keeps the URL set, until nobody reads the output any more.
async fn serve(
    context: &Context,
    takeover: Option<&UrlTakeover>,
    clock: &watch::Sender<SignedDuration>,
    events: &mut mpsc::Receiver<ListenerEvent>,
) -> Result<()> {
    let shown = async {
        while let Some(event) = events.recv().await {
            if !emit(context, event)? {
                break;
            }
        }
        Ok(())
    };
    let kept = async {
        match takeover {
            Some(takeover) => takeover.keep(context, clock).await,
            None => pending().await,
        }
    };
    tokio::select! {
        shown = shown => shown,
        () = context.out.reader_gone() => Ok(()),
        never = kept => match never {},
    }
}

fn bind(expose: Option<IpAddr>, port: u16) -> Result<(TcpListener, SocketAddr)> {
    let ip = expose.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let failed = |error: std::io::Error| {
        Error::io(format!("cannot listen on {ip} port {port}"), error)
            .hint("choose another port with --port; 0 picks a free one")
    };
    let socket = TcpListener::bind((ip, port)).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    Ok((socket, address))
}
