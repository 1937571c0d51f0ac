//! Resolves arguments: an id, `@N` for a row of the last list, or `@last`.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::app::Records;
use crate::journal::recent::RecentList;
use crate::outcome::{Error, Result};
use crate::service::documents::Venue;

/// What stands for the last one that was made or shown.
pub(crate) const LAST: &str = "@last";

/// A venue, with what an earlier search returned for it.
#[derive(Clone, Debug)]
pub(crate) struct LocatedVenue {
    pub(crate) id: String,
    pub(crate) remembered: Option<Venue>,
    /// Its name, as a booking shows it.
    pub(crate) displayed: Option<String>,
}

impl LocatedVenue {
    /// If nothing is remembered, the id alone still names the venue.
    pub(crate) fn of_id(records: &Records, id: String) -> Self {
        LocatedVenue { remembered: records.known_venue(&id), id, displayed: None }
    }

    /// The id as the service wrote it, a text or a number: so it is sent back.
    pub(crate) fn id_value(&self) -> Value {
        match &self.remembered {
            Some(venue) => venue.id_value(),
            None => self.id.as_str().into(),
        }
    }

    /// The zone of its times without an offset: its own if a search returned it, else that of
    /// `--tz`. `None` if only its slots can show it.
    pub(crate) fn zone(&self, flag: Option<&TimeZone>) -> Option<TimeZone> {
        self.remembered.as_ref().and_then(Venue::timezone).or_else(|| flag.cloned())
    }

    /// The venue's name if it is known, else its id.
    pub(crate) fn name(&self) -> &str {
        self.remembered.as_ref().map_or(self.displayed.as_deref().unwrap_or(&self.id), Venue::name)
    }
}

pub(crate) fn locate_venue(records: &Records, argument: &str) -> Result<LocatedVenue> {
    Ok(LocatedVenue::of_id(records, locate_row(records, RecentList::Venues, argument)?))
}

pub(crate) fn locate_booking(records: &Records, argument: &str) -> Result<String> {
    locate_row(records, RecentList::Bookings, argument)
}

pub(crate) fn locate_session(records: &Records, argument: &str) -> Result<String> {
    locate_row(records, RecentList::Sessions, argument)
}

/// Resolves an attempt argument to its idempotency key. If the journal has this key, it is a key
/// and not a row.
pub(crate) fn locate_attempt(records: &Records, argument: &str) -> Result<String> {
    if !argument.starts_with('@') || records.journal()?.attempt(argument)?.is_some() {
        return Ok(argument.to_owned());
    }
    if argument != LAST {
        return locate_row(records, RecentList::Attempts, argument);
    }
    match records.journal()?.open_attempts_here()?.as_slice() {
        [only] => Ok(only.idempotency_key.clone()),
        [] => Err(Error::usage("@last: there are no unresolved requests")),
        several => Err(Error::usage(format!("@last: {} requests are unresolved", several.len()))
            .hint("list them with `bookctl attempts`, and name one by its key or @N")),
    }
}

/// Resolves an argument that may be `@N` or `@last` to the id that it stands for.
pub(crate) fn locate_row(records: &Records, list: RecentList, argument: &str) -> Result<String> {
    if !argument.starts_with('@') {
        return Ok(argument.to_owned());
    }
    let (nouns, command, last) = match list {
        RecentList::Venues => ("venues", "search", Some(RecentList::LastVenue)),
        RecentList::Slots => ("slots", "slots", None),
        RecentList::Attempts => ("attempts", "attempts", None),
        RecentList::Requests => ("requests", "sandbox requests", None),
        RecentList::Deliveries => ("deliveries", "sandbox deliveries", None),
        RecentList::Events => ("events", "webhook events list", None),
        RecentList::Sessions => ("sessions", "session list", Some(RecentList::LastSession)),
        _ => ("bookings", "bookings", Some(RecentList::LastBooking)),
    };
    let (list, row) = match last.filter(|_| argument == LAST) {
        Some(last) => (last, 1),
        None => (list, row_number(argument)?),
    };
    let recent = records.recent()?;
    recent.check_writable()?;
    if let Some(id) = recent.listed(list, row, records.only_reads)? {
        return Ok(id);
    }
    let has_list = recent.listed(list, 1, records.only_reads)?.is_some();
    let why = match nouns.trim_end_matches('s') {
        noun if argument == LAST => format!("@last: no {noun} was made or shown in this shell"),
        _ if has_list => format!("the last list of {nouns} has no row @{row}"),
        _ => format!("@{row}: this shell has not listed any {nouns}"),
    };
    Err(Error::usage(why).hint(format!("list {nouns} with `bookctl {command}`")))
}

fn row_number(argument: &str) -> Result<u32> {
    let row = argument.strip_prefix('@').and_then(|row| row.parse().ok());
    row.filter(|row| *row > 0).ok_or_else(|| {
        Error::usage(format!(
            "{} is not a row; use @1, @2 and so on, or @last",
            argument.escape_debug()
        ))
    })
}
