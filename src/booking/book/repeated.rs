//! Recognises a booking command that is run again. This happens before slots are looked up, because the attempt's own booking
//! may hold the last slot.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::create::{asked_before, attempt_request};
use super::draft::BookingDraft;
use super::offer::{known_zone, resolve};
use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::booking::confirmation::Confirmation;
use crate::journal::{Attempt, ComparableRequest, RecordedRequest, State, is_same_but_time};
use crate::outcome::Result;
use crate::service::client::BookingRequest;
use crate::service::time::document_time::DocumentTime;
use crate::service::time::when::When;

/// The request of the attempt under `key`, if the draft asks for the same booking.
///
/// # Errors
///
/// Those of the journal.
pub(crate) fn repeated(
    context: &Context,
    draft: &BookingDraft,
    key: &str,
) -> Result<Option<BookingRequest>> {
    let Some(attempt) = context.journal()?.attempt(key)? else {
        return Ok(None);
    };
    let mut before = attempt.asked().clone();
    // What is missing is asked for, or reported, where the booking is made.
    let Some(request) = at_time_of(context, draft, &before) else {
        return Ok(None);
    };
    // What a slot adds to a request.
    for field in ["availability_id", "provider"] {
        if request.asked.get(field).is_none()
            && let Value::Object(before) = &mut before
        {
            before.remove(field);
        }
    }
    // Where nothing was booked, the command begins anew.
    let may_have_booked = matches!(attempt.state, State::Unresolved | State::Resolved);
    let is_same = may_have_booked && attempt.request.is_intact() && before == request.asked;
    Ok(is_same.then(|| attempt_request(&attempt)))
}

/// The draft as a request for the time of an earlier one, if it is for that time and lacks nothing.
fn at_time_of(context: &Context, draft: &BookingDraft, before: &Value) -> Option<BookingRequest> {
    let time = before.get("datetime")?;
    let is_at = match (&draft.at, DocumentTime::read(time)) {
        (Some(when), Some(then)) => {
            // Where the venue's zone is not known, the earlier request shows its offset.
            let offset = || {
                let written = When::parse(time.as_str()?).ok()?;
                Some(TimeZone::fixed(written.exact()?.zoned.offset()))
            };
            let zone = known_zone(draft.remembered(), draft.zone.as_ref()).or_else(offset);
            let zone = zone.unwrap_or(TimeZone::UTC);
            let moment = resolve(when, context.now().ok()?, &zone).ok()?;
            match then.instant {
                Some(instant) => instant == moment.timestamp(),
                None => then.local == Some(moment.zoned.datetime()),
            }
        }
        _ => draft.slot.as_ref()?.datetime_value() == *time,
    };
    let request = draft.request(context.adapter(), time.clone());
    request.ok().filter(|_| is_at)
}

/// Whether a person wants a second booking beside the one that an open attempt may have made. A script is refused. What begins
/// later is refused where the run begins.
///
/// # Errors
///
/// `outcome_unknown` (16), with the command that finds out; `declined` (17) if a person's answer is no.
pub(crate) async fn wants_second_beside_open(
    context: &Context,
    draft: &BookingDraft,
    open: &[Attempt],
) -> Result<bool> {
    let is_same = |attempt: &&Attempt| {
        let request = at_time_of(context, draft, attempt.asked());
        request.is_some_and(|request| is_same_but_time(&request.asked, attempt.asked()))
    };
    let Some(attempt) = open.iter().find(is_same) else {
        return Ok(false);
    };
    let key = &attempt.idempotency_key;
    if !context.prompter.interactive() || draft.is_confirmed {
        return Err(asked_before(key, "pass a new --idempotency-key"));
    }
    let confirmation = Confirmation {
        action: "booking the same again",
        question: "That request may have made this booking already. Make a second one?".to_owned(),
        declined: "Nothing was sent.",
    };
    let asked = confirmation.ask(&context.prompter).await;
    asked.map_err(|error| error.hint(format!("to find out: {}", resume_command(key))))?;
    Ok(true)
}

/// Refuses a row of a batch where an open attempt asks for the same booking.
///
/// # Errors
///
/// `outcome_unknown` (16), with the command that finds out.
pub(crate) fn refuse_to_repeat_row(open: &[Attempt], request: &BookingRequest) -> Result<()> {
    let wanted = RecordedRequest::new(&request.asked, None);
    let mut same = open.iter().filter(|it| it.request.is_same_wish(&wanted));
    match same.next() {
        Some(attempt) => Err(asked_before(
            &attempt.idempotency_key,
            "give the row an idempotency_key",
        )),
        None => Ok(()),
    }
}
