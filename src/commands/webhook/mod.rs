//! `bookctl webhook`: signatures checked and made, events sent, received and forwarded, consumers examined.

mod doubt;
mod drill;
mod events;
mod input;
mod listen;
mod send;
mod sign;
mod verify;

use clap::Subcommand;

use crate::app::Context;
use crate::outcome::{Exit, Result};
use crate::webhook::Names;

/// Receive, send, sign and verify events, and examine a consumer
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

    /// Whether a secret and an address are all that it needs.
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

/// What the dialect calls the parts of an event.
fn names(context: &Context) -> Names {
    let dialect = context.dialect();
    Names {
        id: dialect.event_id_field,
        kind: dialect.event_type_field,
        service: dialect.service_name,
    }
}

/// The name of the header that carries a signature: `<Service>-Signature`.
fn header_name(context: &Context) -> String {
    format!("{}-Signature", context.dialect().service_name)
}
