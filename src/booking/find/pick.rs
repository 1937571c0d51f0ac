//! Offers a list where an argument is missing, and what a search finds where an id is not one.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::civil::{Date, DateTime};

use super::locate::{LocatedVenue, locate_attempt, locate_booking, locate_venue};
use crate::app::in_flight::show_command;
use crate::app::{Facts, Parts, Records, Ui};
use crate::booking::terms::find_recorded;
use crate::booking::watch::wait::{checked, is_not_found, look_up, naming};
use crate::journal::recent::RecentList;
use crate::journal::{FoundBookings, KeptBooking, SearchCriteria};
use crate::outcome::similar::{meant, similar};
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;
use crate::service::documents::{Booking, Status, plural};
use crate::service::time::system_zone;
use crate::terminal::output::visible;
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::{BookingRow, row_lines, venue_line};
use crate::webhook::Event;

/// The longest list that is offered. Typing filters it; `bookctl bookings TEXT` searches all.
const MOST: u32 = 1000;

#[derive(Debug)]
pub(crate) struct NamedBooking {
    pub(crate) id: String,
    /// As it was read to find it.
    pub(crate) read: Option<Result<Booking>>,
}

impl NamedBooking {
    /// The booking that the service answers with, read now unless it was before.
    pub(crate) async fn look_up(&mut self, parts: &Parts) -> Result<Booking> {
        let read = match self.read.take() {
            Some(read) => read,
            None => look_up(&parts.api, &self.id, true).await,
        };
        read.map_err(|error| not_found(&parts.records, &parts.ui, &self.id, error))
    }

    /// The requested booking, or `unexpected_answer` (15) if the service returned another one.
    pub(crate) async fn booking(&mut self, parts: &Parts) -> Result<Booking> {
        checked(&parts.api, self.look_up(parts).await?, &self.id)
    }
}

/// The booking of an argument as it is, with nothing sent to find it.
pub(crate) fn located(records: &Records, argument: &str) -> Result<NamedBooking> {
    let id = locate_booking(records, argument)?;
    Ok(NamedBooking { id, read: None })
}

/// Resolves a booking argument. Without one, a terminal offers the known bookings whose status is
/// of `offered`; for a text, those that it finds. To tell text from id, reads an unknown id, unless
/// nothing may be sent.
pub(crate) async fn booking_or_pick(
    parts @ Parts { api, records, ui, .. }: &Parts,
    argument: Option<&str>,
    offered: fn(&Status) -> bool,
    reads: bool,
) -> Result<NamedBooking> {
    let Some(argument) = argument else {
        let id = pick_booking(parts, offered).await?;
        return Ok(NamedBooking { id, read: None });
    };
    let id = locate_booking(records, argument)?;
    let is_text = id.trim().contains(char::is_whitespace);
    let may_choose = ui.prompter.interactive() && records.has_journal();
    // A script's read of an id opens no journal.
    let is_new = (is_text || may_choose) && find_recorded(records, &id).is_none();
    let can_choose = is_new && may_choose;
    let read = if is_new && is_text {
        // Hardly an id, so it is looked for and not sent.
        Some(Err(Error::not_found("no booking has this ID")))
    } else if can_choose && reads {
        Some(look_up(api, &id, true).await)
    } else {
        None
    };
    match read {
        Some(Err(error)) if is_not_found(&error) => {
            let mut found = Vec::new();
            if can_choose {
                found = stored(parts, Some(&id))?.stored;
            }
            if found.is_empty() {
                return Err(not_found(records, ui, &id, error));
            }
            if let [one] = &found[..]
                && records.only_reads
            {
                return Ok(NamedBooking { id: one.booking.id().to_owned(), read: None });
            }
            ui.out.note(&format!("Bookings that match \"{}\":", visible(&id)));
            let id = choose(parts, &found).await?;
            Ok(NamedBooking { id, read: None })
        }
        Some(Err(error)) if error.code == Code::Interrupted => Err(error),
        read => Ok(NamedBooking { id, read }),
    }
}

fn which_booking() -> Question {
    Question::new("Which booking?", "BOOKING", "the booking").with_noun("bookings")
}

async fn pick_booking(parts: &Parts, offered: fn(&Status) -> bool) -> Result<String> {
    parts.ui.prompter.check(&which_booking())?;
    let mut found = stored(parts, None)?;
    if found.more {
        let what = format!("These are the newest {MOST} bookings.");
        let note = format!("{what} To search all: bookctl bookings TEXT");
        parts.ui.out.note(&note);
    }
    found.stored.retain(|stored| offered(&stored.booking.status()));
    if found.stored.is_empty() && !offered(&Status::Confirmed) {
        return Err(Error::usage("no booking here is waiting for an answer"));
    }
    choose(parts, &found.stored).await
}

