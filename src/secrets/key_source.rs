//! Where a service's key comes from. It is looked up when the first request needs it.

use super::secret::Secret;
use super::vault::{FoundSecret, Vault};
use super::{Account, Item};
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;

#[derive(Debug)]
pub(crate) enum KeySource {
    Given(Secret),
    Stored {
        vault: Vault,
        account: Account,
        /// The origin for which the profile's key was stored, if it was noted.
        noted_origin: Option<String>,
    },
    Nowhere,
}

impl KeySource {
    /// Fails with `no_key` (4) if the stored key is for another origin, and with `keyring` (3) if
    /// the keyring does not answer but is known to contain a key.
    pub(crate) async fn find(&self) -> Result<Option<Secret>> {
        match self {
            KeySource::Given(key) => Ok(Some(key.clone())),
            KeySource::Nowhere => Ok(None),
            KeySource::Stored { vault, account, noted_origin } => {
                let found = look_up(vault, account, noted_origin.as_deref()).await?;
                Ok(found.map(|found| found.secret))
            }
        }
    }

    /// Whether a request would probably have a key. Nothing is looked up.
    pub(crate) fn promises_a_key(&self) -> bool {
        match self {
            KeySource::Given(_) => true,
            KeySource::Nowhere => false,
            KeySource::Stored { account, noted_origin, .. } => {
                noted_origin.as_ref() == Some(&account.origin)
            }
        }
    }
}

/// Looks up the account's stored key. Fails as [`KeySource::find`] does.
pub(crate) async fn look_up(
    vault: &Vault,
    account: &Account,
    noted_origin: Option<&str>,
) -> Result<Option<FoundSecret>> {
    let found = vault.find(account, Item::ApiKey).await;
    match (&found, noted_origin) {
        (Ok(Some(_)), _) => found,
        (Err(error), _) if error.code != Code::Keyring => found,
        // The keyring's error does not matter for a key that would not be sent.
        (_, Some(noted)) if noted != account.origin => Err(Error::new(
            Code::NoKey,
            format!(
                "the API key of profile {} was stored for {noted} and is not sent to {}",
                account.profile, account.origin
            ),
        )
        .hint(format!(
            "store a key for the new address with: bookctl auth login --profile {}",
            shell::word(&account.profile)
        ))),
        (Err(error), None) => Err(Error::new(
            Code::NoKey,
            format!("there is no API key for {}; {error}", account.origin),
        )
        .hint("set BOOKCTL_API_KEY, or store a key with `bookctl auth login`")),
        _ => found,
    }
}
