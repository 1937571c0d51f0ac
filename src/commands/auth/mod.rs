//! `bookctl auth`: the keys of services, in the keyring of the operating system.

mod login;
mod status;

use clap::Subcommand;

use crate::app::Startup;
use crate::config::Target;
use crate::flows::forget_secrets;
use crate::outcome::{Error, Exit, Result};
use crate::secrets::Vault;
use status::{ProfileSecrets, SecretsList};

/// Store and remove API keys, and show which key a profile uses
///
/// BOOKCTL_API_KEY overrides the keyring, and the keyring overrides the file. A stored key is only sent to the address
/// that it was stored for.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Login(login::Args),
    /// Remove a profile's API key, webhook secret and journal password from this computer
    #[command(after_help = "Examples:\n  bookctl auth logout --profile live")]
    Logout,
    /// Show where each profile's API key comes from; keys are masked
    ///
    /// --profile and BOOKCTL_PROFILE limit the list to one profile.
    #[command(after_help = "Examples:\n  \
        bookctl auth status\n  \
        bookctl auth status --profile live --jq '.profiles[0].source'")]
    Status,
}

pub(super) async fn run(setup: Startup, command: Command) -> Result<Exit> {
    match command {
        Command::Login(args) => login::run(setup, args).await,
        Command::Logout => logout(&setup).await,
        Command::Status => status::run(&setup).await,
    }
}

async fn logout(setup: &Startup) -> Result<Exit> {
    let account = match setup.target()? {
        Target::Remote(service) => service.account(),
        Target::Embedded { .. } => None,
    };
    let account = account.ok_or_else(|| {
        Error::config("no profile was named, and only profiles have stored keys")
            .hint("run: bookctl auth logout --profile NAME")
    })?;
    let vault = Vault::new(setup.paths.secrets.clone());
    let found = forget_secrets(setup, &vault, &account).await?;
    let name = &account.profile;
    setup.out.note(&if found {
        format!("removed the stored API key and webhook secret of profile {name}")
    } else {
        format!("nothing was stored for profile {name}")
    });
    if setup.environment.api_key.is_some() {
        setup
            .out
            .warn("BOOKCTL_API_KEY is still set, and commands keep using it");
    }
    let row = ProfileSecrets::of_account(&vault, &account, None).await;
    setup.out.emit(&SecretsList {
        profiles: vec![row],
    })?;
    Ok(Exit::Done)
}
