//! `bookctl webhook`: verify and sign deliveries, send, receive and forward events, and test consumers.

mod answer;
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

use crate::app::Context;
use crate::outcome::{Exit, Result};

/// Receive, send, sign and verify events, and test a consumer
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
    /// Whether it runs until a signal ends it.
    pub(super) fn is_server(&self) -> bool {
        matches!(self, Command::Listen(_))
    }

    /// Whether it needs a webhook secret only, and no service.
    pub(super) fn does_without_service(&self) -> bool {
        match self {
            Command::Verify(_) | Command::Sign(_) => true,
            Command::Send(args) => args.booking.is_none(),
            Command::Drill(args) => args.booking.is_none(),
            Command::Listen(_) | Command::Events(_) => false,
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
