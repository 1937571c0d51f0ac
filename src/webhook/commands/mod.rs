//! `bookctl webhook`: verify and sign deliveries, send, receive and forward events, and test
//! handlers.

pub(crate) mod drill;
pub(crate) mod events;
pub(crate) mod listen;
pub(crate) mod secrets;
pub(crate) mod send;
pub(crate) mod signature;

use clap::Subcommand;
use reqwest::Url;

use crate::app::in_flight::InFlight;
use crate::app::plan::{Needs, ServiceNeed};
use crate::app::{Api, Facts, Parts, Settings};
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::Output;
use crate::webhook::handler::{DEADLINE, Handler, NoReply, Trace};

/// Receive, forward, send and verify webhooks, and test your handler
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Verify(signature::VerifyArgs),
    Sign(signature::SignArgs),
    Send(send::Args),
    Listen(listen::Args),
    Events(EventsArgs),
    Drill(drill::Args),
}

/// List, show and replay the events that `webhook listen` received
#[derive(clap::Args, Debug)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    action: Option<Events>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Events {
    List(events::ListArgs),
    Show(events::ShowArgs),
    Replay(events::ReplayArgs),
}

impl Command {
    /// Signing, verifying and posting need only a secret and an address, except for a booking.
    pub(crate) fn needs(&self) -> Needs {
        let service = match self {
            Command::Verify(_)
            | Command::Sign(_)
            | Command::Send(send::Args { booking: None, .. })
            | Command::Drill(drill::Args { booking: None, .. }) => ServiceNeed::None,
            _ => ServiceNeed::ProfileUnchecked,
        };
        let replays = |args: &EventsArgs| matches!(args.action, Some(Events::Replay(_)));
        Needs {
            is_server: matches!(self, Command::Listen(_)),
            only_reads: matches!(self, Command::Events(args) if !replays(args)),
            ..Needs::from_service(service)
        }
    }
}

pub(crate) async fn run(parts: &Parts, command: Command) -> Result<Exit> {
    let done = match command {
        Command::Verify(args) => signature::check(parts, args).await,
        Command::Sign(args) => signature::print_signature(parts, args).await,
        Command::Send(args) => send::run(parts, args).await,
        Command::Listen(args) => listen::run(parts, args).await,
        Command::Events(args) => match args.action {
            None => events::list(parts, events::ListArgs::default()),
            Some(Events::List(args)) => events::list(parts, args),
            Some(Events::Show(args)) => events::show(parts, &args),
            Some(Events::Replay(args)) => events::replay(parts, args).await,
        },
        Command::Drill(args) => drill::run(parts, args).await,
    };
    Output::end_trace();
    done
}

fn trace(settings: &Settings) -> Option<Trace> {
    settings.verbose.then_some(Output::trace_aside)
}

/// A client for the handler, with `--timeout`. Trusts `--ca-file`, else the profile's authorities.
fn handler(
    facts: &Facts,
    settings: &Settings,
    url: Url,
    ca_file: Option<&std::path::Path>,
) -> Result<Handler> {
    let own = facts.target().service().and_then(|service| service.ca_file.as_deref());
    Handler::new(url, settings.timeout.unwrap_or(DEADLINE), trace(settings), ca_file.or(own))
}

/// What an interrupt says from now on: that `what` was posted.
fn posting(api: &Api, what: String, to: &Url) {
    let wording = format!("{what} posted to {to}, which may have handled it");
    let hint = "check what it did before you send anything again";
    api.in_flight.replace(InFlight::Other(wording, hint.to_owned()));
}

fn no_response(why: &NoReply, url: &Url) -> Error {
    let code = match why {
        NoReply::TooLate => Code::Timeout,
        NoReply::Broken(..) => Code::Network,
    };
    let usual = "check that your handler is running at this address and responds within 10 seconds";
    let hint = if let NoReply::Broken(_, Some(hint)) = why { hint } else { usual };
    Error::new(code, format!("no response from {url}: {why}")).hint(hint)
}
