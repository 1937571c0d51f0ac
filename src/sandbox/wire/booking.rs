//! The booking document, and its summary in events and `open_bookings`. They are put together as text, because most requests
//! write one: `serde` takes more than twice as many instructions.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::id::IdKind;
use super::moment::Moment;
use crate::sandbox::rules::booking::{Booking, Customer};
use crate::sandbox::rules::state::{Ask, Pause};
use crate::sandbox::seed;

/// The size in bytes of most documents, for which room is made.
const USUAL_SIZE: usize = 768;

/// The booking document.
pub(crate) fn booking_document(booking: &Booking) -> String {
    let mut document = fields(booking);
    document.push('}');
    document
}

/// The booking document with the organization that the booking belongs to.
pub(crate) fn owned_booking_document(booking: &Booking) -> String {
    let mut document = fields(booking);
    add_text(
        &mut document,
        r#","organization":""#,
        Some(&booking.organization),
    );
    document.push('}');
    document
}

/// The summary of a booking ("Events", 4).
pub(crate) fn booking_summary(booking: &Booking) -> String {
    let mut summary = String::with_capacity(USUAL_SIZE);
    add_head(&mut summary, booking);
    add_outcome(&mut summary, booking);
    summary.push('}');
    summary
}

/// The fields of the document, without the brace at their end.
fn fields(booking: &Booking) -> String {
    let mut text = String::with_capacity(USUAL_SIZE);
    add_head(&mut text, booking);
    let venue_id = escaped(&booking.venue_id);
    let venue_name = escaped(venue_name(booking));
    let datetime = escaped(&booking.datetime);
    let party_size = booking.party_size.to_string();
    text.extend([
        r#","venue_id":""#,
        &venue_id,
        r#"","venue_name":""#,
        &venue_name,
        r#"","datetime":""#,
        &datetime,
        r#"","party_size":"#,
        &party_size,
    ]);
    text.extend([r#","customer":"#, &customer_document(&booking.customer)]);
    let seating = booking.seating.as_deref();
    let collection = booking.pays_by_vendor.then_some("vendor_external");
    add_text(&mut text, r#","end_user":""#, booking.end_user.as_deref());
    add_text(&mut text, r#","seating_preference":""#, seating);
    add_text(&mut text, r#","payment_collection":""#, collection);
    add_outcome(&mut text, booking);
    let payment = booking.state.pause();
    let payment = payment.filter(|pause| matches!(pause.ask, Ask::Payment { .. }));
    let expires_at = payment.map(|pause| Moment(pause.expires_at).text());
    add_text(&mut text, r#","expires_at":""#, expires_at.as_deref());
    let created_at = Moment(booking.created_at).text();
    let updated_at = match booking.updated_at == booking.created_at {
        true => Cow::Borrowed(created_at.as_str()),
        false => Cow::Owned(Moment(booking.updated_at).text()),
    };
    text.extend([
        r#","created_at":""#,
        &created_at,
        r#"","updated_at":""#,
        &updated_at,
        "\"",
    ]);
    text
}

/// The first fields of document and summary.
fn add_head(text: &mut String, booking: &Booking) {
    text.extend([
        r#"{"id":""#,
        &IdKind::Booking.id(booking.number),
        r#"","object":"booking","status":""#,
        booking.state.status().as_str(),
        r#"","provider":""#,
        booking.provider.id(),
        "\"",
    ]);
}

/// The guest, as the booking document and the store have it.
pub(crate) fn customer_document(customer: &Customer) -> String {
    let mut text = String::with_capacity(128);
    add_text(&mut text, r#"{"name":""#, Some(&customer.name));
    add_text(&mut text, r#","email":""#, customer.email.as_deref());
    add_text(&mut text, r#","phone":""#, customer.phone.as_deref());
    text.push('}');
    text
}

/// Why the booking is in its state, what it waits for, and what was changed last.
fn add_outcome(text: &mut String, booking: &Booking) {
    let error = booking.state.error();
    add_text(text, r#","error_code":""#, error.map(|it| it.as_str()));
    add_text(text, r#","error_message":""#, error.map(|it| it.message()));
    if let Some(pause) = booking.state.pause() {
        let action = next_action(pause, booking).to_string();
        text.extend([r#","next_action":"#, &action]);
    }
    if let Some(last) = &booking.last_modification {
        let last = json!({"at": Moment(last.at), "changes": last.changes}).to_string();
        text.extend([r#","last_modification":"#, &last]);
    }
}

/// Adds a field that is a string, if it has a value: `start` is all that stands before that.
fn add_text(text: &mut String, start: &str, value: Option<&str>) {
    if let Some(value) = value {
        text.extend([start, &escaped(value), "\""]);
    }
}

/// What stands between the quotes of a JSON string.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    if !text.bytes().any(is_special) {
        return Cow::Borrowed(text);
    }
    let quoted = Value::from(text).to_string();
    Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
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
            "message": payment_message(booking.party_size),
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

/// A slot says what it costs or holds for each guest, and the payment is for all of them.
fn payment_message(party_size: u8) -> String {
    match party_size {
        1 => "Have the payment approved by the payment vendor.".to_owned(),
        guests => {
            format!("Have the payment for all {guests} guests approved by the payment vendor.")
        }
    }
}

fn venue_name(booking: &Booking) -> &str {
    let seeded = || seed::venue(&booking.venue_id).map(|it| it.name.as_str());
    let name = booking.venue_name.as_deref().or_else(seeded);
    name.unwrap_or(&booking.venue_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::rules::booking::Modification;
    use crate::sandbox::rules::state::BookingState;
    use crate::sandbox::seed::Provider;

    #[test]
    fn a_document_has_the_fields_in_the_order_of_the_contract_and_escapes_what_a_guest_wrote() {
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let strange = "\"\\\n\u{1}é\u{2028}/";
        let changes = json!({"party_size": {"from": 3, "to": 2}});
        let booking = Booking {
            number: 1,
            organization: strange.to_owned(),
            is_test: false,
            provider: Provider::A,
            venue_id: strange.to_owned(),
            venue_name: None,
            datetime: "2026-12-01T19:30:00+00:00".to_owned(),
            party_size: 2,
            customer: Customer {
                name: strange.to_owned(),
                email: Some("ada@example.com".to_owned()),
                phone: Some(strange.to_owned()),
            },
            end_user: Some(strange.to_owned()),
            seating: Some(strange.to_owned()),
            pays_by_vendor: true,
            webhook_url: None,
            slot_id: None,
            state: BookingState::Confirmed { error: None },
            last_modification: Some(Modification {
                at,
                changes: changes.as_object().unwrap().clone(),
            }),
            created_at: at,
            updated_at: "2026-11-21T12:00:01Z".parse().unwrap(),
        };
        let expected = json!({
            "id": "bk_0000000000001",
            "object": "booking",
            "status": "confirmed",
            "provider": "provider_a",
            "venue_id": strange,
            "venue_name": strange,
            "datetime": "2026-12-01T19:30:00+00:00",
            "party_size": 2,
            "customer": {"name": strange, "email": "ada@example.com", "phone": strange},
            "end_user": strange,
            "seating_preference": strange,
            "payment_collection": "vendor_external",
            "last_modification": {"at": "2026-11-21T12:00:00.000Z", "changes": changes},
            "created_at": "2026-11-21T12:00:00.000Z",
            "updated_at": "2026-11-21T12:00:01.000Z",
            "organization": strange,
        });
        assert_eq!(owned_booking_document(&booking), expected.to_string());
        let short = json!({
            "id": "bk_0000000000001",
            "object": "booking",
            "status": "confirmed",
            "provider": "provider_a",
            "last_modification": {"at": "2026-11-21T12:00:00.000Z", "changes": changes},
        });
        assert_eq!(booking_summary(&booking), short.to_string());
    }
}
