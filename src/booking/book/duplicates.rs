//! Unwanted second bookings: a command that is run again, a request that may have booked
//! already, and a guest who has a booking at the venue on that day.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::doubt::asked_before;
use super::draft::BookingDraft;
use crate::app::in_flight::resume_command;
use crate::app::{Facts, Parts, Records, Ui};
use crate::booking::confirmation::Confirmation;
use crate::journal::{Attempt, KeptBooking, State};
use crate::json::plain;
use crate::outcome::Result;
use crate::service::client::BookingRequest;
use crate::service::documents::{Booking, Wish};
use crate::service::time::{DocumentTime, is_same_time, time_text};

const NOTHING_SENT: &str = "Nothing was sent.";

/// The attempt under `key` that may have booked, if the draft asks for the same booking.
pub(crate) fn repeated(
    facts: &Facts,
    records: &Records,
    draft: &BookingDraft,
    key: &str,
) -> Result<Option<Attempt>> {
    let Some(attempt) = records.journal()?.attempt(key)? else {
        return Ok(None);
    };
    let mut before = attempt.canonical().clone();
    // What is missing is asked for, or reported, where the booking is made.
    let Some(request) = at_time_of(facts, draft, &attempt.wish()) else {
        return Ok(None);
    };
    // What a slot adds to a request.
    for field in ["availability_id", "provider"] {
        if request.requested.get(field).is_none()
            && let Some(before) = before.as_object_mut()
        {
            before.remove(field);
        }
    }
    // Where nothing was booked, the command begins anew.
    let may_have_booked = attempt.state != State::Refused;
    let is_same = may_have_booked && attempt.request.is_intact() && before == request.requested;
    Ok(is_same.then_some(attempt))
}

/// The draft as a request for the time of an earlier one, if it is for that time and lacks nothing.
fn at_time_of(facts: &Facts, draft: &BookingDraft, before: &Wish) -> Option<BookingRequest> {
    let time = before.get("datetime")?;
    let is_at = match (&draft.at, DocumentTime::read(time)) {
        (Some(when), Some(then)) => {
            // Where the venue's zone is not known, the earlier request shows its offset.
            let zone = draft.known_zone().or(then.offset().map(TimeZone::fixed));
            let zone = zone.unwrap_or(TimeZone::UTC);
            let meant = when.resolve(facts.now().ok()?, &zone).ok()?.wire();
            is_same_time(DocumentTime::read(&meant.into()), Some(then))
        }
        _ => draft.slot.as_ref()?.datetime_value() == *time,
    };
    draft.request(facts.mapping(), time.clone()).ok().filter(|_| is_at)
}

/// Whether a person wants a second booking beside the one that an open attempt may have made; no is
/// `declined` (17). A script is refused (16), with the command that finds out. What begins later is
/// refused where the run begins.
pub(crate) async fn wants_second_beside_open(
    facts: &Facts,
    ui: &Ui,
    draft: &BookingDraft,
    open: &[Attempt],
) -> Result<bool> {
    let is_same = |attempt: &&Attempt| {
        let before = attempt.wish();
        let request = at_time_of(facts, draft, &before);
        request.is_some_and(|it| Wish::from_request(&it.requested).is_same_booking(&before))
    };
    let Some(attempt) = open.iter().find(is_same) else {
        return Ok(false);
    };
    let key = &attempt.idempotency_key;
    if !ui.prompter.interactive() || draft.is_confirmed {
        return Err(asked_before(key, "pass a new --idempotency-key"));
    }
    let question = "That request may have booked this already. Book it a second time?";
    let confirmation = Confirmation::new("booking the same again", question, NOTHING_SENT);
    let requested = confirmation.ask(&ui.prompter).await;
    requested.map_err(|error| error.hint(format!("check it: {}", resume_command(key))))?;
    Ok(true)
}

/// How many of the newest bookings are looked through, so that a long journal makes no wait.
const LOOKED_THROUGH: u32 = 1000;

/// The standing bookings at some venues, each with its venue and time, newest first.
pub(crate) struct Booked(Vec<(String, DocumentTime, KeptBooking)>);

impl Booked {
    /// One question to the journal for `requests` of a batch.
    pub(crate) fn at_venues(
        records: &Records,
        venues: &HashSet<String>,
        requests: usize,
    ) -> Result<Self> {
        let among = LOOKED_THROUGH + u32::try_from(requests).unwrap_or(u32::MAX / 2);
        let live = records.journal()?.live_at(venues, among)?;
        Ok(Booked(live.into_iter().filter_map(with_its_time).collect()))
    }

