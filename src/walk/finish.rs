//! How a command that wanted a booking confirmed ends: the booking on stdout, its state as the exit code.

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::model::booking::Booking;
use crate::view::BookingView;

/// Emits the booking and says what its state means for a script.
pub(crate) fn finish(context: &Context, booking: &Booking) -> Result<Exit> {
    let dialect = context.dialect();
    context.out.emit(&BookingView {
        booking,
        dialect: &dialect,
        now: context.now()?,
    })?;
    Ok(booking.exit())
}
