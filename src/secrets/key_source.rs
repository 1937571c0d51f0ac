//! Where the key of one service comes from, looked up when the first request needs it.

use super::account::{Account, Item};
use super::secret::Secret;
use super::vault::{Found, Vault};
use crate::model::shell;
use crate::outcome::{Code, Error, Result};

/// The way to a key.
#[derive(Debug)]
pub(crate) enum KeySource {
    /// Given for this very service: nothing is looked up.
    Given(Secret),
    /// Perhaps kept for this account.
    Stored {
        vault: Vault,
        account: Account,
        /// The origin that the profile's key was stored for, as far as that was noted.
        noted_origin: Option<String>,
    },
    /// There is none.
    Nowhere,
}

impl KeySource {
    /// The key, if there is one. A key that is kept for another origin is an error (`no_key`, 4), a keyring that
    /// does not answer is one (`keyring`, 3) where a key is known to be in it.
    pub(crate) async fn find(&self) -> Result<Option<Secret>> {
        match self {
            KeySource::Given(key) => Ok(Some(key.clone())),
            KeySource::Nowhere => Ok(None),
            KeySource::Stored {
                vault,
                account,
                noted_origin,
            } => {
                let found = look_up(vault, account, noted_origin.as_deref()).await?;
                Ok(found.map(|found| found.secret))
            }
        }
    }

    /// Whether a key would travel, as far as that can be told without looking.
    pub(crate) fn promises_a_key(&self) -> bool {
        match self {
            KeySource::Given(_) => true,
            KeySource::Nowhere => false,
            KeySource::Stored {
                account,
                noted_origin,
                ..
            } => noted_origin.as_ref() == Some(&account.origin),
        }
    }
}

/// The account's stored key, with the errors of [`KeySource::find`].
pub(crate) async fn look_up(
    vault: &Vault,
    account: &Account,
    noted_origin: Option<&str>,
) -> Result<Option<Found>> {
    let found = vault.find(account, Item::ApiKey).await;
    let missing = match &found {
        Ok(found) => found.is_none(),
        Err(error) => error.code == Code::Keyring,
    };
    match (found, noted_origin) {
        // Whether the keyring answers matters nothing to a key that would not be sent.
        (_, Some(noted)) if missing && noted != account.origin => Err(no_key(format!(
            "the key of profile {} is stored for {noted}, and is not sent to {}",
            account.profile, account.origin
        ))
        .hint(format!(
            "store one for the new address: bookctl auth login --profile {}",
            shell::word(&account.profile)
        ))),
        (Err(error), None) if missing => Err(no_key(format!(
            "there is no API key for {}; {}",
            account.origin, error.message
        ))
        .hint("set BOOKCTL_API_KEY, or store a key with `bookctl auth login`")),
        (found, _) => found,
    }
}

fn no_key(message: String) -> Error {
    Error::new(Code::NoKey, message)
}
