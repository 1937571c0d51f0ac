//! Stored secrets: in the keyring, or in a file if the user chose that.

use std::path::PathBuf;

use super::file::SecretsFile;
use super::keyring::{Keyring, unusable};
use super::secret::Secret;
use super::{Account, Item};
use crate::outcome::Result;

/// Where a secret is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Storage {
    /// The keyring of the operating system
    #[default]
    Keyring,
    /// A file that its owner alone can read, beside config.toml
    File,
}

impl Storage {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Storage::Keyring => "keyring",
            Storage::File => "file",
        }
    }
}

#[derive(Debug)]
pub(crate) struct FoundSecret {
    pub(crate) secret: Secret,
    pub(crate) storage: Storage,
}

#[derive(Debug)]
pub(crate) struct Vault {
    pub(crate) keyring: Keyring,
    file: SecretsFile,
}

impl Vault {
    /// `file` is `secrets.toml`. Opens nothing yet.
    pub(crate) fn new(file: PathBuf) -> Self {
        Vault { keyring: Keyring::default(), file: SecretsFile(file) }
    }

    /// Looks in the keyring, then in the file. A keyring that does not answer is an error only if
    /// the file has no secret.
    pub(crate) async fn find(&self, account: &Account, item: Item) -> Result<Option<FoundSecret>> {
        let in_keyring = self.keyring.get(account, item).await;
        if let Ok(Some(secret)) = in_keyring {
            return Ok(Some(FoundSecret { secret, storage: Storage::Keyring }));
        }
        if let Some(secret) = self.file.get(account, item)? {
            return Ok(Some(FoundSecret { secret, storage: Storage::File }));
        }
        in_keyring.map(|_| None)
    }

    /// Stores a secret in one place and removes it from the other. Verifies it by reading it back.
    pub(crate) async fn store(
        &self,
        account: &Account,
        item: Item,
        secret: &Secret,
        storage: Storage,
    ) -> Result<()> {
        let stored = match storage {
            Storage::Keyring => {
                self.keyring.set(account, item, secret.clone()).await?;
                self.keyring.get(account, item).await?
            }
            Storage::File => {
                self.file.set(account, item, secret)?;
                self.file.get(account, item)?
            }
        };
        if stored.as_ref() != Some(secret) {
            return Err(unusable("the secret that was stored did not come back"));
        }
        match storage {
            Storage::Keyring => drop(self.file.delete(account, item)?),
            // Without a keyring, nothing can be left in it.
            Storage::File => drop(self.keyring.delete(account, item).await),
        }
        Ok(())
    }

    /// Deletes all secrets of an account. Returns whether there were any. `in_keyring` tells that
    /// the keyring is known to contain its key; then it must answer.
    pub(crate) async fn forget(&self, account: &Account, in_keyring: bool) -> Result<bool> {
        let key = self.forget_one(account, Item::ApiKey, in_keyring).await;
        let secret = self.forget_one(account, Item::WebhookSecret, false).await;
        Ok(key? | secret?)
    }

    pub(crate) async fn forget_one(
        &self,
        account: &Account,
        item: Item,
        in_keyring: bool,
    ) -> Result<bool> {
        let in_file = self.file.delete(account, item)?;
        match self.keyring.delete(account, item).await {
            Ok(deleted) => Ok(in_file | deleted),
            Err(error) if in_keyring && !in_file => Err(error),
            // Without a keyring, nothing can be left in it.
            Err(_) => Ok(in_file),
        }
    }
}
