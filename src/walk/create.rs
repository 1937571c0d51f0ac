//! A create that is never forgotten: recorded before the first byte, settled by its answer.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::api::{Call, Failure, create_call};
use crate::context::{Context, Waited};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journal::Begun;
use crate::model::booking::Booking;
use crate::model::document::plain;
use crate::situation::{Situation, resume_command};

/// A create that was answered with a booking.
pub(crate) struct Made {
    pub(crate) booking: Booking,
    /// Whether the service says that it made it before (spec, Limits 7).
    pub(crate) earlier: bool,
    /// In what an older one is not the booking that was asked for.
    pub(crate) difference: Option<String>,
}

impl Made {
    /// A booking of an earlier run; `is_older` is whether it was there before that, too.
    pub(super) fn before(asked: &Value, booking: Booking, is_older: bool) -> Self {
        Made {
            difference: is_older.then(|| difference(asked, &booking)).flatten(),
            earlier: true,
            booking,
        }
    }

    /// What a person has to know of it, beside the booking: an older one is said to be one.
    pub(crate) fn announce(&self, context: &Context) {
        if let Some(difference) = &self.difference {
            context.out.warn(&something_else(difference));
        } else if self.earlier {
            context.out.note(&format!(
                "booking {} was made before under this idempotency key",
                self.booking.id()
            ));
        }
    }
}

/// An older booking that came back is not the one that was asked for.
pub(super) fn something_else(difference: &str) -> String {
    format!(
        "the service answered with an older booking, made under this idempotency key for something else: \
         {difference}; nothing new was booked"
    )
}

/// Creates a booking under `key`, and says whether it is an older one.
pub(crate) async fn create(context: &Context, key: &str, body: Value) -> Result<Booking> {
    let made = make(context, key, body).await?;
    made.announce(context);
    Ok(made.booking)
}

/// Creates a booking under `key`.
///
/// Before anything is sent the journal holds the intent, synced; without a journal nothing is sent.
pub(super) async fn make(context: &Context, key: &str, body: Value) -> Result<Made> {
    let client = context.client()?;
    let call = create_call(body, key);
    let mut allowed = context.max_wait();
    let (answer, begun) = loop {
        let (begun, left) = begin(context, &call, allowed).await?;
        allowed = left;
        let may_exist = matches!(begun, Begun::Again | Begun::Settled);
        context.situation.replace(Situation::Creating {
            key: key.to_owned(),
        });
        let progress = context.out.progress("booking");
        let sent = client.create(&call, may_exist).await;
        drop(progress);
        context.observe_allowance(&call);
        let (failure, open) = match sent {
            Ok(answer) => break (answer, begun),
            Err(failed) => failed,
        };
        if open {
            return Err(unsettled(context, failure, &call, key));
        }
        let limited = matches!(&failure, Failure::Refused(refusal) if refusal.status == 429);
        if !limited {
            return Err(conclude_refusal(context, key, failure.into_error(&call)));
        }
        // A refusal is certain while it is waited out: an interrupt then leaves nothing open.
        note_refusal(context, key, Some(429));
        allowed = context.pause_for_limit(failure, &call, allowed).await?;
    };
    let status = answer.status;
    // A 2xx that is no booking proves nothing: the attempt stays unsettled.
    let Some(booking) = Booking::from_document(answer.document) else {
        let failure = Failure::Unreadable {
            status,
            kind: "no booking".to_owned(),
        };
        return Err(unsettled(context, failure, &call, key));
    };
    context.situation.replace(Situation::known(&booking));
    let settled = context
        .journal()
        .and_then(|mut journal| journal.settle(key, &booking, status));
    if let Err(error) = settled {
        context.out.warn(&format!(
            "the booking was made, but the journal could not note it: {}",
            error.message
        ));
    }
    if begun == Begun::Settled {
        warn_of_two(context, key, &booking);
    }
    // What was made now is what was asked for, in whatever words the service repeats it.
    let asked = call.body.as_ref().filter(|_| status != 201);
    let difference = asked.and_then(|asked| difference(asked, &booking));
    Ok(Made {
        booking,
        // An attempt that was open may have made it itself, a moment ago.
        earlier: status == 200 && begun != Begun::Again,
        difference,
    })
}

/// In what a booking is not the one that was asked for, as far as both say: a key of old brings back what it
/// once made, and the service does not compare (spec, Limits 7). What was modified since is no difference.
fn difference(asked: &Value, booking: &Booking) -> Option<String> {
    let booked = booking.document().value();
    let modified = |name: &str| {
        let pointer = format!("/last_modification/changes/{name}");
        booked.pointer(&pointer).is_some()
    };
    let field = |name: &str| -> Option<String> {
        let pointer = format!("/{}", name.replace('.', "/"));
        let (asked, booked) = (asked.pointer(&pointer)?, booked.pointer(&pointer)?);
        let same = match (asked.as_str(), booked.as_str()) {
            (Some(asked), Some(booked)) => same_text(name, asked, booked),
            _ => asked == booked,
        };
        (!same && !booked.is_null() && !modified(name))
            .then(|| format!("{name} is {}, not {}", plain(booked), plain(asked)))
    };
    [
        "venue_id",
        "datetime",
        "party_size",
        "customer.name",
        "customer.email",
    ]
    .into_iter()
    .find_map(field)
}

