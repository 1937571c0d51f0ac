//! `bookctl auth`: the keys of services, in the keyring of the operating system.

pub(crate) mod login;

use clap::Subcommand;
use serde::Serialize;

use super::forget_secrets::forget_secrets;
use crate::app::Startup;
use crate::config::{
    ConfigFile, Environment, SANDBOX_PROFILE, Service, ServiceNeed, SharedJournal, journal_address,
};
use crate::outcome::{Error, Exit, Result};
use crate::secrets::{Account, Item, Secret, Vault, look_up};
use crate::terminal::output::{Draw, Page, TableCell, Tone};

const NONE: &str = "none";
const ENVIRONMENT: &str = "environment";

/// Store and remove API keys, and show which key a profile uses
///
/// BOOKCTL_API_KEY overrides the keyring, and the keyring overrides the file. A stored key is only
/// sent to the address that it was stored for.
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

pub(crate) async fn run(setup: Startup, command: Command) -> Result<Exit> {
    match command {
        Command::Login(args) => login::run(setup, args).await,
        Command::Logout => logout(&setup).await,
        Command::Status => status(&setup).await,
    }
}

async fn logout(setup: &Startup) -> Result<Exit> {
    let target = setup.settings.target(ServiceNeed::Profile)?;
    let account = target.service().and_then(Service::account).ok_or_else(|| {
        Error::config("no profile was named, and only profiles have stored keys")
            .hint("run: bookctl auth logout --profile NAME")
    })?;
    let vault = Vault::new(setup.settings.paths.secrets.clone());
    let found = forget_secrets(setup, &vault, &account).await?;
    let name = &account.profile;
    setup.ui.out.note(&if found {
        format!("removed the stored API key and webhook secret of profile {name}")
    } else {
        format!("nothing was stored for profile {name}")
    });
    if setup.settings.environment.api_key.is_some() {
        setup.ui.out.warn("BOOKCTL_API_KEY is still set, and commands keep using it");
    }
    let profiles = vec![current(setup, &vault).await?];
    setup.ui.emit(&SecretsList { profiles })
}

async fn status(setup: &Startup) -> Result<Exit> {
    let vault = Vault::new(setup.settings.paths.secrets.clone());
    let file = ConfigFile::read(&setup.settings.paths.config_file)?;
    let current = current(setup, &vault).await?;
    let displayed = current.profile.clone();
    let mut profiles = vec![current];
    if setup.settings.named_profile().is_none() {
        for (name, profile) in &file.profiles {
            if displayed.as_ref() != Some(name) {
                let account = Account::new(name, profile.address(name)?.origin());
                let noted = profile.key_origin.as_deref();
                profiles.push(ProfileSecrets::of_account(&vault, &account, noted).await);
            }
        }
    }
    for row in &mut profiles {
        if let Some(name) = &row.profile
            && let Some(profile) = file.profiles.get(name)
            && let Some(url) = &profile.journal
        {
            let account = SharedJournal::account(name, &journal_address(url, name)?);
            row.journal_password = Some(if profile.journal_password_stored {
                locate_secret(&vault, &account, Item::JournalPassword).await
            } else {
                NONE
            });
        }
    }
    setup.ui.emit(&SecretsList { profiles })
}