/// The bookings of this computer, or those that a text finds, in the order of `bookings`.
fn stored(parts: &Parts, text: Option<&str>) -> Result<FoundBookings> {
    take_in_received(parts)?;
    parts.records.expect_known_clock()?;
    let today = system_zone().to_datetime(parts.api.facts.service_now()).date();
    let text = text.map(str::to_owned);
    let sought = SearchCriteria { text, coming: Some(today), ..SearchCriteria::default() };
    let mut found = parts.records.journal()?.find(&sought, Some(MOST))?;
    found.stored.sort_by_key(|stored| by_visit(stored, today));
    Ok(found)
}

/// When the visit is, by the venue's clock.
pub(crate) fn local_visit(stored: &KeptBooking) -> Option<DateTime> {
    let known = stored.fill_in(&stored.booking);
    stored.visit.or(known.time.read().and_then(|it| it.local))
}

/// By the time of the visit: the next first, and after those that are to come the last. One that is
/// to come has its time in the second place.
pub(crate) fn by_visit(
    stored: &KeptBooking,
    today: Date,
) -> (bool, Option<DateTime>, Reverse<Option<DateTime>>) {
    let local = local_visit(stored);
    let is_to_come =
        local.is_some_and(|local| local.date() >= today) && stored.booking.status().has_not_ended();
    (!is_to_come, local.filter(|_| is_to_come), Reverse(local))
}

/// Returns the id of the booking that a person picks, which is `@last` from then on.
async fn choose(parts: &Parts, stored: &[KeptBooking]) -> Result<String> {
    let now = parts.api.facts.service_now();
    let rows = stored.iter().map(|stored| BookingRow::from_recorded(stored, now));
    let id = pick_row(&parts.api.facts, &parts.ui, which_booking(), rows.collect()).await?;
    parts.records.remember_last(RecentList::LastBooking, &id);
    Ok(id)
}

async fn pick_row(
    facts: &Facts,
    ui: &Ui,
    question: Question,
    rows: Vec<BookingRow>,
) -> Result<String> {
    let mut ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let lines = row_lines(rows, ui.out.stderr_style().width, facts.service_now());
    let row = ui.prompter.pick(&question, &lines, 0).await;
    Ok(ids.swap_remove(row.map_err(or_nothing_chosen)?))
}

/// The error (17) if a person leaves a list.
pub(crate) fn or_nothing_chosen(error: PromptError) -> Error {
    match error {
        PromptError::Back => Error::new(Code::Declined, "Nothing was chosen."),
        error => error.into(),
    }
}

/// The attempt of an argument. Without one, a terminal offers the open attempts.
pub(crate) async fn attempt_or_pick(parts: &Parts, argument: Option<&str>) -> Result<String> {
    if let Some(argument) = argument {
        return locate_attempt(&parts.records, argument);
    }
    let question = Question::new("Which request?", "KEY", "the request's key");
    let question = question.with_noun("unresolved requests");
    parts.ui.prompter.check(&question)?;
    let open = parts.records.journal()?.open_attempts_here()?;
    let newest_first = open.iter().rev().map(BookingRow::from_request).collect();
    pick_row(&parts.api.facts, &parts.ui, question, newest_first).await
}

/// Resolves a venue argument. Without one, a terminal offers the venues of earlier searches.
pub(crate) async fn venue_or_pick(
    records: &Records,
    ui: &Ui,
    argument: Option<&str>,
) -> Result<LocatedVenue> {
    if let Some(argument) = argument {
        return locate_venue(records, argument);
    }
    let question = Question::new("Which venue?", "VENUE", "the venue").with_noun("venues");
    ui.prompter.check(&question)?;
    let venues = records.recent()?.recent_venues(MOST)?;
    if venues.is_empty() {
        let error = Error::usage("no venues were found on this computer yet");
        return Err(
            error.hint("search first: bookctl search dining --near London --at 'fri 19:30'")
        );
    }
    let lines: Vec<String> = venues.iter().map(venue_line).collect();
    let row = ui.prompter.pick(&question, &lines, 0).await;
    locate_venue(records, venues[row.map_err(or_nothing_chosen)?].id())
}

/// A sentence on the unresolved booking requests without a booking, if any: no list has them.
pub(crate) fn open_requests(records: &Records) -> Option<String> {
    let journal = records.has_journal().then(|| records.journal().ok())??;
    let open = journal.with_marked(journal.open_attempts_here().ok()?).ok()?;
    let open = open.iter().filter(|it| it.booking_id.is_none()).count();
    let requests = plural(open, "unresolved request", "unresolved requests");
    (open > 0).then(|| format!("{requests} may be missing here: bookctl attempts"))
}

