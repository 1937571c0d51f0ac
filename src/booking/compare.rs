//! Ends a change by what the booking says of it.

use serde_json::{Map, Value, json};

use super::agreement::{MODIFIED, contradiction, is_another, shown};
use super::finish::finish;
use super::terms::asked_for;
use super::watch::wait::read_booking;
use crate::app::Context;
use crate::outcome::{Exit, Result};
use crate::service::documents::booking::{Booking, Status};
use crate::service::mapping::{WriteKind, member};

/// What a create asks for beside what makes a booking another one, and no modify changes.
const CHOSEN: [&str; 3] = ["provider", "end_user", "payment_collection"];

/// Ends a command that has made a booking like [`finish`]. One that differs in what was chosen, or in what its `first` answer did
/// not show, is warned of, and exits with 16: after a 7, a script books elsewhere.
pub(crate) fn finish_created(
    context: &Context,
    first: &Booking,
    booking: &Booking,
) -> Result<Exit> {
    let asked = asked_for(context, booking);
    let exit = finish(context, booking)?;
    let found = contradicted_when_new(&asked, first, booking);
    warn_of(context, WriteKind::Create, &found);
    // What a new booking waits for says more than how it differs.
    let is_other = !found.is_empty() && exit == Exit::Done;
    Ok(if is_other { Exit::OutcomeUnknown } else { exit })
}

/// How the booking of a row differs from what was asked for, as [`finish_created`] compares it.
pub(crate) fn difference_when_new(
    context: &Context,
    first: &Booking,
    booking: &Booking,
) -> Option<String> {
    let asked = asked_for(context, booking);
    let found = || contradicted_when_new(&asked, first, booking).pop();
    is_another(&asked, booking).or_else(|| Some(found()?.1))
}

fn contradicted_when_new<'a>(
    asked: &'a Value,
    first: &Booking,
    booking: &Booking,
) -> Vec<(&'a str, String)> {
    let mut fields = MODIFIED.to_vec();
    fields.retain(|field| shown(first, field).is_empty());
    fields.extend(CHOSEN);
    let asked = fields.iter().filter_map(|it| Some((*it, asked.get(it)?)));
    contradicted(booking, asked)
}

/// Ends a command like [`finish`], and warns of each field that the booking shows otherwise than asked for, or after a modify not
/// at all, which is the exit code 7: some services ignore fields whose names they do not know. If the answer to a modify does
/// not show the change, the booking is read again first.
pub(crate) async fn finish_compared(
    context: &Context,
    mut booking: Booking,
    kind: WriteKind,
    before: Option<&Booking>,
    asked: &Map<String, Value>,
) -> Result<Exit> {
    let names = context.adapter().names_of(kind);
    let unshown = |booking: &Booking| match kind {
        WriteKind::Modify => unshown(asked, before, booking, &names),
        _ => Vec::new(),
    };
    if !unshown(&booking).is_empty() {
        match read_booking(context, booking.id()).await {
            Err(error) if error.exit == Exit::Interrupted => return Err(error),
            read => booking = read.unwrap_or(booking),
        }
    }
    if kind == WriteKind::Modify && context.has_journal() {
        let mut accepted = asked.clone();
        accepted.retain(|field, asked| match field.as_str() {
            // Some services let a change name another guest.
            "customer" => is_another(&json!({ field: asked }), &booking).is_none(),
            _ => MODIFIED.contains(&&**field) && contradiction(&booking, field, asked).is_none(),
        });
        let journal = context.journal();
        let _ = journal.and_then(|it| it.change(&booking, &accepted));
    }
    let exit = finish(context, &booking)?;
    // Nobody asked for another time or party than it had.
    let stays = ["datetime", "party_size"].into_iter();
    let stays = stays.filter(|field| !asked.contains_key(*field));
    let stays = stays.filter_map(|field| Some((field, before?.value().get(field)?)));
    let asked_now = asked.iter().map(|(field, asked)| (field.as_str(), asked));
    let mut found = contradicted(&booking, asked_now.chain(stays));
    let is_contradicted = !found.is_empty();
    found.extend(unshown(&booking).into_iter().map(|field| {
        let what = format!("the booking does not show its {field}");
        (field, what + ", so the change may not have been made")
    }));
    warn_of(context, kind, &found);
    // A status that is not understood says more than a field that is not shown.
    if is_contradicted || !found.is_empty() && exit == Exit::Done {
        return Ok(Exit::Refused);
    }
    Ok(exit)
}

/// The fields that the booking shows otherwise than asked for, each with a clause that says how. While the provider works on
/// it, the booking may still show what it was.
fn contradicted<'a>(
    booking: &Booking,
    asked: impl Iterator<Item = (&'a str, &'a Value)>,
) -> Vec<(&'a str, String)> {
    let is_decided = booking.status() != Status::Processing;
    let asked = asked.filter(|_| is_decided);
    let found = asked.filter_map(|(field, asked)| {
        let clause = contradiction(booking, field, asked)?;
        Some((field, format!("in the booking {clause}")))
    });
    found.collect()
}

fn warn_of(context: &Context, kind: WriteKind, found: &[(&str, String)]) {
    for (field, clause) in found {
        let what = format!("the service accepted the request, but {clause}");
        warn_of_field(context, &what, kind, field);
    }
}

/// The fields of a change of which the booking says nothing. A booking with another `last_modification` than before was
/// changed (spec, Bookings), in the fields that it names, under our name or the service's, and one in processing may be.
fn unshown(
    asked: &Map<String, Value>,
    before: Option<&Booking>,
    booking: &Booking,
    names: &[(&str, &str, &str)],
) -> Vec<&'static str> {
    if booking.status() == Status::Processing {
        return Vec::new();
    }
    let modification = |of: &Booking| of.value().get("last_modification").cloned();
    let (old, new) = (before.and_then(modification), modification(booking));
    let new = new.filter(|it| !it.is_null() && Some(it) != old.as_ref());
    let changes = new.as_ref().and_then(|it| it.get("changes")?.as_object());
    let is_proved = |field: &str| {
        let sent = names.iter().filter(|it| it.0 == field).map(|it| it.2);
        let mut names = sent.chain([field]);
        let is_named = changes.is_none_or(|it| names.any(|name| member(it, name).is_some()));
        new.is_some() && is_named
    };
    let is_shown = |field: &str| is_proved(field) || !shown(booking, field).is_empty();
    let mut fields = MODIFIED.to_vec();
    fields.retain(|field| asked.contains_key(*field) && !is_shown(field));
    fields
}

/// Warns of a field that was not taken, with the setting that can be the cause.
pub(crate) fn warn_of_field(context: &Context, what: &str, kind: WriteKind, field: &str) {
    let adapter = context.adapter();
    let names = adapter.names_of(kind);
    let (why, setting) = match names.iter().find(|(own, ..)| *own == field) {
        Some((_, key, _)) if !adapter.write.contains_key(&kind) => {
            ("names it otherwise", format!("dialect.{key}=NAME"))
        }
        _ => ("wants it in another shape", format!("write.{}=EXPRESSION", kind.as_str())),
    };
    let set = adapter.set_command(&setting);
    let warning = format!("{what}; if the service {why}: {set}");
    context.out.warn(&warning);
}
