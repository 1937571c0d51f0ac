//! The terms of a booking: the journal keeps the slot's, which a service may not repeat.

use serde_json::Value;

use super::book::offer::terms_reader;
use super::confirmation::Confirmation;
use crate::app::{Api, Records, Ui};
use crate::journal::KeptBooking;
use crate::journal::recent::RecentList;
use crate::json::plain;
use crate::outcome::Result;
use crate::service::documents::booking::Booking;
use crate::service::documents::slot::Slot;
use crate::service::time::document_time::DocumentTime;
use crate::terminal::output::Page;
use crate::terminal::view::SlotDetails;

/// The slot that a request asks for, with its terms, as this computer saw it.
pub(crate) fn terms_asked_for(records: &Records, asked: &Value) -> Option<Value> {
    let id = plain(asked.get("availability_id")?);
    let seen = records.known_slot(&id)?;
    let is_its = asked.get("venue_id").map(plain).as_ref() == Some(&seen.venue_id);
    is_its.then(|| seen.slot.value.clone())
}

/// What the journal has of a booking.
pub(crate) fn kept(records: &Records, booking: &Booking) -> Option<KeptBooking> {
    let journal = records.has_journal().then(|| records.journal().ok());
    journal??.kept(booking.id()).ok()?
}

/// The recorded request of a booking, with its accepted changes, or `null`.
pub(crate) fn asked_for(records: &Records, booking: &Booking) -> Value {
    let kept = kept(records, booking).and_then(|kept| kept.asked);
    kept.unwrap_or_default()
}

/// A booking with what was asked for in place of what the service does not show.
pub(crate) fn filled_in(records: &Records, booking: &Booking) -> Booking {
    let kept = kept(records, booking);
    kept.map_or_else(|| booking.clone(), |kept| kept.fill_in(booking))
}

/// The slot recorded with a booking for its terms, unless the booking was moved since.
pub(crate) fn kept_terms(records: &Records, booking: &Booking) -> Option<Value> {
    let kept = kept(records, booking)?;
    let booking = kept.fill_in(booking);
    let terms = kept.terms?;
    let time = |of: &Value| DocumentTime::of(of, "datetime");
    let is_there = time(booking.value())? == time(&terms)?;
    is_there.then_some(terms)
}

/// The cancellation terms of a booking: its own, else those of its slot, as the journal kept them.
pub(crate) fn cancellation_terms(records: &Records, booking: &Booking) -> Option<Value> {
    let terms = |of: &Value| of.get("cancellation_terms").cloned();
    terms(booking.value()).or_else(|| terms(&kept_terms(records, booking)?))
}

/// Shows what would be done with a booking, its terms now (`of` says whose), and the service unless
/// it is a sandbox, and asks.
pub(crate) async fn confirm(
    api: &Api,
    records: &Records,
    ui: &Ui,
    mut page: Page,
    of: &str,
    booking: &Booking,
    confirmation: &Confirmation<'_>,
) -> Result<()> {
    records.remember_last(RecentList::LastBooking, booking.id());
    let is_live = !api.is_sandbox().await;
    let terms = cancellation_terms(records, booking);
    let reader = terms_reader(&api.facts, filled_in(records, booking).head_count());
    let cost = terms.and_then(|terms| reader.cost(&terms));
    let slot = kept_terms(records, booking).and_then(Slot::from_value);
    let also = slot.and_then(|slot| SlotDetails::of(&slot, reader).also);
    let unread = also.map(|also| format!("not understood; the slot shows: {also}"));
    let unknown = "not known: neither the booking nor its slot shows the terms";
    let cost = cost.or(unread).unwrap_or_else(|| unknown.to_owned());
    let cost = format!("{of}{cost}");
    page.without("cancellation").field("cancellation", cost);
    page.field_if("service", api.facts.named_service().filter(|_| is_live));
    ui.out.show(&page);
    confirmation.ask(&ui.prompter).await
}
