//! What was delivered to this machine, and what became of it: `webhooks.db`, beside the journal.
//!
//! One thread writes; whatever waits for it goes into one transaction, which is on the disk before any of it is
//! answered. Commands of other processes may read meanwhile.

mod attempts;
mod history;
mod open;
mod receipts;
mod registration;
mod writer;

pub(crate) use attempts::{Answer, Parcel};
pub(crate) use history::{AttemptRow, EventRow, Query};
pub(crate) use open::Webhooks;
pub(crate) use receipts::{Delivery, Intent, Receipt};
pub(crate) use registration::Registration;
pub(crate) use writer::{Store, StoreError};

use jiff::Timestamp;

/// Where an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No app was to have it.
    Kept,
    /// The app is to have it.
    Waiting,
    /// The app answered 2xx.
    Delivered,
    /// The app failed as often as the schedule allows.
    Abandoned,
    /// The app failed, and the service was told so: it sends it again.
    Undelivered,
}

impl State {
    pub(crate) const ALL: [State; 5] = [
        State::Kept,
        State::Waiting,
        State::Delivered,
        State::Abandoned,
        State::Undelivered,
    ];

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

/// A header as it came. Its value is bytes; each is the character of that number, so that none is lost in a text.
pub(crate) type HeaderLine = (String, String);

fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).unwrap_or(Timestamp::UNIX_EPOCH)
}
