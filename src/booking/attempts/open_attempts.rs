//! Open attempts: warns of them before a booking request, and finds out what happened to them.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;

use crate::app::in_flight::{abandon_command, resume_command, show_command};
use crate::app::{Api, Facts, Parts, Records, Ui};
use crate::booking::book::{create, duplicates};
use crate::booking::{finish, verdict, watch::wait};
use crate::journal::{Attempt, KeptBooking, KeyOrigin, Outcome, State, abandoned, another_account};
use crate::outcome::{Code, Error, Exit, Result};
use crate::platform::{pace, system};
use crate::service::client::retry::TRIES;
use crate::service::documents::Booking;
use crate::terminal::output::View as _;
use crate::terminal::prompt::{Prompter, Question};

/// Longer than a request and its response take. Another computer may resume the attempt after it.
const LEASE: Duration = Duration::from_secs(60);

/// How often a computer looks what came of an attempt that another one resumes.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct EarlierAttempts {
    /// Those that are still open, of every API key.
    pub(crate) open: Vec<Attempt>,
    /// Those among them that other processes of this computer send now.
    pub(crate) sending: Vec<Attempt>,
    /// What those made that were resumed first.
    pub(crate) booked: Vec<Booking>,
}

/// Warns of each open attempt at this service, but not of those under `mine`, which the command
/// itself resumes. A person is offered to resume those of the present API key first.
pub(crate) async fn warn_of_open_attempts(
    parts @ Parts { ui, .. }: &Parts,
    mine: &HashSet<String>,
) -> Result<EarlierAttempts> {
    let journal = parts.records.journal()?;
    let mut attempts = journal.open_attempts_here()?;
    attempts.retain(|attempt| !mine.contains(&attempt.idempotency_key));
    let can_ask = ui.prompter.interactive();
    let (sending, attempts): (Vec<_>, Vec<_>) = attempts
        .into_iter()
        .partition(|attempt| is_being_sent(&parts.api, &parts.records, attempt));
    let is_asked = |attempt: &Attempt| can_ask && journal.owns(attempt);
    let (requested, mut open): (Vec<_>, Vec<_>) = attempts.into_iter().partition(is_asked);
    warn_of(ui, &open);
    open.extend(sending.iter().cloned());
    let mut booked = Vec::new();
    for attempt in requested {
        warn_of(ui, std::slice::from_ref(&attempt));
        if !wants_to_find_out(&ui.prompter, "Check it first?", true).await? {
            open.push(attempt);
            continue;
        }
        match resume(parts, &attempt.idempotency_key).await {
            Err(error) if error.code == Code::Declined => open.push(attempt),
            resumed => {
                let booking = resumed?;
                let displayed = finish::booking_view(parts, &booking);
                ui.out.show(&displayed.page());
                booked.push(booking);
            }
        }
    }
    Ok(EarlierAttempts { open, sending, booked })
}

/// Whether each run that may have booked is one of a live process of this computer, within the time
/// that its tries may take.
fn is_being_sent(api: &Api, records: &Records, attempt: &Attempt) -> bool {
    let (Ok(journal), Ok(client)) = (records.journal(), api.client()) else {
        return false;
    };
    let host = &journal.scope.maker.host;
    let longest = client.connection.timeout.saturating_mul(TRIES);
    attempt.runs.iter().filter(|run| run.outcome.may_have_booked()).all(|run| {
        let is_ours = run.maker.as_ref().is_some_and(|maker| maker.host == *host);
        let began: Option<Timestamp> = run.started_at.parse().ok();
        let age = began.map(|began| Timestamp::now().duration_since(began).unsigned_abs());
        run.outcome == Outcome::UnderWay
            && is_ours
            && age.is_some_and(|age| age <= longest)
            && run.process.is_some_and(system::process::is_alive)
    })
}