/// Adds to the error of a booking that the service does not know what can be done about it.
pub(crate) fn not_found(records: &Records, ui: &Ui, text: &str, error: Error) -> Error {
    if !is_not_found(&error) {
        return error;
    }
    let mut error = naming(text, error);
    if find_recorded(records, text).is_some() {
        // Only a read shows that the service does not know it.
        if error.request.as_ref().is_some_and(|it| !it.starts_with("GET ")) {
            return error.hint(format!("see the booking: {}", show_command(text)));
        }
        return error.hint(format!(
            "this computer knows the booking, but the service does not: check the profile and the key, or delete the guest here: {}",
            shell::command("bookings forget", text, "")
        ));
    }
    error.details.extend(open_requests(records));
    error.hint(if ui.prompter.interactive() {
        // What this computer knows was searched.
        "a booking that was made elsewhere is found by its ID alone: bookctl show ID".to_owned()
    } else {
        let search = shell::command("bookings", text, "");
        format!("check the id, or search for it: {search}")
    })
}

/// How many events are taken in by one transaction.
const AT_ONCE: u32 = 5000;

/// Takes in the bookings of the events that `webhook listen` has received since the last time.
pub(crate) fn take_in_received(parts @ Parts { records, ui, .. }: &Parts) -> Result<()> {
    let webhooks = match records.received() {
        Ok(Some(webhooks)) => webhooks,
        Ok(None) => return Ok(()),
        Err(error) => {
            ui.out.warn(&format!("received bookings are missing: {}", error.message));
            return Ok(());
        }
    };
    let taken = records.recent()?.listed(RecentList::TakenIn, 1, false)?;
    let taken: i64 = taken.and_then(|number| number.parse().ok()).unwrap_or(0);
    let newest = webhooks.newest()?;
    // A new file of webhooks counts from the beginning.
    let mut after = if taken > newest { 0 } else { taken };
    while after < newest {
        let bodies = webhooks.bodies(after, AT_ONCE)?;
        // Deliveries may come out of order (spec, Events, 7): an older event than another of its
        // booking shows nothing new.
        let mut latest = HashMap::new();
        let mut newer = |body: &[u8]| {
            let (created, booking) = Event::booking_in(body, parts.api.facts.mapping())?;
            let known = latest.entry(booking.id().to_owned()).or_insert(created);
            let is_older = created.is_some() && created < *known;
            *known = created.max(*known);
            (!is_older).then_some(booking)
        };
        for body in webhooks.earlier_bodies(after, AT_ONCE)? {
            newer(&body);
        }
        let received = bodies.iter().filter_map(|(_, at, body)| {
            let mut booking = newer(body)?;
            booking.left_at = Some(*at);
            Some(booking)
        });
        records.journal()?.take_in(&received.collect::<Vec<_>>())?;
        after = match bodies.last() {
            Some((number, ..)) if bodies.len() == AT_ONCE as usize => *number,
            _ => newest,
        };
        records.recent()?.remember_one(RecentList::TakenIn, &after.to_string())?;
    }
    Ok(())
}

pub(super) fn part(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("there is nothing to look for".to_owned()),
        part => Ok(part.to_owned()),
    }
}

/// Says what was searched, which guests have nearly this name, and where else a booking may be.
pub(super) fn note_nothing_found(parts: &Parts, sought: &SearchCriteria) -> Result<()> {
    let service = parts.api.facts.named_service();
    let service = service.as_deref().unwrap_or("sandbox");
    let SearchCriteria { text, guest, phone, .. } = sought;
    let texts = [text, guest, phone, &sought.email, &sought.venue].into_iter();
    let text = texts.flatten().cloned().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        parts.ui.out.note(&format!("No bookings found ({service})."));
        return Ok(());
    }
    let meant = meant(similar_words(parts, &text)?.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
    parts.ui.out.note(&format!("No bookings found for \"{text}\" ({service}){meant}"));
    parts.ui.out.note(
        "Only bookings this computer knows were searched. One made elsewhere opens by its ID: bookctl show ID",
    );
    Ok(())
}

/// The words of guests' names that a word of the text may stand for.
pub(crate) fn similar_words(parts: &Parts, text: &str) -> Result<Vec<String>> {
    let stored = stored(parts, None)?.stored;
    let guests: Vec<String> = stored.iter().filter_map(|stored| stored.booking.guest()).collect();
    let names = || guests.iter().flat_map(|guest| guest.split_whitespace());
    Ok(text.split_whitespace().flat_map(|word| similar(word, names())).map(str::to_owned).collect())
}
