//! The service's clock, which the embedded sandbox moves.

use jiff::{SignedDuration, Timestamp};

use super::Context;
use crate::client::Client;
use crate::config::Target;
use crate::outcome::Result;
use crate::sandbox::{self, Database, Sandbox};

impl Context {
    /// The current time by the service's clock. The embedded sandbox has a clock of its own.
    pub(crate) fn now(&self) -> Result<Timestamp> {
        match &self.target {
            Target::Embedded { .. } => {
                let offset = self.embedded()?.offset;
                // Another command may have moved the clock since this one began. `Date` has a resolution of one second, so
                // a smaller difference means nothing.
                let seen = self.client.get().and_then(Client::skew);
                let is_moved = |seen: &SignedDuration| {
                    seen.saturating_sub(offset).abs() > SignedDuration::from_secs(2)
                };
                let offset = seen.filter(is_moved).unwrap_or(offset);
                Ok(Timestamp::now()
                    .saturating_add(offset)
                    .unwrap_or(Timestamp::MAX))
            }
            Target::Remote(_) => Ok(self
                .client
                .get()
                .map_or_else(Timestamp::now, Client::service_now)),
        }
    }

    /// The same, for what is only shown: this machine's clock if the service's cannot be read.
    pub(crate) fn service_now(&self) -> Timestamp {
        self.now().unwrap_or_else(|_| Timestamp::now())
    }

    /// A clock for the time that a prompt is open. Another command may move an embedded sandbox's clock in the
    /// meantime.
    pub(crate) fn live_clock(&self) -> impl Fn() -> Timestamp {
        let watched = match &self.target {
            Target::Embedded { database, .. } => {
                Sandbox::open(sandbox::Options::new(Database::File(database.clone()))).ok()
            }
            Target::Remote(_) => None,
        };
        move || {
            let moved = watched.as_ref().and_then(|sandbox| sandbox.now().ok());
            moved
                .or_else(|| self.now().ok())
                .unwrap_or_else(Timestamp::now)
        }
    }
}
