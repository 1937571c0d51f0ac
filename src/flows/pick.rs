//! Offers a list where an argument is missing, and what a search finds where an id is not one.

use super::locate::{LocatedVenue, locate_attempt, locate_booking, locate_venue};
use super::received::take_in_received;
use super::wait::{checked, find_booking, is_a_page, look_up, naming, or_warn, read_booking};
use crate::app::Context;
use crate::journal::{Attempt, Journal, KeptBooking, Sought};
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::certainty::Certainty;
use crate::model::{plural, shell};
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::visible;
use crate::terminal::prompt::{PromptError, Question};
use crate::terminal::view::{RowParts, row_lines, venue_line};

/// The longest list that is offered. Typing looks for a part of it, and `bookctl bookings TEXT` in all bookings.
const MOST: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    All,
    /// Those that have not ended.
    Alive,
    /// Those that wait for an answer.
    Waiting,
}

impl Offered {
    fn includes(self, status: &Status) -> bool {
        match self {
            Offered::All => true,
            Offered::Alive => status.is_alive(),
            Offered::Waiting => *status == Status::RequiresAction,
        }
    }
}

/// When the booking of an argument is read in order to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Nothing is sent.
    Never,
    /// Only where a person could choose another booking if there is none with this id.
    ToFind,
    Always,
}

#[derive(Debug)]
pub(crate) struct NamedBooking {
    pub(crate) id: String,
    /// As it was read to find it.
    read: Option<Booking>,
}

impl NamedBooking {
    /// The booking. It is read now, unless it was read to find it.
    ///
    /// # Errors
    ///
    /// `unexpected_answer` (15) if the service returned another booking.
    pub(crate) async fn booking(&mut self, context: &Context) -> Result<Booking> {
        match self.take_read() {
            Some(read) => read,
            None => read_booking(context, &self.id)
                .await
                .map_err(|error| not_found(context, &self.id, error)),
        }
    }

    /// The booking if it was read to find it, once.
    pub(crate) fn take_read(&mut self) -> Option<Result<Booking>> {
        self.read.take().map(|booking| checked(booking, &self.id))
    }

    /// The booking that was read to find it ([`Reads::Always`]), and whether it is the requested one.
    pub(crate) async fn shown(&mut self, context: &Context) -> Result<(Booking, bool)> {
        match self.read.take() {
            Some(booking) => Ok(or_warn(context, booking, &self.id)),
            None => find_booking(context, &self.id).await,
        }
    }
}

/// Resolves a booking argument. Without one, a terminal offers the bookings that this computer knows; for a text that is
/// no id, it offers those that the text finds.
pub(crate) async fn booking_or_pick(
    context: &Context,
    argument: Option<&str>,
    offered: Offered,
    reads: Reads,
) -> Result<NamedBooking> {
    let id = match argument {
        Some(argument) => locate_booking(context, argument)?,
        None => pick_booking(context, offered).await?,
    };
    let error = match is_no_id(context, &id) {
        true => no_such_id(&id),
        false if reads == Reads::Never => {
            // What the journal does not know may be an id all the same.
            let id = match find_instead(context, &id)? {
                found if found.is_empty() => id,
                found => choose_of(context, &id, &found).await?,
            };
            return Ok(NamedBooking { id, read: None });
        }
        false => match read_to_find(context, &id, reads).await {
            Err(error) if error.http_status == Some(404) => error,
            read => return Ok(NamedBooking { read: read?, id }),
        },
    };
    let id = found_instead(context, &id, error).await?;
    let read = match reads {
        Reads::Always => Some(look_up(context, &id).await?),
        Reads::Never | Reads::ToFind => None,
    };
    Ok(NamedBooking { id, read })
}

async fn pick_booking(context: &Context, offered: Offered) -> Result<String> {
    let question = Question::new("Which booking?", "BOOKING", "the booking").of("bookings");
    context.prompter.check(&question)?;
    take_in_received(context)?;
    let status = (offered == Offered::Waiting).then_some(Status::RequiresAction.as_str());
    let mut kept = context.journal()?.bookings(status, Some(MOST))?;
    if kept.len() == MOST as usize {
        context.out.note(&format!(
            "These are the newest {MOST} bookings. To search all: bookctl bookings TEXT"
        ));
    }
    kept.retain(|kept| offered.includes(&kept.booking.status()));
    pick_of(context, question, &kept).await
}

