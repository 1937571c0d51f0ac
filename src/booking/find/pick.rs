//! Offers a list where an argument is missing, and what a search finds where an id is not one.

use super::locate::{LocatedVenue, locate_attempt, locate_booking, locate_venue};
use crate::app::Context;
use crate::booking::watch::wait::{another, is_not_found, look_up, naming};
use crate::journal::recent::RecentList;
use crate::journal::{FoundBookings, KeptBooking, SearchCriteria};
use crate::outcome::similar::{meant, similar};
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;
use crate::service::documents::booking::{Booking, Status};
use crate::service::documents::id::same_id;
use crate::service::documents::plural;
use crate::terminal::output::visible;
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::{BookingRow, row_lines, venue_line};
use crate::webhook::Event;

/// The longest list that is offered. Typing looks for a part of it, and `bookctl bookings TEXT` in
/// all bookings.
const MOST: u32 = 1000;

#[derive(Debug)]
pub(crate) struct NamedBooking {
    pub(crate) id: String,
    /// As it was read to find it.
    pub(crate) read: Option<Result<Booking>>,
}

impl NamedBooking {
    /// The booking, which is read now unless it was read to find it, and whether it is the
    /// requested one.
    pub(crate) async fn answered(&mut self, context: &Context) -> Result<(Booking, bool)> {
        let read = match self.read.take() {
            Some(read) => read,
            None => look_up(context, &self.id).await,
        };
        let booking = read.map_err(|error| not_found(context, &self.id, error))?;
        let is_it = same_id(booking.id(), &self.id);
        Ok((booking, is_it))
    }

    /// The requested booking, or `unexpected_answer` (15) if the service returned another one.
    pub(crate) async fn booking(&mut self, context: &Context) -> Result<Booking> {
        match self.answered(context).await? {
            (booking, true) => Ok(booking),
            (other, false) => Err(another(&other, &self.id)),
        }
    }
}

/// The booking of an argument as it is, with nothing sent to find it.
pub(crate) fn located(context: &Context, argument: &str) -> Result<NamedBooking> {
    let id = locate_booking(context, argument)?;
    Ok(NamedBooking { id, read: None })
}

/// Resolves a booking argument. Without one, a terminal offers the bookings that this computer
/// knows and whose status is of `offered`; for a text that is not an id, it offers those that the
/// text finds. To know that, an id that this computer does not know is read, unless nothing may be
/// sent.
pub(crate) async fn booking_or_pick(
    context: &Context,
    argument: Option<&str>,
    offered: fn(&Status) -> bool,
    reads: bool,
) -> Result<NamedBooking> {
    let Some(argument) = argument else {
        let id = pick_booking(context, offered).await?;
        return Ok(NamedBooking { id, read: None });
    };
    let id = locate_booking(context, argument)?;
    let is_text = id.trim().contains(char::is_whitespace);
    let may_choose = context.prompter.interactive() && context.has_journal();
    // A script's read of an id opens no journal.
    let is_new = (is_text || may_choose) && !is_known(context, &id);
    let can_choose = is_new && may_choose;
    let read = if is_new && is_text {
        // Hardly an id, so it is looked for and not sent.
        let what = format!("no booking has the id {}", visible(&id));
        Some(Err(Error::not_found(what)))
    } else if can_choose && reads {
        Some(look_up(context, &id).await)
    } else {
        None
    };
    match read {
        Some(Err(error)) if is_not_found(&error) => {
            let mut found = Vec::new();
            if can_choose {
                found = kept(context, Some(&id))?.kept;
            }
            if found.is_empty() {
                return Err(not_found(context, &id, error));
            }
            let heading = format!("Bookings that match \"{}\":", visible(&id));
            context.out.note(&heading);
            let id = choose(context, which_booking(), &found).await?;
            Ok(NamedBooking { id, read: None })
        }
        Some(Err(error)) if error.code == Code::Interrupted => Err(error),
        read => Ok(NamedBooking { id, read }),
    }
}

fn which_booking() -> Question {
    Question::new("Which booking?", "BOOKING", "the booking").of("bookings")
}

async fn pick_booking(context: &Context, offered: fn(&Status) -> bool) -> Result<String> {
    let question = which_booking();
    context.prompter.check(&question)?;
    let mut found = kept(context, None)?;
    if found.more {
        let what = format!("These are the newest {MOST} bookings.");
        let note = format!("{what} To search all: bookctl bookings TEXT");
        context.out.note(&note);
    }
    found.kept.retain(|kept| offered(&kept.booking.status()));
    if found.kept.is_empty() && !offered(&Status::Confirmed) {
        return Err(Error::usage("no booking here is waiting for an answer"));
    }
    choose(context, question, &found.kept).await
}

/// The bookings of this computer, or those that a text finds.
fn kept(context: &Context, text: Option<&str>) -> Result<FoundBookings> {
    take_in_received(context)?;
    let sought = SearchCriteria { text: text.map(str::to_owned), ..SearchCriteria::default() };
    context.journal()?.find(&sought, Some(MOST))
}

