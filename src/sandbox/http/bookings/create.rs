//! `POST /v1/bookings`.

use super::super::door::Visit;
use super::super::reply::{Outcome, Reply};
use super::super::sessions::signed_in;
use super::super::slots::choose;
use super::super::venues::known_venue;
use crate::sandbox::rules::access::KeyKind;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::create::CreateRequest;
use crate::sandbox::rules::placement::{Draws, place};
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::state::{Ask, State};
use crate::sandbox::rules::transition::step;
use crate::sandbox::seed;
use crate::sandbox::store::{About, one_time_code, reference};
use crate::sandbox::wire::booking::BookingDocument;
use crate::sandbox::wire::slot::local_time;

/// The booking that the call's idempotency key stands for already.
pub(in super::super) fn replay(visit: &Visit<'_, '_>) -> Result<Option<Reply>, Refusal> {
    let Some(key) = visit.call.idempotency_key() else {
        return Ok(None);
    };
    visit
        .ledger
        .booking_of_key(&visit.organization.id, &key)?
        .map(|booking| Reply::ok(&BookingDocument::of(&booking)))
        .transpose()
}

/// Creates a booking. One that fails is created too.
pub(in super::super) fn create(visit: &Visit<'_, '_>) -> Outcome {
    let ledger = visit.ledger;
    let now = ledger.now;
    let request = CreateRequest::read(&visit.call.fields()?, now)?;
    let venue = known_venue(visit, &request.venue_id)?;
    let provider = request.provider(venue)?;
    request.check_guest(provider)?;
    let offered = request.offered_slot(venue)?;
    if let Some(end_user) = request.needs_session(provider) {
        signed_in(visit, end_user, provider)?;
    }
    request.check_payment(&visit.organization, venue, provider)?;

    let slot = match offered {
        Some(slot) => {
            let held = ledger.held(&slot.id)?;
            Some((slot, held))
        }
        None => choose(ledger, venue, request.at, |_| true)?,
    };
    let draws = || Draws {
        otp: one_time_code(),
        approval_id: reference("psp_"),
    };
    let said = place(
        venue,
        slot.as_ref().map(|(slot, held)| (slot, *held)),
        request.pays_by_vendor,
        (&request.customer, request.party_size),
        draws,
        now,
    );
    let datetime = local_time(&request.at.to_zoned(venue.timezone()));
    let mut booking = Booking {
        number: ledger.new_number(),
        organization: visit.organization.id.clone(),
        is_test: visit.key.kind == KeyKind::Test,
        provider,
        venue_id: request.venue_id,
        datetime,
        party_size: request.party_size,
        customer: request.customer,
        end_user: request.end_user,
        seating: slot
            .as_ref()
            .and_then(|(it, _)| it.seating)
            .map(str::to_owned),
        pays_by_vendor: request.pays_by_vendor,
        webhook_url: request.webhook_url,
        slot_id: slot.map(|(it, _)| it.id),
        state: State::Requested,
        last_modification: None,
        created_at: now,
        updated_at: now,
    };
    let transition = step(&booking.state, &said, now);
    ledger.open(&mut booking, transition)?;
    text_code(visit, &booking)?;
    if let Some(key) = visit.call.idempotency_key() {
        ledger.keep_key(&key, &booking)?;
    }
    Reply::created(&BookingDocument::of(&booking))
}

/// Texts the guest the code that the booking waits for, if it does.
fn text_code(visit: &Visit<'_, '_>, booking: &Booking) -> Result<(), Refusal> {
    if let Some(Ask::Otp { code, sent_to, .. }) = booking.state.pause().map(|it| &it.ask) {
        let venue = seed::venue(&booking.venue_id).map_or("the venue", |it| it.name.as_str());
        let text = format!("{code} is your code to book {venue}.");
        visit
            .ledger
            .text(sent_to, &text, code, &About::Booking(booking.number))?;
    }
    Ok(())
}
