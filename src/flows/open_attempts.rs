//! Open attempts: warns of them before a booking request and once a day, and finds out what happened to them.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;

use super::create::{attempt_request, create_and_tell};
use super::finish::card;
use super::same_guest::{Booked, ask_about};
use super::wait::read_booking;
use crate::app::Context;
use crate::app::in_flight::{abandon_command, resume_command};
use crate::journal::{Attempt, Claim, KeyOrigin, LiveBooking, State, another_account};
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::document_time::time_text;
use crate::model::zone::system_zone;
use crate::outcome::{Code, Error, Exit, Result};
use crate::recent::RecentList;
use crate::terminal::output::View as _;
use crate::terminal::prompt::Question;

/// Longer than a request and its answer take. Another machine may resume the attempt after it.
const LEASE: Duration = Duration::from_secs(60);

/// How often a machine looks what came of an attempt that another one resumes.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

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
        warn_of(context, std::slice::from_ref(&attempt));
        if !wants_to_find_out(context, "Find out what happened to it first?").await? {
            open.push(attempt);
            continue;
        }
        match resume(context, &attempt.idempotency_key).await {
            Err(error) if error.code == Code::Declined => open.push(attempt),
            resumed => {
                let booking = resumed?;
                context.out.show(&card(context, &booking).page());
                booked.push(booking);
            }
        }
    }
    Ok(EarlierAttempts { open, booked })
}

