//! How a command that wanted a booking confirmed ends: the booking on stdout, its state as the exit code.

use jiff::Timestamp;

use super::seen::note_seen;
use crate::app::Context;
use crate::app::in_flight::show_command;
use crate::model::booking::Booking;
use crate::outcome::{Exit, Result};
use crate::terminal::view::BookingView;

/// Keeps the booking as it ended, emits it and says what its state means for a script.
pub(crate) fn finish(context: &Context, booking: &Booking) -> Result<Exit> {
    note_seen(context, booking);
    let dialect = context.dialect();
    let now = context.now().unwrap_or_else(|_| Timestamp::now());
    let view = BookingView {
        booking,
        dialect: &dialect,
        now,
    };
    // The booking is made whether or not it can be written: its id must not be lost with the answer.
    let (id, status) = (booking.id(), booking.status());
    let is_read = context.out.emit_read(&view).map_err(|mut error| {
        error.message = format!("booking {id} is {status}, but {}", error.message);
        error.body = Some(booking.document().clone());
        error.hint(format!(
            "do not repeat the command; to see the booking: {}",
            show_command(booking.id())
        ))
    })?;
    if !is_read {
        context.out.warn(&format!(
            "the output was closed; booking {id} is {status}; to see it: {}",
            show_command(id)
        ));
    }
    Ok(booking.exit())
}
