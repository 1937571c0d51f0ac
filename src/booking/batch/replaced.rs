//! Rows that an earlier start of the batch sent, and that its file has no longer: some were
//! corrected, and others removed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use jiff::civil::Date;

use super::keys::{KeyedRow, later_key};
use super::rows::BatchRow;
use crate::app::in_flight::{resume_command, show_command};
use crate::app::{Api, Parts, Records, Ui};
use crate::booking::book::duplicates::day_at;
use crate::booking::find::pick;
use crate::booking::terms::filled_in;
use crate::booking::verdict::compared;
use crate::booking::{finish, watch::wait};
use crate::journal::{Attempt, BatchRecord, State};
use crate::outcome::{Code, Error, Result};
use crate::platform::shell;
use crate::service::documents::{Agreement, Booking, Compared, Status, Weight, Wish};

/// The last attempts of the rows that are gone, which may have made a booking for a time to come.
#[derive(Default)]
pub(crate) struct Replaced {
    attempts: Vec<(Seat, Attempt)>,
    /// The keys of those that an earlier row of this start was: each was one row.
    found: RefCell<HashSet<String>>,
    /// The bookings, as read now, of those whose guest was deleted.
    read: RefCell<HashMap<String, Booking>>,
    /// The first keys of the other rows that are gone.
    pub(crate) over: Vec<String>,
}

impl Replaced {
    pub(crate) fn find(
        parts: &Parts,
        record: &BatchRecord,
        present: &HashSet<&str>,
    ) -> Result<Self> {
        let (journal, now) = (parts.records.journal()?, parts.api.facts.now()?);
        let mut replaced = Replaced::default();
        for first in record.rows.keys().filter(|first| !present.contains(first.as_str())) {
            let (mut last, mut retry) = (None, 0);
            while let Some(attempt) = journal.attempt(&later_key(first, retry))? {
                (last, retry) = (Some(attempt), retry + 1);
            }
            let is_to_come = |attempt: &Attempt| {
                let time = attempt.wish().time();
                let is_open = matches!(attempt.state, State::Unresolved | State::Resolved);
                is_open && time.and_then(|it| it.instant).is_none_or(|it| it > now)
            };
            let last = last.filter(is_to_come);
            match last.and_then(|it| Some((seat(&parts.records, &it.wish())?, it))) {
                Some(attempt) => replaced.attempts.push(attempt),
                None => replaced.over.push(first.clone()),
            }
        }
        replaced.attempts.sort_by(|one, other| one.1.created_at.cmp(&other.1.created_at));
        Ok(replaced)
    }

    /// What a row that was not sent yet was before it was corrected.
    pub(super) fn before(&self, records: &Records, row: &BatchRow) -> Vec<&Attempt> {
        // A key of its own books a row all the same.
        if self.attempts.is_empty() || row.idempotency_key.is_some() {
            return Vec::new();
        }
        let wish = row.wish();
        let Some(seat) = seat(records, &wish).filter(|it| it.2.is_some()) else {
            return Vec::new();
        };
        let is_it = |it: &&(Seat, Attempt)| it.0 == seat && is_same_guest(&it.1.wish(), &wish);
        self.attempts.iter().filter(is_it).map(|it| &it.1).collect()
    }

    /// The booking of a corrected row, if it is by now as the row asks. `None` if nothing stands
    /// against sending the row; an error if its booking stands as it was (7), may exist, or failed with
    /// a payment that may have been made (16).
    pub(crate) async fn booking_of(
        &self,
        api: &Api,
        records: &Records,
        ui: &Ui,
        row: &BatchRow,
    ) -> Result<Option<Booking>> {
        let mark_found = |key: &String| self.found.borrow_mut().insert(key.clone());
        let is_found = |it: &&Attempt| self.found.borrow().contains(&it.idempotency_key);
        let (of_others, mut own): (Vec<_>, Vec<_>) =
            self.before(records, row).into_iter().partition(is_found);
        let wish = row.wish();
        // Where the guest was deleted, the booking tells whose it is.
        let nameless = seat(records, &wish).map(|it| (it.0, it.1, None));
        if row.idempotency_key.is_none() {
            let at_seat = self.attempts.iter().filter(|it| Some(&it.0) == nameless.as_ref());
            own.extend(at_seat.map(|it| &it.1).filter(|it| !is_found(it)));
        }
        let mut refusal = None;
        for attempt in own {
            let key = &attempt.idempotency_key;
            let Some(id) = attempt.booking_id.as_ref().filter(|_| attempt.state == State::Resolved)
            else {
                mark_found(key);
                let what = "what this row was before is still unresolved; nothing was sent";
                let hint = format!("check it: {}", resume_command(key));
                return Err(Error::new(Code::OutcomeUnknown, what).hint(hint).idempotency_key(key));
            };
            let is_named = attempt.wish().guest_mark("name").is_some();
            // Many rows may be compared with one of these.
            let known = self.read.borrow().get(id).cloned();
            let booking = match known {
                Some(known) => known,
                None => match read_again(api, records, ui, id).await {
                    Err(error) if !is_named && wait::is_not_found(&error) => {
                        refusal.get_or_insert((key, may_be(id)));
                        continue;
                    }
                    read => read?,
                },
            };
            if !is_named {
                self.read.borrow_mut().insert(id.clone(), booking.clone());
            }
            finish::store_and_judge(records, &booking);
            let found = compared(records, &wish, &booking, false);
            if !booking.may_stand() || !is_named && found.iter().any(Compared::is_another) {
                continue;
            }
            let is_guest =
                |it: &Compared| it.root() == "customer" && it.agreement == Agreement::Same;
            if !is_named && !found.iter().any(is_guest) {
                refusal.get_or_insert((key, may_be(id)));
                continue;
            }
            let flags = changes(records, attempt, &booking, row);
            if flags.as_ref().is_some_and(Vec::is_empty) {
                mark_found(key);
                return Ok(Some(booking));
            }
            let (code, standing) = match booking.status() {
                Status::Confirmed => (Code::AlreadyBooked, "stands".to_owned()),
                // A card may be charged twice.
                Status::Failed => {
                    let why = booking.error_code().unwrap_or_default();
                    (Code::OutcomeUnknown, format!("failed with {why}"))
                }
                status => (Code::AlreadyBooked, format!("has status {status}")),
            };
            let what = "the row was booked before it was corrected; nothing was sent";
            // Nothing else can be modified (spec, Bookings).
            let hint = match flags.filter(|_| booking.status() == Status::Confirmed) {
                Some(flags) => {
                    format!("change it: {}", shell::command("modify", id, &flags.join(" ")))
                }
                None => format!("see it: {}", show_command(id)),
            };
            let error = Error::new(code, format!("{what}: {id} {standing}"));
            refusal.get_or_insert((key, error.hint(hint).body(booking.document)));
        }
        let Some((key, error)) = refusal else {
            if !of_others.is_empty() {
                let what = "an earlier row books this guest at this venue that day, too";
                ui.out.warn(&format!("row {}: {what}", row.number));
            }
            return Ok(None);
        };
        mark_found(key);
        Err(error)
    }

