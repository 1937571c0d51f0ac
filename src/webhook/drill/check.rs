//! The parts of a drill.

/// One test: the deliveries to send and the answers to expect.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// The section of the service's specification.
    pub(crate) section: &'static str,
    /// Why it matters, as a sentence without a full stop.
    pub(crate) why: &'static str,
    pub(crate) deliveries: Vec<Delivery>,
    /// Whether they are sent concurrently instead of one after the other.
    pub(crate) at_once: bool,
    /// A booking's id, and the status that the consumer should have for it in the end.
    pub(crate) booking: Option<(String, ExpectedStatus)>,
}

/// The status that a consumer should have for a booking whose events came out of order.
#[derive(Clone, Debug)]
pub(crate) enum ExpectedStatus {
    Known(String),
    /// The booking is invented, so only its events have a status: the newest event's is right, those of older events,
    /// which came later, are wrong.
    Invented {
        newest: String,
        outdated: Vec<String>,
    },
}

/// One request to the consumer.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) event_id: String,
    /// The signature header's value; `None` sends no header.
    pub(crate) signature: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) expect: Expect,
    /// Whether the body is sent a few bytes at a time.
    pub(crate) slowly: bool,
    /// Whether the consumer's state is checked for the event. With an unknown kind it may do what it likes.
    pub(crate) counts: bool,
}

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
