//! The keyring of the operating system: Secret Service, Keychain or Credential Manager.

use std::sync::OnceLock;
use std::time::Duration;

use keyring::{Entry, Error as Refusal};
use tokio::sync::oneshot;

use super::account::{Account, Item};
use super::secret::Secret;

/// A bus that is there and never answers would be waited for for ever.
const LIMIT: Duration = Duration::from_secs(3);

/// The keyring, asked on a thread of its own each time.
#[derive(Debug, Default)]
pub(crate) struct Keyring {
    /// Why it did not answer: it is then not asked again, so that a command waits for it once at most.
    silent: OnceLock<String>,
}

impl Keyring {
    /// The secret that is kept, if any; else why the keyring does not tell.
    pub(super) async fn get(
        &self,
        account: &Account,
        item: Item,
    ) -> Result<Option<Secret>, String> {
        self.ask(account, item, |entry| entry.get_password().map(Secret::new))
            .await
    }

    pub(super) async fn set(
        &self,
        account: &Account,
        item: Item,
        secret: Secret,
    ) -> Result<(), String> {
        let set = move |entry: Entry| entry.set_password(secret.expose());
        self.ask(account, item, set).await.map(drop)
    }

    /// Whether there was something to delete.
    pub(super) async fn delete(&self, account: &Account, item: Item) -> Result<bool, String> {
        let deleted = self.ask(account, item, |entry| entry.delete_credential());
        Ok(deleted.await?.is_some())
    }

    /// Whether it answers at all.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        let nobody = Account::new("nobody", "nowhere");
        self.get(&nobody, Item::ApiKey).await.map(drop)
    }

    async fn ask<T: Send + 'static>(
        &self,
        account: &Account,
        item: Item,
        question: impl FnOnce(Entry) -> keyring::Result<T> + Send + 'static,
    ) -> Result<Option<T>, String> {
        if let Some(why) = self.silent.get() {
            return Err(why.clone());
        }
        let (sender, receiver) = oneshot::channel();
        let user = account.to_string();
        std::thread::spawn(move || {
            let answer = Entry::new(item.service(), &user).and_then(question);
            // Nobody waits any more where the limit has passed.
            let _ = sender.send(match answer {
                Ok(value) => Ok(Some(value)),
                Err(Refusal::NoEntry) => Ok(None),
                Err(refusal) => Err(reason(&refusal)),
            });
        });
        let answer = match tokio::time::timeout(LIMIT, receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("the keyring failed".to_owned()),
            Err(_) => Err(format!(
                "the keyring did not answer within {} s",
                LIMIT.as_secs()
            )),
        };
        answer.inspect_err(|why| {
            let _ = self.silent.set(why.clone());
        })
    }
}

/// Why, in one line; never what is kept.
fn reason(refusal: &Refusal) -> String {
    let cause = match refusal {
        Refusal::NoDefaultStore => match Entry::store_status() {
            Err(Refusal::PlatformFailure(cause) | Refusal::NoStorageAccess(cause)) => {
                innermost(cause.as_ref())
            }
            _ => return "there is no keyring".to_owned(),
        },
        Refusal::PlatformFailure(cause) => innermost(cause.as_ref()),
        Refusal::NoStorageAccess(cause) => {
            return format!("the keyring is locked: {}", innermost(cause.as_ref()));
        }
        Refusal::Ambiguous(_) => "it holds several entries of that name".to_owned(),
        Refusal::BadEncoding(_) => "the entry is not text".to_owned(),
        _ => "it refused".to_owned(),
    };
    format!("no keyring answers: {cause}")
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = cause.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.lines().next().unwrap_or_default().to_lowercase()
}
