//! `bookctl webhook`: verify and sign deliveries, send, receive and forward events, and test consumers.

mod app_answer;
mod consumer;
mod drill;
mod events;
mod input;
mod listen;
mod send;
mod sign;
mod verify;
mod verify_error;

use clap::Subcommand;

use super::{Needs, ServiceNeed};
use crate::app::Context;
use crate::outcome::{Exit, Result};

/// Receive, forward, send and verify webhooks, and test your handler
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Verify(verify::Args),
    Sign(sign::Args),
    Send(send::Args),
    Listen(listen::Args),
    #[command(subcommand)]
    Events(events::Command),
    Drill(drill::Args),
}

impl Command {
    /// What is signed, verified or posted needs a secret and an address alone, unless it names a booking.
    pub(super) fn needs(&self) -> Needs {
        let of_booking = |booking: &Option<String>| match booking {
            Some(_) => ServiceNeed::ProfileUnchecked,
            None => ServiceNeed::None,
        };
        match self {
            Command::Verify(_) | Command::Sign(_) => Needs::of(ServiceNeed::None),
            Command::Send(args) => Needs::of(of_booking(&args.booking)),
            Command::Drill(args) => Needs::of(of_booking(&args.booking)),
            Command::Events(_) => Needs::of(ServiceNeed::ProfileUnchecked),
            Command::Listen(_) => Needs {
                service: ServiceNeed::ProfileUnchecked,
                is_server: true,
            },
        }
    }
}

pub(super) async fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Verify(args) => verify::run(context, args).await,
        Command::Sign(args) => sign::run(context, args).await,
        Command::Send(args) => send::run(context, args).await,
        Command::Listen(args) => listen::run(context, args).await,
        Command::Events(command) => events::run(context, command).await,
        Command::Drill(args) => drill::run(context, args).await,
    }
}
