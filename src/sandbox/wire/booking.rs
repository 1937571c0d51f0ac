//! The booking document, and its summary in events and `open_bookings`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{IdKind, WireTime};
use crate::sandbox::rules::booking::{Modification, StoredBooking, StoredCustomer};
use crate::sandbox::rules::state::{Ask, BookingErrorCode, PauseState};
use crate::sandbox::seed::Provider;

#[derive(Serialize)]
pub(crate) struct BookingDocument<'a> {
    id: String,
    object: &'static str,
    status: &'a str,
    provider: Provider,
    venue_id: &'a str,
    venue_name: &'a str,
    datetime: &'a str,
    party_size: u8,
    customer: &'a StoredCustomer,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seating_preference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_collection: Option<&'static str>,
    #[serde(flatten)]
    outcome: OutcomeFields<'a>,
    /// Until when a payment can be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<WireTime>,
    created_at: WireTime,
    updated_at: WireTime,
}

/// The summary of a booking ("Events", 4).
#[derive(Serialize)]
pub(crate) struct BookingSummary<'a> {
    id: String,
    object: &'static str,
    status: &'a str,
    provider: Provider,
    #[serde(flatten)]
    outcome: OutcomeFields<'a>,
}

/// Why a booking is in its state, what it waits for, and what was changed last.
#[derive(Serialize)]
struct OutcomeFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<BookingErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_action: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modification: Option<&'a Modification>,
    #[serde(flatten)]
    reported: Option<&'a Map<String, Value>>,
}

impl<'a> BookingDocument<'a> {
    pub(crate) fn from_booking(booking: &'a StoredBooking) -> Self {
        let payment = booking.state.pause();
        let payment = payment.filter(|pause| matches!(pause.ask, Ask::Payment { .. }));
        Self {
            id: IdKind::BOOKING.id(booking.number),
            object: "booking",
            status: booking.state.status(),
            provider: booking.provider,
            venue_id: &booking.venue_id,
            venue_name: &booking.venue_name,
            datetime: &booking.datetime,
            party_size: booking.party_size,
            customer: &booking.customer,
            end_user: booking.end_user.as_deref(),
            seating_preference: booking.seating.as_deref(),
            payment_collection: booking.pays_by_vendor.then_some("vendor_external"),
            outcome: OutcomeFields::from_booking(booking),
            expires_at: payment.map(|it| WireTime(it.expires_at)),
            created_at: WireTime(booking.created_at),
            updated_at: WireTime(booking.updated_at),
        }
    }
}

impl<'a> BookingSummary<'a> {
    pub(crate) fn from_booking(booking: &'a StoredBooking) -> Self {
        Self {
            id: IdKind::BOOKING.id(booking.number),
            object: "booking",
            status: booking.state.status(),
            provider: booking.provider,
            outcome: OutcomeFields::from_booking(booking),
        }
    }
}

impl<'a> OutcomeFields<'a> {
    fn from_booking(booking: &'a StoredBooking) -> Self {
        let error = booking.state.error();
        Self {
            error_code: error,
            error_message: error.map(|it| it.message()),
            next_action: booking.state.pause().map(|it| next_action(it, booking)),
            last_modification: booking.last_modification.as_ref(),
            reported: booking.state.reported(),
        }
    }
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
