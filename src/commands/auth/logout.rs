use crate::app::Startup;
use crate::config::Target;
use crate::flows::forget_secrets;
use crate::outcome::{Error, Exit, Result};
use crate::secrets::Vault;

use super::status::{ProfileSecrets, SecretsList};

/// Remove a profile's API key, webhook secret and journal password from this computer
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  bookctl auth logout --profile live")]
pub(crate) struct Args {}

pub(super) async fn run(setup: &Startup) -> Result<Exit> {
    let target = setup.target()?;
    let account = match &target {
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
    setup.out.emit(&SecretsList(vec![row]))?;
    Ok(Exit::Done)
}