/// What commands use now. Without a service, the key in the environment alone.
async fn current(setup: &Startup, vault: &Vault) -> Result<ProfileSecrets> {
    let mut row = match setup.settings.target(ServiceNeed::Profile) {
        Ok(target) => match (&target.key, target.service().and_then(Service::account)) {
            // The keyring is not opened if the environment has the key.
            (None, Some(account)) => {
                let noted = target.service().and_then(|it| it.settings.key_origin.as_deref());
                ProfileSecrets::of_account(vault, &account, noted).await
            }
            (key, _) => {
                let origin = target.service().map(|it| it.base_url.origin());
                let is_sandbox = origin.is_none();
                let origin = origin.as_deref().unwrap_or(SANDBOX_PROFILE);
                let mut row = ProfileSecrets::for_profile(target.profile(), Some(origin));
                row.take_key(ENVIRONMENT, key.as_ref());
                row.detail = is_sandbox.then(|| "the sandbox needs no API key".to_owned());
                row
            }
        },
        Err(refused) => {
            // A broken configuration is an error.
            setup.settings.target(ServiceNeed::None)?;
            let mut row = ProfileSecrets::for_profile(None, None);
            let key = Environment::text(&setup.settings.environment.api_key).map(Secret::new);
            row.take_key(ENVIRONMENT, key.as_ref());
            row.detail = Some(refused.message.clone());
            row
        }
    };
    row.current = true;
    if setup.settings.environment.webhook_secret.is_some() {
        row.webhook_secret = ENVIRONMENT;
    }
    Ok(row)
}

/// Where a secret is stored. A keyring that does not answer has none.
async fn locate_secret(vault: &Vault, account: &Account, item: Item) -> &'static str {
    let found = vault.find(account, item).await.ok().flatten();
    found.map_or(NONE, |found| found.storage.as_str())
}

#[derive(Default, Serialize)]
struct ProfileSecrets {
    #[serde(rename = "name")]
    profile: Option<String>,
    current: bool,
    origin: Option<String>,
    source: &'static str,
    kind: Option<&'static str>,
    key: Option<String>,
    webhook_secret: &'static str,
    /// Where it comes from, if the profile's journal is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    journal_password: Option<&'static str>,
    /// Why a key is not used or cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl ProfileSecrets {
    fn for_profile(profile: Option<&str>, origin: Option<&str>) -> Self {
        ProfileSecrets {
            profile: profile.map(str::to_owned),
            origin: origin.map(str::to_owned),
            source: NONE,
            webhook_secret: NONE,
            ..ProfileSecrets::default()
        }
    }

    fn take_key(&mut self, source: &'static str, key: Option<&Secret>) {
        if let Some(key) = key {
            self.source = source;
            self.kind = Some(key.kind());
            self.key = Some(key.masked());
        }
    }

    /// `noted` is the origin for which the profile's key was stored.
    async fn of_account(vault: &Vault, account: &Account, noted: Option<&str>) -> Self {
        let mut row = ProfileSecrets::for_profile(Some(&account.profile), Some(&account.origin));
        match look_up(vault, account, noted).await {
            Ok(Some(found)) => row.take_key(found.storage.as_str(), Some(&found.secret)),
            Ok(None) => {}
            Err(error) => row.detail = Some(error.message.clone()),
        }
        row.webhook_secret = locate_secret(vault, account, Item::WebhookSecret).await;
        row
    }
}

#[derive(Serialize)]
struct SecretsList {
    profiles: Vec<ProfileSecrets>,
}

impl Draw for SecretsList {
    fn draw(&self, page: &mut Page) {
        let rows = self.profiles.iter().map(|row| {
            let tone = if row.source == NONE { Tone::Dim } else { Tone::Good };
            let mut recorded = Vec::new();
            for (what, source) in [
                ("webhook secret", row.webhook_secret),
                ("journal password", row.journal_password.unwrap_or(NONE)),
            ] {
                if source != NONE {
                    recorded.push(format!("{what}: {source}"));
                }
            }
            let detail = row.detail.clone().unwrap_or_else(|| recorded.join(", "));
            vec![
                TableCell::from(row.profile.as_deref().unwrap_or("-")),
                row.origin.as_deref().unwrap_or("-").into(),
                TableCell::toned(row.source, tone),
                row.kind.unwrap_or_default().into(),
                row.key.as_deref().unwrap_or_default().into(),
                detail.into(),
            ]
        });
        let headers = vec!["profile", "origin", "key from", "kind", "key", "note"];
        page.table(headers, rows.collect(), vec![]);
    }
}
