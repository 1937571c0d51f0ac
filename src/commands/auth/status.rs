use serde_json::{Value, json};

use crate::app::Startup;
use crate::config::{
    ConfigFile, Environment, Profile, SANDBOX_PROFILE, Service, SharedJournal, Target,
    journal_address,
};
use crate::json::Document;
use crate::outcome::{Error, Exit, Result};
use crate::secrets::{Account, Found, Item, Secret, Vault, look_up};
use crate::terminal::output::{Page, TableCell, Tone, View};

/// Show where each profile's API key comes from; keys are masked
///
/// --profile and BOOKCTL_PROFILE limit the list to one profile.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
    bookctl auth status\n  \
    bookctl auth status --profile live --jq '.profiles[0].source'")]
pub(crate) struct Args {}

pub(super) async fn run(setup: &Startup) -> Result<Exit> {
    let vault = Vault::new(setup.paths.secrets.clone());
    let chosen = setup.target();
    let current = match &chosen {
        Ok(target) => ProfileSecrets::of_target(setup, &vault, target).await,
        Err(refused) => ProfileSecrets::of_nobody(setup, refused)?,
    };
    let chosen = chosen.as_ref().ok().and_then(Target::profile);
    let mut rows = vec![current];
    let file = ConfigFile::read(&setup.paths.config_file)?;
    if setup.named_profile().is_none() {
        let others = file
            .profiles
            .iter()
            .filter(|(name, _)| name.as_str() != SANDBOX_PROFILE && chosen != Some(name.as_str()));
        for (name, profile) in others {
            let account = Account::new(name, profile.address(name)?.origin());
            let noted = profile.key_origin.as_deref();
            rows.push(ProfileSecrets::of_account(&vault, &account, noted).await);
        }
    }
    for row in &mut rows {
        let profile = row.profile.as_ref().and_then(|it| file.profiles.get(it));
        if let Some(profile) = profile {
            row.add_journal_password(&vault, profile).await?;
        }
    }
    setup.out.emit(&SecretsList(rows))?;
    Ok(Exit::Done)
}

/// A secret's description and its source.
struct Origin {
    source: &'static str,
    secret: Option<Secret>,
}

impl Origin {
    const NONE: Origin = Origin {
        source: "none",
        secret: None,
    };

    fn environment(secret: Secret) -> Self {
        Origin {
            source: "environment",
            secret: Some(secret),
        }
    }

    fn stored(found: Option<Found>) -> Self {
        found.map_or(Origin::NONE, |found| Origin {
            source: found.storage.as_str(),
            secret: Some(found.secret),
        })
    }
}

pub(super) struct ProfileSecrets {
    profile: Option<String>,
    current: bool,
    origin: Option<String>,
    key: Origin,
    webhook_secret: Origin,
    /// Of a profile whose journal is shared.
    journal_password: Option<Origin>,
    /// Why a key is not used or cannot be read.
    detail: Option<String>,
}

impl ProfileSecrets {
    async fn of_target(setup: &Startup, vault: &Vault, target: &Target) -> Self {
        let mut row = match target {
            Target::Embedded { key, .. } => ProfileSecrets {
                detail: Some("the embedded sandbox needs no API key".to_owned()),
                key: key.clone().map_or(Origin::NONE, Origin::environment),
                ..ProfileSecrets::empty(Some(SANDBOX_PROFILE), Some(target.address()))
            },
            Target::Remote(service) => ProfileSecrets::of_service(vault, service).await,
        };
        row.current = true;
        row.take_webhook_secret_of(setup);
        row
    }

    /// The key in the environment, if no service is chosen. Fails if the configuration is broken.
    fn of_nobody(setup: &Startup, refused: &Error) -> Result<Self> {
        setup.target_or_none()?;
        let key = Environment::text(setup.environment.api_key.as_ref()).map(Secret::new);
        let mut row = ProfileSecrets {
            detail: Some(refused.message.clone()),
            key: key.map_or(Origin::NONE, Origin::environment),
            ..ProfileSecrets::empty(None, None)
        };
        row.take_webhook_secret_of(setup);
        Ok(row)
    }

    fn take_webhook_secret_of(&mut self, setup: &Startup) {
        if let Some(secret) = Environment::text(setup.environment.webhook_secret.as_ref()) {
            self.webhook_secret = Origin::environment(Secret::new(secret));
        }
    }