async fn read_to_find(context: &Context, id: &str, reads: Reads) -> Result<Option<Booking>> {
    let can_choose = || context.prompter.interactive() && context.has_journal();
    match reads {
        Reads::Never => Ok(None),
        Reads::Always => look_up(context, id).await.map(Some),
        Reads::ToFind if !can_choose() || is_known(context, id) => Ok(None),
        Reads::ToFind => match look_up(context, id).await {
            Ok(booking) => Ok(Some(booking)),
            Err(error) if error.http_status == Some(404) || error.exit == Exit::Interrupted => {
                Err(error)
            }
            // The command meets the same error, and knows what it means.
            Err(_) => Ok(None),
        },
    }
}

async fn pick_of(context: &Context, question: Question, kept: &[KeptBooking]) -> Result<String> {
    let rows = kept.iter().map(|kept| of_booking(&kept.booking)).collect();
    let row = pick_row(context, question, rows, "bookctl bookings").await?;
    Ok(kept[row].booking.id().to_owned())
}

fn of_booking(booking: &Booking) -> RowParts {
    RowParts {
        guest: booking.guest().unwrap_or_default(),
        venue: booking
            .venue_name()
            .or_else(|| booking.venue_id())
            .unwrap_or_default(),
        time: booking.value().get("datetime").cloned().unwrap_or_default(),
        state: booking.status().as_str().to_owned(),
        id: booking.id().to_owned(),
    }
}

async fn pick_row(
    context: &Context,
    question: Question,
    rows: Vec<RowParts>,
    list: &str,
) -> Result<usize> {
    let columns = context.out.stderr_style().width;
    let lines = row_lines(&rows, columns);
    pick_line(context, question, &lines, list).await
}

/// Offers lines to pick from. `list` is the command that lists the same.
async fn pick_line(
    context: &Context,
    question: Question,
    lines: &[String],
    list: &str,
) -> Result<usize> {
    context.prompter.check(&question)?;
    if lines.is_empty() {
        let what = format!("there is nothing to pick from; see `{list}`");
        return Err(Error::usage(what));
    }
    match context.prompter.pick(&question, lines, 0).await {
        Err(PromptError::Back) => Err(nothing_chosen()),
        row => Ok(row?),
    }
}

/// The error (17) if a person leaves a list.
pub(super) fn nothing_chosen() -> Error {
    Error::new(Code::Declined, "Nothing was chosen.")
}

/// The attempt of an argument. Without one, a terminal offers the open attempts.
pub(crate) async fn attempt_or_pick(context: &Context, argument: Option<&str>) -> Result<String> {
    if let Some(argument) = argument {
        return locate_attempt(context, argument);
    }
    let question = Question::new("Which attempt?", "KEY", "the attempt's key").of("attempts");
    context.prompter.check(&question)?;
    let open = context.journal()?.open_attempts()?;
    let rows = open.iter().rev().map(of_attempt).collect();
    let row = pick_row(context, question, rows, "bookctl attempts").await?;
    Ok(open[open.len() - 1 - row].idempotency_key.clone())
}

fn of_attempt(attempt: &Attempt) -> RowParts {
    let asked = |field: &str| attempt.asked().get(field).map(plain).unwrap_or_default();
    let guest = attempt.asked().get("customer");
    let guest = guest.and_then(|guest| guest.get("name"));
    RowParts {
        guest: guest.map(plain).unwrap_or_default(),
        venue: asked("venue_id"),
        time: attempt.asked().get("datetime").cloned().unwrap_or_default(),
        state: "open".to_owned(),
        id: attempt.idempotency_key.clone(),
    }
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
    let lines = venues
        .iter()
        .map(|venue| visible(&venue_line(venue)).into_owned());
    let lines: Vec<String> = lines.collect();
    let row = pick_line(context, question, &lines, "bookctl search").await?;
    locate_venue(context, venues[row].id())
}

