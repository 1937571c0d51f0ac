//! Ends a command that makes or changes a booking: the booking on stdout, its status as the exit code. Or with `--dry-run`: the
//! request.

use super::agreement::is_another;
use super::terms::{asked_for, filled_in, kept_terms};
use crate::app::Context;
use crate::app::in_flight::show_command;
use crate::journal::Actor;
use crate::journal::recent::RecentList;
use crate::outcome::{Exit, Result};
use crate::service::client::Call;
use crate::service::documents::booking::{Booking, Status};
use crate::terminal::view::{BookingView, RequestView};

/// The booking as a card, with the service's time for what is left until a deadline.
pub(crate) fn booking_view(context: &Context, booking: &Booking) -> BookingView {
    let mut view = BookingView {
        booking: booking.clone(),
        dialect: context.dialect().clone(),
        now: context.service_now(),
        certainty: context.certainty(),
        terms: None,
        venue: None,
        made_by: None,
    };
    // A script gets the service's document alone.
    if context.out.is_human() {
        view.booking = filled_in(context, booking);
        let venue = view.booking.venue_id();
        view.venue = venue.and_then(|id| context.known_venue(&id));
        view.made_by = maker(context, booking);
        // A late cancellation has its price.
        if !matches!(booking.status(), Status::Failed | Status::Expired) {
            view.terms = kept_terms(context, booking);
        }
    }
    view
}

/// Who made a booking, where a team shares the journal.
fn maker(context: &Context, booking: &Booking) -> Option<String> {
    context.target().journal()?;
    let attempts = context.journal().ok()?.attempts_of(booking.id()).ok()?;
    let mut runs = attempts.into_iter().flat_map(|attempt| attempt.runs);
    let Actor { user, host } = runs.find_map(|run| run.maker)?;
    Some(format!("{user} on {host}"))
}

/// Updates the journal's copy of the booking, which may have been waited for or answered since it was made; writes the booking,
/// and returns the exit code of its status, or 16 if it is not the one that the journal says was asked for.
pub(crate) fn finish(context: &Context, booking: &Booking) -> Result<Exit> {
    let is_it = !context.has_journal() || keep_shown(context, booking);
    let view = booking_view(context, booking);
    // The booking exists even if stdout cannot be written. The error must carry its id.
    let (id, status) = (booking.id(), booking.status());
    let is_read = context.out.emit_read(&view).map_err(|mut error| {
        error.message = format!("booking {id} has status {status}, but {}", error.message);
        error.body = Some(booking.document.clone());
        error.hint(format!(
            "do not repeat the command; check the booking: {}",
            show_command(booking.id())
        ))
    })?;
    if !is_read {
        context.out.warn(&format!(
            "the output was closed; booking {id} has status {status}; see it: {}",
            show_command(id)
        ));
    }
    warn_of_unknown_status(context, booking);
    Ok(match is_it {
        true => booking.exit(),
        false => Exit::OutcomeUnknown,
    })
}

/// Tells why the exit code is the one of a status that the specification does not have, and how to map it.
pub(crate) fn warn_of_unknown_status(context: &Context, booking: &Booking) {
    if let Status::Other(word) = booking.status() {
        context.out.warn(&format!(
            "`{word}` is a status that bookctl does not know; map it: {}",
            context.adapter().set_command("read.booking=EXPRESSION")
        ));
    }
}

/// Stores a booking that was shown, for `@last` and for the search of `bookings`. A script that reads (`--json`) leaves
/// nothing behind: its reads open no journal.
///
/// A journal that cannot be written is no error: the work is done, and the copy is as old as its date says.
pub(crate) fn remember_shown(context: &Context, booking: &Booking) {
    if context.out.is_human() {
        keep_shown(context, booking);
    }
}

/// Whether the booking is the one that was asked for, as far as the journal knows. Another one does not take its place there.
fn keep_shown(context: &Context, booking: &Booking) -> bool {
    let other = is_another(&asked_for(context, booking), booking);
    match &other {
        Some(difference) => context.out.warn(&format!(
            "booking {} is not the one that was asked for: {difference}",
            booking.id()
        )),
        None => _ = context.journal().and_then(|it| it.update(booking)),
    }
    context.remember_last(RecentList::LastBooking, booking.id());
    other.is_none()
}

/// Shows a call as it would be sent, without sending anything.
pub(crate) fn preview(context: &Context, call: Call) -> Result<Exit> {
    context.out.emit(&request_view(context, call))?;
    Ok(Exit::Done)
}

pub(crate) fn request_view(context: &Context, call: Call) -> RequestView {
    let (adapter, base_path) = (context.adapter(), context.base_path());
    RequestView::masked(call, adapter, context.has_key(), base_path)
}