/// Warns of unresolved attempts, oldest first, in one line, without other guests' names.
fn warn_of(ui: &Ui, attempts: &[Attempt]) {
    let Some(newest) = attempts.last() else {
        return;
    };
    let wish = newest.wish();
    let guest = wish.guest().filter(|_| ui.prompter.interactive());
    let parts = [wish.text("venue_id"), wish.time_text(), guest];
    let described = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let resume = resume_command(&newest.idempotency_key);
    ui.out.warn(&match attempts.len() - 1 {
        0 => format!("an earlier request may have booked {described}; check it: {resume}"),
        more => format!(
            "earlier requests may have booked {described}, and {more} more; check them: bookctl attempts"
        ),
    });
}

/// Esc is no, or ends the command.
async fn wants_to_find_out(
    prompter: &Prompter<'_>,
    question: &str,
    esc_ends: bool,
) -> Result<bool> {
    let question = Question::new(question, "attempts resume", "the confirmation").back(esc_ends);
    Ok(prompter.confirm(&question, true).await?)
}

/// Reads the booking that answered an unresolved request, and was not as that asked: perhaps it was
/// not understood. If it is as asked now, the request is resolved, and nothing is sent. `None` if
/// there is no such booking.
pub(crate) async fn resolve_by_read(
    api: &Api,
    records: &Records,
    attempt: &Attempt,
) -> Result<Option<Booking>> {
    let (journal, key) = (records.journal()?, &attempt.idempotency_key);
    let Some(id) = journal.marked(key)?.filter(|_| attempt.state == State::Unresolved) else {
        return Ok(None);
    };
    let booking = match wait::read_booking(api, &id).await {
        Err(error) if wait::is_not_found(&error) => return Ok(None),
        read => read?,
    };
    let verdict = finish::store_and_judge(records, &booking);
    if let Some(mut error) = verdict::refusal(&api.facts, &booking, &verdict) {
        if verdict.setting.is_none() {
            let (see, abandon) = (error.hint.take().unwrap_or_default(), abandon_command(key));
            error = error.hint(format!("{see}; to keep it as it is: {abandon}"));
        }
        return Err(error.idempotency_key(key));
    }
    Ok(Some(booking))
}

/// Finds out what happened to the request under `key`, and finishes it: a booking that was made is
/// read, and else the request is sent again under its key, unless the guest has another booking and
/// a person declines (17).
pub(crate) async fn resume(parts @ Parts { api, .. }: &Parts, key: &str) -> Result<Booking> {
    let mut attempt = find_attempt(&api.facts, &parts.records, key)?;
    if !parts.records.journal()?.owns(&attempt) {
        return Err(another_account(&attempt));
    }
    let is_shared = api.facts.target().journal.is_some();
    if is_shared {
        attempt = claimed(parts, key, attempt).await?;
    }
    // A settled attempt is only read. Nothing is sent that could make a booking.
    if let (State::Resolved, Some(id)) = (attempt.state, &attempt.booking_id) {
        return wait::read_booking(api, id).await;
    }
    refuse_closed(&attempt, "is sent again")?;
    if !attempt.request.is_intact() {
        let what = "the request was changed in the journal after it was made; nothing was sent";
        let hint = format!("to abandon the request: {}", abandon_command(key));
        return Err(Error::journal(what).hint(hint).idempotency_key(key));
    }
    if let Some(booking) = resolve_by_read(api, &parts.records, &attempt).await? {
        return Ok(booking);
    }
    api.facts.before_change()?;
    let origin = KeyOrigin::Derived { allow_duplicate: true };
    let created = send_again(parts, &attempt, origin, false).await;
    if is_shared {
        let _ = parts.records.journal()?.release(key);
    }
    created.map_err(|error| match error.code == Code::Declined {
        true => error.hint(format!("to abandon the request: {}", abandon_command(key))),
        false => error,
    })
}

