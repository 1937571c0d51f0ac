//! Whose rows of the journal are meant, and who writes them.

use std::cell::Cell;
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::runs::{Actor, Run, may_be_sent_by};
use crate::service::documents::venue::Venue;
use crate::service::time::retention::Retention;

/// Looks up a venue that was seen before by its id, for its name and its time zone.
pub(crate) type VenueLookup = Box<dyn Fn(&str) -> Option<Venue>>;

#[derive(Default)]
pub(crate) struct Scope {
    /// Keeps apart what belongs to other services.
    pub(crate) origin: String,
    pub(crate) profile: Option<String>,
    /// The fingerprint of the API key. It decides which attempts may be sent, and nothing else.
    pub(crate) account: String,
    pub(crate) maker: Actor,
    pub(crate) retention: Cell<Retention>,
    /// The service's clock minus ours, as far as a response shows it.
    pub(crate) skew: Cell<SignedDuration>,
    /// Whether attempts of other accounts are this organization's, too, because its API key was
    /// changed: a person said so.
    pub(crate) takes_any_account: Cell<bool>,
    pub(crate) venue: Option<VenueLookup>,
}

impl Scope {
    /// The latest start of a request whose guest is now due for deletion. What is deleted does not
    /// come back: of two clocks that contradict each other, the earlier one counts.
    pub(super) fn retention_cutoff(&self) -> Timestamp {
        let now = Timestamp::now();
        let earlier = now.saturating_add(self.skew.get().min(SignedDuration::ZERO));
        self.retention.get().ended(earlier.unwrap_or(now))
    }

    pub(super) fn keeps_guests(&self) -> bool {
        let now = Timestamp::now();
        self.retention.get().ended(now) < now
    }

    pub(super) fn may_send(&self, runs: &[Run]) -> bool {
        self.takes_any_account.get() || may_be_sent_by(&self.account, runs)
    }

    /// Distinguishes this process from all others that may claim something.
    pub(super) fn claimer(&self) -> String {
        let Actor { user, host } = &self.maker;
        // In containers, processes of the same host may have the same number.
        static TOKEN: LazyLock<Uuid> = LazyLock::new(Uuid::now_v7);
        format!("{user}@{host}/{}/{}", std::process::id(), *TOKEN)
    }
}
