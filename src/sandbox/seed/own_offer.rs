//! What the venue of a fixture offers: the same slots on each of its days.

use jiff::civil::{Date, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::money::Money;
use super::seeded_random::SeededRandom;

/// The currency of a venue whose fixture names none.
const DEFAULT_CURRENCY: &str = "EUR";

#[derive(Clone, Debug)]
pub(crate) struct OwnOffer {
    pub(crate) timezone: TimeZone,
    /// The first and the last start, in minutes after local midnight.
    pub(crate) first: u16,
    pub(crate) last: u16,
    /// The minutes between two starts, at least one.
    pub(crate) every: u16,
    pub(crate) days: Vec<Weekday>,
    pub(crate) closed: Vec<Date>,
    /// The seatings to choose from, at most [`MOST_SEATINGS`]; none if there is no choice.
    pub(crate) seatings: Vec<String>,
    pub(crate) duration_minutes: u32,
    pub(crate) capacity: u32,
    pub(crate) price: Option<Money>,
    pub(crate) card: CardDemand,
    pub(crate) cancellation: CancellationFee,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CardDemand {
    pub(crate) required: bool,
    pub(crate) hold: Option<Money>,
    /// The terms as a sentence, where they have one of their own.
    pub(crate) text: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CancellationFee {
    /// How many hours before the visit a cancellation is late.
    pub(crate) hours: Option<i64>,
    pub(crate) fee: Option<Money>,
    /// The terms as a sentence, where they have one of their own.
    pub(crate) text: Option<String>,
}

/// An availability id has five bits for the seating.
pub(crate) const MOST_SEATINGS: usize = 32;

impl OwnOffer {
    /// The starts of a day, in minutes after local midnight.
    pub(super) fn starts(&self, day: Date) -> impl Iterator<Item = u16> {
        let is_open = self.days.contains(&day.weekday()) && !self.closed.contains(&day);
        let starts = (self.first..=self.last).step_by(usize::from(self.every));
        starts.filter(move |_| is_open)
    }

    pub(super) fn currency(&self) -> &'static str {
        let amounts = [self.price, self.card.hold, self.cancellation.fee];
        let named = amounts.into_iter().flatten().next();
        named.map_or(DEFAULT_CURRENCY, |it| it.currency)
    }
}

/// The zone of this IANA name, from the database that every machine has.
pub(crate) fn timezone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// A number below 2^60 that a text determines.
pub(crate) fn number_of(text: &str) -> i64 {
    SeededRandom::from_text(text).with(0).bits(60).cast_signed()
}
