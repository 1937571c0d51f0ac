//! `POST /v1/bookings`.

use super::super::reply::{Outcome, Reply};
use super::super::request_context::RequestContext;
use super::super::sessions::require_session;
use super::super::slots::{choose_slot, with_held};
use super::super::venues::known_venue;
use crate::sandbox::rules::access::KeyKind;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::create::CreateRequest;
use crate::sandbox::rules::provider_response::{GeneratedCodes, respond};
use crate::sandbox::rules::state::{Ask, BookingState};
use crate::sandbox::rules::transition::step;
use crate::sandbox::seed::Venue;
use crate::sandbox::store::{MessageSubject, Tx, one_time_code, reference};
use crate::sandbox::wire::slot::local_time;

/// The booking that was created with the request's idempotency key, if there is one.
pub(in super::super) fn replay(
    context: &RequestContext<'_, '_>,
) -> Result<Option<Reply>, ApiError> {
    let Some(key) = context.request.idempotency_key() else {
        return Ok(None);
    };
    let booking = context.tx.booking_of_key(&context.organization.id, &key)?;
    booking.map(|it| Reply::booking(200, &it)).transpose()
}

/// Creates a booking, even one that fails at once.
pub(in super::super) fn create(context: &RequestContext<'_, '_>) -> Outcome {
    let tx = context.tx;
    let now = tx.now;
    let request = CreateRequest::of(&context.request.fields()?, now)?;
    let venue = known_venue(context, &request.venue_id)?;
    let venue = venue.as_ref();
    let provider = request.provider(venue)?;
    request.check_guest(provider)?;
    let offered = request.offered_slot(venue)?;
    if let Some(end_user) = request.needs_session(provider) {
        require_session(context, end_user, provider)?;
    }
    request.check_payment(&context.organization, venue, provider)?;

    let slot = match offered {
        Some(slot) => Some(with_held(context, slot)?),
        None => choose_slot(context, venue, request.at, |_| true)?,
    };
    let generate = || GeneratedCodes {
        otp: one_time_code(),
        approval_id: reference("psp_"),
    };
    let event = respond(
        venue,
        slot.as_ref().map(|(slot, held)| (slot, *held)),
        request.pays_by_vendor,
        (&request.customer, request.party_size),
        generate,
        now,
    );
    let datetime = local_time(&request.at.to_zoned(venue.timezone()));
    let mut booking = Booking {
        number: tx.new_number(),
        organization: context.organization.id.clone(),
        is_test: context.key.kind == KeyKind::Test,
        provider,
        venue_id: request.venue_id,
        venue_name: venue.is_own().then(|| venue.name.clone()),
        datetime,
        party_size: request.party_size,
        customer: request.customer,
        end_user: request.end_user,
        seating: slot
            .as_ref()
            .and_then(|(it, _)| it.seating.as_deref())
            .map(str::to_owned),
        pays_by_vendor: request.pays_by_vendor,
        webhook_url: request.webhook_url,
        slot_id: slot.map(|(it, _)| it.id),
        state: BookingState::Requested,
        last_modification: None,
        created_at: now,
        updated_at: now,
    };
    let transition = step(&booking.state, &event, now);
    tx.create_booking(&mut booking, transition)?;
    send_code(tx, &booking, venue)?;
    if let Some(key) = context.request.idempotency_key() {
        tx.save_idempotency_key(&key, &booking)?;
    }
    Reply::booking(201, &booking)
}

/// Sends the guest the one-time code that the booking waits for, if it waits for one.
pub(in super::super) fn send_code(
    tx: &Tx<'_>,
    booking: &Booking,
    venue: &Venue,
) -> Result<(), ApiError> {
    if let Some(Ask::Otp { code, sent_to, .. }) = booking.state.pause().map(|it| &it.ask) {
        let text = format!("{code} is your code to book {}.", venue.name);
        tx.send_code(
            &booking.organization,
            sent_to,
            &text,
            code,
            &MessageSubject::Booking(booking.number),
        )?;
    }
    Ok(())
}
