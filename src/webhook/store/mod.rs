//! The received events and the attempts to forward them: `webhooks.db`, beside the journal.
//!
//! One thread writes. It commits all waiting writes in one transaction and answers them when that is on the disk. Other
//! processes may read meanwhile.

mod attempts;
mod history;
mod open;
mod receipts;
mod registration;
mod writer;

pub(crate) use attempts::{AppAnswer, Content, QueuedDelivery};
pub(crate) use history::{AttemptRow, EventRow, Query};
pub(crate) use open::Webhooks;
pub(crate) use receipts::{Intent, Receipt, ReceivedDelivery};
pub(crate) use registration::Registration;
pub(crate) use writer::{Store, StoreError};

use jiff::Timestamp;

/// The state of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Stored and not forwarded.
    Kept,
    /// To be forwarded.
    Waiting,
    /// The app answered 2xx.
    Delivered,
    /// The app did not answer 2xx to any attempt of the schedule.
    Abandoned,
    /// The app did not answer 2xx; the service, which received its status, sends the event again.
    Undelivered,
}

impl State {
    /// All states.
    pub(crate) const ALL: [State; 5] = [
        State::Kept,
        State::Waiting,
        State::Delivered,
        State::Abandoned,
        State::Undelivered,
    ];

    /// The name in the database, in JSON and in `--state`.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            State::Kept => "kept",
            State::Waiting => "waiting",
            State::Delivered => "delivered",
            State::Abandoned => "abandoned",
            State::Undelivered => "undelivered",
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
