//! The commands. Each has a file with its arguments (whose doc comments are the help), `run`, and the view that it
//! shows.

mod api;
mod arguments;
mod attempts;
mod auth;
mod book;
mod bookings;
mod cancel;
mod completions;
mod continue_;
mod doctor;
mod explain;
mod help;
mod journal;
mod limits;
mod modify;
mod overview;
pub(crate) mod plan;
mod profile;
mod sandbox;
mod search;
mod session;
mod show;
mod status;
mod watch;
mod webhook;

use clap::Subcommand;

pub(crate) use completions::Shell;
pub(crate) use help::TOPICS;
pub(crate) use overview::template;

use crate::commands::plan::{Needs, Plan, ServiceNeed};

/// All commands in the order of the help, where `overview` groups them.
///
/// Each has its summary here too, so that the overview need not build the arguments of every command.
#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Search venues
    Search(search::Args),
    /// List the bookable slots of a venue on a day
    Slots(search::SlotsArgs),
    #[command(flatten)]
    Book(EagerBook),
    /// Show a booking's status, reason and next steps
    // Hidden from clap's list, because the overview shows it and a visible alias would replace the command at Tab.
    #[command(alias = "get")]
    Show(show::Args),
    /// Watch a booking until it ends or needs an action
    Watch(watch::Args),
    /// Answer what a booking is waiting for
    Continue(continue_::Args),
    /// Change a confirmed booking: its time, party size or seating
    Modify(modify::Args),
    /// Cancel a booking
    Cancel(cancel::Args),
    /// List and search the bookings that this computer knows
    Bookings(bookings::Args),
    /// List and resolve booking requests with an unknown result
    Attempts(attempts::Args),
    /// Show what is left of each rate limit
    Limits(limits::Args),
    /// Show where bookings are recorded, and share it with a team
    Journal(Group<journal::Command>),
    /// Connect a guest's own account, to book with it
    Session(Group<session::Command>),
    /// Check whether a guest's own account has a card on file
    Card(session::CardArgs),
    /// Run and control the offline sandbox
    Sandbox(Group<sandbox::Command>),
    /// Receive, forward, send and verify webhooks, and test your handler
    Webhook(Group<webhook::Command>),
    /// Send any request with the profile's address and key
    Api(Box<api::Args>),
    /// Store and remove API keys, and show which key a profile uses
    Auth(Group<auth::Command>),
    /// Manage profiles: the services that bookctl can connect to
    Profile(Group<profile::Command>),
    /// Show the service's version, time and endpoints
    Status(status::Args),
    /// Check the configuration, the connection and the API key
    Doctor(doctor::Args),
    /// Explain a status or an error code, and what to do next
    Explain(explain::Args),
    /// Show help for a topic or a command
    Help(help::Args),
    /// Generate a shell completion script
    Completions(completions::Args),
}

/// `book`, parsed eagerly: in a deferred command, clap would print its headings after the global flags.
#[derive(Subcommand, Debug)]
pub(crate) enum EagerBook {
    Book(Box<book::Args>),
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
            Command::Help(args) => Plan::program(move |out, root| help::run(out, &args, root())),
            Command::Completions(args) => Plan::program(move |out, _| completions::run(out, &args)),
            Command::Explain(args) => Plan::program(move |out, _| explain::run(out, &args)),
            Command::Auth(group) => Plan::configuration(group.command, auth::run),
            Command::Doctor(args) => Plan::configuration(args, doctor::run),
            Command::Profile(group) => Plan::configuration(group.command, profile::run),
            Command::Search(args) => Plan::service(args, search::run),
            Command::Slots(args) => Plan::service(args, search::list_slots),
            Command::Book(EagerBook::Book(args)) => Plan::service(*args, book::run),
            Command::Show(args) => Plan::service(args, show::run),
            Command::Watch(args) => Plan::service(args, watch::run),
            Command::Continue(args) => Plan::service(args, continue_::run),
            Command::Modify(args) => Plan::service(args, modify::run),
            Command::Cancel(args) => Plan::service(args, cancel::run),
            Command::Bookings(args) => Plan::service(args, bookings::run),
            Command::Limits(_) => Plan::service((), limits::run),
            Command::Session(group) => Plan::service(group.command, session::run),
            Command::Card(args) => Plan::service(args, session::card),
            Command::Api(args) => Plan::service(*args, api::run),
            Command::Status(_) => Plan::service((), status::run),
            Command::Journal(group) => {
                Plan::context(Needs::of(ServiceNeed::None), group.command, journal::run)
            }
            Command::Attempts(args) => Plan::context(args.needs(), args, attempts::run),
            Command::Sandbox(group) => {
                Plan::context(group.command.needs(), group.command, sandbox::run)
            }
            Command::Webhook(group) => {
                Plan::context(group.command.needs(), group.command, webhook::run)
            }
        }
    }
}
