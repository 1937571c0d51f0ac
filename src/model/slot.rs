//! A slot as the service offered it (spec, Availability slot), read tolerantly.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::Value;

use super::money::money;

/// One bookable slot.
#[derive(Clone, Debug)]
pub(crate) struct Slot(Value);

impl Slot {
    /// Takes a value for a slot: it needs an `availability_id` and a `datetime`, or it is none.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let text = |field| {
            value
                .get(field)
                .and_then(Value::as_str)
                .is_some_and(|text| !text.is_empty())
        };
        (text("availability_id") && text("datetime")).then_some(Slot(value))
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }

    pub(crate) fn id(&self) -> &str {
        self.str("availability_id").unwrap_or_default()
    }

    /// The time exactly as it was offered.
    pub(crate) fn datetime(&self) -> &str {
        self.str("datetime").unwrap_or_default()
    }

    pub(crate) fn instant(&self) -> Option<Timestamp> {
        self.datetime().parse().ok()
    }

    /// The time that a clock at the venue shows.
    pub(crate) fn local(&self) -> Option<DateTime> {
        self.datetime().parse().ok()
    }

    /// What the guest's card is needed for, in the venue's own words where it has some.
    pub(crate) fn card_terms(&self) -> Option<String> {
        card_terms(&self.0)
    }

    pub(crate) fn cancellation_terms(&self) -> Option<String> {
        cancellation_terms(&self.0)
    }

    pub(crate) fn price(&self) -> Option<String> {
        amount(self.0.get("price")?, "amount")
    }
}

/// The card terms of a slot or a booking.
pub(crate) fn card_terms(document: &Value) -> Option<String> {
    terms(document.get("card_terms")?, "hold_amount")
}

/// The cancellation terms of a slot or a booking.
pub(crate) fn cancellation_terms(document: &Value) -> Option<String> {
    terms(document.get("cancellation_terms")?, "fee_amount")
}

fn terms(terms: &Value, amount_field: &str) -> Option<String> {
    let text = terms.get("text").and_then(Value::as_str).map(str::to_owned);
    text.or_else(|| amount(terms, amount_field))
}

fn amount(object: &Value, field: &str) -> Option<String> {
    money(
        object.get(field)?,
        object.get("currency").and_then(Value::as_str),
    )
}
