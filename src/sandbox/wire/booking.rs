//! The booking document, and its summary in events and `open_bookings`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::id::IdKind;
use super::moment::Moment;
use crate::sandbox::rules::booking::{Booking, Customer};
use crate::sandbox::rules::state::{Ask, Pause};
use crate::sandbox::seed;

/// The booking document.
#[derive(Serialize)]
pub(crate) struct BookingDocument<'a> {
    id: String,
    object: &'static str,
    status: &'static str,
    provider: &'static str,
    venue_id: &'a str,
    venue_name: &'a str,
    datetime: &'a str,
    party_size: u8,
    customer: &'a Customer,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seating_preference: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_collection: Option<&'static str>,
    #[serde(flatten)]
    outcome: Outcome<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Moment>,
    created_at: Moment,
    updated_at: Moment,
}

/// The summary of a booking ("Events", 4).
#[derive(Serialize)]
pub(crate) struct BookingSummary<'a> {
    id: String,
    object: &'static str,
    status: &'static str,
    provider: &'static str,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

/// The fields that document and summary share.
#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_action: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modification: Option<LastModification<'a>>,
}

/// What the last modify changed.
#[derive(Serialize)]
struct LastModification<'a> {
    at: Moment,
    /// `field: {from, to}`.
    changes: &'a Map<String, Value>,
}

impl<'a> BookingDocument<'a> {
    /// The document of a booking.
    pub(crate) fn of(booking: &'a Booking) -> Self {
        let deadline = booking
            .state
            .pause()
            .filter(|pause| matches!(pause.ask, Ask::Payment { .. }))
            .map(|pause| Moment(pause.expires_at));
        Self {
            id: IdKind::Booking.id(booking.number),
            object: "booking",
            status: booking.state.status().as_str(),
            provider: booking.provider.id(),
            venue_id: &booking.venue_id,
            venue_name: venue_name(booking),
            datetime: &booking.datetime,
            party_size: booking.party_size,
            customer: &booking.customer,
            end_user: booking.end_user.as_deref(),
            seating_preference: booking.seating.as_deref(),
            payment_collection: booking.pays_by_vendor.then_some("vendor_external"),
            outcome: Outcome::of(booking),
            expires_at: deadline,
            created_at: Moment(booking.created_at),
            updated_at: Moment(booking.updated_at),
        }
    }
}

impl<'a> BookingSummary<'a> {
    /// The summary of a booking, as events contain it.
    pub(crate) fn of(booking: &'a Booking) -> Self {
        Self {
            id: IdKind::Booking.id(booking.number),
            object: "booking",
            status: booking.state.status().as_str(),
            provider: booking.provider.id(),
            outcome: Outcome::of(booking),
        }
    }
}

impl<'a> Outcome<'a> {
    fn of(booking: &'a Booking) -> Self {
        let error = booking.state.error();
        Self {
            error_code: error.map(|it| it.as_str()),
            error_message: error.map(|it| it.message()),
            next_action: booking.state.pause().map(|it| next_action(it, booking)),
            last_modification: booking
                .last_modification
                .as_ref()
                .map(|it| LastModification {
                    at: Moment(it.at),
                    changes: &it.changes,
                }),
        }
    }
}

/// What the guest is asked for. It never contains the one-time code.
fn next_action(pause: &Pause, booking: &Booking) -> Value {
    match &pause.ask {
        Ask::Otp {
            channel, sent_to, ..
        } => json!({
            "type": "otp",
            "message": "Enter the one-time code that was sent to the guest.",
            "channel": channel,
            "sent_to": sent_to,
            "expires_at": Moment(pause.expires_at),
        }),
        Ask::Payment {
            approval_id,
            amount,
            currency,
        } => json!({
            "type": "payment_approval",
            "message": "Have the payment approved by the payment vendor.",
            "amount": amount,
            "currency": currency,
            "psp_request": {
                "approval_id": approval_id,
                "merchant": venue_name(booking),
                "amount": amount,
                "currency": currency,
            },
            "expires_at": Moment(pause.expires_at),
        }),
        Ask::Details { fields } => json!({
            "type": "confirm_details",
            "message": "The venue wants to know more before it confirms.",
            "fields": fields,
        }),
    }
}

fn venue_name(booking: &Booking) -> &str {
    let seeded = || seed::venue(&booking.venue_id).map(|it| it.name.as_str());
    let name = booking.venue_name.as_deref().or_else(seeded);
    name.unwrap_or(&booking.venue_id)
}
