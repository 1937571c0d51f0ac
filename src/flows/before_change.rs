//! What a person needs to know of a booking before it is changed or cancelled.

use serde_json::Value;

use super::kept_terms::{is_at, kept_terms};
use super::locate::locate_venue;
use super::offer::{known_zone, offered, terms_reader};
use crate::app::Context;
use crate::app::in_flight::show_command;
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::shell;
use crate::model::slot::Slot;
use crate::model::when::When;
use crate::outcome::{Code, Error, Result};
use crate::terminal::output::Page;

/// Refuses (7) to cancel a booking that has ended, or that waits for an answer and expires without one.
pub(crate) fn refuse_uncancellable(booking: &Booking, what: &str) -> Result<()> {
    match booking.status() {
        Status::RequiresAction => {
            let error = refused(booking, "only a confirmed booking can be cancelled");
            let answer = shell::command("continue", booking.id(), "");
            Err(error.hint(format!(
                "without an answer it ends by itself; to answer: {answer}"
            )))
        }
        Status::Failed | Status::Cancelled | Status::Expired => Err(refused(booking, what)),
        _ => Ok(()),
    }
}

/// The error (7) for a booking in a state in which it cannot be changed.
pub(crate) fn refused(booking: &Booking, what: &str) -> Error {
    let (id, status) = (booking.id(), booking.status());
    let already = match status {
        Status::Cancelled => "already ",
        _ => "",
    };
    Error::new(
        Code::Http409,
        format!("booking {id} is {already}{status}; {what}"),
    )
    .hint(format!("see `{}`", show_command(id)))
}

/// The cancellation terms of a booking: its own, else those of its slot, as this computer knows them.
pub(crate) fn cancellation_terms(context: &Context, booking: &Booking) -> Option<Value> {
    let terms = |of: &Value| of.get("cancellation_terms").cloned();
    let known = terms(booking.value());
    known
        .or_else(|| terms(&kept_terms(context, booking)?))
        .or_else(|| {
            let venue = booking.venue_id()?;
            let slots = context.recent().ok()?.slots_of(&venue).ok()?;
            common_terms(booking, &slots)
        })
}

fn cost(context: &Context, booking: &Booking, terms: &Value) -> Option<String> {
    terms_reader(context, booking.party()).cost(terms)
}

/// What cancelling costs by the terms that the venue offers the booking's slot with today.
async fn offered_cost(context: &Context, booking: &Booking) -> Option<String> {
    let venue = locate_venue(context, &booking.venue_id()?).ok()?;
    let when = When::parse(booking.str("datetime")?).ok()?;
    let zone = known_zone(venue.remembered.as_ref(), None);
    let (party, provider) = (booking.party(), booking.str("provider"));
    let offer = offered(context, &venue, &when, zone.as_ref(), party, provider).await;
    let terms = common_terms(booking, &offer.ok()?.slots)?;
    let cost = cost(context, booking, &terms)?;
    Some(format!("{cost} (as the venue offers this slot now)"))
}

/// The cancellation terms of the slots at the booking's time, if they are the same for all of them. Where seatings
/// differ, those of the booking's own count.
fn common_terms(booking: &Booking, slots: &[Slot]) -> Option<Value> {
    let mut slots: Vec<&Slot> = slots
        .iter()
        .filter(|slot| is_at(booking, &slot.datetime_value()))
        .collect();
    if let Some(seating) = booking.str("seating_preference") {
        let is_seating =
            |slot: &&Slot| slot.value().get("seating").map(plain).as_deref() == Some(seating);
        if slots.iter().any(is_seating) {
            slots.retain(is_seating);
        }
    }
    let mut terms = slots
        .iter()
        .map(|slot| slot.value().get("cancellation_terms"));
    let first = terms.next()??;
    terms
        .all(|other| other == Some(first))
        .then(|| first.clone())
}

/// Adds the terms that apply now, and the service unless it is a sandbox.
pub(crate) async fn add_stakes(
    context: &Context,
    page: &mut Page,
    booking: &Booking,
    is_live: bool,
) {
    let known = cancellation_terms(context, booking);
    let mut cost = known.and_then(|terms| cost(context, booking, &terms));
    if cost.is_none() {
        cost = offered_cost(context, booking).await;
    }
    let cost = cost.as_deref();
    page.without("cancellation").field(
        "cancellation",
        cost.unwrap_or("not known: neither the booking nor its slot shows the terms"),
    );
    page.field_if("service", context.named_service().filter(|_| is_live));
}
