//! `bookctl sandbox`: the whole service offline, and its controls.

mod clock;
mod deliveries;
mod env;
mod faults;
mod fixture_file;
mod listing;
mod lists;
mod load;
mod open;
mod organization;
mod request_log;
mod requests;
mod reset;
mod run;
mod serve;

use clap::Subcommand;

use super::{Needs, ServiceNeed};
use crate::app::Context;
use crate::client::Call;
use crate::json::plain;
use crate::outcome::{Error, Exit, Result};
use crate::platform::input::Source;
use crate::recent::RecentList;
use crate::sandbox::Sandbox;
use fixture_file::FixtureFile;

/// Run and control the offline sandbox
///
/// It is the whole service, with a clock that you can move and failures that you can add. All commands except `serve`
/// and `run` act on the sandbox that the profile points to.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Serve(serve::Args),
    Run(run::Args),
    Open(open::Args),
    Inbox(lists::InboxArgs),
    Requests(requests::Args),
    Clock(clock::Args),
    Keys(lists::KeysArgs),
    Bookings(lists::BookingsArgs),
    Organization(organization::Args),
    Faults(faults::Args),
    Deliveries(deliveries::Args),
    Load(load::Args),
    Env(env::Args),
    Reset(reset::Args),
}

impl Command {
    /// A served sandbox is new, and some lists are the same in every sandbox: these commands need no service.
    pub(super) fn needs(&self) -> Needs {
        match self {
            Command::Serve(_) | Command::Run(_) => Needs {
                service: ServiceNeed::OwnSandbox,
                is_server: true,
            },
            Command::Requests(args) => Needs {
                service: ServiceNeed::ProfileUnchecked,
                is_server: args.is_server(),
            },
            Command::Keys(_) => Needs::of(ServiceNeed::OwnSandbox),
            Command::Bookings(_)
            | Command::Open(_)
            | Command::Organization(_)
            | Command::Faults(_)
            | Command::Deliveries(_)
            | Command::Load(_)
            | Command::Env(_)
            | Command::Inbox(_)
            | Command::Clock(_)
            | Command::Reset(_) => Needs::of(ServiceNeed::ProfileUnchecked),
        }
    }
}

pub(super) async fn run(context: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Serve(args) => serve::run(context, args).await,
        Command::Run(args) => run::run(context, args).await,
        Command::Open(args) => open::run(context, args).await,
        Command::Keys(_) => lists::keys(context).await,
        Command::Bookings(args) => lists::bookings(context, args).await,
        Command::Organization(args) => organization::run(context, args).await,
        Command::Faults(args) => faults::run(context, args).await,
        Command::Deliveries(args) => deliveries::run(context, args).await,
        Command::Load(args) => load::run(context, args).await,
        Command::Env(args) => env::run(context, args).await,
        Command::Requests(args) => requests::run(context, args).await,
        Command::Inbox(args) => lists::inbox(context, args).await,
        Command::Clock(args) => clock::run(context, args).await,
        Command::Reset(args) => reset::run(context, args).await,
    }
}

/// Loads the fixtures of a file into a sandbox that is not served yet.
async fn load(sandbox: &Sandbox, file: Option<Source>) -> Result<()> {
    let Some(file) = file else {
        return Ok(());
    };
    let file = FixtureFile::read(file).await?;
    sandbox.load(file.document.clone()).map_err(|body| {
        let broken = || Error::config(format!("the fixtures cannot be loaded: {body}"));
        file.refused(&body).unwrap_or_else(broken)
    })
}

fn list_of(path: &str, organization: Option<&str>) -> Call {
    match organization {
        Some(id) => Call::get(format!("{path}?organization={}", Call::segment(id))),
        None => Call::get(path),
    }
}

/// The sandbox's error names fields of the call. This replaces them with the flags that the user typed, and makes it a usage
/// error (2).
fn by_flags(error: Error, flags: &[(&str, &str)]) -> Error {
    let refused = error
        .body
        .as_ref()
        .filter(|_| error.http_status == Some(400));
    let fields = refused.and_then(|it| it.value().get("fields")?.as_object());
    let Some(fields) = fields else {
        return error;
    };
    let said = fields.iter().map(|(field, why)| {
        let flag = flags.iter().find(|(known, _)| known == field);
        format!("{} {}", flag.map_or(field.as_str(), |it| it.1), plain(why))
    });
    Error::usage(said.collect::<Vec<_>>().join("; "))
}

/// Stores the ids of a list that was shown, for `@1`.
fn remember(context: &Context, list: RecentList, ids: &[&str]) {
    context.remember_rows(list, ids.iter().copied());
}
