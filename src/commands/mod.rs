//! One file a verb: its arguments (their comments are the help), what it does, and the view it ends with.

mod api;
mod attempts;
mod auth;
mod book;
mod bookings;
mod cancel;
mod card;
mod completions;
mod continue_;
mod doctor;
mod explain;
mod field;
mod help;
mod limits;
mod modify;
mod overview;
mod profile;
mod sandbox;
mod search;
mod session;
mod show;
mod slots;
mod status;
mod timing;
mod watch;
mod webhook;

use clap::Subcommand;

pub(crate) use completions::Shell;
pub(crate) use help::Topic;
pub(crate) use overview::template;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::Output;
use crate::setup::Setup;

/// Every verb, registered in one line; `overview` groups them for the help, in this order.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Search(search::Args),
    Slots(slots::Args),
    Book(Box<book::Args>),
    // The overview tells it; a visible one would take the command's place at a Tab.
    #[command(alias = "get")]
    Show(show::Args),
    Watch(watch::Args),
    Continue(continue_::Args),
    Modify(modify::Args),
    Cancel(cancel::Args),
    Bookings(bookings::Args),
    Attempts(attempts::Args),
    Limits(limits::Args),
    #[command(subcommand)]
    Session(session::Command),
    Card(card::Args),
    #[command(subcommand)]
    Sandbox(sandbox::Command),
    #[command(subcommand)]
    Webhook(webhook::Command),
    Api(Box<api::Args>),
    #[command(subcommand)]
    Auth(auth::Command),
    #[command(subcommand)]
    Profile(profile::Command),
    Status(status::Args),
    Doctor(doctor::Args),
    Explain(explain::Args),
    Help(help::Args),
    Completions(completions::Args),
}

impl Command {
    /// Whether the command is one for which `--no-sandbox` has to look at the service first.
    fn talks_to_the_service(&self) -> bool {
        !matches!(
            self,
            Command::Sandbox(_)
                | Command::Help(_)
                | Command::Completions(_)
                | Command::Explain(_)
                | Command::Webhook(_)
        )
    }

    /// What needs no configuration, so that a broken one keeps nobody from reading.
    pub(crate) fn run_without_configuration(
        &self,
        out: &Output,
        root: impl FnOnce() -> clap::Command,
    ) -> Option<Result<Exit>> {
        match self {
            Command::Help(args) => Some(help::run(out, args, root())),
            Command::Completions(args) => Some(completions::run(out, args)),
            _ => None,
        }
    }

    /// Whether the command mends the configuration, and so works without a service that can be resolved.
    pub(crate) fn needs_no_service(&self) -> bool {
        matches!(
            self,
            Command::Auth(_) | Command::Profile(_) | Command::Doctor(_)
        )
    }

    /// Whether a signal is how the command is meant to end.
    pub(crate) fn ends_by_signal(&self) -> bool {
        match self {
            Command::Sandbox(command) => command.is_server(),
            Command::Webhook(command) => command.is_server(),
            _ => false,
        }
    }
}

/// Runs a verb that needs no service.
pub(crate) async fn run_with_setup(setup: Setup, command: Command) -> Result<Exit> {
    match command {
        Command::Auth(command) => auth::run(setup, command).await,
        Command::Doctor(_) => doctor::run(setup).await,
        Command::Profile(command) => profile::run(&setup, command).await,
        other => run(&Context::new(setup)?, other).await,
    }
}

/// Runs a verb and says how it ended.
pub(crate) async fn run(context: &Context, command: Command) -> Result<Exit> {
    if command.talks_to_the_service() {
        context.refuse_sandbox().await?;
    }
    match command {
        Command::Search(args) => search::run(context, args).await,
        Command::Slots(args) => slots::run(context, args).await,
        Command::Book(args) => book::run(context, *args).await,
        Command::Show(args) => show::run(context, args).await,
        Command::Watch(args) => watch::run(context, args).await,
        Command::Modify(args) => modify::run(context, args).await,
        Command::Cancel(args) => cancel::run(context, args).await,
        Command::Session(command) => session::run(context, command).await,
        Command::Card(args) => card::run(context, args).await,
        Command::Webhook(command) => webhook::run(context, command).await,
        Command::Api(args) => api::run(context, *args).await,
        Command::Status(args) => status::run(context, args).await,
        Command::Explain(args) => explain::run(context, &args),
        Command::Continue(args) => continue_::run(context, args).await,
        Command::Bookings(args) => bookings::run(context, args).await,
        Command::Attempts(args) => attempts::run(context, args).await,
        Command::Limits(args) => limits::run(context, args).await,
        // Answered before there was a context.
        Command::Help(_)
        | Command::Completions(_)
        | Command::Auth(_)
        | Command::Profile(_)
        | Command::Doctor(_) => Ok(Exit::Done),
        Command::Sandbox(command) => sandbox::run(context, command).await,
    }
}