/// Whoever picks a booking has it before them: it is `@last` from then on.
async fn choose(context: &Context, question: Question, kept: &[KeptBooking]) -> Result<String> {
    let now = context.service_now();
    let rows = kept.iter().map(|kept| BookingRow::kept(kept, now));
    let id = pick_row(context, question, rows.collect()).await?;
    context.remember_last(RecentList::LastBooking, &id);
    Ok(id)
}

/// The id in the row that a person picks.
async fn pick_row(context: &Context, question: Question, rows: Vec<BookingRow>) -> Result<String> {
    let mut ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let columns = context.out.stderr_style().width;
    let lines = row_lines(rows, columns, context.service_now());
    let row = context.prompter.pick(&question, &lines, 0).await;
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
pub(crate) async fn attempt_or_pick(context: &Context, argument: Option<&str>) -> Result<String> {
    if let Some(argument) = argument {
        return locate_attempt(context, argument);
    }
    let question = Question::new("Which request?", "KEY", "the request's key");
    let question = question.of("unresolved requests");
    context.prompter.check(&question)?;
    let open = context.journal()?.open_attempts_here()?;
    let newest_first = open.iter().rev().map(BookingRow::requested).collect();
    pick_row(context, question, newest_first).await
}

/// Resolves a venue argument. Without one, a terminal offers the venues of earlier searches.
pub(crate) async fn venue_or_pick(
    context: &Context,
    argument: Option<&str>,
) -> Result<LocatedVenue> {
    if let Some(argument) = argument {
        return locate_venue(context, argument);
    }
    let question = Question::new("Which venue?", "VENUE", "the venue").of("venues");
    context.prompter.check(&question)?;
    let venues = context.recent()?.recent_venues(MOST)?;
    if venues.is_empty() {
        let error = Error::usage("no venues were found on this computer yet");
        return Err(
            error.hint("search first: bookctl search dining --near London --at 'fri 19:30'")
        );
    }
    let lines: Vec<String> = venues.iter().map(venue_line).collect();
    let row = context.prompter.pick(&question, &lines, 0).await;
    locate_venue(context, venues[row.map_err(or_nothing_chosen)?].id())
}

/// Whether the journal has a booking with this id. A read makes no journal.
fn is_known(context: &Context, id: &str) -> bool {
    let known = || context.journal()?.kept(id);
    context.has_journal() && matches!(known(), Ok(Some(_)))
}

/// A sentence on the booking requests whose result is unknown, if there are any: no list of
/// bookings has them.
pub(crate) fn open_requests(context: &Context) -> Option<String> {
    if !context.has_journal() {
        return None;
    }
    let open = context.journal().ok()?.open_attempts_here().ok()?.len();
    let requests = plural(open, "unresolved request", "unresolved requests");
    (open > 0).then(|| format!("{requests} may be missing here: bookctl attempts"))
}

/// Adds to the error of a booking that the service does not know what can be done about it.
pub(crate) fn not_found(context: &Context, text: &str, error: Error) -> Error {
    if !is_not_found(&error) {
        return error;
    }
    let mut error = naming(text, error);
    if is_known(context, text) {
        return error.hint(format!(
            "this computer knows the booking, but the service does not: check the profile and the key, or delete the guest here: {}",
            shell::command("bookings forget", text, "")
        ));
    }
    error.details.extend(open_requests(context));
    error.hint(if context.prompter.interactive() {
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
    let taken = context.recent()?.listed(RecentList::TakenIn, 1, false)?;
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

pub(super) fn part(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("there is nothing to look for".to_owned()),
        part => Ok(part.to_owned()),
    }
}

/// Says what was searched, which guests have nearly this name, and where else a booking may be.
pub(super) fn note_nothing_found(context: &Context, sought: &SearchCriteria) -> Result<()> {
    let service = context.named_service();
    let service = service.as_deref().unwrap_or("sandbox");
    let SearchCriteria { text, guest, phone, .. } = sought;
    let texts = [text, guest, phone, &sought.email, &sought.venue].into_iter();
    let text = texts.flatten().cloned().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        context.out.note(&format!("No bookings found ({service})."));
        return Ok(());
    }
    let similar = similar_words(context, &text)?;
    let meant = meant(similar.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
    let none = format!("No bookings found for \"{text}\" ({service}){meant}");
    context.out.note(&none);
    context.out.note(
        "Only bookings this computer knows were searched. One made elsewhere opens by its ID: bookctl show ID",
    );
    Ok(())
}

/// The words of guests' names that a word of the text may stand for.
pub(crate) fn similar_words(context: &Context, text: &str) -> Result<Vec<String>> {
    let kept = kept(context, None)?.kept;
    let guests = kept.iter().filter_map(|kept| kept.booking.guest());
    let guests: Vec<String> = guests.collect();
    let names = || guests.iter().flat_map(|guest| guest.split_whitespace());
    let words = text.split_whitespace();
    let meant = words.flat_map(|word| similar(word, names()));
    Ok(meant.map(str::to_owned).collect())
}
