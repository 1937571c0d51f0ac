//! The terms of a booking: the journal keeps the slot's, which a service may not repeat.

use serde_json::Value;

use super::book::offer::terms_reader;
use super::confirmation::Confirmation;
use crate::app::{Api, Facts, Records, Ui};
use crate::journal::KeptBooking;
use crate::journal::recent::RecentList;
use crate::outcome::Result;
use crate::service::documents::{Booking, Slot, Wish};
use crate::terminal::output::Page;
use crate::terminal::view::SlotDetails;

/// The slot that a request asks for, with its terms, as this computer saw it.
pub(crate) fn terms_asked_for(records: &Records, wish: &Wish) -> Option<Value> {
    let seen = records.known_slot(&wish.text("availability_id")?)?;
    (wish.venue() == seen.venue_id).then_some(seen.slot.value)
}

/// What the journal has of a booking. A read makes no journal.
pub(crate) fn find_recorded(records: &Records, id: &str) -> Option<KeptBooking> {
    records.has_journal().then(|| records.journal().ok())??.load_booking(id).ok()?
}

/// A booking with what was asked for in place of what the service does not show.
pub(crate) fn filled_in(records: &Records, booking: &Booking) -> Booking {
    let stored = find_recorded(records, booking.id());
    stored.map_or_else(|| booking.clone(), |stored| stored.fill_in(booking))
}

/// The slot recorded with a booking for its terms, unless the booking was moved since.
pub(crate) fn kept_slot(records: &Records, booking: &Booking) -> Option<Slot> {
    let stored = find_recorded(records, booking.id())?;
    let booking = stored.fill_in(booking);
    let slot = Slot::from_value(stored.terms?)?;
    (*booking.time.read()? == slot.time()?).then_some(slot)
}

/// The cancellation terms of a booking: its own, else those of its slot, as the journal kept them.
pub(crate) fn cancellation_terms(records: &Records, booking: &Booking) -> Option<Value> {
    let terms = |of: &Value| of.get("cancellation_terms").cloned();
    terms(booking.value()).or_else(|| terms(&kept_slot(records, booking)?.value))
}

/// What cancelling costs now by the terms of a booking, or else of this slot, for so many guests.
pub(crate) fn cancellation_cost(
    facts: &Facts,
    booking: Option<&Booking>,
    slot: Option<&Slot>,
    party: u32,
) -> Option<String> {
    let reader = terms_reader(facts, party);
    let documents = booking.map(Booking::value).into_iter().chain(slot.map(|slot| &slot.value));
    let mut terms = documents.filter_map(|it| it.get("cancellation_terms"));
    let cost = terms.next().and_then(|terms| reader.cost(terms));
    let also = slot.and_then(|slot| SlotDetails::from_slot(slot, reader).also);
    cost.or_else(|| also.map(|also| format!("not understood; the slot shows: {also}")))
}

/// What cancelling a booking costs now, if it had so many guests.
pub(crate) fn cost_now(facts: &Facts, records: &Records, booking: &Booking, party: u32) -> String {
    let slot = kept_slot(records, booking);
    let cost = cancellation_cost(facts, Some(booking), slot.as_ref(), party);
    cost.unwrap_or_else(|| "not known: neither the booking nor its slot shows the terms".to_owned())
}

/// Shows what would be done with a booking, and the service unless it is a sandbox, and asks.
pub(crate) async fn confirm(
    api: &Api,
    records: &Records,
    ui: &Ui,
    mut page: Page,
    booking: &Booking,
    confirmation: &Confirmation<'_>,
) -> Result<()> {
    records.remember_last(RecentList::LastBooking, booking.id());
    let is_live = !api.is_sandbox().await;
    page.field_if("service", api.facts.named_service().filter(|_| is_live));
    ui.out.show(&page);
    confirmation.ask(&ui.prompter).await
}
