//! `bookctl sandbox`: the whole service offline, and its controls.

pub(crate) mod answer;
pub(crate) mod clock;
pub(crate) mod deliveries;
pub(crate) mod env;
pub(crate) mod faults;
pub(crate) mod lists;
pub(crate) mod load;
pub(crate) mod open;
pub(crate) mod organization;
pub(crate) mod report;
pub(crate) mod requests;
pub(crate) mod reset;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod set;
pub(crate) mod start;

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
    Run(run::Args),
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
    Requests(requests::Args),
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
    Set(set::Args),
    Organization(organization::Args),
    Faults(faults::Args),
    Deliveries(deliveries::Args),
    Load(load::Args),
    Env(env::Args),
    Reset(reset::Args),
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
        Command::Serve(args) => serve::run(parts, args).await,
        Command::Run(args) => run::run(parts, args).await,
        Command::Open => open::run(parts).await,
        Command::Keys => lists::keys(parts).await,
        Command::Bookings(args) => lists::bookings(parts, args).await,
        Command::Set(args) => set::run(parts, args).await,
        Command::Organization(args) => organization::run(parts, args).await,
        Command::Faults(args) => faults::run(parts, args).await,
        Command::Deliveries(args) => deliveries::run(parts, args).await,
        Command::Load(args) => load::run(parts, args).await,
        Command::Env(args) => env::run(parts, args).await,
        Command::Requests(args) => requests::run(parts, args).await,
        Command::Report(args) => report::run(parts, args).await,
        Command::Inbox(args) => lists::inbox(parts, args).await,
        Command::Clock(args) => clock::run(parts, args).await,
        Command::Reset(args) => reset::run(parts, args).await,
    }
}
