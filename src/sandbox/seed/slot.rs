//! Availability slots.

use std::borrow::Cow;

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::money::Money;
use super::openings::Opening;
use super::scenario::Scenario;
use super::schedule::Schedule;
use super::seeded_random::Purpose;
use super::slot_id::{slot_id, start_and_seating};
use super::terms::{CancellationTerms, CardTerms};
use super::venue::{Offer, Venue};

#[cfg(test)]
use super::venues::venues;

/// An availability slot ("Resources: Availability slot").
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    /// The `availability_id`, from which the whole slot can be found again.
    pub(crate) id: String,
    /// The start, in the venue's zone.
    pub(crate) datetime: Zoned,
    pub(crate) duration_minutes: u32,
    pub(crate) seating: Option<Cow<'static, str>>,
    pub(crate) price: Option<Money>,
    /// Dining slots have both terms, others neither.
    pub(crate) card_terms: Option<CardTerms>,
    pub(crate) cancellation_terms: Option<CancellationTerms>,
    /// How many bookings the slot holds, at least one.
    pub(crate) capacity: u32,
}

/// The slots of the venue's local day, in order of time, then of seating.
pub(crate) fn slots_on(venue: &Venue, day: Date) -> Vec<Slot> {
    venue
        .openings(day)
        .filter_map(|opening| Some(venue.slot(day, opening, venue.start(day, opening)?)))
        .collect()
}

#[cfg(test)]
pub(crate) fn slot(id: &str) -> Option<(&'static Venue, Slot)> {
    let offered = |venue: &'static Venue| Some((venue, venue.offered(id)?));
    venues().find_map(offered)
}

/// The slots that start at an instant, one for each seating.
pub(crate) fn slots_at(venue: &Venue, at: Timestamp) -> impl Iterator<Item = Slot> {
    venue.slots_where(at, |_| true)
}

/// The first slot that starts at an instant.
#[cfg(test)]
pub(crate) fn slot_at(venue: &Venue, at: Timestamp) -> Option<Slot> {
    slots_at(venue, at).next()
}

impl Venue {
    /// The venue's slot of an availability id; `None` for an id that [`slots_on`] never returns.
    pub(crate) fn offered(&self, id: &str) -> Option<Slot> {
        let (start, seating) = start_and_seating(id)?;
        let mut slots = self.slots_where(start, |opening| opening.seating == seating);
        slots.find(|it| it.id == id)
    }

    /// The slots that start at an instant and satisfy `asked`.
    fn slots_where(
        &self,
        at: Timestamp,
        asked: impl Fn(Opening) -> bool,
    ) -> impl Iterator<Item = Slot> {
        let local = self.timezone().to_datetime(at);
        let (day, minute) = (
            local.date(),
            local.hour() as u16 * 60 + local.minute() as u16,
        );
        self.openings(day)
            .filter(move |&opening| opening.minute == minute && asked(opening))
            .filter_map(move |opening| {
                let start = self.start(day, opening)?;
                // Neither a time with seconds nor the second of two equal local times starts a slot.
                (start.timestamp() == at).then(|| self.slot(day, opening, start))
            })
    }

    /// The start of an opening; `None` if the clocks skip it.
    fn start(&self, day: Date, opening: Opening) -> Option<Zoned> {
        let wall = day.at(
            (opening.minute / 60) as i8,
            (opening.minute % 60) as i8,
            0,
            0,
        );
        unskipped(&self.timezone(), wall)
    }

    fn slot(&self, day: Date, opening: Opening, start: Zoned) -> Slot {
        let (card_terms, cancellation_terms) = self.terms(&start).unzip();
        let (duration_minutes, seating, price) = match &self.offer {
            Offer::Seeded { schedule, home } => (
                self.duration_minutes(*schedule),
                self.seatings(*schedule)[usize::from(opening.seating)].map(Cow::Borrowed),
                self.pence(*schedule)
                    .map(|pence| home.currency.price(pence)),
            ),
            Offer::Own(own) => (
                own.slots.duration_minutes,
                own.slots
                    .seatings()
                    .get(usize::from(opening.seating))
                    .map(|it| Cow::Owned(it.clone())),
                own.slots.price,
            ),
        };
        Slot {
            id: slot_id(self, start.timestamp(), opening.seating),
            datetime: start,
            duration_minutes,
            seating,
            price,
            card_terms,
            cancellation_terms,
            capacity: self.capacity(day, opening),
        }
    }

