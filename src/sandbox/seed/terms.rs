//! Card and cancellation terms of dining slots.

use jiff::fmt::temporal::DateTimePrinter;
use jiff::{ToSpan, Zoned};
use serde::Serialize;

use super::money::Money;
use super::own_offer::{CancellationFee, CardDemand};
use super::schedule::Vertical;
use super::seeded_random::Purpose;
use super::venue::{Offer, Venue};

/// Writes whole seconds.
const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(0));

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CardTerms {
    pub(crate) required: bool,
    /// The amount held on the card, in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hold_amount: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<&'static str>,
    /// The terms as a sentence.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CancellationTerms {
    /// Until when it is free; `None` if it always is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) free_until: Option<String>,
    /// The fee from then on, in minor units; `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fee_amount: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<&'static str>,
    /// The terms as a sentence.
    pub(crate) text: String,
}

/// How a venue protects itself against guests who do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    NoCard,
    /// A card, which a late cancellation charges.
    Card,
    /// A card with an amount held on it, which a late cancellation forfeits.
    Hold,
}

impl Venue {
    /// The terms of a slot of this venue; `None` outside dining.
    pub(super) fn terms(&self, start: &Zoned) -> Option<(CardTerms, CancellationTerms)> {
        if self.vertical != Vertical::Dining {
            return None;
        }
        let home = match &self.offer {
            Offer::Seeded { home, .. } => home,
            Offer::Own(own) => {
                let card = own.slots.card_terms.clone().unwrap_or_default();
                let fee = own.slots.cancellation_terms.clone().unwrap_or_default();
                return Some((card.terms(), fee.terms(start)));
            }
        };
        let (guard, free_until_hours) = match self.scenario {
            Some(scenario) if scenario.is_payment() => (Guard::Hold, Some(24)),
            Some(_) => (Guard::NoCard, None),
            None => self.guard(start),
        };
        let money = home.currency.price(self.level() * 1_000);
        let (holds, charges) = (guard == Guard::Hold, guard != Guard::NoCard);
        let card = CardDemand {
            required: Some(charges),
            hold_amount: holds.then_some(money.amount),
            currency: holds.then_some(money.currency),
            text: None,
        };
        let fee = CancellationFee {
            free_until_hours,
            fee_amount: charges.then_some(money.amount),
            currency: charges.then_some(money.currency),
            text: None,
        };
        Some((card.terms(), fee.terms(start)))
    }

    fn level(&self) -> i64 {
        i64::from(self.price_level.unwrap_or(2))
    }

    /// The guard of a table at that time, with the hours until which it is free to cancel: lenient at lunch, stricter in
    /// the evening and at expensive venues.
    fn guard(&self, start: &Zoned) -> (Guard, Option<i64>) {
        let random = self.random.for_purpose(Purpose::Policy);
        let evening = start.hour() >= 17;
        match (evening, self.level(), random.below(4)) {
            (false, 4, _) => (Guard::Card, Some(24)),
            (false, _, 0) => (Guard::NoCard, Some(2)),
            (false, _, _) | (true, 1, _) => (Guard::NoCard, None),
            (true, 4, _) => (Guard::Hold, Some(48)),
            (true, _, 0) => (Guard::NoCard, None),
            (true, _, 1) => (Guard::NoCard, Some(4)),
            (true, _, 2) => (Guard::Card, Some(12)),
            (true, _, _) => (Guard::Hold, Some(24)),
        }
    }
}

/// The amount in its currency, if it has both.
fn money(amount: Option<i64>, currency: Option<&'static str>) -> Option<Money> {
    let (amount, currency) = amount.zip(currency)?;
    Some(Money { amount, currency })
}

impl CardDemand {
    fn terms(self) -> CardTerms {
        let hold = money(self.hold_amount, self.currency);
        let required = self.required.unwrap_or(hold.is_some());
        let usual = || match (required, hold) {
            (_, Some(hold)) => {
                format!("A card is needed; {hold} per guest is held on it until the visit.")
            }
            (true, None) => "A card is needed to keep the table; nothing is held on it.".to_owned(),
            (false, None) => "No card is needed.".to_owned(),
        };
        CardTerms {
            required,
            hold_amount: hold.map(|it| it.amount),
            currency: hold.map(|it| it.currency),
            text: self.text.unwrap_or_else(usual),
        }
    }
}

impl CancellationFee {
    fn terms(self, start: &Zoned) -> CancellationTerms {
        let fee = money(self.fee_amount, self.currency);
        let hours = self.free_until_hours;
        let usual = || match (hours, fee) {
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
            free_until: hours
                .filter(|_| fee.is_some())
                .and_then(|hours| start.checked_sub(hours.hours()).ok())
                .map(|it| local_time(&it)),
            fee_amount: fee.map(|it| it.amount),
            currency: fee.map(|it| it.currency),
            text: self.text.unwrap_or_else(usual),
        }
    }
}

/// A local time as RFC 3339 with its offset, without the name of the zone.
pub(crate) fn local_time(at: &Zoned) -> String {
    PRINTER.timestamp_with_offset_to_string(&at.timestamp(), at.offset())
}
