//! The rows of the desk: what waits, what is unresolved, and bookings by the time of the visit. They are read a window at a time.

use console::{Alignment, pad_str};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::app::Context;
use crate::booking::find::pick;
use crate::journal::{Attempt, KeptBooking, SearchCriteria};
use crate::json::plain;
use crate::outcome::Result;
use crate::platform::key::Key;
use crate::service::documents::booking::Status;
use crate::service::documents::text_fold::fold;
use crate::service::time::document_time::{DocumentTime, as_text};
use crate::service::time::text::listed;
use crate::service::time::zone::system_zone;
use crate::terminal::output::{TableCell, Tone, visible};
use crate::terminal::prompt::countdown;
use crate::terminal::view::{BookingRow, row_lines};

/// How many bookings are read. Who comes near the last of them gets as many more.
const WINDOW: u32 = 200;
/// Scrolling ends here; a search finds the others.
const MOST: u32 = 2000;
/// Below this width a row has the guest, the time and the status alone.
const NARROW: usize = 60;
/// The rows that a page key goes over.
const PAGE: usize = 10;

pub(super) enum Entry {
    Booking(KeptBooking),
    /// A request whose result is not known, and its venue.
    Request(Box<Attempt>, String),
}

impl Entry {
    pub(super) fn id(&self) -> &str {
        match self {
            Entry::Booking(kept) => kept.booking.id(),
            Entry::Request(attempt, _) => &attempt.idempotency_key,
        }
    }

    pub(super) fn state(&self) -> String {
        match self {
            Entry::Booking(kept) => kept.booking.status().word().to_owned(),
            Entry::Request(..) => "unresolved".to_owned(),
        }
    }

    /// When it stops to wait for an answer, if it does.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        match self {
            Entry::Booking(kept) => kept.booking.waits_until(),
            Entry::Request(..) => None,
        }
    }

    /// The time that is left to answer, if any is.
    fn left(&self, now: Timestamp) -> Option<String> {
        let at = self.deadline().filter(|at| *at > now)?;
        Some(countdown(at.duration_since(now)))
    }

    /// The guest, the time and the status on a narrow terminal: a column each, and no weekday.
    fn narrow(&self, columns: usize, now: Timestamp) -> String {
        let row = self.row(now);
        let when = listed(&as_text(&row.time), now);
        let when = when.split_once(' ').map_or(when.as_str(), |it| it.1);
        let status = match self.left(now) {
            Some(left) => format!("{left} left"),
            None if self.deadline().is_some() => "overdue".to_owned(),
            None => self.state(),
        };
        let (guest, when) = (visible(&row.guest), visible(when));
        let cell =
            |text: &str, width| pad_str(text, width, Alignment::Left, Some("…")).into_owned();
        let when = cell(&when, 12);
        match columns.saturating_sub(2 + 12 + 10 + 4) {
            // The heading above says what it is.
            ..8 => format!(
                "{}  {when}",
                cell(&guest, columns.saturating_sub(2 + 12 + 2))
            ),
            room => format!("{}  {when}  {}", cell(&guest, room), visible(&status)),
        }
    }

    fn row(&self, now: Timestamp) -> BookingRow {
        match self {
            Entry::Booking(kept) => {
                let mut row = BookingRow::kept(kept, now);
                if let Some(left) = self.left(now) {
                    row.status = TableCell::from(format!("waiting {left}"));
                }
                row
            }
            Entry::Request(attempt, venue) => BookingRow {
                venue: venue.clone(),
                ..BookingRow::requested(attempt)
            },
        }
    }

    /// The color of its row. A confirmed booking to come has none, so that others stand out.
    fn tone(&self, group: Group, now: Timestamp) -> Option<Tone> {
        let Entry::Booking(kept) = self else {
            return Some(Tone::Warn);
        };
        match kept.booking.status() {
            Status::RequiresAction if self.deadline().is_some_and(|at| at <= now) => {
                Some(Tone::Bad)
            }
            Status::RequiresAction | Status::Processing => Some(Tone::Warn),
            Status::Failed | Status::Expired => Some(Tone::Bad),
            Status::Confirmed if group != Group::Earlier => None,
            _ => Some(Tone::Dim),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
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
            Group::Waiting => "Waiting for an answer",
            Group::Unresolved => "Unresolved requests",
            Group::Today => "Today",
            Group::Coming => "Coming",
            Group::Earlier => "Earlier and ended",
            Group::Similar => "Similar names",
        }
    }
}

