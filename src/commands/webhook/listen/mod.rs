mod organization;
mod ready_file;
mod view;

use std::future::pending;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use jiff::Timestamp;
use tokio::sync::mpsc;

use self::organization::Stand;
use self::ready_file::ReadyFile;
use self::view::{Line, Ready, SecretShown, Summary};
pub(super) use self::view::{answer_in_words, attempt_json};
use crate::app::{Context, Signals};
use crate::commands::field::header;
use crate::flows::webhook_secrets;
use crate::outcome::{Error, Exit, Result};
use crate::webhook::{
    App, DEADLINE, Endpoint, KINDS, Listener, Listening, Mode, Notice, Schedule, Store,
};

/// Receive deliveries here until Ctrl-C, and forward them to your app
///
/// Each delivery is verified, told apart from the ones that came before by its event's id, written down (webhooks.db),
/// and only then answered with 200. With --forward-to it is taken to the app as it came: in order within a booking,
/// and again after 30 s, 2 min and 10 min where the app does not answer with 2xx. What was not forwarded when the
/// listener ended, the next one forwards.
///
/// A sandbox is told the listener's address, again where it is reset meanwhile, and at the end the one that it had
/// before.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl webhook listen --forward-to http://127.0.0.1:3000/webhooks\n  \
    bookctl webhook listen --events booking.confirmed,booking.failed --json\n  \
    bookctl webhook listen --port 0 --ready-file ready --forward-to http://127.0.0.1:3000/webhooks --retries 1s,5s\n  \
    bookctl webhook listen --forward-to http://127.0.0.1:3000/webhooks --pass-through")]
