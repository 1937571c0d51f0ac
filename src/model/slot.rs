//! A slot as the service offered it (spec, Availability slot), parsed leniently.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::Value;

use super::money::money;

/// A slot that can be booked.
#[derive(Clone, Debug)]
pub(crate) struct Slot(Value);

impl Slot {
    /// A slot from its value. Returns `None` if `availability_id` or `datetime` is missing.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let text = |field| {
            value
                .get(field)
                .and_then(Value::as_str)
                .is_some_and(|text| !text.is_empty())
        };
        (text("availability_id") && text("datetime")).then_some(Slot(value))
    }

    /// The document's value.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    /// A string field of the document.
    pub(crate) fn str(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }

    /// Its `availability_id`.
    pub(crate) fn id(&self) -> &str {
        self.str("availability_id").unwrap_or_default()
    }

    /// The time exactly as it was offered.
    pub(crate) fn datetime(&self) -> &str {
        self.str("datetime").unwrap_or_default()
    }

    /// The time as an instant, if it has an offset.
    pub(crate) fn instant(&self) -> Option<Timestamp> {
        self.datetime().parse().ok()
    }

    /// The local time at the venue.
    pub(crate) fn local(&self) -> Option<DateTime> {
        self.datetime().parse().ok()
    }

    /// What the guest's card is needed for, in the venue's own words if it has some.
    pub(crate) fn card_terms(&self) -> Option<String> {
        card_terms(&self.0)
    }

    /// What cancelling costs, in the venue's own words if it has some.
    pub(crate) fn cancellation_terms(&self) -> Option<String> {
        cancellation_terms(&self.0)
    }

    /// The price, if there is one.
    pub(crate) fn price(&self) -> Option<String> {
        amount(self.0.get("price")?, "amount")
    }
}

/// The text of the card terms of a slot or a booking.
pub(crate) fn card_terms(document: &Value) -> Option<String> {
    terms(document.get("card_terms")?, "hold_amount")
}

/// The text of the cancellation terms of a slot or a booking.
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
