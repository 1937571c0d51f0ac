//! What a venue offers, as a fixture describes it. The seeded venues are made in the same way.

use jiff::civil::{Date, DateTime, Time, time};
use serde::{Deserialize, Deserializer, Serialize};

use super::city::{City, Currency, Money};
use super::scenario::Scenario;

/// What kind of booking a venue takes ("What the service does").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Vertical {
    Dining,
    Fitness,
    Entertainment,
    Travel,
}

/// Which slots a venue has on each of its days.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SlotPlan {
    pub(crate) from: Time,
    /// The last start.
    pub(crate) to: Time,
    pub(crate) every_minutes: u16,
    pub(crate) capacity: u32,
    #[serde(default = "every_day")]
    pub(crate) days: Vec<Weekday>,
    #[serde(default = "usual_duration")]
    pub(crate) duration_minutes: u32,
    pub(crate) price: Option<Money>,
    /// The seatings to choose from; empty if there is no choice.
    #[serde(default, deserialize_with = "texts")]
    pub(crate) seating: Vec<String>,
    pub(crate) card_terms: Option<CardTerms>,
    pub(crate) cancellation_terms: Option<CancellationFee>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// As a fixture demands them; a slot shows them with what the fixture leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CardTerms {
    /// If it is not said, a card is required where an amount is held on it.
    pub(crate) required: Option<bool>,
    /// In minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hold_amount: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<Currency>,
    pub(crate) text: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CancellationFee {
    /// How many hours before the visit a cancellation is late.
    pub(crate) free_until_hours: Option<i64>,
    pub(crate) fee_amount: Option<i64>,
    pub(crate) currency: Option<Currency>,
    /// The terms as a sentence, where they have one of their own.
    pub(crate) text: Option<String>,
}

fn every_day() -> Vec<Weekday> {
    use Weekday::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
    vec![Mon, Tue, Wed, Thu, Fri, Sat, Sun]
}

const fn usual_duration() -> u32 {
    90
}

fn texts<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text, or a list of texts")]
    enum Texts {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Option::deserialize(source)? {
        None => Vec::new(),
        Some(Texts::One(text)) => vec![text],
        Some(Texts::Several(texts)) => texts,
    })
}

impl SlotPlan {
    /// Slots that start at these times of each day, without a price and without terms.
    fn daily(from: (i8, i8), to: (i8, i8), every_minutes: u16, capacity: u32) -> Self {
        Self {
            from: time(from.0, from.1, 0, 0),
            to: time(to.0, to.1, 0, 0),
            every_minutes,
            capacity,
            days: every_day(),
            duration_minutes: usual_duration(),
            ..Self::default()
        }
    }

    /// What the venues of a vertical offer. Prices and terms follow from the price level, 1 to 4.
    pub(super) fn of_vertical(vertical: Vertical, level: u8, city: &City) -> Self {
        let level = i64::from(level);
        let (mut offer, pounds) = match vertical {
            Vertical::Dining => (Self::daily((12, 0), (21, 30), 30, 3), None),
            Vertical::Fitness => (Self::daily((6, 30), (20, 30), 60, 6), Some(9)),
            Vertical::Entertainment => (Self::daily((10, 30), (21, 0), 90, 6), Some(15)),
            Vertical::Travel => (Self::daily((7, 30), (19, 30), 120, 6), Some(25)),
        };
        offer.price = pounds.map(|it| city.money(it * level));
        if vertical == Vertical::Dining && level == 3 {
            offer.seating = vec!["indoor".to_owned(), "terrace".to_owned()];
        }
        if vertical == Vertical::Dining && level > 1 {
            offer.charge(city.money(level * 10));
        }
        offer
    }

    pub(super) fn of_scenario(scenario: Scenario, city: &City) -> Self {
        // Capacity exceeds one rate limit's window, so that demos never run out.
        let mut offer = Self::daily((17, 0), (22, 0), 30, 20);
        if scenario.is_payment() {
            offer.charge(city.money(20));
        }
        offer.met_by(scenario)
    }

    /// The offer with what a scenario makes of it.
    pub(crate) fn met_by(mut self, scenario: Scenario) -> Self {
        match scenario {
            Scenario::LastTable => self.capacity = 1,
            Scenario::NoSlots => self.days.clear(),
            _ => {}
        }
        self
    }

    /// Holds an amount on a card, which a cancellation within 24 hours of the visit forfeits.
    fn charge(&mut self, Money { amount, currency }: Money) {
        self.card_terms = Some(CardTerms {
            required: Some(true),
            hold_amount: Some(amount),
            currency: Some(currency),
            text: None,
        });
        self.cancellation_terms = Some(CancellationFee {
            free_until_hours: Some(24),
            fee_amount: Some(amount),
            currency: Some(currency),
            text: None,
        });
    }

    pub(crate) fn currency(&self) -> Option<Currency> {
        let of_card = || self.card_terms.as_ref()?.currency;
        let of_fee = || self.cancellation_terms.as_ref()?.currency;
        self.price.map(|it| it.currency).or_else(of_card).or_else(of_fee)
    }

    pub(super) fn starts(&self, day: Date) -> impl Iterator<Item = DateTime> {
        let starts = (minutes(self.from)..=minutes(self.to)).step_by(self.every_minutes.into());
        starts
            .filter(move |_| self.is_open(day))
            .map(move |it| day.at((it / 60) as i8, (it % 60) as i8, 0, 0))
    }

    pub(super) fn starts_at(&self, at: DateTime) -> bool {
        let (time, first) = (at.time(), minutes(self.from));
        let is_between = self.from <= time && time <= self.to;
        let is_whole = time.second() == 0 && time.subsec_nanosecond() == 0;
        let is_start = || (minutes(time) - first).is_multiple_of(self.every_minutes);
        is_between && is_whole && self.is_open(at.date()) && is_start()
    }

    fn is_open(&self, day: Date) -> bool {
        let weekday = day.weekday().to_monday_zero_offset();
        self.days.iter().any(|it| *it as i8 == weekday)
    }
}

fn minutes(time: Time) -> u16 {
    time.hour() as u16 * 60 + time.minute() as u16
}