pub(crate) struct Args {
    /// Port; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 4020)]
    port: u16,
    /// Take every event to this address
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    forward_to: Option<Endpoint>,
    /// A header to add to what is forwarded; may be given several times
    #[arg(short = 'H', long = "header", value_name = "K: V", value_parser = header, requires = "forward_to")]
    headers: Vec<(String, String)>,
    /// Show and forward these kinds alone; the others are written down
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    events: Vec<String>,
    /// The pauses after which a forward that failed is tried again, 30s,2m,10m unless said; `none` for no other try
    #[arg(long, value_name = "DURATION,…", value_parser = Schedule::parse, requires = "forward_to")]
    retries: Option<Schedule>,
    /// Answer the service with the app's own status, and leave trying again to the service
    #[arg(long, requires = "forward_to", conflicts_with = "retries")]
    pass_through: bool,
    /// A file that holds the listener's address as soon as deliveries can be taken; it goes at the end
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Print the signing secret, for the app's configuration, before the first event
    #[arg(long)]
    print_secret: bool,
    /// Listen on this address instead of 127.0.0.1; what is not signed is refused all the same
    #[arg(long, value_name = "ADDRESS")]
    expose: Option<IpAddr>,
    /// Read the secret from standard input
    #[arg(long)]
    secret_stdin: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> Result<Exit> {
    let unknown = |kind: &&String| !KINDS.contains(&kind.as_str());
    for kind in args.events.iter().filter(unknown) {
        let known = KINDS.join(", ");
        context.out.warn(&format!(
            "no kind of event is known as {kind}; known are {known}"
        ));
    }
    // First of all: what a killed listener left there would pass for this one.
    let ready_file = args.ready_file.map(ReadyFile::new).transpose()?;
    let secrets = webhook_secrets(context, args.secret_stdin).await?;
    let (socket, address) = bind(args.expose, args.port)?;
    let forwards_to = args.forward_to.as_ref().map(|it| it.as_str().to_owned());
    let app = match args.forward_to {
        Some(url) if url.is_own_port(address.port()) => {
            return Err(Error::usage("--forward-to names the listener itself")
                .hint("name the app's own address, or another --port"));
        }
        Some(url) => {
            let headers = args.headers.iter().map(|(name, value)| {
                let sendable = name.parse().ok().zip(value.parse().ok());
                sendable.ok_or_else(|| Error::usage(format!("the header {name} cannot be sent")))
            });
            let deadline = context.timeout().unwrap_or(DEADLINE);
            let app = App::new(
                url,
                super::names(context),
                secrets.first().cloned(),
                headers.collect::<Result<_>>()?,
                deadline,
            )?;
            let mode = match args.pass_through {
                true => Mode::PassThrough,
                false => Mode::Retry(args.retries.unwrap_or_default()),
            };
            Some((app, mode))
        }
        None => None,
    };
    let mut webhooks = context.webhooks()?;
    let slate = webhooks.take_place()?;
    let now = Timestamp::now();
    webhooks.prune(context.target().retention().ended(now), now)?;
    let store = Store::new(webhooks)?;
    let due = store.take_over(slate.left()).await.map_err(unwritten)?;
    let left = store.waiting().await.map_err(unwritten)?;
    let due_in = due.first().map_or(0.0, |(_, at)| {
        at.duration_since(now).as_secs_f64().ceil().max(0.0)
    });
    // Before anybody is told that it is ready: a signal then ends it cleanly at once.
    let mut signals = Signals::listen()?;
    let shown_secret = args
        .print_secret
        .then(|| secrets.first().cloned())
        .flatten();
    let listening = Listening {
        secrets,
        names: super::names(context),
        kinds: args.events,
        app,
    };
    let exposed = (!address.ip().is_loopback()).then(|| format!("http://{address}/"));
    if exposed.is_some() {
        context.out.warn(&format!(
            "exposed on {}: whoever reaches it may send deliveries; what the secret did not sign is refused",
            address.ip()
        ));
    }
    let (listener, mut notices) = Listener::start(listening, socket, store.clone(), slate, due)?;
    let url = format!("http://{}/", reached_at(address));
    let mut stand = None;
    let outcome = tokio::select! {
        biased;
        _ = signals.next() => Ok(()),
        outcome = async {
            stand = Stand::take(context, &store, &url).await?;
            if let Some(secret) = shown_secret {
                context.out.emit_line(&SecretShown(secret))?;
            }
            if let Some(file) = &ready_file {
                file.write(&url)?;
            }
            context.out.show_view(&Ready {
                url: &url,
                forwards_to: forwards_to.as_deref(),
                registered: stand.is_some(),
                exposed,
                left,
                due_in,
            });
            let stand = &stand;
            let held = async {
                match stand {
                    Some(stand) => stand.hold(context).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                shown = show(context, &mut notices) => shown,
                never = held => match never {},
            }
        } => outcome,
    };
    drop(ready_file);
    let put_back = async {
        if let Some(stand) = stand {
            stand.put_back(context, &store).await;
        }
    };
    let (sum, ()) = tokio::join!(listener.stop(), put_back);
    outcome?;
    // What was answered in the last moment.
    while let Ok(notice) = notices.try_recv()
        && context.out.emit_next(&Line(notice))?
    {}
    let waiting = store.waiting().await.unwrap_or_default();
    context.out.emit_line(&Summary { sum, waiting })?;
    Ok(Exit::Done)
}

/// Shows what happens, as long as somebody looks.
async fn show(context: &Context, notices: &mut mpsc::Receiver<Notice>) -> Result<()> {
    let shown = async {
        while let Some(notice) = notices.recv().await {
            if !context.out.emit_next(&Line(notice))? {
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

fn bind(expose: Option<IpAddr>, port: u16) -> Result<(TcpListener, SocketAddr)> {
    let ip = expose.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let failed = |error: std::io::Error| {
        Error::io(
            format!("port {port} of this machine cannot be used"),
            &error,
        )
        .hint("name another one with --port; 0 picks a free one")
    };
    let socket = TcpListener::bind((ip, port)).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    Ok((socket, address))
}

/// Where the listener is reached: what listens everywhere is reached here.
fn reached_at(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port())
}

pub(super) fn unwritten(error: crate::webhook::StoreError) -> Error {
    Error::webhooks(error.to_string())
        .hint("make room or make it writable, or set BOOKCTL_HOME to another folder")
}
