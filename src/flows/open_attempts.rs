//! Warns of what may be booked twice: before a booking request, of earlier ones whose outcome is unknown; before one of
//! those is sent again, of a booking that was made instead.

use std::collections::HashSet;

use serde_json::Value;

use super::booking_draft::BookingDraft;
use super::confirmation::Confirmation;
use super::create::{attempt_request, create};
use super::finish::card;
use super::reminder::reminds_today;
use crate::app::Context;
use crate::app::in_flight::{abandon_command, resume_command};
use crate::journal::{Attempt, KeyOrigin};
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::document_time::DocumentTime;
use crate::model::time_text::human;
use crate::outcome::{Code, Result};
use crate::terminal::prompt::Question;

pub(crate) struct EarlierAttempts {
    /// Those that are still open, of every API key.
    pub(crate) open: Vec<Attempt>,
    /// What those made that were resumed first.
    pub(crate) booked: Vec<Booking>,
}

/// Warns of each open attempt at this service. A person is offered to resume those of the present API key first.
///
/// Attempts under the keys in `mine` are left out: the command itself resumes them.
pub(crate) async fn warn_of_open_attempts(
    context: &Context,
    mine: &HashSet<String>,
) -> Result<EarlierAttempts> {
    let mut attempts = context.journal()?.open_attempts_here()?;
    attempts.retain(|attempt| !mine.contains(&attempt.idempotency_key));
    if !attempts.is_empty() {
        // Said here, and not once more at the end.
        reminds_today(context)?;
    }
    let can_ask = context.prompter.interactive();
    let (asked, mut open) = {
        let journal = context.journal()?;
        let is_asked = |attempt: &Attempt| can_ask && journal.owns(attempt);
        attempts.into_iter().partition::<Vec<_>, _>(is_asked)
    };
    warn_of(context, &open);
    let mut booked = Vec::new();
    for attempt in asked {
        let key = &attempt.idempotency_key;
        warn_of(context, std::slice::from_ref(&attempt));
        let question = Question::new(
            "Find out what happened to it first?",
            "attempts resume",
            "the confirmation",
        );
        if !context.prompter.confirm(&question, true).await? {
            open.push(attempt);
            continue;
        }
        match warn_of_its_booking(context, &attempt).await {
            Err(error) if error.code == Code::Declined => {
                open.push(attempt);
                continue;
            }
            asked => asked?,
        }
        let booking = create(context, key, KeyOrigin::Derived, attempt_request(&attempt)).await?;
        context.out.show_view(&card(context, &booking));
        booked.push(booking);
    }
    Ok(EarlierAttempts { open, booked })
}

/// Warns of attempts in doubt, the oldest first, in one line.
fn warn_of(context: &Context, attempts: &[Attempt]) {
    let Some(newest) = attempts.last() else {
        return;
    };
    let described = described(newest);
    context.out.warn(&match attempts.len() - 1 {
        0 => format!(
            "the result of an earlier booking request is unknown, and it may be booked: {described}; to find out: {}",
            resume_command(&newest.idempotency_key)
        ),
        more => format!(
            "the results of earlier booking requests are unknown, and they may be booked: {described}, and {more} more; \
             to find out: bookctl attempts"
        ),
    });
}

/// Asks a person whether to go on where a resumed attempt has booked what the draft is for.
///
/// # Errors
///
/// `declined` (17) if the answer is no.
pub(crate) async fn ask_to_book_another(
    context: &Context,
    draft: &BookingDraft,
    booked: &[Booking],
) -> Result<()> {
    let is_wanted = |booking: &&Booking| {
        let venue = draft.venue.as_ref().map(|venue| venue.id.as_str());
        booking.status().is_alive()
            && venue.is_none_or(|venue| booking.venue_id().as_deref() == Some(venue))
            && draft
                .name
                .as_ref()
                .is_none_or(|name| booking.guest().as_ref() == Some(name))
    };
    let Some(booking) = booked.iter().find(is_wanted) else {
        return Ok(());
    };
    let confirmation = Confirmation {
        action: "booking another one",
        question: format!(
            "{} is this guest's booking. Make another one?",
            booking.id()
        ),
        declined: "Nothing else was booked.",
    };
    confirmation.ask(&context.prompter).await
}

/// Warns if the journal has another booking for the guest, venue and time of an open attempt: to send the attempt again
/// may make a second one. A person is asked.
///
/// # Errors
///
/// `declined` (17) if the answer is no.
pub(crate) async fn warn_of_its_booking(context: &Context, attempt: &Attempt) -> Result<()> {
    let Some(booking) = booking_instead(context, attempt)? else {
        return Ok(());
    };
    let id = booking.id();
    context.out.warn(&format!(
        "{id} is a booking for the same guest, venue and time; if this request did not arrive, sending it again makes a second booking"
    ));
    if !context.prompter.interactive() {
        return Ok(());
    }
    let confirmation = Confirmation {
        action: "sending the request again",
        question: "Send the request again?".to_owned(),
        declined: "Nothing was sent.",
    };
    confirmation.ask(&context.prompter).await.map_err(|error| {
        let give_up = abandon_command(&attempt.idempotency_key);
        error.hint(format!("to give up the attempt: {give_up}"))
    })
}

/// A booking of the journal that has not ended, for the guest, venue and time of an attempt.
fn booking_instead(context: &Context, attempt: &Attempt) -> Result<Option<Booking>> {
    let asked = attempt.asked();
    let text = |value: Option<&Value>| value.map(plain);
    let guest = text(asked.get("customer").and_then(|guest| guest.get("name")));
    let (Some(guest), Some(venue)) = (guest, text(asked.get("venue_id"))) else {
        return Ok(None);
    };
    let time = asked.get("datetime").and_then(DocumentTime::read);
    let is_same = |booking: &Booking| {
        booking.status().is_alive()
            && attempt.booking_id.as_deref() != Some(booking.id())
            && booking.guest().as_ref() == Some(&guest)
            && booking.value().get("datetime").and_then(DocumentTime::read) == time
    };
    context.journal()?.newest_at(&venue, u32::MAX, is_same)
}

fn described(attempt: &Attempt) -> String {
    let asked = |field: &str| attempt.asked().get(field).map(plain).unwrap_or_default();
    let guest = attempt
        .asked()
        .get("customer")
        .and_then(|guest| guest.get("name"));
    let parts = [
        asked("venue_id"),
        human(&asked("datetime")),
        guest.map(plain).unwrap_or_default(),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}