/// Warns of attempts in doubt, the oldest first, in one line.
fn warn_of(context: &Context, attempts: &[Attempt]) {
    let Some(newest) = attempts.last() else {
        return;
    };
    let asked = newest.asked();
    let guest = asked.pointer("/customer/name");
    let parts = [
        asked.get("venue_id").map(plain),
        asked.get("datetime").map(time_text),
        guest.map(plain),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let described = parts.join(", ");
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

async fn wants_to_find_out(context: &Context, question: &str) -> Result<bool> {
    let question = Question::new(question, "attempts resume", "the confirmation");
    Ok(context.prompter.confirm(&question, true).await?)
}

/// Mentions earlier booking requests whose outcome is unknown, in one line, if that was not done today. Only after a
/// command that talked to the service, and never to a script.
pub(crate) fn remind_of_open_attempts(context: &Context) {
    let is_silent = !context.out.is_human() || context.out.is_quiet();
    if !is_silent && context.has_connected() && context.has_journal() {
        // A reminder is no reason for an error.
        let _ = remind(context);
    }
}

fn remind(context: &Context) -> Result<()> {
    let mut attempts = context.journal()?.open_attempts_here()?;
    // What this command itself left open, it has said.
    let own = Some(std::process::id());
    attempts.retain(|attempt| attempt.runs.last().is_none_or(|run| run.process != own));
    if attempts.is_empty() || !reminds_today(context)? {
        return Ok(());
    }
    let (count, command) = if let [only] = attempts.as_slice() {
        let resume = resume_command(&only.idempotency_key);
        ("an earlier booking request".to_owned(), resume)
    } else {
        let count = format!("{} earlier booking requests", attempts.len());
        (count, "bookctl attempts".to_owned())
    };
    context.out.warn(&format!(
        "the result of {count} is unknown; to find out: {command}"
    ));
    Ok(())
}

/// Whether nobody was reminded today. From now on, somebody was.
fn reminds_today(context: &Context) -> Result<bool> {
    let today = Timestamp::now().to_zoned(system_zone()).date().to_string();
    let recent = context.recent()?;
    if recent.listed(RecentList::Reminded, 1)?.as_ref() == Some(&today) {
        return Ok(false);
    }
    // Whoever cannot be remembered as reminded is reminded again.
    let _ = recent.remember_one(RecentList::Reminded, &today);
    Ok(true)
}

/// Finds out what happened to the request under `key`, and finishes it: a booking that was made is read, and else the request
/// is sent again under its key.
///
/// # Errors
///
/// `declined` (17) if the guest has another booking, and a person does not want the request to be sent again.
pub(crate) async fn resume(context: &Context, key: &str) -> Result<Booking> {
    let mut attempt = find_attempt(context, key)?;
    if !context.journal()?.owns(&attempt) {
        return Err(another_account(&attempt));
    }
    let is_shared = context.target().journal().is_some();
    if is_shared {
        attempt = claimed(context, key, attempt).await?;
    }
    // A settled attempt is only read. Nothing is sent that could make a booking.
    if let (State::Settled, Some(id)) = (attempt.state, &attempt.booking_id) {
        return read_booking(context, id).await;
    }
    refuse_changed(&attempt)?;
    context.before_change()?;
    let asked = attempt.asked();
    let is_own = |live: &LiveBooking| attempt.booking_id.as_deref() == Some(live.booking.id());
    if let Some(other) =
        Booked::at_venues_of(context, [asked])?.for_guest_of(context, asked, is_own)
    {
        let confirmed = ask_about(context, &other, "Send the request again?", false).await;
        confirmed.map_err(|error| {
            error.hint(format!("to give up the attempt: {}", abandon_command(key)))
        })?;
    }
    let (origin, request) = (KeyOrigin::SameRequestOnly, attempt_request(&attempt));
    let created = create_and_tell(context, key, origin, request).await;
    if is_shared {
        let _ = context.journal()?.release(key);
    }
    created
}

/// Refuses a request that is no longer what was sent: its guest was deleted (7), or it was changed in the journal (3).
fn refuse_changed(attempt: &Attempt) -> Result<()> {
    let key = &attempt.idempotency_key;
    if attempt.forgotten_at.is_some() {
        let state = attempt.state.as_str();
        let what =
            format!("the attempt is {state} and its guest was deleted, so it cannot be sent again");
        // What is open may be booked.
        let hint = match attempt.state {
            State::Unsettled => format!(
                "look for the booking at the service; then: {}",
                abandon_command(key)
            ),
            _ => "make a new booking with `bookctl book`".to_owned(),
        };
        return Err(Error::new(Code::Http409, what).hint(hint));
    }
    if !attempt.request.is_intact() {
        return Err(Error::journal(
            "the attempt was changed in the journal after it was made; nothing was sent",
        )
        .hint("see the attempt with `bookctl attempts --json`, or give it up with `bookctl attempts abandon KEY`")
        .idempotency_key(key));
    }
    Ok(())
}

/// Offers a person to find out immediately what happened to the request of this error, if its outcome is unknown.
///
/// # Errors
///
/// This error, if the person does not want to, or what is found out is no booking either.
pub(crate) async fn offer_to_find_out(context: &Context, mut error: Error) -> Result<Booking> {
    while error.exit == Exit::OutcomeUnknown
        && context.prompter.interactive()
        && let Some(key) = error.idempotency_key.clone()
        && wants_to_find_out(context, "It may be booked. Find out now?").await?
    {
        match resume(context, &key).await {
            Err(again) if again.code != Code::Declined => error = again,
            Err(_) => break,
            found => return found,
        }
    }
    Err(error)
}

/// Claims an open attempt of a shared journal. While another machine resumes it, waits for what comes of that. Returns
/// the attempt as it is then.
async fn claimed(context: &Context, key: &str, mut attempt: Attempt) -> Result<Attempt> {
    let mut progress = None;
    while attempt.state != State::Settled {
        let claim = context.journal()?.claim(key, LEASE)?;
        attempt = find_attempt(context, key)?;
        let Claim::Others { seconds } = claim else {
            break;
        };
        progress.get_or_insert_with(|| {
            let what = format!("another machine resumes this attempt; waiting up to {seconds} s");
            context.out.note(&what);
            context.out.progress(&what)
        });
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(attempt)
}

/// The attempt under `key`, if it went to the service that this command talks to.
pub(crate) fn find_attempt(context: &Context, key: &str) -> Result<Attempt> {
    let attempt = context.journal()?.attempt(key)?.ok_or_else(|| {
        let what = format!("no attempt {} in the journal", key.escape_debug());
        Error::new(Code::Http404, what).hint("list open attempts with `bookctl attempts`")
    })?;
    let origin = context.target().address();
    if attempt.origin == origin {
        return Ok(attempt);
    }
    let profile = attempt.profile.as_deref().unwrap_or(&attempt.origin);
    let hint = format!("use the profile or base URL of the attempt: {profile}");
    let what = format!(
        "the attempt was sent to {}, but this command uses {origin}",
        attempt.origin
    );
    Err(Error::config(what).hint(hint))
}
