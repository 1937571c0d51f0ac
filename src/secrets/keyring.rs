//! The keyring of the operating system: Secret Service, Keychain or Credential Manager.

use std::sync::OnceLock;
use std::time::Duration;

use keyring::{Entry, Error as Refusal};
use tokio::sync::oneshot;

use super::secret::Secret;
use super::{Account, Item};
use crate::outcome::{self, Code, Error, Result};

/// The time limit of a call. A D-Bus service may never answer.
const LIMIT: Duration = Duration::from_secs(3);

/// The keyring. Each call runs on its own thread.
#[derive(Debug, Default)]
pub(crate) struct Keyring {
    /// Why a call failed. The keyring is then not used again: a command waits for it once.
    silent: OnceLock<String>,
}

impl Keyring {
    pub(super) async fn get(&self, account: &Account, item: Item) -> Result<Option<Secret>> {
        let get = |entry: Entry| entry.get_password().map(Secret::new);
        self.ask(account, item, get).await
    }

    pub(super) async fn set(&self, account: &Account, item: Item, secret: Secret) -> Result<()> {
        let set = move |entry: Entry| entry.set_password(secret.expose());
        self.ask(account, item, set).await.map(drop)
    }

    pub(super) async fn delete(&self, account: &Account, item: Item) -> Result<bool> {
        Ok(self.ask(account, item, |entry| entry.delete_credential()).await?.is_some())
    }

    pub(crate) async fn probe(&self) -> Result<()> {
        let nobody = Account::new("nobody", "nowhere");
        self.get(&nobody, Item::ApiKey).await.map(drop)
    }

    async fn ask<T: Send + 'static>(
        &self,
        account: &Account,
        item: Item,
        question: impl FnOnce(Entry) -> keyring::Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        if let Some(why) = self.silent.get() {
            return Err(unusable(why));
        }
        let (sender, receiver) = oneshot::channel();
        let user = account.to_string();
        std::thread::spawn(move || {
            let answer = Entry::new(item.service(), &user).and_then(question);
            // The receiver is gone after the time limit.
            let _ = sender.send(match answer {
                Ok(value) => Ok(Some(value)),
                Err(Refusal::NoEntry) => Ok(None),
                Err(refusal) => Err(reason(&refusal)),
            });
        });
        let answer = match tokio::time::timeout(LIMIT, receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("the keyring failed".to_owned()),
            Err(_) => Err(format!("the keyring did not respond within {} s", LIMIT.as_secs())),
        };
        answer.map_err(|why| unusable(self.silent.get_or_init(|| why)))
    }
}

/// The keyring cannot be used (exit 3). The hint lists the alternatives.
pub(super) fn unusable(why: &str) -> Error {
    Error::new(Code::Keyring, why).hint(
        "unlock or start the keyring, set BOOKCTL_API_KEY, or store the key in a file that only you can read, with \
         `bookctl auth login --storage file`",
    )
}

/// The reason on one line. It never contains a secret.
fn reason(refusal: &Refusal) -> String {
    let cause = match refusal {
        Refusal::PlatformFailure(cause) | Refusal::NoStorageAccess(cause) => {
            outcome::reason(cause.as_ref())
        }
        _ => "it refused the request".to_owned(),
    };
    let cause = match cause.lines().next().unwrap_or_default() {
        // What libdbus reports if neither the environment nor the runtime folder has a bus.
        cause if cause.contains("autolaunch") => "there is no session bus",
        cause => cause,
    };
    format!("the system keyring cannot be used: {cause}")
}
