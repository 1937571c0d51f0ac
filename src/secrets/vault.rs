//! What is stored: the keyring, and the file for those who chose it.

use std::path::PathBuf;

use super::account::{Account, Item};
use super::file::SecretsFile;
use super::keyring::Keyring;
use super::secret::Secret;
use crate::outcome::{Code, Error, Result};

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

/// A stored secret and where it was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) secret: Secret,
    pub(crate) storage: Storage,
}

/// Keyring and file of one installation.
#[derive(Debug)]
pub(crate) struct Vault {
    pub(crate) keyring: Keyring,
    file: SecretsFile,
}

impl Vault {
    /// `file` is `secrets.toml`. Nothing is opened before something is asked for.
    pub(crate) fn new(file: PathBuf) -> Self {
        Vault {
            keyring: Keyring::default(),
            file: SecretsFile(file),
        }
    }

    /// The keyring's, else the file's. A keyring that does not answer is an error only where the file has none.
    pub(crate) async fn find(&self, account: &Account, item: Item) -> Result<Option<Found>> {
        let found = |storage| move |secret| Found { secret, storage };
        let kept = self.keyring.get(account, item).await;
        if let Ok(Some(secret)) = kept {
            return Ok(Some(found(Storage::Keyring)(secret)));
        }
        match (self.file.get(account, item)?, kept) {
            (Some(secret), _) => Ok(Some(found(Storage::File)(secret))),
            (None, Ok(_)) => Ok(None),
            (None, Err(why)) => Err(silent(&why)),
        }
    }

    /// Keeps a secret there, and nowhere else; what was kept is read back.
    pub(crate) async fn store(
        &self,
        account: &Account,
        item: Item,
        secret: &Secret,
        storage: Storage,
    ) -> Result<()> {
        let kept = match storage {
            Storage::Keyring => {
                let set = self.keyring.set(account, item, secret.clone()).await;
                set.map_err(|why| silent(&why))?;
                let kept = self.keyring.get(account, item).await;
                kept.map_err(|why| silent(&why))?
            }
            Storage::File => {
                self.file.set(account, item, secret)?;
                self.file.get(account, item)?
            }
        };
        if kept.as_ref() != Some(secret) {
            return Err(silent("what was stored does not come back as it was"));
        }
        match storage {
            Storage::Keyring => self.file.delete(account, item).map(drop),
            // Where there is no keyring, nothing can be left in it.
            Storage::File => {
                let _ = self.keyring.delete(account, item).await;
                Ok(())
            }
        }
    }

    /// Forgets everything that is kept for an account, and says whether there was anything. `in_keyring` is whether
    /// something is known to be in the keyring: it must answer then.
    pub(crate) async fn forget(&self, account: &Account, in_keyring: bool) -> Result<bool> {
        let mut found = false;
        let mut outcome = Ok(());
        for item in Item::ALL {
            let in_file = self.file.delete(account, item)?;
            found |= in_file;
            match self.keyring.delete(account, item).await {
                Ok(deleted) => found |= deleted,
                Err(why) if in_keyring && item == Item::ApiKey && !in_file => {
                    outcome = Err(silent(&why));
                }
                Err(_) => {}
            }
        }
        outcome.map(|()| found)
    }
}

/// The keyring cannot be used (3), and the ways out.
pub(crate) fn silent(why: &str) -> Error {
    Error::new(Code::Keyring, why).hint(
        "unlock or start the keyring, set BOOKCTL_API_KEY, or keep the key in a file that you alone can read: \
         `bookctl auth login --storage file`",
    )
}
