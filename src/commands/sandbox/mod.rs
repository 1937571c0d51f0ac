//! `bookctl sandbox`: the whole service offline, and its controls.

mod clock;
mod inbox;
mod reset;
mod serve;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// The whole service, offline: serve it, read its messages, move its clock
///
/// All but `serve` act on the sandbox that the profile points to.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Serve(serve::Args),
    Inbox(inbox::Args),
    Clock(clock::Args),
    Reset(reset::Args),
}

impl Command {
    pub(super) fn is_server(&self) -> bool {
        matches!(self, Command::Serve(_))
    }
}

pub(super) async fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Serve(args) => serve::run(context, args).await,
        Command::Inbox(args) => inbox::run(context, args).await,
        Command::Clock(args) => clock::run(context, args).await,
        Command::Reset(args) => reset::run(context, args).await,
    }
}
