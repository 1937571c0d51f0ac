//! Reads unfinished bookings again.

use crate::app::Context;
use crate::flows::read_booking;
use crate::model::shell;
use crate::outcome::{Exit, Result};

/// The most bookings to read: a third of what the service allows in five minutes (spec, Limits).
const AT_ONCE: u32 = 100;

/// Reads the unfinished bookings of the journal, newest first, and stores each as it is now.
pub(super) async fn refresh(context: &Context) -> Result<()> {
    let mut ids = context.journal()?.unfinished_bookings(AT_ONCE + 1)?;
    let more = ids.len() > AT_ONCE as usize;
    ids.truncate(AT_ONCE as usize);
    let progress = context.out.progress("");
    let mut gone = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        progress.say(&format!("updating {} of {}", number + 1, ids.len()));
        match read_booking(context, id).await {
            Ok(booking) => context.journal()?.update_booking(&booking)?,
            Err(error) if error.exit == Exit::NotFound => gone.push(id.as_str()),
            Err(error) => return Err(error),
        }
    }
    drop(progress);
    for id in gone {
        context.out.warn(&format!(
            "the service no longer knows booking {id}; to remove it from the list: bookctl bookings forget {}",
            shell::word(id)
        ));
    }
    if more {
        context.out.note(&format!(
            "Updated the newest {AT_ONCE} unfinished bookings. Run the same command again to update more."
        ));
    }
    Ok(())
}