/// A line on the screen.
pub(super) enum ListLine {
    Heading(&'static str),
    /// The place among the rows, its text and its color.
    Row(usize, String, Option<Tone>),
}

#[derive(Default)]
pub(super) struct List {
    rows: Vec<(Group, Entry)>,
    selected: usize,
    limit: u32,
    /// Whether there are more bookings than were read.
    pub(super) has_more: bool,
    /// Whether the journal is to be read again.
    pub(super) is_stale: bool,
    /// Whether what is searched has changed since.
    is_another: bool,
    pub(super) lines: Vec<ListLine>,
    /// The width and the second for which the lines were laid out.
    laid_out: Option<(usize, i64)>,
}

impl List {
    /// The selected row.
    pub(super) fn entry(&self) -> Option<&Entry> {
        self.rows.get(self.selected).map(|(_, entry)| entry)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    pub(super) fn count(&self, group: Group) -> usize {
        self.rows.iter().filter(|(its, _)| *its == group).count()
    }

    /// Reads the journal for what is searched. The selected row stays selected if it is still there.
    pub(super) fn read(&mut self, context: &Context, text: &str, now: Timestamp) -> Result<()> {
        (self.is_stale, self.laid_out) = (false, None);
        let is_another = std::mem::take(&mut self.is_another);
        let selected = self.entry().filter(|_| !is_another);
        let selected = selected.map(|entry| entry.id().to_owned());
        pick::take_in_received(context)?;
        self.limit = self.limit.max(WINDOW);
        let text = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let zone = system_zone();
        let journal = context.journal()?;
        let newest_first = SearchCriteria {
            text: text.clone(),
            ..SearchCriteria::default()
        };
        let sought = SearchCriteria {
            coming: Some(zone.to_datetime(now).date()),
            ..newest_first.clone()
        };
        let found = journal.find(&sought, Some(self.limit))?;
        self.has_more = found.more;
        let mut kept = found.kept;
        if text.is_none() {
            // Those that wait for a visit beyond the window.
            let waiting = SearchCriteria {
                status: Some(Status::RequiresAction.as_str().to_owned()),
                ..newest_first
            };
            let waiting = journal.find(&waiting, Some(WINDOW))?.kept;
            let is_new = |it: &KeptBooking| {
                kept.iter()
                    .all(|other| other.booking.id() != it.booking.id())
            };
            let others: Vec<_> = waiting.into_iter().filter(is_new).collect();
            kept.extend(others);
        }
        let mut rows: Vec<_> = kept
            .into_iter()
            .map(|kept| (group_of(&kept, now, &zone), Entry::Booking(kept)))
            .collect();
        let open = journal.open_attempts_here()?.into_iter();
        let open = open.filter(|attempt| {
            text.as_ref()
                .is_none_or(|text| asks_for(attempt, &fold(text)))
        });
        let venue = |attempt: &Attempt| {
            let id = attempt.asked().get("venue_id").map(plain);
            let id = id.unwrap_or_default();
            context
                .known_venue(&id)
                .map_or(id, |venue| venue.name().to_owned())
        };
        rows.extend(open.map(|attempt| {
            let venue = venue(&attempt);
            (Group::Unresolved, Entry::Request(Box::new(attempt), venue))
        }));
        if let Some(text) = text.filter(|_| rows.is_empty()) {
            for word in pick::similar_words(context, &text)? {
                let sought = SearchCriteria {
                    guest: Some(word),
                    ..SearchCriteria::default()
                };
                let kept = journal.find(&sought, Some(WINDOW))?.kept.into_iter();
                rows.extend(kept.map(|kept| (Group::Similar, Entry::Booking(kept))));
            }
        }
        rows.sort_by_cached_key(|(group, entry)| (*group, by_visit(*group, entry, &zone)));
        self.rows = rows;
        let is_it = |(_, entry): &(Group, Entry)| selected.as_deref() == Some(entry.id());
        self.selected = self.rows.iter().position(is_it).unwrap_or_default();
        Ok(())
    }

    /// Moves the selection. Returns `false` if the key is not one that does.
    pub(super) fn press(&mut self, key: Key) -> bool {
        let last = self.rows.len().saturating_sub(1);
        self.selected = match key {
            Key::Up => self.selected.saturating_sub(1),
            Key::Down => (self.selected + 1).min(last),
            Key::PageUp => self.selected.saturating_sub(PAGE),
            Key::PageDown => (self.selected + PAGE).min(last),
            _ => return false,
        };
        if self.has_more && self.selected + 2 * PAGE > last && self.limit < MOST {
            self.limit += WINDOW;
            self.is_stale = true;
        }
        true
    }

    /// Goes back to the first row of another search.
    pub(super) fn searched(&mut self) {
        (self.is_another, self.limit, self.is_stale) = (true, WINDOW, true);
    }

    /// Makes the lines for a width, again each second while something counts down.
    pub(super) fn lay_out(&mut self, columns: usize, now: Timestamp) {
        let counts = |(_, entry): &(Group, Entry)| entry.deadline().is_some();
        let second = if self.rows.iter().any(counts) {
            now.as_second()
        } else {
            0
        };
        if self.laid_out.replace((columns, second)) == Some((columns, second)) {
            return;
        }
        let entries = self.rows.iter().map(|(_, entry)| entry);
        let texts = match columns {
            ..NARROW => entries.map(|it| it.narrow(columns, now)).collect(),
            // A menu leaves room for a mark and the last column.
            _ => row_lines(entries.map(|it| it.row(now)).collect(), columns + 1, now),
        };
        self.lines.clear();
        let mut last = None;
        for (place, ((group, entry), text)) in self.rows.iter().zip(texts).enumerate() {
            if last.replace(*group) != Some(*group) {
                self.lines.push(ListLine::Heading(group.heading()));
            }
            // What follows is for the filter of a menu.
            let text = text.lines().next().unwrap_or_default().to_owned();
            self.lines
                .push(ListLine::Row(place, text, entry.tone(*group, now)));
        }
    }
}

/// A booking whose time to answer is over waits no longer, whatever its last status says.
fn group_of(kept: &KeptBooking, now: Timestamp, zone: &TimeZone) -> Group {
    let booking = &kept.booking;
    if booking.waits_until().is_some_and(|at| at > now) {
        return Group::Waiting;
    }
    let time = booking.value().get("datetime").and_then(DocumentTime::read);
    let day = time.and_then(|time| time.day_in(None));
    match day.map(|day| day.cmp(&zone.to_datetime(now).date())) {
        _ if !booking.status().has_not_ended() => Group::Earlier,
        Some(std::cmp::Ordering::Equal) => Group::Today,
        Some(std::cmp::Ordering::Greater) => Group::Coming,
        _ => Group::Earlier,
    }
}

/// Seconds: the first deadline and the next visit come first, of earlier ones the last.
fn by_visit(group: Group, entry: &Entry, zone: &TimeZone) -> i64 {
    let Entry::Booking(kept) = entry else {
        return 0;
    };
    let time = kept.booking.value().get("datetime");
    let visit = || DocumentTime::read(time?)?.instant_in(Some(zone));
    let at = match group {
        Group::Waiting => entry.deadline(),
        _ => visit(),
    };
    let at = at.map_or(i64::MAX, |at| at.as_second());
    if group == Group::Earlier {
        at.saturating_neg()
    } else {
        at
    }
}

/// Whether a request has every word of a folded text.
fn asks_for(attempt: &Attempt, text: &str) -> bool {
    let asked = fold(&format!("{} {}", attempt.idempotency_key, attempt.asked()));
    text.split_whitespace().all(|word| asked.contains(word))
}
