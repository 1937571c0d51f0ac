//! What the journal keeps of a booking follows what is seen of it.

use crate::app::Context;
use crate::model::booking::Booking;

/// Keeps the booking as it now is, where this machine made it. The journal is asked nothing where there is none, and
/// one that cannot be written fails no command whose work is done: the list is then as old as it says.
pub(super) fn note_seen(context: &Context, booking: &Booking) {
    if !context.journal_file().exists() {
        return;
    }
    let _ = context.journal().and_then(|mut journal| {
        if journal.knows_otherwise(booking)? {
            journal.see(booking)?;
        }
        Ok(())
    });
}
