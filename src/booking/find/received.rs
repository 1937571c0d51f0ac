//! Takes the bookings of received webhooks into the journal, so that `bookings` finds them.

use crate::app::Context;
use crate::journal::recent::RecentList;
use crate::outcome::Result;
use crate::webhook::Event;

/// How many events are taken in by one transaction.
const AT_ONCE: u32 = 5000;

/// Takes in the bookings of the events that `webhook listen` has received since the last time.
pub(crate) fn take_in_received(context: &Context) -> Result<()> {
    let webhooks = match context.received() {
        Ok(Some(webhooks)) => webhooks,
        Ok(None) => return Ok(()),
        Err(error) => {
            let why = format!("received bookings are missing: {}", error.message);
            context.out.warn(&why);
            return Ok(());
        }
    };
    let taken = context.recent()?.listed(RecentList::TakenIn, 1)?;
    let taken: i64 = taken.and_then(|number| number.parse().ok()).unwrap_or(0);
    let newest = webhooks.newest()?;
    // A new file of webhooks counts from the beginning.
    let mut after = if taken > newest { 0 } else { taken };
    while after < newest {
        let bodies = webhooks.bodies(after, AT_ONCE)?;
        let bookings = bodies.iter().filter_map(|(_, at, body)| {
            let booking = Event::booking_in(body, context.adapter())?;
            Some((*at, booking))
        });
        context.journal()?.take_in(&bookings.collect::<Vec<_>>())?;
        after = match bodies.last() {
            Some((number, ..)) if bodies.len() == AT_ONCE as usize => *number,
            _ => newest,
        };
        let recent = context.recent()?;
        recent.remember_one(RecentList::TakenIn, &after.to_string())?;
    }
    Ok(())
}
