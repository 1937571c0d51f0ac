//! Slots: what can be booked, where and when.

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::draw::Question;
use super::money::Money;
use super::programme::{Opening, Programme};
use super::scenario::Scenario;
use super::slot_id::SlotId;
use super::terms::{CancellationTerms, CardTerms};
use super::venue::{Venue, venues};

/// An availability slot ("Resources: Availability slot").
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    /// The `availability_id`; the whole slot follows from it.
    pub(crate) id: String,
    /// The start, in the venue's zone.
    pub(crate) datetime: Zoned,
    pub(crate) duration_minutes: u32,
    pub(crate) seating: Option<&'static str>,
    pub(crate) price: Option<Money>,
    /// Dining slots carry both terms, others neither.
    pub(crate) card_terms: Option<CardTerms>,
    pub(crate) cancellation_terms: Option<CancellationTerms>,
    /// How many bookings the slot holds, at least one.
    pub(crate) capacity: u32,
}

/// The slots of the venue's local day, ascending by time, then by seating.
pub(crate) fn slots_on(venue: &Venue, day: Date) -> Vec<Slot> {
    venue
        .openings(day)
        .filter_map(|opening| Some(venue.slot(day, opening, venue.start(day, opening)?)))
        .collect()
}

/// The slot of an availability id; none for an id that [`slots_on`] never gives.
pub(crate) fn slot(id: &str) -> Option<(&'static Venue, Slot)> {
    let id = SlotId::parse(id)?;
    let venue = venues().iter().find(|it| SlotId::names(id.venue, it))?;
    let slot = venue.slot_where(id.start, |opening| opening.seating == id.seating)?;
    Some((venue, slot))
}

/// The slot that starts at that instant: the first one, where several seatings do.
pub(crate) fn slot_at(venue: &Venue, at: Timestamp) -> Option<Slot> {
    venue.slot_where(at, |_| true)
}

impl Venue {
    /// The first slot that starts at the instant and is the one asked for.
    fn slot_where(&self, at: Timestamp, asked: impl Fn(Opening) -> bool) -> Option<Slot> {
        let local = self.timezone().to_datetime(at);
        let (day, minute) = (
            local.date(),
            local.hour() as u16 * 60 + local.minute() as u16,
        );
        self.openings(day)
            .filter(|&opening| opening.minute == minute && asked(opening))
            .find_map(|opening| {
                let start = self.start(day, opening)?;
                // Seconds, and the second of two equal wall times, are no slot's start.
                (start.timestamp() == at).then(|| self.slot(day, opening, start))
            })
    }

    /// The instant of an opening; none where the clocks skip it.
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
        let capacity = match (self.scenario, self.programme) {
            (Some(Scenario::LastTable), _) => 1,
            (Some(_), _) => 6,
            (None, Programme::Table) => {
                self.draw(day, opening).ask(Question::Capacity).below(4) + 1
            }
            (None, _) => self.draw(day, opening).ask(Question::Capacity).below(5) + 2,
        };
        Slot {
            id: SlotId::of(self, start.timestamp(), opening.seating).to_string(),
            datetime: start,
            duration_minutes: self.duration_minutes(),
            seating: self.seatings()[usize::from(opening.seating)],
            price: self.pence().map(|pence| self.home.currency.price(pence)),
            card_terms,
            cancellation_terms,
            capacity: capacity as u32,
        }
    }
}

/// A wall time in its zone: none where the clocks skip it, the first where they repeat it.
fn unskipped(zone: &TimeZone, wall: DateTime) -> Option<Zoned> {
    let ambiguous = zone.to_ambiguous_zoned(wall);
    match ambiguous.offset() {
        AmbiguousOffset::Gap { .. } => None,
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            ambiguous.earlier().ok()
        }
    }
}
