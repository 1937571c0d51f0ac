//! The terms of a booking. A service may not repeat those of the slot, so the journal keeps them with the booking.

use serde_json::Value;

use super::book::offer::terms_reader;
use super::confirmation::Confirmation;
use crate::app::Context;
use crate::json::plain;
use crate::outcome::Result;
use crate::service::documents::booking::Booking;
use crate::service::time::document_time::DocumentTime;
use crate::terminal::output::Page;

/// What of a slot is kept with its booking.
const KEPT: [&str; 4] = ["datetime", "price", "card_terms", "cancellation_terms"];

/// The terms of the slot that a request asks for, as this computer saw them.
pub(crate) fn terms_asked_for(context: &Context, asked: &Value) -> Option<Value> {
    let id = plain(asked.get("availability_id")?);
    let seen = context.recent().ok()?.slot(&id).ok()??;
    let is_its = asked.get("venue_id").map(plain).as_ref() == Some(&seen.venue_id);
    let slot = seen.slot.value().as_object().filter(|_| is_its)?;
    let mut kept = slot.clone();
    kept.retain(|name, _| KEPT.contains(&name.as_str()));
    (kept.len() > 1).then(|| kept.into())
}

/// The terms that the journal keeps with a booking, unless it was moved since.
pub(crate) fn kept_terms(context: &Context, booking: &Booking) -> Option<Value> {
    if !context.has_journal() {
        return None;
    }
    let terms = context.journal().ok()?.kept(booking.id()).ok()??.terms?;
    let time = |of: &Value| DocumentTime::read(of.get("datetime")?);
    let is_there = time(booking.value())? == time(&terms)?;
    is_there.then_some(terms)
}

/// The cancellation terms of a booking: its own, else those of its slot, as the journal kept them.
pub(crate) fn cancellation_terms(context: &Context, booking: &Booking) -> Option<Value> {
    let terms = |of: &Value| of.get("cancellation_terms").cloned();
    terms(booking.value()).or_else(|| terms(&kept_terms(context, booking)?))
}

/// Shows what would be done with a booking, the terms that apply now, and the service unless it is a sandbox, and asks.
pub(crate) async fn confirm(
    context: &Context,
    mut page: Page,
    booking: &Booking,
    confirmation: &Confirmation<'_>,
) -> Result<()> {
    let is_live = !context.is_sandbox().await;
    let terms = cancellation_terms(context, booking);
    let cost = terms.and_then(|terms| terms_reader(context, booking.party()).cost(&terms));
    let unknown = "not known: neither the booking nor its slot shows the terms";
    page.without("cancellation")
        .field("cancellation", cost.as_deref().unwrap_or(unknown));
    page.field_if("service", context.named_service().filter(|_| is_live));
    context.out.show(&page);
    confirmation.ask(&context.prompter).await
}
