//! The examination of a consumer: what is sent to it, and what is made of its answers.

mod plan;
mod run;
mod state;
mod verdict;

pub(crate) use plan::{Subject, plan};
pub(crate) use run::run;
pub(crate) use state::Ledger;
pub(crate) use verdict::{Finding, Report, judge};

/// One thing that is looked at.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// Where it comes from in the service's specification.
    pub(crate) section: &'static str,
    /// Why it matters, as one sentence without its full stop.
    pub(crate) why: &'static str,
    pub(crate) deliveries: Vec<Delivery>,
    /// Whether they are sent beside each other, instead of one after the other.
    pub(crate) at_once: bool,
    /// A booking, and where it has to stand in the end.
    pub(crate) booking: Option<(String, Standing)>,
}

/// Where a booking stands once its events have come out of order.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// The service says so.
    Known(String),
    /// The service knows of no such booking, so its events alone tell: the newest one's status, and those of older
    /// ones, which came later.
    Told {
        newest: String,
        outdated: Vec<String>,
    },
}

/// One request to the consumer.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) event_id: String,
    /// Without one the header is missing.
    pub(crate) signature: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) expect: Expect,
    /// Sent a few bytes at a time.
    pub(crate) slowly: bool,
    /// Whether the consumer has to act on it: what it does with a kind that it does not know is its own affair.
    pub(crate) counts: bool,
}

/// What a consumer should answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Any 2xx.
    Taken,
    /// Any 4xx.
    Refused,
}

impl Expect {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Expect::Taken => "2xx",
            Expect::Refused => "4xx",
        }
    }
}
