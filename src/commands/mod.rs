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

use std::pin::Pin;

use clap::Subcommand;

pub(crate) use completions::Shell;
pub(crate) use help::Topic;
pub(crate) use overview::template;

use crate::app::Context;
use crate::app::Startup;
use crate::outcome::{Exit, Result};
use crate::terminal::output::Output;

/// Every verb, registered in one line; `overview` groups them for the help, in this order.
#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(crate) enum Command {
    Search(search::Args),
    Slots(slots::Args),
    #[command(flatten)]
    Book(EagerBook),
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
pub(crate) enum EagerBook {
    Book(Box<book::Args>),
}

// A command with commands below it, which are made when it is the one that was given. What the help says is theirs,
// which a comment of the documentation's kind would replace.
#[derive(clap::Args, Debug)]
pub(crate) struct Group<T: Subcommand> {
    #[command(subcommand)]
    command: T,
}

/// What a command needs before it runs, and how it runs once it has that.
pub(crate) enum Plan {
    /// The program alone, so that a broken configuration keeps nobody from reading.
    Program(ProgramRun),
    /// The configuration, which it may repair: no service has to be found in it.
    Configuration(Box<dyn FnOnce(Startup) -> Running<'static>>),
    /// A context, with a service in it as `Needs` says.
    Context(Needs, Box<dyn for<'a> FnOnce(&'a Context) -> Running<'a>>),
}

/// Runs with what the program knows of itself: the output, and the root of the command tree.
pub(crate) type ProgramRun = Box<dyn FnOnce(&Output, &dyn Fn() -> clap::Command) -> Result<Exit>>;

/// A command on its way.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Exit>> + 'a>>;

/// What a command needs of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) service: ServiceNeed,
    /// Whether a signal is how the command is meant to end.
    pub(crate) is_server: bool,
}

/// Which service a command talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceNeed {
    /// The one of the profile. `--no-sandbox` has to look at it first.
    Profile,
    /// The one of the profile, and it refuses a sandbox in its own way where that matters.
    ProfileUnchecked,
    /// A sandbox of its own, so that a key in the environment is not for it.
    OwnSandbox,
    /// None: all that it needs is on this machine, and it works where the service is refused.
    None,
}

impl Needs {
    pub(crate) const fn of(service: ServiceNeed) -> Self {
        Needs {
            service,
            is_server: false,
        }
    }
}

impl Plan {
    fn program(
        run: impl FnOnce(&Output, &dyn Fn() -> clap::Command) -> Result<Exit> + 'static,
    ) -> Self {
        Plan::Program(Box::new(run))
    }

    fn configuration(run: impl AsyncFnOnce(Startup) -> Result<Exit> + 'static) -> Self {
        Plan::Configuration(Box::new(move |setup| Box::pin(run(setup))))
    }

    /// A command that talks to the service of the profile.
    fn service(run: impl AsyncFnOnce(&Context) -> Result<Exit> + 'static) -> Self {
        Plan::context(Needs::of(ServiceNeed::Profile), run)
    }

    fn context(needs: Needs, run: impl AsyncFnOnce(&Context) -> Result<Exit> + 'static) -> Self {
        Plan::Context(needs, Box::new(move |context| Box::pin(run(context))))
    }
}

impl Command {
    /// What the command needs and how it runs: a new command is an arm here, or nothing compiles.
    pub(crate) fn plan(self) -> Plan {
        match self {
            Command::Help(args) => Plan::program(move |out, root| help::run(out, &args, root())),
            Command::Completions(args) => Plan::program(move |out, _| completions::run(out, &args)),
            Command::Explain(args) => Plan::program(move |out, _| explain::run(out, &args)),
            Command::Auth(group) => {
                Plan::configuration(async move |setup| auth::run(setup, group.command).await)
            }
            Command::Doctor(_) => Plan::configuration(doctor::run),
            Command::Profile(group) => {
                Plan::configuration(async move |setup| profile::run(&setup, group.command).await)
            }
            Command::Search(args) => Plan::service(async move |it| search::run(it, args).await),
            Command::Slots(args) => Plan::service(async move |it| slots::run(it, args).await),
            Command::Book(EagerBook::Book(args)) => {
                Plan::service(async move |it| book::run(it, *args).await)
            }
            Command::Show(args) => Plan::service(async move |it| show::run(it, args).await),
            Command::Watch(args) => Plan::service(async move |it| watch::run(it, args).await),
            Command::Continue(args) => {
                Plan::service(async move |it| continue_::run(it, args).await)
            }
            Command::Modify(args) => Plan::service(async move |it| modify::run(it, args).await),
            Command::Cancel(args) => Plan::service(async move |it| cancel::run(it, args).await),
            Command::Bookings(args) => Plan::service(async move |it| bookings::run(it, args).await),
            Command::Limits(args) => Plan::service(async move |it| limits::run(it, args).await),
            Command::Session(group) => {
                Plan::service(async move |it| session::run(it, group.command).await)
            }
            Command::Card(args) => Plan::service(async move |it| card::run(it, args).await),
            Command::Api(args) => Plan::service(async move |it| api::run(it, *args).await),
            Command::Status(args) => Plan::service(async move |it| status::run(it, args).await),
            Command::Attempts(args) => {
                Plan::context(args.needs(), async move |it| attempts::run(it, args).await)
            }
            Command::Sandbox(group) => Plan::context(group.command.needs(), async move |it| {
                sandbox::run(it, group.command).await
            }),
            Command::Webhook(group) => Plan::context(group.command.needs(), async move |it| {
                webhook::run(it, group.command).await
            }),
        }
    }
}