/// Whether a service that writes it its own way may mean the same: a moment with another offset, a guest in other
/// letters or blanks, or masked.
fn same_text(name: &str, one: &str, other: &str) -> bool {
    let instant = |text: &str| text.parse::<Timestamp>().ok();
    let words = |text: &str| {
        text.to_lowercase()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    match (name, instant(one), instant(other)) {
        ("datetime", Some(one), Some(other)) => one == other,
        ("customer.name" | "customer.email", ..) => {
            words(one) == words(other) || other.contains(['*', '•', '…'])
        }
        _ => one == other,
    }
}

/// A key that made one booking and now brings another: the service forgot it, as a sandbox does that was reset, or the
/// API key is another organization's after all.
fn warn_of_two(context: &Context, key: &str, booking: &Booking) {
    let known = context.journal().and_then(|journal| journal.attempt(key));
    let known = known.ok().flatten().and_then(|attempt| attempt.booking_id);
    if let Some(known) = known.filter(|known| known != booking.id()) {
        context.out.warn(&format!(
            "this idempotency key made booking {known} before, and {} now: both may stand",
            booking.id()
        ));
    }
}

/// Writes the intent down, as soon as the window that is known of has room for it.
async fn begin(context: &Context, call: &Call, allowed: Duration) -> Result<(Begun, Duration)> {
    let (key, body) = (call.idempotency_key.as_deref(), call.body.as_ref());
    let (key, body) = (key.unwrap_or_default(), body.unwrap_or(&Value::Null));
    let mut allowed = allowed;
    let mut budget = call.budget();
    loop {
        let metered = match budget {
            Some(budget) => context.metered_now(budget).await.map(|now| (budget, now)),
            None => None,
        };
        let begun = context.journal()?.begin(key, body, metered)?;
        let Begun::Shut(window) = begun else {
            return Ok((begun, allowed));
        };
        match context.wait_for_window(&window, call, allowed).await? {
            Waited::Until { left } => allowed = left,
            Waited::NotAtAll => budget = None,
        }
    }
}

/// Nothing was created: the journal notes it, and an intent that never left is taken back.
fn conclude_refusal(context: &Context, key: &str, error: Error) -> Error {
    note_refusal(context, key, error.http_status);
    error
}

fn note_refusal(context: &Context, key: &str, http_status: Option<u16>) {
    context.situation.replace(Situation::Nothing);
    let noted = context.journal().and_then(|mut journal| match http_status {
        Some(status) => journal.refuse(key, status),
        None => journal.withdraw(key),
    });
    if let Err(noted) = noted {
        let why = &noted.message;
        context.out.warn(&format!(
            "nothing was created, but the journal could not note it: {why}"
        ));
    }
}

/// The outcome is open: the error says so, whatever the last try was told, and names what settles it.
fn unsettled(context: &Context, failure: Failure, call: &Call, key: &str) -> Error {
    // Where this cannot be noted the attempt is unsettled all the same, and mentioned once it is old.
    let _ = context.journal().and_then(|mut journal| journal.doubt(key));
    let mut error = failure.into_error(call);
    let rate_limited = error.exit == Exit::RateLimited;
    if !rate_limited && error.exit != Exit::OutcomeUnknown {
        error.message = format!("the outcome is unknown: {}", error.message);
        error.code = "outcome_unknown".to_owned();
        error.exit = Exit::OutcomeUnknown;
    }
    error.hint = Some(format!(
        "a booking may exist; settle it with: {}",
        resume_command(key)
    ));
    error.idempotency_key(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_booking_of_another_request_is_told_from_the_one_that_was_asked_for() {
        let asked =
            json!({"venue_id": "v", "datetime": "2026-12-01T19:30:00+01:00", "party_size": 2});
        let booked = |document: Value| Booking::from_document(document.into()).unwrap();
        let same = json!({"id": "bk_1", "status": "confirmed", "venue_id": "v", "datetime": "2026-12-01T18:30:00Z"});
        assert_eq!(difference(&asked, &booked(same)), None);
        let other = json!({"id": "bk_1", "status": "confirmed", "venue_id": "w", "party_size": 2});
        assert_eq!(
            difference(&asked, &booked(other)).as_deref(),
            Some("venue_id is w, not v")
        );
        let modified = json!({
            "id": "bk_1", "status": "confirmed", "venue_id": "v", "party_size": 4,
            "last_modification": {"changes": {"party_size": {"from": 2, "to": 4}}},
        });
        assert_eq!(difference(&asked, &booked(modified)), None);
    }

    #[test]
    fn a_booking_of_another_guest_is_not_the_one_that_was_asked_for() {
        let asked = json!({"customer": {"name": "Ada  Lovelace", "email": "ADA@x.example"}});
        let difference = |name: &str| {
            let document = json!({"id": "bk_1", "status": "confirmed", "customer": {"name": name, "email": "ada@x.example"}});
            difference(&asked, &Booking::from_document(document.into()).unwrap())
        };
        assert_eq!(difference("ada lovelace"), None);
        assert_eq!(
            difference("Eve Other").as_deref(),
            Some("customer.name is Eve Other, not Ada  Lovelace")
        );
    }
}