/// Whether a text is hardly an id, so that it is looked for and not sent: it has blanks, and no booking that this
/// computer knows has it for an id.
fn is_no_id(context: &Context, text: &str) -> bool {
    text.trim().contains(char::is_whitespace) && !is_known(context, text)
}

/// Whether the journal has a booking with this id. A read makes no journal.
fn is_known(context: &Context, id: &str) -> bool {
    let known = |journal: std::cell::RefMut<'_, Journal>| Ok(journal.kept(id)?.is_some());
    context.has_journal() && context.journal().and_then(known).unwrap_or(false)
}

fn no_such_id(text: &str) -> Error {
    let what = format!("{} is not the id of a booking", visible(text));
    Error::new(Code::Http404, what)
}

/// A sentence on the booking requests whose result is unknown, if there are any: no list of bookings has them.
pub(crate) fn open_requests(context: &Context) -> Option<String> {
    if !context.has_journal() {
        return None;
    }
    let open = context.journal().ok()?.open_attempts_here().ok()?.len();
    let requests = plural(open, "booking request", "booking requests");
    (open > 0).then(|| format!("the result of {requests} is unknown; see `bookctl attempts`"))
}

/// Adds to the error of a booking that the service does not know what can be done about it.
pub(crate) fn not_found(context: &Context, text: &str, error: Error) -> Error {
    if error.exit != Exit::NotFound || is_a_page(&error) {
        return error;
    }
    let error = naming(text, error);
    if !is_known(context, text) {
        let error = match open_requests(context) {
            Some(open) => error.detail(open),
            None => error,
        };
        return error.hint(format!(
            "check the id, or search the bookings that this computer knows: {}",
            shell::command("bookings", text, "")
        ));
    }
    // At a real service another API key may still show it.
    if context.certainty() == Certainty::Contract {
        let lost = |mut journal: std::cell::RefMut<'_, Journal>| journal.lose(text);
        let _ = context.journal().and_then(lost);
    }
    error.hint(format!(
        "this computer knows the booking, but this service does not: check the base URL and the API key; if the booking was deleted, \
         to delete its guest here: {}",
        shell::command("bookings forget", text, "")
    ))
}

/// Where a booking was not found, a terminal offers the bookings that the text finds on this computer.
///
/// # Errors
/// The given error, with what can be done about it.
async fn found_instead(context: &Context, text: &str, error: Error) -> Result<String> {
    let error = not_found(context, text, error);
    match find_instead(context, text)? {
        found if !found.is_empty() => choose_of(context, text, &found).await,
        // It was just looked for.
        _ if can_choose_instead(context, text) => Err(error.hint(
            "no booking that this computer knows matches it either; a booking that was made elsewhere is found by its id alone; \
             `bookctl bookings --open` lists the organization's unfinished ones",
        )),
        _ => Err(error),
    }
}

/// Whether a person can choose one of the bookings that a text finds. Without a journal nothing is known, and a read makes
/// none.
fn can_choose_instead(context: &Context, text: &str) -> bool {
    context.prompter.interactive() && context.has_journal() && !is_known(context, text)
}

/// The bookings that a text finds on this computer, where a person can choose one and no booking has it for an id.
fn find_instead(context: &Context, text: &str) -> Result<Vec<KeptBooking>> {
    if !can_choose_instead(context, text) {
        return Ok(Vec::new());
    }
    take_in_received(context)?;
    let sought = Sought {
        text: Some(text.to_owned()),
        ..Sought::default()
    };
    let venue = |id: &str| context.known_venue(id);
    Ok(context.journal()?.find(&sought, Some(MOST), &venue)?.kept)
}

async fn choose_of(context: &Context, text: &str, found: &[KeptBooking]) -> Result<String> {
    let heading = format!("Bookings that match \"{}\":", visible(text));
    context.out.note(&heading);
    let question = Question::new("Which booking?", "BOOKING", "the booking").of("bookings");
    pick_of(context, question, found).await
}