/// Sends the request of an attempt again under its key. If it has not made a booking yet and the
/// guest has another one, a person is asked; no is `declined` (17).
pub(crate) async fn send_again(
    parts @ Parts { ui, .. }: &Parts,
    attempt: &Attempt,
    origin: KeyOrigin,
    is_confirmed: bool,
) -> Result<Booking> {
    let (wish, key) = (attempt.wish(), &attempt.idempotency_key);
    let booked = duplicates::Booked::at_venues(&parts.records, &[wish.venue()].into(), 1)?;
    let other = |own: &str| {
        let is_own = |live: &KeptBooking| {
            live.booking.id() == own || live.idempotency_key.as_ref() == Some(key)
        };
        let other = booked.for_guest_of(&parts.records, ui, &wish, is_own);
        other.filter(|_| attempt.state != State::Resolved)
    };
    let can_ask = ui.prompter.interactive();
    if let Some(other) = other("").filter(|_| can_ask) {
        duplicates::ask_about(ui, &other, "Send the request again?", is_confirmed).await?;
    }
    let request = create::attempt_request(attempt);
    let created = create::create_and_tell(parts, key, origin, request).await;
    // A script is not asked. It is warned after the result, which may be the other booking itself.
    let own = created.as_ref().ok().filter(|_| !can_ask).map(Booking::id);
    if let Some(other) = own.and_then(other) {
        ui.out.warn(&other);
    }
    created
}

/// Refuses what only an open attempt allows (7). Who abandoned a request may have booked anew.
pub(super) fn refuse_closed(attempt: &Attempt, allowed: &str) -> Result<()> {
    let hint = match (attempt.state, &attempt.booking_id) {
        (State::Unresolved, _) => return Ok(()),
        (State::Abandoned, _) => return Err(abandoned(attempt)),
        (State::Resolved, Some(id)) => format!("see its booking: {}", show_command(id)),
        _ => "make a new booking with `bookctl book`".to_owned(),
    };
    let state = attempt.state.as_str();
    let what = format!("the request is {state}; only an unresolved request {allowed}");
    Err(Error::new(Code::Http409, what).hint(hint).idempotency_key(&attempt.idempotency_key))
}

/// Offers to find out immediately what happened to this error's request, if unknown.
pub(crate) async fn offer_to_find_out(parts: &Parts, mut error: Error) -> Result<Booking> {
    while error.exit == Exit::OutcomeUnknown
        && parts.ui.prompter.interactive()
        && let Some(key) = error.idempotency_key.clone()
    {
        parts.ui.out.warn(&error.message);
        if !wants_to_find_out(&parts.ui.prompter, "The booking may exist. Check now?", false)
            .await?
        {
            break;
        }
        match resume(parts, &key).await {
            Err(again) if again.code != Code::Declined => error = again,
            Err(_) => break,
            found => return found,
        }
    }
    Err(error)
}

/// Claims an open attempt of a shared journal. While another computer resumes it, waits for what
/// comes of that. Returns the attempt as it is then.
async fn claimed(parts: &Parts, key: &str, mut attempt: Attempt) -> Result<Attempt> {
    let mut progress = None;
    while attempt.state != State::Resolved {
        let claim = parts.records.journal()?.claim(key, LEASE)?;
        attempt = find_attempt(&parts.api.facts, &parts.records, key)?;
        let Some(seconds) = claim else {
            break;
        };
        progress.get_or_insert_with(|| {
            let what =
                format!("another computer is resolving this request; waiting up to {seconds} s");
            parts.ui.out.note(&what);
            parts.ui.out.progress(&what)
        });
        pace::pause(POLL_INTERVAL).await;
    }
    Ok(attempt)
}

/// The attempt under `key`, if it went to the service that this command talks to.
pub(crate) fn find_attempt(facts: &Facts, records: &Records, key: &str) -> Result<Attempt> {
    let attempt = records.journal()?.attempt(key)?.ok_or_else(|| {
        let what = format!("no request {} in the journal", key.escape_debug());
        Error::not_found(what).hint("list unresolved requests with `bookctl attempts`")
    })?;
    let origin = facts.target().address();
    if attempt.origin == origin {
        return Ok(attempt);
    }
    let profile = attempt.profile.as_deref().unwrap_or(&attempt.origin);
    let hint = format!("use the request's profile or base URL: {profile}");
    let to = &attempt.origin;
    let what = format!("the request was sent to {to}, but this command uses {origin}");
    Err(Error::config(what).hint(hint))
}
