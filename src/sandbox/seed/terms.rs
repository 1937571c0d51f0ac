//! Card and cancellation terms of dining slots.

use jiff::{ToSpan, Zoned};

use super::money::Money;
use super::own_offer::{CancellationFee, CardDemand};
use super::schedule::Schedule;
use super::seeded_random::Purpose;
use super::venue::{Offer, Venue};
use super::vertical::Vertical;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardTerms {
    pub(crate) required: bool,
    /// The amount held on the card, in minor units.
    pub(crate) hold_amount: Option<i64>,
    pub(crate) currency: Option<&'static str>,
    /// The terms as a sentence.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CancellationTerms {
    /// Until when it is free; `None` if it always is.
    pub(crate) free_until: Option<Zoned>,
    /// The fee from then on, in minor units; `None` if there is none.
    pub(crate) fee_amount: Option<i64>,
    pub(crate) currency: Option<&'static str>,
    /// The terms as a sentence.
    pub(crate) text: String,
}

/// How a venue protects itself against guests who do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// No conditions.
    Open,
    /// No card; please cancel in time.
    Notice { hours: i64 },
    /// A card, which a late cancellation charges.
    Guarantee { hours: i64, pence: i64 },
    /// A card with an amount held on it, which a late cancellation forfeits.
    Hold { hours: i64, pence: i64 },
}

impl Venue {
    /// The terms of a slot of this venue; `None` outside dining.
    pub(super) fn terms(&self, start: &Zoned) -> Option<(CardTerms, CancellationTerms)> {
        let (schedule, home) = match &self.offer {
            Offer::Seeded { schedule, home } => (*schedule, *home),
            Offer::Own(own) => {
                let is_dining = self.vertical == Vertical::Dining;
                return is_dining.then(|| (own.card.terms(), own.cancellation.terms(start)));
            }
        };
        let policy = match (schedule, self.scenario) {
            (Schedule::Scenario, Some(scenario)) if scenario.is_payment() => Policy::Hold {
                hours: 24,
                pence: 2_000,
            },
            (Schedule::Scenario, _) => Policy::Open,
            (Schedule::Table, _) => self.policy(start),
            _ => return None,
        };
        let money = |pence| home.currency.price(pence);
        Some((
            policy.card(money).terms(),
            policy.cancellation(money).terms(start),
        ))
    }

    /// The policy for a table at that time: lenient at lunch, stricter in the evening and at expensive
    /// venues.
    fn policy(&self, start: &Zoned) -> Policy {
        let level = i64::from(self.price_level.unwrap_or(2));
        let pence = level * 1_000;
        let random = self.random.for_purpose(Purpose::Policy);
        let evening = start.hour() >= 17;
        match (evening, level, random.below(4)) {
            (false, 4, _) => Policy::Guarantee { hours: 24, pence },
            (false, _, 0) => Policy::Notice { hours: 2 },
            (false, _, _) | (true, 1, _) => Policy::Open,
            (true, 4, _) => Policy::Hold { hours: 48, pence },
            (true, _, 0) => Policy::Open,
            (true, _, 1) => Policy::Notice { hours: 4 },
            (true, _, 2) => Policy::Guarantee { hours: 12, pence },
            (true, _, _) => Policy::Hold { hours: 24, pence },
        }
    }
}

impl Policy {
    fn card(self, money: impl Fn(i64) -> Money) -> CardDemand {
        let (required, hold) = match self {
            Self::Open | Self::Notice { .. } => (false, None),
            Self::Guarantee { .. } => (true, None),
            Self::Hold { pence, .. } => (true, Some(money(pence))),
        };
        CardDemand {
            required,
            hold,
            text: None,
        }
    }

    fn cancellation(self, money: impl Fn(i64) -> Money) -> CancellationFee {
        let (hours, fee) = match self {
            Self::Open => (None, None),
            Self::Notice { hours } => (Some(hours), None),
            Self::Guarantee { hours, pence } | Self::Hold { hours, pence } => {
                (Some(hours), Some(money(pence)))
            }
        };
        CancellationFee {
            hours,
            fee,
            text: None,
        }
    }
}

impl CardDemand {
    fn terms(&self) -> CardTerms {
        let usual = || match (self.required, self.hold) {
            (_, Some(hold)) => {
                format!("A card is needed; {hold} per guest is held on it until the visit.")
            }
            (true, None) => "A card is needed to keep the table; nothing is held on it.".to_owned(),
            (false, None) => "No card is needed.".to_owned(),
        };
        CardTerms {
            required: self.required,
            hold_amount: self.hold.map(|it| it.amount),
            currency: self.hold.map(|it| it.currency),
            text: self.text.clone().unwrap_or_else(usual),
        }
    }
}

impl CancellationFee {
    fn terms(&self, start: &Zoned) -> CancellationTerms {
        let usual = || match (self.hours, self.fee) {
            (Some(hours), Some(fee)) => {
                format!("Free to cancel until {hours} hours before; {fee} per guest from then on.")
            }
            (Some(hours), None) => {
                format!("Free to cancel; please do so at least {hours} hours before.")
            }
            (None, Some(fee)) => format!("A cancellation costs {fee} per guest."),
            (None, None) => "Free to cancel at any time.".to_owned(),
        };
        CancellationTerms {
            free_until: self
                .hours
                .filter(|_| self.fee.is_some())
                .and_then(|hours| start.checked_sub(hours.hours()).ok()),
            fee_amount: self.fee.map(|it| it.amount),
            currency: self.fee.map(|it| it.currency),
            text: self.text.clone().unwrap_or_else(usual),
        }
    }
}
