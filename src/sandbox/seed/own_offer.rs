//! What the venue of a fixture offers: the same slots on each of its days.

use jiff::civil::{Date, Time};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Deserializer};

use super::money::{CurrencyCode, Money, currency};
use super::seeded_random::SeededRandom;

/// The currency of a venue whose fixture names none.
const DEFAULT_CURRENCY: &str = "EUR";

#[derive(Clone, Debug)]
pub(crate) struct OwnOffer {
    pub(crate) timezone: TimeZone,
    pub(crate) closed: Vec<Date>,
    pub(crate) slots: OwnSlots,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnSlots {
    pub(crate) from: Time,
    /// The last start.
    pub(crate) to: Time,
    pub(crate) every_minutes: u16,
    pub(crate) capacity: u32,
    #[serde(default = "every_day")]
    pub(crate) days: Vec<Day>,
    #[serde(default = "usual_duration")]
    pub(crate) duration_minutes: u32,
    pub(crate) price: Option<Money>,
    seating: Option<Seating>,
    pub(crate) card_terms: Option<CardDemand>,
    pub(crate) cancellation_terms: Option<CancellationFee>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text, or a list of texts")]
enum Seating {
    One(String),
    Several(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CardDemand {
    /// If it is not said, a card is required where an amount is held on it.
    pub(crate) required: Option<bool>,
    pub(crate) hold_amount: Option<i64>,
    #[serde(deserialize_with = "optional_currency")]
    pub(crate) currency: Option<CurrencyCode>,
    /// The terms as a sentence, where they have one of their own.
    pub(crate) text: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CancellationFee {
    /// How many hours before the visit a cancellation is late.
    pub(crate) free_until_hours: Option<i64>,
    pub(crate) fee_amount: Option<i64>,
    #[serde(deserialize_with = "optional_currency")]
    pub(crate) currency: Option<CurrencyCode>,
    /// The terms as a sentence, where they have one of their own.
    pub(crate) text: Option<String>,
}

/// An availability id has five bits for the seating.
pub(crate) const MOST_SEATINGS: usize = 32;

fn every_day() -> Vec<Day> {
    use Day::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
    vec![Mon, Tue, Wed, Thu, Fri, Sat, Sun]
}

const fn usual_duration() -> u32 {
    90
}

fn optional_currency<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Option<CurrencyCode>, D::Error> {
    currency(source).map(Some)
}

impl OwnSlots {
    /// The seatings to choose from; none if there is no choice.
    pub(crate) fn seatings(&self) -> &[String] {
        match &self.seating {
            None => &[],
            Some(Seating::One(text)) => std::slice::from_ref(text),
            Some(Seating::Several(texts)) => texts,
        }
    }
}

impl OwnOffer {
    /// The starts of a day, in minutes after local midnight.
    pub(super) fn starts(&self, day: Date) -> impl Iterator<Item = u16> {
        let slots = &self.slots;
        let weekday = day.weekday().to_monday_zero_offset();
        let is_open =
            slots.days.iter().any(|it| *it as i8 == weekday) && !self.closed.contains(&day);
        let minutes = |time: Time| time.hour() as u16 * 60 + time.minute() as u16;
        let starts = (minutes(slots.from)..=minutes(slots.to)).step_by(slots.every_minutes.into());
        starts.filter(move |_| is_open)
    }

    pub(super) fn currency(&self) -> &'static str {
        let slots = &self.slots;
        let price = slots.price.map(|it| it.currency);
        price
            .or_else(|| slots.card_terms.as_ref()?.currency)
            .or_else(|| slots.cancellation_terms.as_ref()?.currency)
            .unwrap_or(DEFAULT_CURRENCY)
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
