//! `/v1/bookings`.

use axum::http::StatusCode;
use serde_json::json;

use super::reply::{HandlerResult, Reply};
use super::request::RequestContext;
use super::sessions::require_session;
use super::venues::choose_slot;
use crate::sandbox::rules::access::KeyKind;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::rules::provider_response::{GeneratedCodes, answer_outcome, respond};
use crate::sandbox::rules::requests::{ContinueRequest, CreateRequest, ModifyRequest};
use crate::sandbox::rules::state::{Ask, BookingState};
use crate::sandbox::rules::transition::{BookingEvent, step};
use crate::sandbox::seed::{OfferedSlot, Provider, SeedVenue, local_time};
use crate::sandbox::store::{Tx, next_number, one_time_code, random};
use crate::sandbox::wire::IdKind;
use crate::sandbox::wire::booking::{BookingDocument, BookingSummary};

pub(super) fn read(context: &RequestContext<'_>) -> HandlerResult {
    let number = IdKind::BOOKING.number(&context.request.id);
    match context.tx.confirmed(&context.organization.id, number)? {
        Some(document) => Ok(Reply::new(StatusCode::OK, document.into())),
        None => Reply::booking(&find(context)?),
    }
}

fn apply(
    context: &RequestContext<'_>,
    mut booking: StoredBooking,
    event: &BookingEvent,
) -> Result<(StoredBooking, Reply)> {
    let now = context.tx.now;
    let mut transition = step(&booking.state, event, now);
    let denial = transition.denial.take();
    if transition.state != booking.state || transition.webhook.is_some() {
        context.tx.apply(&mut booking, transition, now)?;
    }
    match denial {
        Some(denial) => Err(denial),
        None => Reply::booking(&booking).map(|reply| (booking, reply)),
    }
}

/// The booking that the path names.
fn find(context: &RequestContext<'_>) -> Result<StoredBooking> {
    let organization = &context.organization.id;
    let number = IdKind::BOOKING.number(&context.request.id);
    let found = context.tx.any_booking(number)?;
    if let Some(found) = found.filter(|it| it.organization == *organization) {
        return Ok(found);
    }
    let open = context.tx.open_bookings(organization)?;
    let open = open.iter().map(|it| json!(BookingSummary(it)));
    Err(ApiError::booking_not_found(&open.collect::<Vec<_>>()))
}

pub(super) fn replay(context: &RequestContext<'_>) -> Result<Option<Reply>> {
    let Some(key) = context.request.idempotency_key() else {
        return Ok(None);
    };
    let booking = context.tx.booking_of_key(&context.organization.id, &key)?;
    booking.as_ref().map(Reply::booking).transpose()
}

pub(super) fn create(context: &RequestContext<'_>) -> HandlerResult {
    let tx = context.tx;
    let now = tx.now;
    let request = CreateRequest::read(&context.request.body, now)?;
    let venue = tx.known_venue(&context.organization.id, &request.venue_id)?;
    let venue = venue.as_deref().ok_or(ApiError::VENUE_NOT_FOUND)?;
    let provider = request.provider(venue)?;
    request.check_guest(provider)?;
    let offered = request.offered_slot(venue)?;
    if let (Provider::B, Some(end_user)) = (provider, &request.body.end_user) {
        require_session(context, end_user)?;
    }
    request.check_payment(&context.organization, venue, provider)?;

    let slot = match offered {
        Some(slot) => {
            let held = tx.held(&context.organization.id, &slot.id)?;
            Some((slot, held))
        }
        None => choose_slot(context, venue, request.at, |_| true)?,
    };
    let at = request.at.to_zoned(venue.timezone.clone());
    let offered = slot.as_ref().map(|(slot, _)| slot);
    let (customer, party_size) = (request.customer, request.party_size);
    let mut booking = StoredBooking {
        number: next_number(),
        organization: context.organization.id.clone(),
        is_test: context.key.kind == KeyKind::Test,
        end_user: request.body.end_user,
        pays_by_vendor: request.pays_by_vendor,
        webhook_url: request.body.webhook_url,
        ..StoredBooking::placed(venue, provider, &at, offered, customer, party_size, now)
    };
    booking.state = respond(&booking, venue, slot.as_ref(), generated_codes());
    let document = tx.create_booking(&booking, context.organization.webhook_url.as_deref())?;
    send_code(tx, &booking, venue)?;
    if let Some(key) = context.request.idempotency_key() {
        tx.save_idempotency_key(&key, &booking)?;
    }
    let has_failed = matches!(booking.state, BookingState::Failed { .. });
    let reply = Reply::new(StatusCode::CREATED, document.into()).showing(booking.state.situation());
    Ok(reply.showing(has_failed.then_some("failed_after_201")))
}

