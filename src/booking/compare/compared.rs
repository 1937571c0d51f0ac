//! What a command says when a booking was changed or answered, and does not show it.

use serde_json::{Map, Value};

use super::difference::{differences, shown};
use crate::app::Context;
use crate::booking::finish::finish;
use crate::booking::watch::wait::read_booking;
use crate::outcome::{Exit, Result};
use crate::service::documents::booking::{Booking, Status};
use crate::service::mapping::WriteKind;

/// The fields that a modify changes (spec, Bookings).
const MODIFIED: [&str; 3] = ["datetime", "party_size", "seating_preference"];

/// Ends a command like [`finish`], and says in which fields the booking differs from what was asked for, where both have
/// them. A difference is the exit code 7: the service answered as if it had done it.
pub(crate) fn finish_compared(
    context: &Context,
    booking: &Booking,
    kind: WriteKind,
    asked: &Map<String, Value>,
) -> Result<Exit> {
    let exit = finish(context, booking)?;
    // While the provider works on it, the booking may still show what it was.
    if booking.status() == Status::Processing {
        return Ok(exit);
    }
    let differences = differences(asked, booking);
    for (field, clause) in &differences {
        let what = format!("the service accepted the request, but in the booking {clause}");
        warn_of_field(context, &what, kind, field);
    }
    Ok(if differences.is_empty() {
        exit
    } else {
        Exit::Refused
    })
}

/// Ends a modify like [`finish_compared`]. If the answer does not show the change, the booking is read again. A change that
/// it does not show either is the exit code 7: some services ignore fields whose names they do not know.
pub(crate) async fn finish_modified(
    context: &Context,
    mut booking: Booking,
    asked: &Map<String, Value>,
) -> Result<Exit> {
    if !unshown(asked, &booking).is_empty() {
        match read_booking(context, booking.id()).await {
            Err(error) if error.exit == Exit::Interrupted => return Err(error),
            Err(_) => {}
            Ok(read) => booking = read,
        }
    }
    let exit = finish_compared(context, &booking, WriteKind::Modify, asked)?;
    let unshown = unshown(asked, &booking);
    for field in &unshown {
        let what = format!(
            "the service accepted the request, but the booking does not show its {field}, so the change may not have been made"
        );
        warn_of_field(context, &what, WriteKind::Modify, field);
    }
    Ok(match exit {
        Exit::Done if !unshown.is_empty() => Exit::Refused,
        exit => exit,
    })
}

/// The fields of a change of which the booking says nothing. A booking with `last_modification` was changed (spec,
/// Bookings), and one in processing may be.
fn unshown(asked: &Map<String, Value>, booking: &Booking) -> Vec<&'static str> {
    let modification = booking.value().get("last_modification");
    if booking.status() == Status::Processing || modification.is_some_and(|it| !it.is_null()) {
        return Vec::new();
    }
    let mut fields = MODIFIED.to_vec();
    fields.retain(|field| asked.contains_key(*field) && shown(booking, field).is_empty());
    fields
}

/// Warns of a field that was not taken, with the setting that can be the cause.
fn warn_of_field(context: &Context, what: &str, kind: WriteKind, field: &str) {
    let adapter = context.adapter();
    let names = adapter.names_of(kind);
    let (why, setting) = match names.iter().find(|(own, ..)| *own == field) {
        Some((_, key, _)) if !adapter.write.contains_key(&kind) => {
            ("names it otherwise", format!("dialect.{key}=NAME"))
        }
        _ => {
            let kind = kind.as_str();
            (
                "wants it in another shape",
                format!("write.{kind}=EXPRESSION"),
            )
        }
    };
    let set = adapter.set_command(&setting);
    let what = format!("{what}; if the service {why}: {set}");
    context.out.warn(&what);
}

/// Says so where a booking still waits for what was just answered: a service may skip a field that it does not know.
pub(crate) fn warn_if_still_asked(
    context: &Context,
    booking: &Booking,
    kind: WriteKind,
    field: &str,
    asked_again: bool,
) {
    if booking.status() == Status::RequiresAction && asked_again {
        let what = "the service accepted the answer, and the booking still waits for it";
        warn_of_field(context, what, kind, field);
    }
}
