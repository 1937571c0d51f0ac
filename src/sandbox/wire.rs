//! The JSON documents, fields in the order of the specification, with ids and times.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::rules::booking::{Modification, StoredBooking, StoredCustomer};
use super::rules::state::{Ask, BookingErrorCode, PauseState};
use super::seed::Provider;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: u32 = 13;

/// What the ids of a kind begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdKind(&'static str);

impl IdKind {
    pub(crate) const BOOKING: Self = Self("bk_");
    pub(crate) const EVENT: Self = Self("evt_");
    pub(crate) const FAULT: Self = Self("flt_");
    pub(crate) const MESSAGE: Self = Self("msg_");
    pub(crate) const ORGANIZATION: Self = Self("org_");
    pub(crate) const REQUEST: Self = Self("req_");
    pub(crate) const SESSION: Self = Self("ses_");

    pub(crate) fn id(self, number: i64) -> String {
        let mut id = String::with_capacity(18);
        id.push_str(self.0);
        for place in (0..LENGTH).rev() {
            let digit = (number >> (5 * place)) & 31;
            let digit = usize::try_from(digit).unwrap_or_default();
            id.push(char::from(ALPHABET[digit]));
        }
        id
    }

    /// The number of an id; `None` if it is not an id of this kind.
    pub(crate) fn number(self, id: &str) -> Option<i64> {
        let digits = id.strip_prefix(self.0)?;
        if digits.len() != LENGTH as usize || digits > "7zzzzzzzzzzzz" {
            return None;
        }
        digits.bytes().try_fold(0, |number: i64, byte| {
            let digit = ALPHABET.iter().position(|it| *it == byte)?;
            Some(number << 5 | i64::try_from(digit).ok()?)
        })
    }
}

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// A time as RFC 3339 in UTC with milliseconds, so that texts sort as times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct WireTime(pub(crate) Timestamp);

impl WireTime {
    pub(crate) fn text(self) -> String {
        PRINTER.timestamp_to_string(&self.0)
    }
}

impl Serialize for WireTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// A document without its fields that are null.
pub(crate) fn without_nulls(mut document: Value) -> Value {
    if let Value::Object(fields) = &mut document {
        fields.retain(|_, value| !value.is_null());
    }
    document
}

/// Adds whose it is to a document of the controls. `names` are those of organizations.
pub(crate) fn add_owner(document: &mut Value, organization: &str, names: &HashMap<String, String>) {
    document["organization"] = organization.into();
    if let Some(name) = names.get(organization) {
        document["organization_name"] = name.as_str().into();
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_as_their_numbers_and_lead_back_to_them() {
        let numbers = [0, 1, 31, 32, 1 << 40, i64::MAX];
        let ids = numbers.map(|it| IdKind::BOOKING.id(it));
        assert!(ids.is_sorted());
        assert_eq!(ids.clone().map(|it| IdKind::BOOKING.number(&it)), numbers.map(Some));
        assert_eq!(IdKind::EVENT.number(&ids[1]), None);
    }

    #[test]
    fn what_is_no_id_has_no_number() {
        for id in ["", "bk_", "bk_1", "bk_zzzzzzzzzzzzz", "bk_0000000000o00", "bk_é00000000000"] {
            assert_eq!(IdKind::BOOKING.number(id), None, "{id}");
        }
    }

    #[test]
    fn every_moment_is_as_long_as_any_other() {
        for (ms, text) in
            [(0, "1970-01-01T00:00:00.000Z"), (1_795_262_400_040, "2026-11-21T12:00:00.040Z")]
        {
            let at = Timestamp::from_millisecond(ms).unwrap();
            assert_eq!(serde_json::json!(WireTime(at)), text);
        }
    }
}
