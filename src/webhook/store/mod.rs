//! The received events and the attempts to forward them: `webhooks.db`, beside the journal.
//!
//! One write at a time, each on the disk when it returns. Other processes may read meanwhile.

mod attempts;
mod history;
mod open;
mod receipts;
mod registration;

pub(crate) use attempts::{AppAnswer, Content, QueuedDelivery};
pub(crate) use history::{AttemptRow, EventRow, Query};
pub(crate) use open::Webhooks;
pub(crate) use receipts::{Receipt, ReceivedDelivery};
pub(crate) use registration::Registration;

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use crate::outcome::{Error, Result};
use crate::platform::sqlite::Failure;

/// The open database, shared by the tasks of a process.
#[derive(Clone)]
pub(crate) struct Store {
    connection: Arc<Mutex<Connection>>,
    origin: Arc<str>,
}

impl Store {
    pub(crate) fn new(webhooks: Webhooks) -> Self {
        Store {
            connection: Arc::new(Mutex::new(webhooks.connection)),
            origin: webhooks.origin.into(),
        }
    }

    /// Runs `work` in a transaction, which is on the disk when this returns. A caller that goes away does not stop it.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut connection = self.connection.clone().lock_owned().await;
        let written = spawn_blocking(move || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let outcome = work(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        });
        let why = match written.await {
            Ok(Ok(outcome)) => return Ok(outcome),
            Ok(Err(error)) => Failure::from(&error).to_string(),
            Err(_) => "could not be written".to_owned(),
        };
        Err(Error::webhooks(format!("the webhook file {why}")).hint(
            "free some disk space or make it writable, or set BOOKCTL_HOME to another folder",
        ))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Stored and not forwarded.
    Kept,
    Waiting,
    /// The app answered 2xx.
    Delivered,
    /// The app did not answer 2xx to any attempt of the schedule.
    Abandoned,
}

impl State {
    pub(crate) const ALL: [State; 4] = [
        State::Kept,
        State::Waiting,
        State::Delivered,
        State::Abandoned,
    ];

    /// The name in the database, in JSON and in `--state`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            State::Kept => "kept",
            State::Waiting => "waiting",
            State::Delivered => "delivered",
            State::Abandoned => "abandoned",
        }
    }

    fn parse(text: &str) -> Self {
        let named = State::ALL.into_iter().find(|it| it.as_str() == text);
        named.unwrap_or(State::Kept)
    }
}

/// A header's name and value. Values are bytes; each is stored as the character U+0000 to U+00FF of that number, so that
/// no byte is lost in a string.
pub(crate) type HeaderLine = (String, String);

fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap_or(Timestamp::UNIX_EPOCH)
}
