//! One file a verb: its arguments (their comments are the help), what it does, and the view it ends with.

mod book;
mod continue_;
mod sandbox;
mod search;
mod show;
mod slots;
mod timing;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// Every verb, registered in one line.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Search(search::Args),
    Slots(slots::Args),
    Book(Box<book::Args>),
    #[command(visible_alias = "get")]
    Show(show::Args),
    Continue(continue_::Args),
    #[command(subcommand)]
    Sandbox(sandbox::Command),
}

impl Command {
    /// Whether a signal is how the command is meant to end.
    pub(crate) fn ends_by_signal(&self) -> bool {
        matches!(self, Command::Sandbox(command) if command.is_server())
    }
}

/// Runs a verb and says how it ended.
pub(crate) async fn run(context: &Context, command: Command) -> Result<Exit> {
    if let Command::Sandbox(command) = command {
        return sandbox::run(context, command).await;
    }
    context.refuse_sandbox().await?;
    match command {
        Command::Search(args) => search::run(context, args).await,
        Command::Slots(args) => slots::run(context, args).await,
        Command::Book(args) => book::run(context, *args).await,
        Command::Show(args) => show::run(context, args).await,
        Command::Continue(args) => continue_::run(context, args).await,
        Command::Sandbox(_) => Ok(Exit::Done),
    }
}
