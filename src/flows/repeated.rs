//! Recognises a booking command that is run again. This happens before slots are looked up, because the attempt's own booking
//! may hold the last slot.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::booking_draft::BookingDraft;
use super::confirmation::Confirmation;
use super::create::{asked_before, attempt_request};
use super::offer::{known_zone, resolve};
use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::client::BookingRequest;
use crate::journal::{Attempt, Request, State, Wish, is_same_but_time};
use crate::model::document_time::DocumentTime;
use crate::model::when::{Moment, When};
use crate::outcome::Result;

/// What a slot adds to a request.
const OF_THE_SLOT: [&str; 2] = ["availability_id", "provider"];

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
    let time = before
        .get("datetime")
        .filter(|it| is_at(context, draft, it));
    let request = time.map(|time| draft.request(context.adapter(), time.clone()));
    // What is missing is asked for, or reported, where the booking is made.
    let Some(Ok(request)) = request else {
        return Ok(None);
    };
    if let Value::Object(before) = &mut before {
        before.retain(|field, _| {
            !OF_THE_SLOT.contains(&field.as_str()) || request.asked.get(field).is_some()
        });
    }
    // Where nothing was booked, the command begins anew.
    let may_have_booked = matches!(attempt.state, State::Unsettled | State::Settled);
    let is_same = may_have_booked && attempt.request.is_intact() && before == request.asked;
    Ok(is_same.then(|| attempt_request(&attempt)))
}

/// Whether the draft is for this time of an earlier request.
fn is_at(context: &Context, draft: &BookingDraft, time: &Value) -> bool {
    let (Some(then), Some(when)) = (DocumentTime::read(time), &draft.at) else {
        let slot = draft.slot.as_ref();
        return slot.is_some_and(|slot| slot.datetime_value() == *time);
    };
    let Some(moment) = meant(context, draft, when, time) else {
        return false;
    };
    match then.instant {
        Some(instant) => instant == moment.timestamp(),
        None => then.local == Some(moment.zoned.datetime()),
    }
}

/// The time of the draft. Where the venue's zone is not known, the earlier request shows its offset.
fn meant(context: &Context, draft: &BookingDraft, when: &When, time: &Value) -> Option<Moment> {
    let offset = || {
        let written = When::parse(time.as_str()?).ok()?;
        Some(TimeZone::fixed(written.exact()?.zoned.offset()))
    };
    let zone = known_zone(draft.remembered(), draft.zone.as_ref()).or_else(offset);
    let zone = zone.unwrap_or(TimeZone::UTC);
    resolve(when, context.now().ok()?, &zone).ok()
}

/// Refuses to book where an open attempt asks for the same booking: a script gets an error, a person is asked. Returns whether
/// a person wants a second one. What begins later is refused where the run begins.
///
/// # Errors
///
/// `outcome_unknown` (16), with the command that finds out; `declined` (17) if a person's answer is no.
pub(crate) async fn refuse_to_repeat(
    context: &Context,
    draft: &BookingDraft,
    open: &[Attempt],
) -> Result<bool> {
    let is_same = |attempt: &&Attempt| {
        let before = attempt.asked();
        let time = before
            .get("datetime")
            .filter(|it| is_at(context, draft, it));
        let request = time.map(|time| draft.request(context.adapter(), time.clone()));
        request.is_some_and(|it| it.is_ok_and(|it| is_same_but_time(&it.asked, before)))
    };
    let Some(attempt) = open.iter().find(is_same) else {
        return Ok(false);
    };
    if !context.prompter.interactive() || draft.goes_ahead {
        let key = &attempt.idempotency_key;
        return Err(asked_before(key, "pass a new --idempotency-key"));
    }
    let confirmation = Confirmation {
        action: "booking the same again",
        question: "That request may have made this booking already. Make a second one?".to_owned(),
        declined: "Nothing was sent.",
    };
    let resume = resume_command(&attempt.idempotency_key);
    let asked = confirmation.ask(&context.prompter).await;
    asked.map_err(|error| error.hint(format!("to find out: {resume}")))?;
    Ok(true)
}

/// The same for a row of a batch.
///
/// # Errors
///
/// `outcome_unknown` (16), with the command that finds out.
pub(super) fn refuse_to_repeat_row(open: &[Attempt], request: &BookingRequest) -> Result<()> {
    let wanted = Request::new(&request.asked, None);
    let is_same = |attempt: &&Attempt| attempt.request.is_same_wish(&wanted);
    match open.iter().find(is_same) {
        Some(attempt) => {
            let key = &attempt.idempotency_key;
            Err(asked_before(key, "give the row an idempotency_key"))
        }
        None => Ok(()),
    }
}
