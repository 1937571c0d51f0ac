//! The rows of the desk: what waits, what is unresolved, and bookings by the time of the visit.
//! They are read a window at a time.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::civil::Date;

use super::reads::{OFTEN, Row};
use crate::app::{Parts, Records};
use crate::booking::find::pick;
use crate::journal::{Attempt, KeptBooking, SearchCriteria};
use crate::outcome::Result;
use crate::service::client::RATE_LIMIT_WINDOW;
use crate::service::documents::text_fold::digits;
use crate::service::documents::{Booking, Status, fold};
use crate::service::time::system_zone;
use crate::terminal::output::{TableCell, Tone};
use crate::terminal::view::{BookingRow, row_lines, time_left, tone_of};

/// How many bookings are read. A search finds the others.
const MOST: u32 = 500;

pub(super) enum Entry {
    Booking(Box<KeptBooking>),
    /// A request whose result is not known, and its venue.
    Request(Box<Attempt>, String),
}

impl Entry {
    pub(super) fn id(&self) -> &str {
        match self {
            Entry::Booking(stored) => stored.booking.id(),
            Entry::Request(attempt, _) => &attempt.idempotency_key,
        }
    }

    pub(super) fn booking(&self) -> Option<&KeptBooking> {
        match self {
            Entry::Booking(stored) => Some(stored),
            Entry::Request(..) => None,
        }
    }

    /// When it stops to wait for an answer, if it does.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.booking()?.booking.waits_until()
    }

    fn row(&self, now: Timestamp) -> BookingRow {
        match self {
            Entry::Booking(stored) => {
                let mut row = BookingRow::from_recorded(stored, now);
                // Its group says that it waits.
                if let Some(left) = time_left(&stored.booking, now) {
                    row.status = TableCell::from(left);
                }
                row
            }
            Entry::Request(attempt, venue) => {
                BookingRow { venue: venue.clone(), ..BookingRow::from_request(attempt) }
            }
        }
    }

    /// The color of its row: none where it has not ended, to be legible on each background.
    fn tone(&self) -> Option<Tone> {
        let status = self.booking()?.booking.status();
        (!status.has_not_ended()).then(|| tone_of(&status))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// What a person has to ask the venue about.
    CallVenue,
    Waiting,
    Unresolved,
    Today,
    Coming,
    Earlier,
    Similar,
}

impl Group {
    fn heading(self) -> &'static str {
        match self {
            Group::CallVenue => "Call the venue",
            Group::Waiting => "Waiting for an answer",
            Group::Unresolved => "Unresolved requests",
            Group::Today => "Today",
            Group::Coming => "Coming",
            Group::Earlier => "Earlier and ended",
            Group::Similar => "Similar names",
        }
    }
}

/// A line on the screen: a row, or the heading of a group.
pub(super) struct ListLine {
    /// Which row it is; `None` for a heading.
    pub(super) place: Option<usize>,
    pub(super) text: String,
    pub(super) tone: Option<Tone>,
}

#[derive(Default)]
pub(super) struct List {
    rows: Vec<(Group, Entry)>,
    /// The groups of all rows, whatever is searched.
    groups: Vec<Group>,
    pub(super) selected: usize,
    /// What was selected and is no longer there.
    pub(super) gone: Option<String>,
    pub(super) has_more: bool,
    pub(super) is_stale: bool,
    /// Whether what is searched has changed since.
    is_another: bool,
    pub(super) lines: Vec<ListLine>,
    /// The width and the second for which the lines were laid out.
    laid_out: Option<(usize, i64)>,
}