    /// Names the bookings of removed rows, which stay booked, without guests in a script's log. Where
    /// the guest was deleted, all rows have to be `done`: no earlier one was what is left.
    pub(crate) fn warn_of_removed(
        &self,
        records: &Records,
        ui: &Ui,
        rows: &[KeyedRow],
        done: bool,
    ) -> Result<()> {
        let mut corrected = HashSet::new();
        for keyed in rows {
            let before = self.before(records, &keyed.row);
            if !before.is_empty() && records.journal()?.attempt(&keyed.first)?.is_none() {
                corrected.extend(before.iter().map(|it| it.idempotency_key.as_str()));
            }
        }
        for (seat, attempt) in &self.attempts {
            if done != seat.2.is_none() || self.found.borrow().contains(&attempt.idempotency_key) {
                continue;
            }
            let Some(id) = &attempt.booking_id else { continue };
            let stored = records.journal()?.load_booking(id)?;
            let is_over = stored.as_ref().is_some_and(|it| !it.booking.may_stand());
            if is_over || corrected.contains(attempt.idempotency_key.as_str()) {
                continue;
            }
            let (now, stands) = match stored {
                Some(it) => (Wish::from_request(it.fill_in(&it.booking).value()), "stands"),
                None => (attempt.wish(), "may stand"),
            };
            let (venue, time) = (now.venue(), now.time_text().unwrap_or_default());
            let cancel = shell::command("cancel", id, "");
            ui.out.warn(&format!(
                "no row is left for booking {id} ({venue}, {time}), which {stands}; to cancel it: {cancel}"
            ));
        }
        Ok(())
    }
}

/// The error (16) of a row at the venue and day of a booking whose guest neither the journal nor the
/// service shows.
fn may_be(id: &str) -> Error {
    let what = format!("the row may be that of booking {id}, whose guest was deleted here");
    let hint = format!("see it: {}", show_command(id));
    Error::new(Code::OutcomeUnknown, what + "; nothing was sent")
        .hint(hint + "; to book the row all the same, give it an idempotency_key")
}

/// Reads the booking of an earlier request of a row. A failed read keeps the row from being sent.
pub(super) async fn read_again(api: &Api, records: &Records, ui: &Ui, id: &str) -> Result<Booking> {
    let read = wait::read_booking(api, id).await;
    read.map_err(|error| pick::not_found(records, ui, id, error))
}

/// Venue, day and guest; `None` where the guest was deleted.
type Seat = (String, Option<Date>, Option<String>);

fn seat(records: &Records, wish: &Wish) -> Option<Seat> {
    let (_, day) = day_at(records, wish)?;
    Some((wish.venue(), day, wish.guest_mark("name")))
}

/// Whether two requests with one name are for one guest: its phone or email is the same.
fn is_same_guest(before: &Wish, now: &Wish) -> bool {
    let differs = |field: &str| {
        let marks = before.guest_mark(field).zip(now.guest_mark(field));
        marks.is_some_and(|(before, now)| before != now)
    };
    !(differs("phone") && differs("email"))
}

/// The flags of `modify` that make a booking what a row asks for: none if it is that. `None` if
/// `modify` cannot.
fn changes(
    records: &Records,
    attempt: &Attempt,
    booking: &Booking,
    row: &BatchRow,
) -> Option<Vec<String>> {
    let (before, wish) = (attempt.wish(), row.wish());
    let is_fixed = |field: &&str| wish.text(field) == before.text(field);
    if !["end_user", "payment_collection"].iter().all(is_fixed) {
        return None;
    }
    let found = compared(records, &wish, &filled_in(records, booking), false);
    let differs = |it: &&Compared| it.weight != Weight::Choice && it.clause().is_some();
    let flag = |it: &Compared| match it.field.as_str() {
        "datetime" => Some(shell::flag("--at", &it.wanted)),
        "party_size" => Some(shell::flag("--party", &it.wanted)),
        _ => None,
    };
    found.iter().filter(differs).map(flag).collect()
}
