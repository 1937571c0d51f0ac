//! The slot document, with the card and cancellation terms of dining.

use jiff::Zoned;
use jiff::fmt::temporal::DateTimePrinter;
use serde::Serialize;

use crate::sandbox::seed::{CancellationTerms, CardTerms, Money, Slot};

/// Writes whole seconds.
const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(0));

/// A slot as the availability returns it.
#[derive(Serialize)]
pub(crate) struct SlotDocument<'a> {
    availability_id: &'a str,
    datetime: String,
    party_size: u8,
    duration_minutes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seating: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_terms: Option<Card<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancellation_terms: Option<Cancellation<'a>>,
}

/// An amount in minor units.
#[derive(Serialize)]
struct Price {
    amount: i64,
    currency: &'static str,
}

#[derive(Serialize)]
struct Card<'a> {
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_amount: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'static str>,
    text: &'a str,
}

#[derive(Serialize)]
struct Cancellation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    free_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fee_amount: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'static str>,
    text: &'a str,
}

impl<'a> SlotDocument<'a> {
    /// The document of a slot for a party of this size.
    pub(crate) fn of(slot: &'a Slot, party_size: u8) -> Self {
        Self {
            availability_id: &slot.id,
            datetime: local_time(&slot.datetime),
            party_size,
            duration_minutes: slot.duration_minutes,
            seating: slot.seating.as_deref(),
            price: slot.price.as_ref().map(Price::of),
            card_terms: slot.card_terms.as_ref().map(Card::of),
            cancellation_terms: slot.cancellation_terms.as_ref().map(Cancellation::of),
        }
    }
}

impl Price {
    const fn of(money: &Money) -> Self {
        Self {
            amount: money.amount,
            currency: money.currency,
        }
    }
}

impl<'a> Card<'a> {
    fn of(terms: &'a CardTerms) -> Self {
        Self {
            required: terms.required,
            hold_amount: terms.hold_amount,
            currency: terms.currency,
            text: &terms.text,
        }
    }
}

impl<'a> Cancellation<'a> {
    fn of(terms: &'a CancellationTerms) -> Self {
        Self {
            free_until: terms.free_until.as_ref().map(local_time),
            fee_amount: terms.fee_amount,
            currency: terms.currency,
            text: &terms.text,
        }
    }
}

/// A local time as RFC 3339 with its offset, without the name of the zone.
pub(crate) fn local_time(at: &Zoned) -> String {
    PRINTER.timestamp_with_offset_to_string(&at.timestamp(), at.offset())
}
