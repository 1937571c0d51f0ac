//! `bookctl sandbox`: the whole service offline, and its controls.

pub(crate) mod answer;
pub(crate) mod clock;
pub(crate) mod faults;
pub(crate) mod lists;
pub(crate) mod load;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod server;
pub(crate) mod start;
pub(crate) mod traffic;

use clap::Subcommand;

use crate::app::Parts;
use crate::app::plan::{Needs, ServiceNeed};
use crate::outcome::{Exit, Result};

/// Run and control the sandbox
///
/// It is the complete service, with a clock you can move and faults you can add. All commands
/// except `serve` and `run` act on the sandbox that the profile points to.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Serve(serve::Args),
    Run(serve::RunArgs),
    /// Open the sandbox's page in a browser
    ///
    /// The page shows bookings, requests, messages and deliveries as they come, and can do what
    /// scripts can: answer bookings, move the clock, add faults. Its address is printed too.
    /// BROWSER names the program to open it with.
    #[command(after_help = "Examples:\n  \
        bookctl sandbox open\n  \
        BROWSER=firefox bookctl sandbox open")]
    Open,
    /// List text messages with one-time codes, newest first
    #[command(after_help = "Examples:\n  \
        bookctl sandbox inbox\n  \
        bookctl sandbox inbox --booking bk_01 --jq '.messages[0].code'")]
    Inbox(lists::InboxArgs),
    Requests(traffic::RequestsArgs),
    Report(report::Args),
    Clock(clock::Args),
    /// List the sandbox's API keys and what each is for
    #[command(after_help = "Examples:\n  \
        bookctl sandbox keys\n  \
        BOOKCTL_PROFILE=sandbox BOOKCTL_API_KEY=sk_test_sandbox \\\n    \
          bookctl search dining --near London --at 'tomorrow 19:30'")]
    Keys,
    /// List all bookings in the sandbox, newest first; --json has the oldest first
    #[command(after_help = "Examples:\n  \
        bookctl sandbox bookings\n  \
        bookctl sandbox bookings --jq '.bookings | length'")]
    Bookings(lists::Args),
    Set(lists::SetArgs),
    Organization(server::OrganizationArgs),
    Faults(faults::Args),
    Deliveries(traffic::DeliveriesArgs),
    Load(load::Args),
    Env(server::EnvArgs),
    Reset(clock::ResetArgs),
}

impl Command {
    /// These commands need no service: their lists are the same in every sandbox.
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Command::Serve(_) | Command::Run(_) => {
                Needs { is_server: true, ..Needs::from_service(ServiceNeed::OwnSandbox) }
            }
            Command::Requests(args) => {
                let needs = Needs::from_service(ServiceNeed::Sandbox);
                Needs { is_server: args.is_server(), only_reads: true, ..needs }
            }
            Command::Keys => Needs::from_service(ServiceNeed::OwnSandbox),
            _ => Needs::from_service(ServiceNeed::Sandbox),
        }
    }
}

pub(crate) async fn run(parts: &Parts, command: Command) -> Result<Exit> {
    match command {
        Command::Serve(args) => serve::serve(parts, args).await,
        Command::Run(args) => serve::run(parts, args).await,
        Command::Open => server::open_page(parts).await,
        Command::Keys => lists::keys(parts).await,
        Command::Bookings(args) => lists::bookings(parts, args).await,
        Command::Set(args) => lists::set(parts, args).await,
        Command::Organization(args) => server::organization(parts, args).await,
        Command::Faults(args) => faults::run(parts, args).await,
        Command::Deliveries(args) => traffic::deliveries(parts, args).await,
        Command::Load(args) => load::run(parts, args).await,
        Command::Env(args) => server::print_env(parts, args).await,
        Command::Requests(args) => traffic::requests(parts, args).await,
        Command::Report(args) => report::run(parts, args).await,
        Command::Inbox(args) => lists::inbox(parts, args).await,
        Command::Clock(args) => clock::run(parts, args).await,
        Command::Reset(args) => clock::reset(parts, args).await,
    }
}
