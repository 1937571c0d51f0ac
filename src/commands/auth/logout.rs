use crate::app::Startup;
use crate::config::Target;
use crate::flows::forget_secrets;
use crate::outcome::{Error, Exit, Result};
use crate::secrets::Vault;

use super::status::{ProfileSecrets, SecretsList};

/// Remove a profile's key and webhook secret from this machine
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
        Error::config("no profile is meant, and only profiles have stored keys")
            .hint("name one: bookctl auth logout --profile NAME")
    })?;
    let vault = Vault::new(setup.paths.secrets.clone());
    let found = forget_secrets(setup, &vault, &account).await?;
    if !found {
        setup.out.note("nothing was stored");
    }
    if setup.environment.api_key.is_some() {
        setup
            .out
            .warn("BOOKCTL_API_KEY is set: it is the environment's, and stays");
    }
    let row = ProfileSecrets::of_account(&vault, &account, None).await;
    setup.out.emit(&SecretsList(vec![row]))?;
    Ok(Exit::Done)
}
