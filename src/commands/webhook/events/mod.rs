//! `bookctl webhook events`: the events that listeners received on this machine.

mod event_row;
mod list;
mod replay;
mod show;
mod since;

use clap::Subcommand;

use crate::app::Context;
use crate::outcome::{Exit, Result};

/// List, show and replay the events that `webhook listen` received
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Replay(replay::Args),
}

pub(super) async fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::List(args) => list::run(context, args),
        Command::Show(args) => show::run(context, args).await,
        Command::Replay(args) => replay::run(context, args).await,
    }
}
