//! A booking command that is given again. What an earlier attempt asked for is compared before the service is asked for a
//! slot: the booking that the attempt made may occupy the only one.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::booking_draft::BookingDraft;
use super::create::attempt_request;
use super::offer::{ZoneSource, resolve};
use crate::app::Context;
use crate::app::in_flight::resume_command;
use crate::client::BookingRequest;
use crate::journal::Attempt;
use crate::json::plain;
use crate::model::document_time::DocumentTime;
use crate::model::when::{Moment, When};
use crate::outcome::{Code, Error, Result};

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
    let is_same = attempt.is_intact && before == request.asked;
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
        None => then.local == Some(moment.zoned().datetime()),
    }
}

/// The time of the draft. Where the venue's zone is not known, the earlier request shows its offset.
fn meant(context: &Context, draft: &BookingDraft, when: &When, time: &Value) -> Option<Moment> {
    let venue = draft.venue.as_ref();
    let venue = venue.and_then(|venue| venue.remembered.as_ref());
    let offset = || {
        let written = When::parse(time.as_str()?).ok()?;
        Some(TimeZone::fixed(written.exact()?.zoned().offset()))
    };
    let zone = match ZoneSource::of(venue, draft.zone.as_ref()) {
        ZoneSource::Known(zone) => zone,
        ZoneSource::Learned => offset().unwrap_or(TimeZone::UTC),
    };
    resolve(when, context.now().ok()?, &zone).ok()
}

/// Refuses to book where an earlier request for the same guest, venue, time and party has no known result. For scripts,
/// which may run the same command again after any failure; a person is asked.
///
/// # Errors
///
/// `outcome_unknown` (16), with the command that finds out.
pub(crate) fn refuse_to_repeat(open: &[Attempt], request: &BookingRequest) -> Result<()> {
    let wish = wish(&request.asked);
    let Some(attempt) = open.iter().find(|it| self::wish(it.asked()) == wish) else {
        return Ok(());
    };
    let key = &attempt.idempotency_key;
    let what = "the same booking was requested before, and the result is unknown; nothing was sent";
    let error = Error::new(Code::OutcomeUnknown, what).hint(format!(
        "to find out: {}; to make another booking, pass a new --idempotency-key",
        resume_command(key)
    ));
    Err(error.idempotency_key(key))
}

/// What makes two requests the same wish: venue, time, party and guest.
fn wish(asked: &Value) -> impl PartialEq + use<> {
    let text = |path: &str| asked.pointer(path).map(plain);
    (
        asked.get("datetime").and_then(DocumentTime::read),
        ["/venue_id", "/party_size", "/customer/name"].map(text),
    )
}
