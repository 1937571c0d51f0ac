//! Checks the keyring, and the key that requests would carry.

use super::check::Check;
use crate::config::{Service, Target};
use crate::outcome::Result;
use crate::secrets::{Secret, Storage, Vault, look_up};

pub(super) struct FoundKey {
    pub(super) secret: Secret,
    source: &'static str,
}

impl FoundKey {
    /// `a live key (sk_live_…box4) from the keyring`
    pub(super) fn describe(&self) -> String {
        let (kind, masked) = (self.secret.kind().as_str(), self.secret.masked());
        format!("{kind} key {masked} from the {}", self.source)
    }
}

pub(super) struct Credentials {
    pub(super) keyring: Check,
    /// The key, if there is one; an error if it cannot be read.
    pub(super) key: Result<Option<FoundKey>>,
}

/// Checks the keyring and the key of the service.
pub(super) async fn look(target: &Target, vault: &Vault) -> Credentials {
    let (key, is_needed) = match target {
        Target::Embedded { .. } => (Ok(None), false),
        Target::Remote(service) => {
            let key = key(service, vault).await;
            let is_elsewhere =
                matches!(&key, Ok(Some(key)) if key.source != Storage::Keyring.as_str());
            (key, service.account().is_some() && !is_elsewhere)
        }
    };
    Credentials {
        keyring: keyring(vault, is_needed).await,
        key,
    }
}

/// Whether the keyring answers, which matters only if the key has to come from it.
pub(super) async fn keyring(vault: &Vault, is_needed: bool) -> Check {
    match vault.keyring.probe().await {
        Ok(()) => Check::ok("keyring", "available"),
        Err(why) if !is_needed => Check::ok("keyring", format!("not needed ({why})")),
        // A warning only, because the key may be in the environment or the file.
        Err(why) => Check::warning("keyring", why).fix("bookctl auth login --storage file"),
    }
}

async fn key(service: &Service, vault: &Vault) -> Result<Option<FoundKey>> {
    if let Some(key) = &service.key {
        return Ok(Some(FoundKey {
            secret: key.clone(),
            source: "environment",
        }));
    }
    let Some(account) = service.account() else {
        return Ok(None);
    };
    let found = look_up(vault, &account, service.key_origin.as_deref()).await?;
    Ok(found.map(|found| FoundKey {
        source: found.storage.as_str(),
        secret: found.secret,
    }))
}
