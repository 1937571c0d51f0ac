//! The openings of a venue: start times, seatings, durations and prices.

use jiff::civil::Date;

use super::own_offer::{MOST_SEATINGS, OwnOffer};
use super::scenario::Scenario;
use super::schedule::{Schedule, minutes};
use super::seeded_random::{Purpose, SeededRandom};
use super::venue::{Offer, Venue};

/// A start on a day, in local time. The zone may skip it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Minutes after local midnight.
    pub(super) minute: u16,
    /// The index of the seating.
    pub(super) seating: u8,
}

/// The openings of a fixture's venue: each start with each seating.
fn own_openings(own: &OwnOffer, day: Date) -> impl Iterator<Item = Opening> {
    let seatings = 0..own.slots.seatings().len().clamp(1, MOST_SEATINGS) as u8;
    own.starts(day).flat_map(move |minute| {
        let seatings = seatings.clone();
        seatings.map(move |seating| Opening { minute, seating })
    })
}

impl Venue {
    /// The venue's openings on a day, in order of time, then of seating.
    pub(super) fn openings(&self, day: Date) -> impl Iterator<Item = Opening> {
        let (seeded, own) = match &self.offer {
            _ if self.scenario == Some(Scenario::NoSlots) => (None, None),
            Offer::Seeded { schedule, .. } => (Some(self.seeded_openings(*schedule, day)), None),
            Offer::Own(own) => (None, Some(own_openings(own, day))),
        };
        let seeded = seeded.into_iter().flatten();
        seeded.chain(own.into_iter().flatten())
    }

    fn seeded_openings(&self, schedule: Schedule, day: Date) -> impl Iterator<Item = Opening> {
        let hours = schedule.hours();
        let seatings = 0..self.seatings(schedule).len() as u8;
        hours
            .spans
            .iter()
            .flat_map(|&(first, last, step)| (minutes(first)..=minutes(last)).step_by(step))
            .flat_map(move |minute| {
                seatings
                    .clone()
                    .map(move |seating| Opening { minute, seating })
            })
            .filter(move |&opening| {
                let anchored = opening.minute == minutes(hours.anchor) && opening.seating == 0;
                let random = || self.random_for(day, opening).for_purpose(Purpose::Gap);
                anchored || hours.gap_one_in == 0 || random().below(hours.gap_one_in) != 0
            })
    }

    pub(super) fn random_for(&self, day: Date, opening: Opening) -> SeededRandom {
        let date =
            i64::from(day.year()) * 10_000 + i64::from(day.month()) * 100 + i64::from(day.day());
        self.random
            .with(date.cast_unsigned())
            .with(u64::from(opening.minute) << 8 | u64::from(opening.seating))
    }

    /// The seatings to choose from, the usual one first; a single `None` if there is no choice.
    pub(super) fn seatings(&self, schedule: Schedule) -> &'static [Option<&'static str>] {
        const INDOOR: Option<&str> = Some("indoor");
        const TERRACE: Option<&str> = Some("terrace");
        const BAR: Option<&str> = Some("bar");
        match (schedule, self.random.for_purpose(Purpose::Seating).below(5)) {
            (Schedule::Table, 0) => &[INDOOR, TERRACE],
            (Schedule::Table, 1) => &[INDOOR, BAR],
            (Schedule::Table, 2) => &[INDOOR, TERRACE, BAR],
            _ => &[None],
        }
    }

    pub(super) fn duration_minutes(&self, schedule: Schedule) -> u32 {
        let durations = schedule.hours().durations;
        let which = self
            .random
            .for_purpose(Purpose::Duration)
            .below(durations.len() as u64);
        durations[which as usize]
    }

    /// The price of a slot of a schedule in pence, before conversion into the city's currency.
    pub(super) fn pence(&self, schedule: Schedule) -> Option<i64> {
        let usual = schedule.hours().pence?;
        let percent = match self.price_level {
            Some(1) => 65,
            Some(3) => 150,
            Some(4) => 220,
            _ => 100,
        };
        let variation = 90
            + self
                .random
                .for_purpose(Purpose::Price)
                .below(21)
                .cast_signed();
        Some(usual * percent / 100 * variation / 100)
    }
}
