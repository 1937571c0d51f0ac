//! The slot document, with the card and cancellation terms of dining.

use serde::Serialize;

use crate::sandbox::seed::{CancellationTerms, CardTerms, Money, Slot, local_time};

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
    price: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_terms: Option<&'a CardTerms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancellation_terms: Option<&'a CancellationTerms>,
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
            price: slot.price,
            card_terms: slot.card_terms.as_ref(),
            cancellation_terms: slot.cancellation_terms.as_ref(),
        }
    }
}