    async fn of_service(vault: &Vault, service: &Service) -> Self {
        let empty =
            || ProfileSecrets::empty(service.profile.as_deref(), Some(service.base_url.origin()));
        match (&service.key, service.account()) {
            // The keyring is not opened if the environment has the key.
            (Some(key), _) => ProfileSecrets {
                key: Origin::environment(key.clone()),
                ..empty()
            },
            (None, Some(account)) => {
                ProfileSecrets::of_account(vault, &account, service.key_origin.as_deref()).await
            }
            (None, None) => empty(),
        }
    }

    pub(super) async fn of_account(vault: &Vault, account: &Account, noted: Option<&str>) -> Self {
        let (key, detail) = match look_up(vault, account, noted).await {
            Ok(found) => (Origin::stored(found), None),
            Err(error) => (Origin::NONE, Some(error.message.clone())),
        };
        let webhook_secret = vault.find(account, Item::WebhookSecret).await;
        ProfileSecrets {
            key,
            webhook_secret: Origin::stored(webhook_secret.ok().flatten()),
            detail,
            ..ProfileSecrets::empty(Some(&account.profile), Some(account.origin.clone()))
        }
    }

    async fn add_journal_password(&mut self, vault: &Vault, profile: &Profile) -> Result<()> {
        let (Some(name), Some(url)) = (&self.profile, &profile.journal) else {
            return Ok(());
        };
        let account = SharedJournal::account(name, &journal_address(url, name)?);
        let mut found = None;
        if profile.journal_password_stored {
            let password = vault.find(&account, Item::JournalPassword).await;
            found = password.ok().flatten();
        }
        self.journal_password = Some(Origin::stored(found));
        Ok(())
    }

    fn empty(profile: Option<&str>, origin: Option<String>) -> Self {
        ProfileSecrets {
            profile: profile.map(str::to_owned),
            current: false,
            origin,
            key: Origin::NONE,
            webhook_secret: Origin::NONE,
            journal_password: None,
            detail: None,
        }
    }

    fn kind(&self) -> Option<&'static str> {
        self.key.secret.as_ref().map(|key| key.kind().as_str())
    }

    fn masked(&self) -> Option<String> {
        self.key.secret.as_ref().map(Secret::masked)
    }

    fn object(&self) -> Value {
        let mut object = json!({
            "profile": self.profile,
            "current": self.current,
            "origin": self.origin,
            "source": self.key.source,
            "kind": self.kind(),
            "key": self.masked(),
            "webhook_secret": self.webhook_secret.source,
        });
        if let Some(password) = &self.journal_password {
            object["journal_password"] = json!(password.source);
        }
        if let Some(detail) = &self.detail {
            object["detail"] = json!(detail);
        }
        object
    }
}

pub(super) struct SecretsList(pub(super) Vec<ProfileSecrets>);

impl View for SecretsList {
    fn json(&self) -> Document {
        let rows: Vec<Value> = self.0.iter().map(ProfileSecrets::object).collect();
        json!({ "profiles": rows }).into()
    }

    fn page(&self) -> Page {
        let rows = self.0.iter().map(|row| {
            let tone = match row.key.source {
                "none" => Tone::Dim,
                _ => Tone::Good,
            };
            let journal = row.journal_password.as_ref().map_or("none", |it| it.source);
            let secrets = [
                ("webhook secret", row.webhook_secret.source),
                ("journal password", journal),
            ];
            let stored = secrets.iter().filter(|(_, source)| *source != "none");
            let stored: Vec<String> = stored
                .map(|(what, source)| format!("{what}: {source}"))
                .collect();
            let detail = row.detail.clone().unwrap_or_else(|| stored.join(", "));
            vec![
                TableCell::from(row.profile.as_deref().unwrap_or("-")),
                row.origin.as_deref().unwrap_or("-").into(),
                TableCell::toned(row.key.source, tone),
                row.kind().unwrap_or_default().into(),
                row.masked().unwrap_or_default().into(),
                detail.into(),
            ]
        });
        let mut page = Page::default();
        let headers = vec!["profile", "origin", "key from", "kind", "key", "note"];
        page.table(headers, rows.collect(), vec![]);
        page
    }
}
