//! What `VENUE` and slot arguments stand for: an id, or `@N` for a row of the last list.

use crate::app::Context;
use crate::journal::{List, RememberedSlot};
use crate::model::venue::Venue;
use crate::outcome::{Error, Result};

/// A venue by its id, with what an earlier search said of it.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) id: String,
    pub(crate) remembered: Option<Venue>,
}

impl Located {
    /// Its name where it is remembered, else its id.
    pub(crate) fn name(&self) -> &str {
        self.remembered.as_ref().map_or(&self.id, Venue::name)
    }
}

/// The venue that an argument names.
pub(crate) fn locate_venue(context: &Context, argument: &str) -> Result<Located> {
    if let Some(row) = row_number(argument)? {
        let id = listed(context, List::Venues, row)?;
        let remembered = context.journal()?.venue(&id)?;
        return Ok(Located { id, remembered });
    }
    // Without a journal the id alone still names the venue.
    let remembered = context
        .journal()
        .ok()
        .and_then(|journal| journal.venue(argument).ok().flatten());
    Ok(Located {
        id: argument.to_owned(),
        remembered,
    })
}

/// The slot that an argument names: its id, and the slot where it was seen before.
pub(crate) fn locate_slot(
    context: &Context,
    argument: &str,
) -> Result<(String, Option<RememberedSlot>)> {
    let id = match row_number(argument)? {
        Some(row) => listed(context, List::Slots, row)?,
        None => argument.to_owned(),
    };
    let slot = context.journal()?.slot(&id)?;
    Ok((id, slot))
}

/// The booking that an argument names.
pub(crate) fn locate_booking(context: &Context, argument: &str) -> Result<String> {
    match row_number(argument)? {
        Some(row) => listed(context, List::Bookings, row),
        None => Ok(argument.to_owned()),
    }
}

fn row_number(argument: &str) -> Result<Option<u32>> {
    let Some(digits) = argument.strip_prefix('@') else {
        return Ok(None);
    };
    match digits.parse() {
        Ok(row) if row > 0 => Ok(Some(row)),
        _ => Err(Error::usage(format!(
            "{} is not a row; use @1, @2 and so on",
            argument.escape_debug()
        ))),
    }
}

fn listed(context: &Context, list: List, row: u32) -> Result<String> {
    let (command, noun) = match list {
        List::Venues => ("bookctl search", "venues"),
        List::Slots => ("bookctl slots", "slots"),
        List::Bookings => ("bookctl bookings", "bookings"),
    };
    let journal = context.journal()?;
    if let Some(id) = journal.listed(list, row)? {
        return Ok(id);
    }
    let why = match journal.listed(list, 1)? {
        Some(_) => format!("the last list of {noun} has no row @{row}"),
        None => format!("no row @{row}: no list of {noun} was shown yet, or it was empty"),
    };
    Err(Error::usage(why).hint(format!("list {noun} with `{command}`")))
}
