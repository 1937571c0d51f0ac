//! `bookctl auth`: the keys of services, in the keyring of the operating system.

mod login;
mod logout;
mod status;

use clap::Subcommand;

use crate::app::Startup;
use crate::outcome::{Exit, Result};

/// API keys: store, remove, and see where one comes from
///
/// The environment (BOOKCTL_API_KEY) goes before the keyring, the keyring before the file. A stored key is bound to
/// its profile's address, and never sent to another.
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
