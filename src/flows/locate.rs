//! Resolves arguments: an id, `@N` for a row of the last list, or `@last`.

use serde_json::Value;

use crate::app::Context;
use crate::model::venue::Venue;
use crate::outcome::{Error, Result};
use crate::recent::{RecentList, RecentSlot};

/// A venue, with what an earlier search returned for it.
#[derive(Clone, Debug)]
pub(crate) struct LocatedVenue {
    pub(crate) id: String,
    pub(crate) remembered: Option<Venue>,
}

impl LocatedVenue {
    /// The id as the service wrote it, a text or a number: so it is sent back.
    pub(crate) fn id_value(&self) -> Value {
        match &self.remembered {
            Some(venue) => venue.id_value(),
            None => self.id.as_str().into(),
        }
    }

    /// The venue's name if it is known, else its id.
    pub(crate) fn name(&self) -> &str {
        self.remembered.as_ref().map_or(&self.id, Venue::name)
    }
}

pub(crate) fn locate_venue(context: &Context, argument: &str) -> Result<LocatedVenue> {
    let id = match argument {
        LAST => last(context, RecentList::LastVenue, "venue")?,
        _ => match row_number(argument)? {
            Some(row) => listed(context, RecentList::Venues, row)?,
            None => argument.to_owned(),
        },
    };
    // If nothing is remembered, the id alone still names the venue.
    let remembered = context.known_venue(&id);
    Ok(LocatedVenue { id, remembered })
}

/// Resolves a slot argument: the id, and the slot if it was seen before.
pub(crate) fn locate_slot(
    context: &Context,
    argument: &str,
) -> Result<(String, Option<RecentSlot>)> {
    let id = match row_number(argument)? {
        Some(row) => listed(context, RecentList::Slots, row)?,
        None => argument.to_owned(),
    };
    // If nothing is remembered, the id alone still names the slot.
    let recent = context.recent().ok();
    let slot = recent.and_then(|it| it.slot(&id).ok().flatten());
    Ok((id, slot))
}

/// Resolves a booking argument to the booking's id.
pub(crate) fn locate_booking(context: &Context, argument: &str) -> Result<String> {
    if argument == LAST {
        return last(context, RecentList::LastBooking, "booking");
    }
    locate_row(context, RecentList::Bookings, argument)
}

/// Resolves an argument that may be `@N` to the id in that row of the last list.
pub(crate) fn locate_row(context: &Context, list: RecentList, argument: &str) -> Result<String> {
    match row_number(argument)? {
        Some(row) => listed(context, list, row),
        None => Ok(argument.to_owned()),
    }
}

/// Resolves a session argument to the session's id.
pub(crate) fn locate_session(context: &Context, argument: &str) -> Result<String> {
    match argument {
        LAST => last(context, RecentList::LastSession, "session"),
        id => Ok(id.to_owned()),
    }
}

/// Resolves an attempt argument to its idempotency key. If the journal has this key, it is a key and not a row.
pub(crate) fn locate_attempt(context: &Context, argument: &str) -> Result<String> {
    if argument.starts_with('@') && context.journal()?.attempt(argument)?.is_some() {
        return Ok(argument.to_owned());
    }
    if argument == LAST {
        let open = context.journal()?.open_attempts()?;
        return match open.as_slice() {
            [only] => Ok(only.idempotency_key.clone()),
            [] => Err(Error::usage("@last: there are no open attempts")),
            several => Err(
                Error::usage(format!("@last: {} attempts are open", several.len()))
                    .hint("list them with `bookctl attempts`, and name one by its key or @N"),
            ),
        };
    }
    match row_number(argument) {
        Ok(Some(row)) => listed(context, RecentList::Attempts, row),
        _ => Ok(argument.to_owned()),
    }
}

/// What stands for the last one that was made or shown.
pub(crate) const LAST: &str = "@last";

fn last(context: &Context, list: RecentList, noun: &str) -> Result<String> {
    let recent = context.recent()?;
    recent.check_writable()?;
    recent.listed(list, 1)?.ok_or_else(|| {
        Error::usage(format!(
            "@last: no {noun} was made or shown yet on this computer"
        ))
        .hint(format!("give the id of the {noun}"))
    })
}

fn row_number(argument: &str) -> Result<Option<u32>> {
    let Some(digits) = argument.strip_prefix('@') else {
        return Ok(None);
    };
    match digits.parse() {
        Ok(row) if row > 0 => Ok(Some(row)),
        _ => Err(Error::usage(format!(
            "{} is not a row; use @1, @2 and so on, or @last",
            argument.escape_debug()
        ))),
    }
}

fn listed(context: &Context, list: RecentList, row: u32) -> Result<String> {
    let (command, noun) = match list {
        RecentList::Venues => ("bookctl search", "venues"),
        RecentList::Slots => ("bookctl slots", "slots"),
        RecentList::Attempts => ("bookctl attempts", "attempts"),
        RecentList::Requests => ("bookctl sandbox requests", "requests"),
        RecentList::Deliveries => ("bookctl sandbox deliveries", "deliveries"),
        RecentList::Events => ("bookctl webhook events list", "events"),
        _ => ("bookctl bookings", "bookings"),
    };
    let recent = context.recent()?;
    recent.check_writable()?;
    if let Some(id) = recent.listed(list, row)? {
        return Ok(id);
    }
    let why = match recent.listed(list, 1)? {
        Some(_) => format!("the last list of {noun} has no row @{row}"),
        None => format!("no row @{row}: no list of {noun} was shown yet, or it was empty"),
    };
    Err(Error::usage(why).hint(format!("list {noun} with `{command}`")))
}
