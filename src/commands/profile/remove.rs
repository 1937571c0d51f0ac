use crate::app::Startup;
use crate::config::{SANDBOX_PROFILE, edit};
use crate::flows::{Confirmation, forget_secrets};
use crate::outcome::{Error, Exit, Result};
use crate::secrets::{Account, Vault};

use super::listing::{Profiles, read, rows};

/// Remove a profile and its stored secrets
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl profile remove staging --yes")]
pub(crate) struct Args {
    /// Name of the profile
    name: String,
    /// Skip the confirmation prompt
    #[arg(long, short)]
    yes: bool,
}

pub(super) async fn run(setup: &Startup, args: Args) -> Result<Exit> {
    let name = &args.name;
    if name == SANDBOX_PROFILE {
        return Err(Error::config("the embedded sandbox cannot be removed")
            .hint("delete its bookings with `bookctl sandbox reset`"));
    }
    let file = read(setup)?;
    let profile = file.profile(name)?;
    // If the address is invalid, only the noted origin can have a stored key.
    let origin = profile.address(name).map_or_else(
        |_| profile.key_origin.clone().unwrap_or_default(),
        |address| address.origin(),
    );
    if !args.yes {
        confirm(setup, name).await?;
    }
    let vault = Vault::new(setup.paths.secrets.clone());
    if let Err(error) = forget_secrets(setup, &vault, &Account::new(name, origin)).await {
        setup.out.warn(&format!(
            "the stored key of profile {name} was not removed: {}",
            error.message
        ));
    }
    edit(&setup.paths.config_file, |draft| draft.remove(name))?;
    setup.out.emit(&Profiles(rows(setup)?))?;
    Ok(Exit::Done)
}

async fn confirm(setup: &Startup, name: &str) -> Result<()> {
    let confirmation = Confirmation {
        action: "removing a profile",
        question: format!("Remove profile {name}?"),
        declined: "nothing was removed",
    };
    confirmation.ask(&setup.prompter).await
}
