//! The JSON documents, fields in the order of the specification, with ids and times.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::rules::booking::StoredBooking;
use super::rules::state::{Ask, BookingErrorCode, PauseState};

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

pub(crate) struct BookingDocument<'a>(pub(crate) &'a StoredBooking);

/// The summary of a booking in events and `open_bookings` ("Events", 4).
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

/// Adds a field that a document has or lacks.
pub(crate) fn add_some<M: SerializeMap>(
    fields: &mut M,
    name: &str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |it| fields.serialize_entry(name, &it))
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
