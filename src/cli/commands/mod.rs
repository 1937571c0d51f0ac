//! The commands. Each has a file with its arguments (whose doc comments are the help), `run`, and the view that it
//! shows.

use clap::Subcommand;

pub(crate) use super::completions::Shell;
pub(crate) use super::help::TOPICS;
pub(crate) use super::overview::template;

use crate::app::plan::{Needs, Plan, ServiceNeed};

/// All commands in the order of the help, where `overview` groups them.
///
/// Each has its summary here too, so that the overview need not build the arguments of every command.
#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Search venues
    Search(crate::booking::search::Args),
    /// List the bookable slots of a venue on a day
    Slots(crate::booking::search::SlotsArgs),
    #[command(flatten)]
    Book(EagerBook),
    /// Show a booking's status, reason and next steps
    // Hidden from clap's list, because the overview shows it and a visible alias would replace the command at Tab.
    #[command(alias = "get")]
    Show(crate::booking::show::Args),
    /// Watch a booking until it ends or needs an action
    Watch(crate::booking::watch::Args),
    /// Answer what a booking is waiting for
    Continue(crate::booking::pause::continue_::Args),
    /// Change a confirmed booking: its time, party size or seating
    Modify(crate::booking::change::modify::Args),
    /// Cancel a booking
    Cancel(crate::booking::change::cancel::Args),
    /// List and search the bookings that this computer knows
    Bookings(crate::booking::find::Args),
    /// List and resolve booking requests with an unknown result
    Attempts(crate::booking::attempts::Args),
    /// Show what is left of each rate limit
    Limits(crate::account::limits::Args),
    /// Show where bookings are recorded, and share it with a team
    Journal(Group<super::journal::Command>),
    /// Connect a guest's own account, to book with it
    Session(Group<crate::account::session::Command>),
    /// Check whether a guest's own account has a card on file
    Card(crate::account::session::CardArgs),
    /// Run and control the offline sandbox
    Sandbox(Group<crate::playground::Command>),
    /// Receive, forward, send and verify webhooks, and test your handler
    Webhook(Group<crate::webhook::commands::Command>),
    /// Send any request with the profile's address and key
    Api(Box<super::api::Args>),
    /// Store and remove API keys, and show which key a profile uses
    Auth(Group<crate::setup::auth::Command>),
    /// Manage profiles: the services that bookctl can connect to
    Profile(Group<crate::setup::profile::Command>),
    /// Show the service's version, time and endpoints
    Status(super::status::Args),
    /// Check the configuration, the connection and the API key
    Doctor(crate::setup::doctor::Args),
    /// Explain a status or an error code, and what to do next
    Explain(super::explain::Args),
    /// Show help for a topic or a command
    Help(super::help::Args),
    /// Generate a shell completion script
    Completions(super::completions::Args),
}

/// `book`, parsed eagerly: in a deferred command, clap would print its headings after the global flags.
#[derive(Subcommand, Debug)]
pub(crate) enum EagerBook {
    Book(Box<crate::booking::book::Args>),
}

// A command with subcommands, which are built only if it was given.
//
// This is not a doc comment, because that would replace the help of `T`.
#[derive(clap::Args, Debug)]
pub(crate) struct Group<T: Subcommand> {
    #[command(subcommand)]
    command: T,
}

impl Command {
    /// What each command needs and how it runs. A new command without an arm here does not compile.
    pub(crate) fn plan(self) -> Plan {
        match self {
            Command::Help(args) => {
                Plan::program(move |out, root| super::help::run(out, &args, root()))
            }
            Command::Completions(args) => {
                Plan::program(move |out, _| super::completions::run(out, &args))
            }
            Command::Explain(args) => Plan::program(move |out, _| super::explain::run(out, &args)),
            Command::Auth(group) => Plan::configuration(group.command, crate::setup::auth::run),
            Command::Doctor(args) => Plan::configuration(args, crate::setup::doctor::run),
            Command::Profile(group) => {
                Plan::configuration(group.command, crate::setup::profile::run)
            }
            Command::Search(args) => Plan::service(args, crate::booking::search::run),
            Command::Slots(args) => Plan::service(args, crate::booking::search::list_slots),
            Command::Book(EagerBook::Book(args)) => Plan::service(*args, crate::booking::book::run),
            Command::Show(args) => Plan::service(args, crate::booking::show::run),
            Command::Watch(args) => Plan::service(args, crate::booking::watch::run),
            Command::Continue(args) => Plan::service(args, crate::booking::pause::continue_::run),
            Command::Modify(args) => Plan::service(args, crate::booking::change::modify::run),
            Command::Cancel(args) => Plan::service(args, crate::booking::change::cancel::run),
            Command::Bookings(args) => Plan::service(args, crate::booking::find::run),
            Command::Limits(_) => Plan::service((), crate::account::limits::run),
            Command::Session(group) => Plan::service(group.command, crate::account::session::run),
            Command::Card(args) => Plan::service(args, crate::account::session::card),
            Command::Api(args) => Plan::service(*args, super::api::run),
            Command::Status(_) => Plan::service((), super::status::run),
            Command::Journal(group) => Plan::context(
                Needs::of(ServiceNeed::None),
                group.command,
                super::journal::run,
            ),
            Command::Attempts(args) => {
                Plan::context(args.needs(), args, crate::booking::attempts::run)
            }
            Command::Sandbox(group) => {
                Plan::context(group.command.needs(), group.command, crate::playground::run)
            }
            Command::Webhook(group) => Plan::context(
                group.command.needs(),
                group.command,
                crate::webhook::commands::run,
            ),
        }
    }
}
