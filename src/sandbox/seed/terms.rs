//! Card and cancellation terms of dining slots.

use jiff::{ToSpan, Zoned};

use super::draw::Question;
use super::money::Money;
use super::programme::Programme;
use super::venue::Venue;

/// What a slot asks of the guest's card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardTerms {
    /// Whether a card has to be given.
    pub(crate) required: bool,
    /// What is held on it, in minor units.
    pub(crate) hold_amount: Option<i64>,
    pub(crate) currency: Option<&'static str>,
    /// The same for people.
    pub(crate) text: String,
}

/// What a cancellation costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CancellationTerms {
    /// Until when it is free; none: to the end.
    pub(crate) free_until: Option<Zoned>,
    /// What it costs from then on, in minor units; none: nothing.
    pub(crate) fee_amount: Option<i64>,
    pub(crate) currency: Option<&'static str>,
    /// The same for people.
    pub(crate) text: String,
}

/// How a venue guards itself against empty tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// Trust.
    Open,
    /// No card, but a word in time.
    Notice { hours: i64 },
    /// A card, charged for a late cancellation.
    Guarantee { hours: i64, pence: i64 },
    /// A card, on which an amount is held, and kept at a late cancellation.
    Hold { hours: i64, pence: i64 },
}

impl Venue {
    /// The terms of a slot of this venue; none outside dining.
    pub(super) fn terms(&self, start: &Zoned) -> Option<(CardTerms, CancellationTerms)> {
        let policy = match (self.programme, self.scenario) {
            (Programme::Scenario, Some(scenario)) if scenario.is_payment() => Policy::Hold {
                hours: 24,
                pence: 2_000,
            },
            (Programme::Scenario, _) => Policy::Open,
            (Programme::Table, _) => self.policy(start),
            _ => return None,
        };
        let money = |pence| self.home.currency.price(pence);
        Some((
            policy.card_terms(money),
            policy.cancellation_terms(start, money),
        ))
    }

    /// What the venue asks for a table at that time: little at lunch, more in the evening and at
    /// dear houses.
    fn policy(&self, start: &Zoned) -> Policy {
        let level = i64::from(self.price_level.unwrap_or(2));
        let pence = level * 1_000;
        let draw = self.key.ask(Question::Policy);
        let evening = start.hour() >= 17;
        match (evening, level, draw.below(4)) {
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
    fn card_terms(self, money: impl Fn(i64) -> Money) -> CardTerms {
        let (required, hold, text) = match self {
            Self::Open | Self::Notice { .. } => (false, None, "No card is needed.".to_owned()),
            Self::Guarantee { .. } => (
                true,
                None,
                "A card is needed to keep the table; nothing is held on it.".to_owned(),
            ),
            Self::Hold { pence, .. } => {
                let hold = money(pence);
                (
                    true,
                    Some(hold),
                    format!("A card is needed; {hold} is held on it until the visit."),
                )
            }
        };
        CardTerms {
            required,
            hold_amount: hold.map(|it| it.amount),
            currency: hold.map(|it| it.currency),
            text,
        }
    }

    fn cancellation_terms(self, start: &Zoned, money: impl Fn(i64) -> Money) -> CancellationTerms {
        let (hours, fee) = match self {
            Self::Open => (None, None),
            Self::Notice { hours } => (Some(hours), None),
            Self::Guarantee { hours, pence } | Self::Hold { hours, pence } => {
                (Some(hours), Some(money(pence)))
            }
        };
        let text = match (hours, fee) {
            (Some(hours), Some(fee)) => {
                format!("Free to cancel until {hours} hours before; {fee} from then on.")
            }
            (Some(hours), None) => {
                format!("Free to cancel; please do so at least {hours} hours before.")
            }
            (None, _) => "Free to cancel at any time.".to_owned(),
        };
        CancellationTerms {
            free_until: hours
                .filter(|_| fee.is_some())
                .and_then(|hours| start.checked_sub(hours.hours()).ok()),
            fee_amount: fee.map(|it| it.amount),
            currency: fee.map(|it| it.currency),
            text,
        }
    }
}
