//! Reads unfinished bookings again.

use crate::app::Context;
use crate::flows::read_booking;
use crate::model::certainty::Certainty;
use crate::model::shell;
use crate::outcome::{Exit, Result};

/// The most bookings to read: a third of what the service allows in five minutes (spec, Limits).
const AT_ONCE: u32 = 100;
/// How many bookings a warning names.
const NAMED: usize = 3;

/// Reads the unfinished bookings of the journal, newest first and at most `limit`, and stores each as it is now.
pub(super) async fn refresh(context: &Context, limit: Option<u32>) -> Result<()> {
    let most = limit.unwrap_or(AT_ONCE).min(AT_ONCE);
    let mut ids = context.journal()?.unfinished_bookings(most + 1)?;
    let more = ids.len() > most as usize;
    ids.truncate(most as usize);
    let progress = context.out.progress("");
    let mut gone = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        progress.say(&format!("updating {} of {}", number + 1, ids.len()));
        match read_booking(context, id).await {
            Ok(booking) => context.journal()?.update(&booking)?,
            Err(error) if error.exit == Exit::NotFound => gone.push(id.as_str()),
            Err(error) => return Err(error),
        }
    }
    drop(progress);
    // At a real service another API key may still show them.
    if context.certainty() == Certainty::Contract {
        for id in &gone {
            context.journal()?.lose(id)?;
        }
    }
    if let Some(first) = gone.first() {
        let named: Vec<&str> = gone.iter().take(NAMED).copied().collect();
        let and_more = match gone.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        context.out.warn(&format!(
            "the service no longer knows {}{and_more}; to remove a booking from the list: {}",
            named.join(", "),
            shell::command("bookings forget", first, "")
        ));
    }
    if more {
        context.out.note(&format!(
            "Updated the newest {most} unfinished bookings. Run the same command again to update more."
        ));
    }
    Ok(())
}
