//! `bookctl auth`: the keys of services, in the keyring of the operating system.

mod journal_password;
mod login;
mod logout;
mod status;

use clap::Subcommand;

use crate::app::Startup;
use crate::outcome::{Exit, Result};

/// Store and remove API keys, and show which key a profile uses
///
/// BOOKCTL_API_KEY overrides the keyring, and the keyring overrides the file. A stored key is only sent to the address
/// that it was stored for.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Login(login::Args),
    Logout(logout::Args),
    Status(status::Args),
}

pub(super) async fn run(setup: Startup, command: Command) -> Result<Exit> {
    match command {
        Command::Login(args) => login::run(setup, args).await,
        Command::Logout(_) => logout::run(&setup).await,
        Command::Status(_) => status::run(&setup).await,
    }
}
