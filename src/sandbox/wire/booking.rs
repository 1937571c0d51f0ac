//! The booking document, and its summary in events and `open_bookings`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{IdKind, WireTime, add_some};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::state::{Ask, BookingErrorCode, PauseState};

pub(crate) struct BookingDocument<'a>(pub(crate) &'a StoredBooking);

/// The summary of a booking ("Events", 4).
pub(crate) struct BookingSummary<'a>(pub(crate) &'a StoredBooking);

impl Serialize for BookingDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let booking = self.0;
        let payment = booking.state.pause().filter(|it| matches!(it.ask, Ask::Payment { .. }));
        let vendor = booking.pays_by_vendor.then_some("vendor_external");
        let mut fields = serializer.serialize_map(None)?;
        add_head(&mut fields, booking)?;
        fields.serialize_entry("venue_id", &booking.venue_id)?;
        fields.serialize_entry("venue_name", &booking.venue_name)?;
        fields.serialize_entry("datetime", &booking.datetime)?;
        fields.serialize_entry("party_size", &booking.party_size)?;
        fields.serialize_entry("customer", &booking.customer)?;
        add_some(&mut fields, "end_user", booking.end_user.as_ref())?;
        add_some(&mut fields, "seating_preference", booking.seating.as_ref())?;
        add_some(&mut fields, "payment_collection", vendor)?;
        add_outcome(&mut fields, booking)?;
        // Until when a payment can be answered.
        add_some(&mut fields, "expires_at", payment.map(|it| WireTime(it.expires_at)))?;
        fields.serialize_entry("created_at", &WireTime(booking.created_at))?;
        fields.serialize_entry("updated_at", &WireTime(booking.updated_at))?;
        fields.end()
    }
}

impl Serialize for BookingSummary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        add_head(&mut fields, self.0)?;
        add_outcome(&mut fields, self.0)?;
        fields.end()
    }
}

fn add_head<M: SerializeMap>(fields: &mut M, booking: &StoredBooking) -> Result<(), M::Error> {
    fields.serialize_entry("id", &IdKind::BOOKING.id(booking.number))?;
    fields.serialize_entry("object", "booking")?;
    fields.serialize_entry("status", booking.state.status())?;
    fields.serialize_entry("provider", &booking.provider)
}

/// Why a booking is in its state, what it waits for, and what was changed last.
fn add_outcome<M: SerializeMap>(fields: &mut M, booking: &StoredBooking) -> Result<(), M::Error> {
    let state = &booking.state;
    add_some(fields, "error_code", state.error())?;
    add_some(fields, "error_message", state.error().map(BookingErrorCode::message))?;
    add_some(fields, "next_action", state.pause().map(|it| next_action(it, booking)))?;
    add_some(fields, "last_modification", booking.last_modification.as_ref())?;
    let mut reported = state.reported().into_iter().flatten();
    reported.try_for_each(|(name, value)| fields.serialize_entry(name, value))
}

/// What the guest is asked for. It never contains the one-time code.
fn next_action(pause: &PauseState, booking: &StoredBooking) -> Value {
    match &pause.ask {
        Ask::Otp { channel, sent_to, .. } => json!({
            "type": "otp",
            "message": "Enter the one-time code that was sent to the guest.",
            "channel": channel,
            "sent_to": sent_to,
            "expires_at": WireTime(pause.expires_at),
        }),
        Ask::Payment { approval_id, amount, currency } => json!({
            "type": "payment_approval",
            // A slot says what it costs or holds for each guest, and this is for all of them.
            "message": match booking.party_size {
                1 => "Have the payment approved by the payment vendor.".to_owned(),
                guests => {
                    format!("Have the payment for {guests} guests approved by the payment vendor.")
                }
            },
            "amount": amount,
            "currency": currency,
            "psp_request": {
                "approval_id": approval_id,
                "merchant": booking.venue_name,
                "amount": amount,
                "currency": currency,
            },
            "expires_at": WireTime(pause.expires_at),
        }),
        Ask::Details { fields } => json!({
            "type": "confirm_details",
            "message": "The venue wants to know more before it confirms.",
            "fields": fields,
        }),
    }
}