    /// Describes the newest booking for the guest of a request, at its venue on its day.
    pub(crate) fn for_guest_of(
        &self,
        records: &Records,
        ui: &Ui,
        wish: &Wish,
        is_own: impl Fn(&KeptBooking) -> bool,
    ) -> Option<String> {
        let (venue, (zone, day)) = (wish.venue(), day_at(records, wish)?);
        let (.., other) = self.0.iter().find(|(at, then, live)| {
            *at == venue
                && then.day_in(zone.as_ref()) == day
                && live.is_for_guest_of(wish)
                && !is_own(live)
        })?;
        let known = other.fill_in(&other.booking);
        let name = known.guest().unwrap_or_default();
        let text = |field: &str| known.value().get(field);
        let is_same = |it: Wish| it.guest_mark("name") == wish.guest_mark("name");
        let is_same_name = is_same(Wish::from_request(known.value())) || is_same(other.wish());
        let what = match other.booking.status().has_not_ended() {
            _ if other.booking.left_at.is_none() => {
                "an abandoned request may have booked this guest at this venue that day"
            }
            true if !is_same_name => {
                "a guest with the same phone number or email already has a booking at this venue that day"
            }
            true => "this guest already has a booking at this venue that day",
            false => {
                "money may have moved for this guest's failed booking that day; check with the venue first"
            }
        };
        // The phone may be another guest's, too: a script's log has no name.
        let name = Some(name).filter(|_| ui.prompter.interactive());
        let name = name.map(|name| format!(", {name}")).unwrap_or_default();
        Some(format!(
            "{what}: {}{name}, {}, party {}",
            other.booking.id(),
            text("datetime").map(time_text).unwrap_or_default(),
            text("party_size").map(plain).unwrap_or_default(),
        ))
    }
}

/// The day of a request at its venue, and the zone by which that is counted.
pub(crate) fn day_at(records: &Records, wish: &Wish) -> Option<(Option<TimeZone>, Option<Date>)> {
    let time = wish.time()?;
    let zone = records.known_venue(&wish.venue()).and_then(|it| it.timezone());
    let zone = zone.or_else(|| Some(TimeZone::fixed(time.offset()?)));
    let day = time.day_in(zone.as_ref());
    Some((zone, day))
}

/// The earlier rows of a batch, by venue, day and guest.
#[derive(Default)]
pub(crate) struct EarlierRows(HashMap<(String, Option<Date>, String), usize>);

impl EarlierRows {
    /// Adds a row. Describes an earlier one for its guest, at its venue on its day.
    pub(crate) fn add(&mut self, records: &Records, number: usize, row: &Wish) -> Option<String> {
        let (_, day) = day_at(records, row)?;
        let mut earlier = None;
        for mark in row.guest_marks() {
            let first = *self.0.entry((row.venue(), day, mark)).or_insert(number);
            earlier = earlier.or((first != number).then_some(first));
        }
        let first = earlier?;
        Some(format!("row {first} books this guest at this venue that day, too"))
    }
}

fn with_its_time(live: KeptBooking) -> Option<(String, DocumentTime, KeptBooking)> {
    Some((live.venue(), live.time()?, live))
}

/// Warns if the guest of a request has a booking at its venue on its day, and asks whether to book
/// another; no is `declined` (17). `resumed` are bookings this command has found: their guests may
/// not be kept. `sending` is what other processes send now.
pub(crate) async fn ask_about_same_guest(
    parts: &Parts,
    wish: &Wish,
    resumed: &[Booking],
    sending: &[Attempt],
    is_confirmed: bool,
) -> Result<()> {
    let records = &parts.records;
    let mut booked = Booked::at_venues(&parts.records, &[wish.venue()].into(), 1)?;
    // Who said yes beforehand did not know of what was found out just now.
    let is_confirmed = is_confirmed && resumed.is_empty();
    let resumed = resumed.iter().filter(|it| it.may_stand()).map(|booking| booking.clone().into());
    booked.0.extend(resumed.filter_map(with_its_time));
    let day = |wish: &Wish| Some((wish.venue(), day_at(records, wish)?.1));
    let is_same = |it: &Attempt| it.wish().is_for_guest_of(wish) && day(&it.wish()) == day(wish);
    let is_sent = || {
        let what = "another bookctl is booking this guest at this venue that day";
        sending.iter().any(is_same).then(|| what.to_owned())
    };
    let other = booked.for_guest_of(records, &parts.ui, wish, |_| false);
    match other.or_else(is_sent) {
        Some(other) => ask_about(&parts.ui, &other, "Book another one?", is_confirmed).await,
        None => Ok(()),
    }
}

/// Warns, and asks a person who has not said yes already.
pub(crate) async fn ask_about(
    ui: &Ui,
    warning: &str,
    question: &str,
    is_confirmed: bool,
) -> Result<()> {
    ui.out.warn(warning);
    if is_confirmed || !ui.prompter.interactive() {
        return Ok(());
    }
    Confirmation::new("booking a guest twice", question, NOTHING_SENT).ask(&ui.prompter).await
}
