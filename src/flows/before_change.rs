//! What a person needs to know of a booking before it is changed or cancelled.

use jiff::Timestamp;

use crate::app::Context;
use crate::app::in_flight::show_command;
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::document_time::DocumentTime;
use crate::model::shell;
use crate::outcome::{Code, Error, Result};
use crate::terminal::output::Page;
use crate::terminal::view::cost_of_cancelling;

/// Refuses (7) to cancel a booking that has ended, or that waits for an answer and expires without one.
pub(crate) fn refuse_uncancellable(booking: &Booking, what: &str) -> Result<()> {
    match booking.status() {
        Status::RequiresAction => {
            let error = refused(booking, "only a confirmed booking can be cancelled");
            let answer = shell::word(booking.id());
            Err(error.hint(format!(
                "without an answer it expires by itself; to answer: bookctl continue {answer}"
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

/// What cancelling costs now: by the booking's own terms, else by those of the slot that was booked, as this computer
/// remembers it.
pub(crate) fn cancellation_cost(context: &Context, booking: &Booking) -> Option<String> {
    let now = context.now().unwrap_or_else(|_| Timestamp::now());
    let own = booking.value().get("cancellation_terms");
    let own = own.and_then(|terms| cost_of_cancelling(terms, now, context.certainty()));
    own.or_else(|| {
        let journal = context.journal().ok()?;
        let attempts = journal.attempts_of(booking.id()).ok()?;
        let mut slots = attempts.iter().filter_map(|attempt| {
            let id = attempt.asked().get("availability_id")?;
            context.recent().ok()?.slot(&plain(id)).ok()?
        });
        // Of a booking that has been moved since, the terms of its first slot say nothing.
        let stands = booking.value().get("datetime").and_then(DocumentTime::read);
        let booked = slots
            .find(|booked| DocumentTime::read(&booked.slot.datetime_value()) == stands)?
            .slot;
        let terms = booked.value().get("cancellation_terms")?;
        cost_of_cancelling(terms, now, context.certainty())
    })
}

/// Adds the terms that apply now, and the service unless it is a sandbox.
pub(crate) fn add_stakes(context: &Context, page: &mut Page, booking: &Booking, is_live: bool) {
    let cost = cancellation_cost(context, booking);
    page.field("cancellation", cost.as_deref().unwrap_or("not known"));
    page.field_if("service", context.named_service().filter(|_| is_live));
}
