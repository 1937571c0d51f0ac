//! `bookctl show --timeline`: what happened to a booking, in order.

use crate::app::Context;
use crate::flows::{Offered, Reads, booking_or_pick, timeline};
use crate::model::booking::Booking;
use crate::outcome::{Error, Exit, Result};
use crate::terminal::view::Timeline;

pub(super) async fn run(context: &Context, named: &[String], judged: bool) -> Result<Exit> {
    if named.len() > 1 {
        return Err(Error::usage("--timeline shows one booking").hint("name one booking"));
    }
    let named = named.first().map(String::as_str);
    let mut named = booking_or_pick(context, named, Offered::All, Reads::ToFind).await?;
    let id = &named.id.clone();
    // What this machine knows is worth showing where the service does not answer, or has lost the booking.
    let (booking, failed) = match named.booking(context).await {
        Ok(booking) => (Some(booking), None),
        Err(error) => (last_seen(context, id)?, Some(error)),
    };
    let rows = timeline(context, id, booking.as_ref())?;
    let exit = match failed {
        None => None,
        Some(error) if booking.is_none() && rows.is_empty() => return Err(error),
        Some(error) => {
            context.out.warn(&format!(
                "{}; this is what this computer knows",
                error.message
            ));
            Some(error.exit)
        }
    };
    context.out.emit(&Timeline {
        id,
        booking: booking.as_ref(),
        rows,
    })?;
    let status = booking.filter(|_| judged).map(|it| it.exit_of_read());
    Ok(exit.or(status).unwrap_or(Exit::Done))
}

/// The booking as the journal has it.
fn last_seen(context: &Context, id: &str) -> Result<Option<Booking>> {
    match context.has_journal() {
        true => Ok(context.journal()?.kept(id)?.map(|kept| kept.booking)),
        false => Ok(None),
    }
}
