//! Asks whether a guest is meant to have a second booking at a venue on one day.

use std::collections::HashMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::confirmation::Confirmation;
use crate::app::Context;
use crate::journal::LiveBooking;
use crate::json::plain;
use crate::model::booking::Booking;
use crate::model::document_time::{DocumentTime, time_text};
use crate::outcome::Result;

/// How many of the newest bookings are looked through, so that a script does not wait for a long journal. A person has time.
const LOOKED_THROUGH: u32 = 200;
const LOOKED_THROUGH_FOR_A_PERSON: u32 = 5000;

/// The bookings that have not ended, by venue and day there.
pub(super) struct Booked {
    zones: HashMap<String, Option<TimeZone>>,
    at: HashMap<(String, Date), Vec<LiveBooking>>,
}

impl Booked {
    /// Those at the venues of some requests: one question to the journal.
    pub(super) fn at_venues_of<'a>(
        context: &Context,
        requests: impl IntoIterator<Item = &'a Value>,
    ) -> Result<Self> {
        let mut zones = HashMap::new();
        let mut among = if context.prompter.interactive() {
            LOOKED_THROUGH_FOR_A_PERSON
        } else {
            LOOKED_THROUGH
        };
        for asked in requests {
            among += 1;
            zones.entry(venue_of(asked)).or_insert_with_key(|venue| {
                let zone = context.known_venue(venue).and_then(|it| it.timezone());
                zone.or_else(|| Some(TimeZone::fixed(time_of(asked)?.offset()?)))
            });
        }
        let venues = zones.keys().cloned().collect();
        let mut booked = Booked {
            zones,
            at: HashMap::new(),
        };
        for live in context.journal()?.live_at(&venues, among)? {
            booked.add(live);
        }
        Ok(booked)
    }

    fn add(&mut self, live: LiveBooking) {
        if let Some(place) = self.place(live.venue(), live.time()) {
            self.at.entry(place).or_default().push(live);
        }
    }

    fn place(&self, venue: String, time: Option<DocumentTime>) -> Option<(String, Date)> {
        let day = time?.day_in(self.zones.get(&venue)?.as_ref())?;
        Some((venue, day))
    }

    /// What a person reads of the newest booking for the guest of a request, at its venue on its day.
    pub(super) fn for_guest_of(
        &self,
        asked: &Value,
        is_own: impl Fn(&LiveBooking) -> bool,
    ) -> Option<String> {
        let place = self.place(venue_of(asked), time_of(asked))?;
        let mut others = self.at.get(&place)?.iter();
        let other = others.find(|it| it.is_for_guest_of(asked) && !is_own(it))?;
        let text = |pointer: &str| other.field(pointer).map(plain).unwrap_or_default();
        Some(format!(
            "this guest has a booking at this venue on this day already: {}, {}, {}, party {}",
            other.booking.id(),
            text("/customer/name"),
            other.field("/datetime").map(time_text).unwrap_or_default(),
            text("/party_size"),
        ))
    }
}

fn venue_of(asked: &Value) -> String {
    asked.get("venue_id").map(plain).unwrap_or_default()
}

fn time_of(asked: &Value) -> Option<DocumentTime> {
    asked.get("datetime").and_then(DocumentTime::read)
}

/// Warns if the guest of a request has a booking at its venue on its day, and asks a person whether another one is meant.
/// `resolved` are bookings that this command has found out about.
///
/// # Errors
///
/// `declined` (17) if the answer is no.
pub(crate) async fn ask_about_same_guest(
    context: &Context,
    asked: &Value,
    resolved: &[Booking],
    goes_ahead: bool,
) -> Result<()> {
    let mut booked = Booked::at_venues_of(context, [asked])?;
    for booking in resolved.iter().filter(|it| it.status().is_alive()) {
        booked.add(booking.clone().into());
    }
    match booked.for_guest_of(asked, |_| false) {
        Some(other) => ask_about(context, &other, "Book another one?", goes_ahead).await,
        None => Ok(()),
    }
}

/// Warns, and asks a person who has not said yes already.
pub(super) async fn ask_about(
    context: &Context,
    warning: &str,
    question: &str,
    goes_ahead: bool,
) -> Result<()> {
    context.out.warn(warning);
    if goes_ahead || !context.prompter.interactive() {
        return Ok(());
    }
    let confirmation = Confirmation {
        action: "booking a guest twice",
        question: question.to_owned(),
        declined: "Nothing was sent.",
    };
    confirmation.ask(&context.prompter).await
}
