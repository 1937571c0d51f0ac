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

use crate::app::Context;
use crate::app::Setup;
use crate::outcome::{Exit, Result};
use crate::terminal::output::Output;

/// Every verb, registered in one line; `overview` groups them for the help, in this order.
#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(crate) enum Command {
    Search(search::Args),
    Slots(slots::Args),
    #[command(flatten)]
    Book(MadeAtOnce),
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
    Session(Group<session::Command>),
    Card(card::Args),
    Sandbox(Group<sandbox::Command>),
    Webhook(Group<webhook::Command>),
    Api(Box<api::Args>),
    Auth(Group<auth::Command>),
    Profile(Group<profile::Command>),
    Status(status::Args),
    Doctor(doctor::Args),
    Explain(explain::Args),
    Help(help::Args),
    Completions(completions::Args),
}

/// Not deferred: clap would put its own heading behind that of the flags that every command takes.
#[derive(Subcommand, Debug)]
pub(crate) enum MadeAtOnce {
    Book(Box<book::Args>),
}

// A command with commands below it, which are made when it is the one that was given. What the help says is theirs,
// which a comment of the documentation's kind would replace.
#[derive(clap::Args, Debug)]
pub(crate) struct Group<T: Subcommand> {
    #[command(subcommand)]
    command: T,
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
        ) && !self.does_without_service()
    }

    /// Whether all that the command needs is on this machine, so that one that is refused a service works on.
    pub(crate) fn does_without_service(&self) -> bool {
        match self {
            Command::Webhook(group) => group.command.does_without_service(),
            Command::Attempts(args) => args.does_without_service(),
            _ => false,
        }
    }

    /// Whether the command takes a sandbox of its own, so that a key in the environment is not for it.
    pub(crate) fn needs_no_key(&self) -> bool {
        matches!(self, Command::Sandbox(group) if group.command.needs_no_key())
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
            Command::Explain(args) => Some(explain::run(out, args)),
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
            Command::Sandbox(group) => group.command.is_server(),
            Command::Webhook(group) => group.command.is_server(),
            _ => false,
        }
    }
}

/// Runs a verb that needs no service.
pub(crate) async fn run_with_setup(setup: Setup, command: Command) -> Result<Exit> {
    match command {
        Command::Auth(group) => auth::run(setup, group.command).await,
        Command::Doctor(_) => doctor::run(setup).await,
        Command::Profile(group) => profile::run(&setup, group.command).await,
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
        Command::Book(MadeAtOnce::Book(args)) => book::run(context, *args).await,
        Command::Show(args) => show::run(context, args).await,
        Command::Watch(args) => watch::run(context, args).await,
        Command::Modify(args) => modify::run(context, args).await,
        Command::Cancel(args) => cancel::run(context, args).await,
        Command::Session(group) => session::run(context, group.command).await,
        Command::Card(args) => card::run(context, args).await,
        Command::Webhook(group) => webhook::run(context, group.command).await,
        Command::Api(args) => api::run(context, *args).await,
        Command::Status(args) => status::run(context, args).await,
        Command::Continue(args) => continue_::run(context, args).await,
        Command::Bookings(args) => bookings::run(context, args).await,
        Command::Attempts(args) => attempts::run(context, args).await,
        Command::Limits(args) => limits::run(context, args).await,
        // Answered before there was a context.
        Command::Help(_)
        | Command::Completions(_)
        | Command::Explain(_)
        | Command::Auth(_)
        | Command::Profile(_)
        | Command::Doctor(_) => Ok(Exit::Done),
        Command::Sandbox(group) => sandbox::run(context, group.command).await,
    }
}