impl List {
    pub(super) fn entry(&self) -> Option<&Entry> {
        self.rows.get(self.selected).map(|(_, entry)| entry)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many rows of a group there are, whatever is searched.
    pub(super) fn count(&self, group: Group) -> usize {
        self.groups.iter().filter(|its| **its == group).count()
    }

    /// Reads the journal for the search. Keeps the selection, also as the request's booking.
    pub(super) fn read(&mut self, parts: &Parts, text: &str, now: Timestamp) -> Result<()> {
        (self.is_stale, self.laid_out) = (false, None);
        let is_another = std::mem::take(&mut self.is_another);
        let selected = self.entry().filter(|_| !is_another).map(|entry| entry.id().to_owned());
        pick::take_in_received(parts)?;
        let (journal, today) = (parts.records.journal()?, system_zone().to_datetime(now).date());
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        let (mut rows, has_more) = find_rows(&parts.records, text, now, today)?;
        self.has_more = has_more;
        self.groups = match text {
            Some(_) => {
                find_rows(&parts.records, None, now, today)?.0.iter().map(|row| row.0).collect()
            }
            None => rows.iter().map(|row| row.0).collect(),
        };
        if let Some(text) = text.filter(|_| rows.is_empty()) {
            for word in pick::similar_words(parts, text)? {
                let sought = SearchCriteria { guest: Some(word), ..SearchCriteria::default() };
                let stored = journal.find(&sought, Some(MOST))?.stored.into_iter();
                rows.extend(stored.map(|stored| (Group::Similar, Entry::Booking(stored.into()))));
            }
        }
        rows.sort_by_cached_key(|(group, entry)| {
            let deadline = entry.deadline().filter(|_| *group == Group::Waiting);
            (*group, deadline, entry.booking().map(|stored| pick::by_visit(stored, today)))
        });
        self.rows = rows;
        let place = |id: &String| self.rows.iter().position(|(_, entry)| entry.id() == id);
        let became = |id: &String| place(&journal.attempt(id).ok()??.booking_id?);
        let found = selected.as_ref().and_then(|id| place(id).or_else(|| became(id)));
        self.selected = found.unwrap_or_default();
        self.gone = selected.filter(|_| found.is_none());
        Ok(())
    }

    /// The rows that may have changed at the service: unfinished soon, a coming visit in a while.
    pub(super) fn may_have_changed(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().filter_map(|(group, entry)| {
            let stored = entry.booking()?;
            let due = match stored.booking.status() {
                Status::Confirmed if *group == Group::Earlier => return None,
                Status::Confirmed => RATE_LIMIT_WINDOW,
                status => status.has_not_ended().then_some(OFTEN)?,
            };
            Some(Row { id: stored.booking.id(), age: stored.age(), due })
        })
    }

    /// Goes back to the first row of another search.
    pub(super) fn searched(&mut self) {
        (self.is_another, self.is_stale) = (true, true);
    }

    /// Makes the lines for a width, again each second while something counts down.
    pub(super) fn lay_out(&mut self, columns: usize, now: Timestamp) {
        let counts = self.rows.iter().any(|(_, entry)| entry.deadline().is_some());
        let made_for = Some((columns, if counts { now.as_second() } else { 0 }));
        if self.laid_out == made_for {
            return;
        }
        self.laid_out = made_for;
        let rows = self.rows.iter().map(|(_, entry)| entry.row(now)).collect();
        // A menu leaves room for a mark and the last column.
        let texts = row_lines(rows, columns + 1, now);
        self.lines.clear();
        let mut last = None;
        for (place, ((group, entry), text)) in self.rows.iter().zip(texts).enumerate() {
            if last.replace(*group) != Some(*group) {
                let text = group.heading().to_owned();
                self.lines.push(ListLine { place: None, text, tone: Some(Tone::Dim) });
            }
            // What follows is for the filter of a menu.
            let text = text.lines().next().unwrap_or_default().to_owned();
            self.lines.push(ListLine { place: Some(place), text, tone: entry.tone() });
        }
    }
}

/// The rows that have a text, in no order, and whether there are more bookings.
fn find_rows(
    records: &Records,
    text: Option<&str>,
    now: Timestamp,
    today: Date,
) -> Result<(Vec<(Group, Entry)>, bool)> {
    let journal = records.journal()?;
    let sought = SearchCriteria {
        text: text.map(str::to_owned),
        coming: Some(today),
        ..SearchCriteria::default()
    };
    // What waits may be for a visit beyond those that are read.
    let waiting = SearchCriteria {
        status: Some(Status::RequiresAction.as_str().to_owned()),
        coming: None,
        ..sought.clone()
    };
    let waiting = journal.find(&waiting, Some(MOST))?;
    let found = journal.find(&sought, Some(MOST))?;
    let mut seen = HashSet::new();
    let stored = waiting.stored.into_iter().chain(found.stored);
    let stored = stored.filter(|stored| seen.insert(stored.booking.id().to_owned()));
    let row = |stored| (group_of(&stored, now, today), Entry::Booking(stored.into()));
    let mut rows: Vec<_> = stored.map(row).collect();
    for attempt in journal.open_attempts_here()? {
        let id = attempt.wish().venue();
        let venue = records.known_venue(&id).map_or(id, |venue| venue.name().to_owned());
        if text.is_none_or(|text| is_match(&attempt, &venue, text)) {
            rows.push((Group::Unresolved, Entry::Request(Box::new(attempt), venue)));
        }
    }
    Ok((rows, found.more))
}

/// Whether only the venue knows: a payment may be held, or the guest is still expected.
fn needs_call(booking: &Booking) -> bool {
    match booking.status() {
        Status::Failed => booking.may_stand(),
        Status::Confirmed => booking.error_code() == Some("cancellation_unsupported"),
        _ => false,
    }
}

/// A booking whose time to answer is over waits no longer, whatever its last status says.
fn group_of(stored: &KeptBooking, now: Timestamp, today: Date) -> Group {
    let booking = &stored.booking;
    if needs_call(booking) {
        return Group::CallVenue;
    }
    if booking.waits_until().is_some_and(|at| at > now) {
        return Group::Waiting;
    }
    match pick::by_visit(stored, today).1.filter(|_| !booking.is_overdue(now)) {
        None => Group::Earlier,
        Some(visit) if visit.date() == today => Group::Today,
        Some(_) => Group::Coming,
    }
}

/// Whether guest, phone, email, venue or key of a request have every word of a text.
fn is_match(attempt: &Attempt, venue: &str, text: &str) -> bool {
    let wish = attempt.wish();
    let customer = |field| wish.text(field).unwrap_or_default();
    let [name, phone, email] = ["customer.name", "customer.phone", "customer.email"].map(customer);
    let texts = [&name, &*name.replace(' ', ""), &email, venue, &attempt.idempotency_key].map(fold);
    let number = digits(text);
    let is_number = number.len() > 2 && number.len() + 4 > text.chars().count();
    is_number && digits(&phone).contains(number.trim_start_matches('0'))
        || fold(text).split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)))
}
