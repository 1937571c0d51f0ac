//! The commands. Each has a file in its room with its arguments (whose doc comments are the help),
//! `run` and its view.

pub(crate) mod api;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod help;
pub(crate) mod journal;
pub(crate) mod status;

use clap::Subcommand;

pub(crate) use completions::Shell;
pub(crate) use help::TOPICS;

use crate::app::plan::{Needs, Plan, ServiceNeed};
use crate::{account, booking, desk, playground, setup, webhook};

/// All commands in the order of the help, with their summaries: the overview builds no arguments.
#[derive(Subcommand, Debug)]
#[command(defer = true)]
// One is made in a process.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Command {
    /// Search venues
    Search(booking::search::Args),
    /// List a venue's free slots on a day
    Slots(booking::search::SlotsArgs),
    #[command(flatten)]
    Book(EagerBook),
    /// Book every row of a JSON lines or CSV file
    Batch(booking::batch::Args),
    /// Connect a guest's own account, to book with it
    Session(ListingGroup<account::session::Command>),
    /// Check whether a guest's own account has a card on file
    Card(account::card::CardArgs),
    /// Find, watch and change bookings on one live screen
    Desk(desk::Args),
    /// List and search the bookings this computer knows
    Bookings(booking::find::Args),
    /// Show a booking's status, reason and next steps
    // Hidden from clap's list: the overview shows it, and an alias would replace it at Tab.
    #[command(alias = "get")]
    Show(booking::show::Args),
    /// Send the code, payment or details a booking waits for
    Continue(booking::pause::Args),
    /// Change a confirmed booking: its time, party size or seating
    Modify(booking::change::modify::Args),
    /// Cancel a booking
    Cancel(booking::change::cancel::Args),
    /// Watch bookings until each ends or needs an answer
    Watch(booking::watch::Args),
    /// List and resolve booking requests whose result is unknown
    Attempts(booking::attempts::Args),
    /// Run and control the sandbox
    Sandbox(Group<playground::Command>),
    /// Receive, forward, send and verify webhooks, and test your handler
    Webhook(Group<webhook::commands::Command>),
    /// Send any request with the profile's address and key
    Api(Box<api::Args>),
    /// Store and remove API keys, and show which key a profile uses
    Auth(Group<setup::auth::Command>),
    /// Manage profiles: the services bookctl can connect to
    Profile(ListingGroup<setup::profile::Command>),
    /// Check the configuration, the connection and the API key
    Doctor(setup::doctor::Args),
    /// Explain a status, an error code or an exit code
    Explain(explain::Args),
    /// Generate a shell completion script
    Completions(completions::Args),
    /// Show help for a topic or a command
    Help(help::Args),
    /// Show where bookings are recorded, and share it with a team
    Journal(ListingGroup<journal::Command>),
    /// Show what is left of each rate limit
    Limits(account::limits::Args),
    /// Show bookctl's version, and how it was built
    Version(NoArgs),
    /// Show the service's version, time and endpoints
    #[command(hide = true)]
    Status(status::Args),
}

/// `book`, parsed eagerly: deferred, clap would print its headings after the global flags.
#[derive(Subcommand, Debug)]
pub(crate) enum EagerBook {
    Book(Box<booking::book::Args>),
}

/// Show bookctl's version, and how it was built
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl version --jq .version")]
pub(crate) struct NoArgs {}

// A command with subcommands. No doc comment, because that would replace the help of `T`.
#[derive(clap::Args, Debug)]
pub(crate) struct Group<T: Subcommand> {
    #[command(subcommand)]
    command: T,
}

// A group that lists where no verb is given.
#[derive(clap::Args, Debug)]
pub(crate) struct ListingGroup<T: Subcommand> {
    #[command(subcommand)]
    command: Option<T>,
}

impl Command {
    /// What each command needs and how it runs. A new command without an arm here does not compile.
    pub(crate) fn plan(self) -> Plan {
        let service = Needs::from_service(ServiceNeed::Profile);
        let read = Needs { only_reads: true, ..service };
        match self {
            Command::Help(args) => Plan::program(move |out, root| help::run(out, &args, root())),
            Command::Completions(args) => Plan::program(move |out, _| completions::run(out, &args)),
            Command::Version(_) => Plan::program(|out, _| out.emit(&super::Version::of_program())),
            Command::Explain(args) => Plan::program(move |out, _| explain::run(out, &args)),
            Command::Auth(group) => Plan::configuration(group.command, setup::auth::run),
            Command::Doctor(args) => Plan::configuration(args, setup::doctor::run),
            Command::Profile(group) => {
                Plan::configuration(group.command.unwrap_or_default(), setup::profile::run)
            }
            Command::Search(args) => Plan::service(read, args, booking::search::run),
            Command::Slots(args) => Plan::service(read, args, booking::search::list_slots),
            Command::Book(EagerBook::Book(args)) => {
                Plan::service(service, *args, booking::book::run)
            }
            Command::Batch(args) => Plan::service(service, args, booking::batch::run),
            Command::Show(args) => Plan::service(read, args, booking::show::run),
            Command::Watch(args) => Plan::service(read, args, booking::watch::run),
            Command::Continue(args) => Plan::service(service, args, booking::pause::run),
            Command::Modify(args) => Plan::service(service, args, booking::change::modify::run),
            Command::Cancel(args) => Plan::service(service, args, booking::change::cancel::run),
            Command::Desk(args) => {
                Plan::service(Needs { is_server: true, ..service }, args, desk::run)
            }
            Command::Bookings(args) => Plan::service(service, args, booking::find::run),
            Command::Limits(_) => Plan::service(service, (), account::limits::run),
            Command::Session(group) => {
                let verb = group.command.unwrap_or_default();
                let needs = Needs { only_reads: verb.only_reads(), ..service };
                Plan::service(needs, verb, account::session::run)
            }
            Command::Card(args) => Plan::service(read, args, account::card::card),
            Command::Api(args) => Plan::service(service, *args, api::run),
            Command::Status(_) => Plan::service(service, (), status::run),
            Command::Journal(group) => {
                let verb = group.command.unwrap_or_default();
                Plan::service(Needs::from_service(ServiceNeed::None), verb, journal::run)
            }
            Command::Attempts(args) => Plan::service(args.needs(), args, booking::attempts::run),
            Command::Sandbox(group) => {
                Plan::service(group.command.needs(), group.command, playground::run)
            }
            Command::Webhook(group) => {
                Plan::service(group.command.needs(), group.command, webhook::commands::run)
            }
        }
    }
}
