//! The terms that a booking was made with. A service may not repeat them, so the journal keeps those of the slot.

use serde_json::{Map, Value, json};

use crate::app::Context;
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::document_time::DocumentTime;
use crate::outcome::Result;

/// What of a slot is kept with its booking.
const KEPT: [&str; 4] = ["datetime", "price", "card_terms", "cancellation_terms"];

/// The terms of the slot that a request asks for, as this computer saw them.
pub(super) fn terms_asked_for(context: &Context, asked: &Value) -> Option<Value> {
    let id = plain(asked.get("availability_id")?);
    let seen = context.recent().ok()?.slot(&id).ok()??;
    let is_its = asked.get("venue_id").map(plain).as_ref() == Some(&seen.venue_id);
    let slot = seen.slot.value().as_object().filter(|_| is_its)?;
    let kept = slot
        .iter()
        .filter(|(name, _)| KEPT.contains(&name.as_str()));
    let kept: Map<String, Value> = kept.map(|(name, it)| (name.clone(), it.clone())).collect();
    (kept.len() > 1).then(|| kept.into())
}

/// The terms that the journal keeps with a booking, unless it was moved since.
pub(super) fn kept_terms(context: &Context, booking: &Booking) -> Option<Value> {
    if !context.has_journal() {
        return None;
    }
    let terms = context.journal().ok()?.terms(booking.id()).ok()??;
    is_at(booking, terms.get("datetime")?).then_some(terms)
}

/// Whether a booking is still at this time.
pub(super) fn is_at(booking: &Booking, time: &Value) -> bool {
    let stands = booking.value().get("datetime").and_then(DocumentTime::read);
    stands.is_some() && DocumentTime::read(time) == stands
}

/// Keeps with a booking that it was cancelled now, under these terms.
///
/// # Errors
///
/// Those of the journal.
pub(crate) fn keep_cancellation(context: &Context, booking: &Booking, terms: Value) -> Result<()> {
    let time = booking.value().get("datetime");
    let kept = kept_terms(context, booking);
    let mut kept = kept.unwrap_or_else(|| json!({"datetime": time}));
    kept["cancellation_terms"] = terms;
    kept["cancelled_at"] = context.service_now().to_string().into();
    let mut journal = context.journal()?;
    journal.update(booking)?;
    journal.keep_terms(booking.id(), &kept)
}