    fn capacity(&self, day: Date, opening: Opening) -> u32 {
        let few = |bound| {
            self.random_for(day, opening)
                .for_purpose(Purpose::Capacity)
                .below(bound) as u32
        };
        match (self.scenario, &self.offer) {
            (Some(Scenario::LastTable), _) => 1,
            (_, Offer::Own(own)) => own.slots.capacity,
            // More than a rate limit's window allows, so that nobody who tries it out finds it full.
            (Some(_), _) => 20,
            (
                None,
                Offer::Seeded {
                    schedule: Schedule::Table,
                    ..
                },
            ) => 1 + few(4),
            (None, Offer::Seeded { .. }) => 2 + few(5),
        }
    }
}

/// A local time in its zone: `None` if the clocks skip it, the first if they repeat it.
fn unskipped(zone: &TimeZone, wall: DateTime) -> Option<Zoned> {
    let ambiguous = zone.to_ambiguous_zoned(wall);
    match ambiguous.offset() {
        AmbiguousOffset::Gap { .. } => None,
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            ambiguous.earlier().ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::sandbox::seed::{Vertical, venue};

    /// An ordinary day, and the days on which the clocks of each zone change.
    const DAYS: [Date; 9] = [
        date(2026, 12, 1),
        date(2027, 3, 28),
        date(2027, 10, 31),
        date(2027, 3, 14),
        date(2027, 11, 7),
        date(2027, 4, 4),
        date(2027, 10, 3),
        date(2028, 2, 29),
        date(1880, 1, 1),
    ];

    #[test]
    fn every_slot_is_found_again_by_its_id_and_by_its_instant() {
        for (venue, day) in venues().flat_map(|it| DAYS.map(|day| (it, day))) {
            let slots = slots_on(venue, day);
            assert_eq!(
                slots.is_empty(),
                venue.scenario == Some(Scenario::NoSlots),
                "{}",
                venue.id
            );
            assert!(slots.is_sorted_by(|one, other| one.datetime <= other.datetime));
            for offered in &slots {
                let (owner, again) = slot(&offered.id).unwrap();
                assert_eq!((&owner.id, &again), (&venue.id, offered));
                assert_eq!(offered.datetime.date(), day);
                let at = offered.datetime.timestamp();
                let first = slots.iter().find(|it| it.datetime.timestamp() == at);
                assert_eq!(slot_at(venue, at).as_ref(), first);
            }
        }
    }

    #[test]
    fn slots_carry_what_their_vertical_calls_for() {
        for (venue, day) in venues().flat_map(|it| DAYS.map(|day| (it, day))) {
            for slot in slots_on(venue, day) {
                let dining = venue.vertical == Vertical::Dining;
                assert_eq!(slot.card_terms.is_some(), dining);
                assert_eq!(slot.cancellation_terms.is_some(), dining);
                assert_eq!(slot.price.is_none(), dining);
                let most = if venue.scenario.is_some() { 20 } else { 6 };
                assert!((1..=most).contains(&slot.capacity));
                assert!(
                    slot.price
                        .is_none_or(|it| it.amount > 0 && it.currency == venue.currency())
                );
            }
        }
    }

    #[test]
    fn a_scenario_venue_offers_every_half_hour_from_five_to_ten() {
        let slots = slots_on(venue("ven_processing_c").unwrap(), date(2026, 12, 1));
        let times: Vec<_> = slots
            .iter()
            .map(|it| it.datetime.strftime("%H:%M").to_string())
            .collect();
        assert_eq!(
            times.join(" "),
            "17:00 17:30 18:00 18:30 19:00 19:30 20:00 20:30 21:00 21:30 22:00"
        );
        assert!(slots.iter().all(|it| it.capacity >= 3));
        let last = slots_on(venue("ven_last_table").unwrap(), date(2026, 12, 1));
        assert!(last.len() == 11 && last.iter().all(|it| it.capacity == 1));
    }

    #[test]
    fn a_time_that_the_clocks_skip_is_not_offered_and_one_they_repeat_is_offered_once() {
        let cars = venue("ven_london_kestrel_airport_cars").unwrap();
        let half_past_one = |day: Date| {
            let slots = slots_on(cars, day);
            let found: Vec<_> = slots
                .iter()
                .filter(|it| (it.datetime.hour(), it.datetime.minute()) == (1, 30))
                .map(|it| it.datetime.to_string())
                .collect();
            found
        };
        // Years of days, so that some day has the opening that others leave out.
        let springs = (2027..2060).flat_map(|year| half_past_one(last_sunday(year, 3)));
        assert_eq!(springs.count(), 0);
        let autumns: Vec<_> = (2027..2060)
            .flat_map(|year| half_past_one(last_sunday(year, 10)))
            .collect();
        assert!((20..33).contains(&autumns.len()), "{autumns:?}");
        for start in autumns {
            assert!(start.ends_with("01:30:00+01:00[Europe/London]"), "{start}");
            // The same wall time an hour later is not the slot.
            let later =
                start.parse::<Zoned>().unwrap().timestamp() + jiff::SignedDuration::from_hours(1);
            assert!(slot_at(cars, later).is_none());
        }
    }

    fn last_sunday(year: i16, month: i8) -> Date {
        date(year, month, 1)
            .nth_weekday_of_month(-1, jiff::civil::Weekday::Sunday)
            .unwrap()
    }

    #[test]
    fn the_first_and_the_last_day_of_the_calendar_are_days() {
        for venue in venues() {
            slots_on(venue, Date::MIN);
            slots_on(venue, Date::MAX);
        }
    }

    /// What was once offered stays offered: this list may never change.
    #[test]
    fn a_day_of_one_venue_stays_as_it_is() {
        let venue = venue("ven_london_quince_and_barrow").unwrap();
        let lines: Vec<_> = slots_on(venue, date(2026, 12, 1))
            .iter()
            .map(|it| {
                let time = it.datetime.strftime("%H:%M%:z");
                let (id, seating) = (&it.id, it.seating.as_deref().unwrap_or("-"));
                format!("{id} {time} {seating} {}", it.capacity)
            })
            .collect();
        assert_eq!(
            lines,
            [
                "slot_806b0eb6c000060071e93a1533c2 12:00+00:00 indoor 4",
                "slot_806b0eb6c001f1e767e241aca54d 12:00+00:00 bar 2",
                "slot_806b0ebdc801dac4aacc2eb70f2b 12:30+00:00 bar 4",
                "slot_806b0ecbd80075548e8fde97714d 13:30+00:00 indoor 1",
                "slot_806b0ed2e000680a231c3ad20d86 14:00+00:00 indoor 4",
                "slot_806b0ed2e0011b8ff0e75de26dcd 14:00+00:00 bar 3",
                "slot_806b0f0b2000456e6bf26ff1a2d9 18:00+00:00 indoor 1",
                "slot_806b0f12280051bbe03343ecce27 18:30+00:00 indoor 3",
                "slot_806b0f122801d7c1bb926b82fdc1 18:30+00:00 bar 1",
                "slot_806b0f193000229f594eb98c8050 19:00+00:00 indoor 4",
                "slot_806b0f193001bcb611aaf5f239bd 19:00+00:00 bar 1",
                "slot_806b0f203800d99dff91ee0c5f24 19:30+00:00 indoor 3",
                "slot_806b0f203801c370a8f84183f112 19:30+00:00 bar 3",
                "slot_806b0f2740003707204f01ca6052 20:00+00:00 indoor 4",
                "slot_806b0f274001af55feb7f4227331 20:00+00:00 bar 3",
                "slot_806b0f2e480025bd2ab467e8b1a3 20:30+00:00 indoor 3",
                "slot_806b0f2e4801a4b0873ed2d533b3 20:30+00:00 bar 4",
                "slot_806b0f355000cf89b176ece0223b 21:00+00:00 indoor 4",
                "slot_806b0f3550012109b8852524efae 21:00+00:00 bar 2",
                "slot_806b0f3c580048959ea4280a5887 21:30+00:00 indoor 4",
                "slot_806b0f3c5801f65c31a3f32b0974 21:30+00:00 bar 2",
            ]
        );

        let evening = slot_at(venue, "2026-12-01T19:30:00Z".parse().unwrap()).unwrap();
        let (card, cancellation) = (
            evening.card_terms.unwrap(),
            evening.cancellation_terms.unwrap(),
        );
        assert_eq!(
            card.text,
            "A card is needed to keep the table; nothing is held on it."
        );
        assert_eq!(
            cancellation.text,
            "Free to cancel until 12 hours before; 30.00 GBP per guest from then on."
        );
        assert_eq!(cancellation.fee_amount, Some(3_000));
        let until = cancellation.free_until.as_deref();
        assert_eq!(until, Some("2026-12-01T07:30:00+00:00"));
    }
}