pub(super) fn generated_codes() -> GeneratedCodes {
    GeneratedCodes {
        otp: one_time_code(),
        approval_id: format!("psp_{:08x}{:08x}", random(), random()),
    }
}

/// Sends the guest the one-time code that the booking waits for, if it waits for one.
pub(super) fn send_code(tx: &Tx<'_>, booking: &StoredBooking, venue: &SeedVenue) -> Result<()> {
    if let Some(Ask::Otp { code, sent_to, .. }) = booking.state.pause().map(|it| &it.ask) {
        let purpose = format!("book {}", venue.name);
        let about = (IdKind::BOOKING, booking.number);
        tx.send_code(&booking.organization, sent_to, &purpose, code, about)?;
    }
    Ok(())
}

pub(super) fn continue_(context: &RequestContext<'_>) -> HandlerResult {
    let answer = ContinueRequest::read(&context.request.body)?;
    let booking = find(context)?;
    let venue = context.tx.venue(&booking.organization, &booking.venue_id)?;
    let outcome = answer_outcome(venue.as_deref());
    let (confirmed, failed) = match &answer {
        ContinueRequest::Otp(_) => ("otp_confirmed", Some("otp_failed")),
        ContinueRequest::Details(_) => ("details_confirmed", Some("details_failed")),
        ContinueRequest::PspResponse(_) | ContinueRequest::PspAbort => ("payment_confirmed", None),
    };
    let (booking, reply) = apply(context, booking, &BookingEvent::Continued { answer, outcome })?;
    Ok(reply.showing(match booking.state {
        BookingState::Confirmed { .. } => Some(confirmed),
        BookingState::Failed { .. } => failed,
        _ => None,
    }))
}

pub(super) fn modify(context: &RequestContext<'_>) -> HandlerResult {
    let tx = context.tx;
    let request = ModifyRequest::read(&context.request.body, tx.now)?;
    let booking = find(context)?;
    let venue = tx.venue(&booking.organization, &booking.venue_id)?;
    let venue = venue.as_deref();
    let slot = venue.map(|venue| new_slot(context, &request, &booking, venue));
    let slot = slot.transpose()?.flatten();
    let event = BookingEvent::Modify {
        provider: booking.provider,
        venue: request
            .venue_answer(&booking, venue, slot.as_ref())
            .map_err(|code| ApiError::venue_refused(code, &json!(BookingDocument(&booking)))),
    };
    let mut transition = step(&booking.state, &event, tx.now);
    if let Some(denial) = transition.denial.take() {
        return Err(denial);
    }
    let datetime =
        request.at.zip(venue).map(|(at, venue)| local_time(&at.to_zoned(venue.timezone.clone())));
    let slot = slot.as_ref().map(|(slot, _)| slot);
    match request.change(&booking, datetime, slot, tx.now) {
        None => Reply::booking(&booking),
        Some(mut changed) => {
            tx.apply(&mut changed, transition, tx.now)?;
            Reply::booking(&changed)
        }
    }
}

/// The slot that the booking would move to: at the new time if there is one, with the preferred
/// seating if that has room. A seating preference alone never moves a booking to a full slot.
fn new_slot(
    context: &RequestContext<'_>,
    request: &ModifyRequest,
    booking: &StoredBooking,
    venue: &SeedVenue,
) -> Result<Option<(OfferedSlot, u32)>> {
    let moves = request.moves(booking);
    let Some(at) = request.at.or_else(|| booking.datetime.parse().ok()) else {
        return Ok(None);
    };
    let seating = request.seating.as_deref().or(booking.seating.as_deref());
    let preferred = |slot: &OfferedSlot| slot.seating.as_deref() == seating;
    let other = |slot: &OfferedSlot| Some(&slot.id) != booking.slot_id.as_ref();
    let favourite = choose_slot(context, venue, at, |slot| preferred(slot) && other(slot))?
        .filter(|(slot, held)| slot.has_room(*held));
    match favourite {
        None if moves => Ok(choose_slot(context, venue, at, other)?),
        favourite => Ok(favourite.filter(|_| moves || request.seating.is_some())),
    }
}

pub(super) fn cancel(context: &RequestContext<'_>) -> HandlerResult {
    let reason = context.request.fields()?.remove("reason");
    if reason.is_some_and(|it| !it.is_string() && !it.is_null()) {
        return Err(ApiError::wrong_type("reason", "must be a string"));
    }
    let booking = find(context)?;
    let provider = booking.provider;
    apply(context, booking, &BookingEvent::Cancel { provider }).map(|(_, reply)| reply)
}
