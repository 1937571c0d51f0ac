//! Offers a list where an argument is missing, and what a search finds where an id is not one.

use super::locate::{LocatedVenue, locate_attempt, locate_booking, locate_venue};
use super::received::take_in_received;
use super::wait::look_up;
use crate::app::Context;
use crate::journal::{Attempt, Journal, KeptBooking, Sought};
use crate::json::plain;
use crate::model::booking::{Booking, Status};
use crate::model::certainty::Certainty;
use crate::model::shell;
use crate::outcome::{Code, Error, Exit, Result};
use crate::terminal::output::visible;
use crate::terminal::prompt::Question;
use crate::terminal::view::{RowParts, row_line, venue_line};

/// The longest list that is offered. Typing looks for a part of it, and `bookctl bookings TEXT` in all bookings.
const MOST: u32 = 200;

/// The bookings that a command can be used on.
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
        let has_ended = matches!(status, Status::Failed | Status::Cancelled | Status::Expired);
        match self {
            Offered::All => true,
            Offered::Alive => !has_ended,
            Offered::Waiting => *status == Status::RequiresAction,
        }
    }
}

/// Resolves a booking argument. Without one, a terminal offers the bookings that this computer knows.
pub(crate) async fn booking_or_pick(
    context: &Context,
    argument: Option<&str>,
    offered: Offered,
) -> Result<String> {
    if let Some(argument) = argument {
        let id = locate_booking(context, argument)?;
        return id_or_found(context, id).await;
    }
    let question = Question::new("Which booking?", "BOOKING", "the booking").of("bookings");
    context.prompter.check(&question)?;
    take_in_received(context)?;
    let status = (offered == Offered::Waiting).then_some(Status::RequiresAction.as_str());
    let mut kept = context.journal()?.bookings(status, Some(MOST))?;
    kept.retain(|kept| offered.includes(&kept.booking.status()));
    pick_of(context, &question, &kept).await
}

/// The id, or the booking that is chosen among those that it finds as a text. Only a person can choose, so a script's id
/// is not looked up here.
async fn id_or_found(context: &Context, id: String) -> Result<String> {
    if is_no_id(context, &id) {
        return found_instead(context, &id, no_such_id(&id)).await;
    }
    let can_choose = context.prompter.interactive() && context.has_journal();
    if !can_choose || is_known(context, &id) {
        return Ok(id);
    }
    match look_up(context, &id).await {
        Err(error) if error.http_status == Some(404) => found_instead(context, &id, error).await,
        _ => Ok(id),
    }
}

async fn pick_of(context: &Context, question: &Question, kept: &[KeptBooking]) -> Result<String> {
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
    question: &Question,
    rows: Vec<RowParts>,
    list: &str,
) -> Result<usize> {
    let columns = context.out.stderr_style().width;
    let lines: Vec<String> = rows.iter().map(|row| row_line(row, columns)).collect();
    pick_line(context, question, &lines, list).await
}

/// Offers lines to pick from. `list` is the command that lists the same.
pub(crate) async fn pick_line(
    context: &Context,
    question: &Question,
    lines: &[String],
    list: &str,
) -> Result<usize> {
    context.prompter.check(question)?;
    if lines.is_empty() {
        return Err(Error::usage(format!(
            "there is nothing to pick from; see `{list}`"
        )));
    }
    Ok(context.prompter.pick(question, None, lines, 0).await?)
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
    let row = pick_row(context, &question, rows, "bookctl attempts").await?;
    Ok(open[open.len() - 1 - row].idempotency_key.clone())
}

fn of_attempt(attempt: &Attempt) -> RowParts {
    let asked = |field: &str| attempt.asked().get(field).map(plain).unwrap_or_default();
    let guest = attempt
        .asked()
        .get("customer")
        .and_then(|guest| guest.get("name"));
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
    let lines: Vec<String> = venues
        .iter()
        .map(|venue| visible(&venue_line(venue)).into_owned())
        .collect();
    let row = pick_line(context, &question, &lines, "bookctl search").await?;
    locate_venue(context, venues[row].id())
}

/// Whether a text is hardly an id, so that it is looked for and not sent: it has blanks, and no booking that this
/// computer knows has it for an id.
pub(crate) fn is_no_id(context: &Context, text: &str) -> bool {
    text.trim().contains(char::is_whitespace) && !is_known(context, text)
}

/// Whether the journal has a booking with this id. A read makes no journal.
fn is_known(context: &Context, id: &str) -> bool {
    let known = |journal: std::cell::RefMut<'_, Journal>| Ok(journal.kept(id)?.is_some());
    context.has_journal() && context.journal().and_then(known).unwrap_or(false)
}

/// The error for a text that is no id of a booking.
pub(crate) fn no_such_id(text: &str) -> Error {
    let what = format!("{} is not the id of a booking", visible(text));
    Error::new(Code::Usage, what).exiting(Exit::NotFound)
}

/// What to do where a booking was not found: on a terminal, offers the bookings that the text finds on this computer.
///
/// # Errors
/// The given error, with the command that searches.
pub(crate) async fn found_instead(context: &Context, text: &str, error: Error) -> Result<String> {
    let command = format!("bookctl bookings {}", shell::word(text));
    let error = error.hint(format!(
        "check the id, or search the bookings that this computer knows: {command}"
    ));
    // Without a journal nothing is known, and a read makes none.
    if !context.has_journal() {
        return Err(error);
    }
    if is_known(context, text) {
        // At a real service another API key may still show it.
        if context.certainty() == Certainty::Contract {
            let lost = |mut journal: std::cell::RefMut<'_, Journal>| journal.lose(Some(text));
            let _ = context.journal().and_then(lost);
        }
        let command = format!("bookctl bookings forget {}", shell::word(text));
        return Err(error.hint(format!(
            "this computer knows the booking, but the service no longer does; to delete its guest here: {command}"
        )));
    }
    if context.prompter.interactive() {
        take_in_received(context)?;
        let sought = Sought {
            text: Some(text.to_owned()),
            ..Sought::default()
        };
        let found = context
            .journal()?
            .find(&sought, Some(MOST), &|id| context.known_venue(id))?;
        if !found.kept.is_empty() {
            let heading = format!("Bookings that match \"{}\":", visible(text));
            context.out.note(&heading);
            let question = Question::new("Which booking?", "BOOKING", "the booking").of("bookings");
            return pick_of(context, &question, &found.kept).await;
        }
    }
    Err(error)
}
