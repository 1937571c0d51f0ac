//! Whose rows of the journal are meant, and who writes them.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::runs::{Maker, Run, may_be_sent_by};
use crate::model::retention::Retention;

/// The journal as one command sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Keeps apart what belongs to other services.
    pub(super) origin: String,
    pub(super) profile: Option<String>,
    pub(super) retention: Retention,
    /// The service's clock minus ours, as far as an answer has told it.
    pub(super) skew: SignedDuration,
    /// The fingerprint of the API key. It decides which attempts may be sent, and nothing else.
    pub(super) account: String,
    /// Whether attempts of other accounts are this organization's, too: a person said so.
    pub(super) takes_any_account: bool,
    pub(super) maker: Maker,
    /// Whether several machines use the journal.
    pub(super) is_shared: bool,
}

impl Scope {
    /// The latest start of a request whose guest is now due for deletion. What is deleted does not come back: of two clocks
    /// that contradict each other, the earlier one counts.
    pub(super) fn retention_ended(&self) -> Timestamp {
        let now = Timestamp::now();
        let earlier = now.saturating_add(self.skew.min(SignedDuration::ZERO));
        self.retention.ended(earlier.unwrap_or(now))
    }

    /// Whether this account may send an attempt that has these runs.
    pub(super) fn may_send(&self, runs: &[Run]) -> bool {
        self.takes_any_account || may_be_sent_by(&self.account, runs)
    }

    /// Distinguishes this process from all others that may claim something.
    pub(super) fn claimer(&self) -> String {
        let Maker { user, host } = &self.maker;
        // In containers, processes of the same host may have the same number.
        static TOKEN: LazyLock<Uuid> = LazyLock::new(Uuid::now_v7);
        format!("{user}@{host}/{}/{}", std::process::id(), *TOKEN)
    }
}
