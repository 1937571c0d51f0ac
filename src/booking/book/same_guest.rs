//! Asks whether a guest is meant to have a second booking at a venue on one day.

use jiff::tz::TimeZone;
use serde_json::Value;

use crate::app::Context;
use crate::booking::confirmation::Confirmation;
use crate::journal::LiveBooking;
use crate::json::plain;
use crate::outcome::Result;
use crate::service::documents::booking::Booking;
use crate::service::time::document_time::{DocumentTime, time_text};

/// How many of the newest bookings are looked through, so that nobody waits for a long journal.
const LOOKED_THROUGH: u32 = 1000;

/// The bookings at some venues that have not ended, each with its venue and its time, the newest first.
pub(crate) struct Booked(Vec<(String, DocumentTime, LiveBooking)>);

impl Booked {
    /// Those at the venues of some requests: one question to the journal.
    pub(crate) fn at_venues_of<'a>(
        context: &Context,
        requests: impl IntoIterator<Item = &'a Value>,
    ) -> Result<Self> {
        let asked: Vec<String> = requests.into_iter().map(venue_of).collect();
        let among = LOOKED_THROUGH + u32::try_from(asked.len()).unwrap_or(u32::MAX / 2);
        let venues = asked.into_iter().collect();
        let mut booked = Booked(Vec::new());
        for live in context.journal()?.live_at(&venues, among)? {
            booked.add(live);
        }
        Ok(booked)
    }

    fn add(&mut self, live: LiveBooking) {
        if let Some(time) = live.time() {
            self.0.push((live.venue(), time, live));
        }
    }

    /// What a person reads of the newest booking for the guest of a request, at its venue on its day.
    pub(crate) fn for_guest_of(
        &self,
        context: &Context,
        asked: &Value,
        is_own: impl Fn(&LiveBooking) -> bool,
    ) -> Option<String> {
        let (venue, time) = (venue_of(asked), DocumentTime::read(asked.get("datetime")?)?);
        let zone = context.known_venue(&venue).and_then(|it| it.timezone());
        let zone = zone.or_else(|| Some(TimeZone::fixed(time.offset()?)));
        let day = time.day_in(zone.as_ref());
        let mut booked = self.0.iter();
        let (.., other) = booked.find(|(at, then, live)| {
            *at == venue
                && then.day_in(zone.as_ref()) == day
                && live.is_for_guest_of(asked)
                && !is_own(live)
        })?;
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
    is_confirmed: bool,
) -> Result<()> {
    let mut booked = Booked::at_venues_of(context, [asked])?;
    for booking in resolved.iter().filter(|it| it.status().has_not_ended()) {
        booked.add(booking.clone().into());
    }
    match booked.for_guest_of(context, asked, |_| false) {
        Some(other) => ask_about(context, &other, "Book another one?", is_confirmed).await,
        None => Ok(()),
    }
}

/// Warns, and asks a person who has not said yes already.
pub(crate) async fn ask_about(
    context: &Context,
    warning: &str,
    question: &str,
    is_confirmed: bool,
) -> Result<()> {
    context.out.warn(warning);
    if is_confirmed || !context.prompter.interactive() {
        return Ok(());
    }
    let confirmation = Confirmation {
        action: "booking a guest twice",
        question: question.to_owned(),
        declined: "Nothing was sent.",
    };
    confirmation.ask(&context.prompter).await
}
