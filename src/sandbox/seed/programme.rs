//! Programmes: at which times a venue offers what it offers, for how long and for how much.

use jiff::civil::Date;

use super::draw::{Draw, Question};
use super::scenario::Scenario;
use super::venue::Venue;
use super::vertical::Vertical;

/// What a venue does all day. It settles the vertical, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Programme {
    /// Tables at lunch and dinner.
    Table,
    /// Tables of a scenario venue: every half hour of the evening, each day.
    Scenario,
    /// Classes before and after work.
    Class,
    /// Performances: a matinee, the evening, a late one.
    Show,
    /// Timed entry through the day.
    Entry,
    /// Guided tours by foot, bicycle or bus.
    Tour,
    /// Departures by boat.
    Cruise,
    /// Excursions that leave in the morning and return in the evening.
    DayTrip,
    /// Cars around the clock.
    Transfer,
    /// A night, from the check-in on.
    Stay,
}

/// Local wall time: hour and minute.
type Wall = (u16, u16);

/// The hours of a programme.
struct Hours {
    /// First and last start, and the minutes between two: one entry a part of the day.
    spans: &'static [(Wall, Wall, usize)],
    /// The start that is offered whatever the draws say, so that no day is empty.
    anchor: Wall,
    /// Of how many starts one is left out; 0: none.
    gap_one_in: u64,
    /// The possible durations in minutes; a venue has one of them.
    durations: &'static [u32],
    /// What the programme costs at price level 2, in pence; tables are paid for on the spot.
    pence: Option<i64>,
}

/// Minutes after midnight.
const fn minutes((hour, minute): Wall) -> u16 {
    hour * 60 + minute
}

impl Programme {
    pub(super) const fn vertical(self) -> Vertical {
        match self {
            Self::Table | Self::Scenario => Vertical::Dining,
            Self::Class => Vertical::Fitness,
            Self::Show | Self::Entry => Vertical::Entertainment,
            Self::Tour | Self::Cruise | Self::DayTrip | Self::Transfer | Self::Stay => {
                Vertical::Travel
            }
        }
    }

    const fn hours(self) -> Hours {
        match self {
            Self::Table => Hours {
                spans: &[((12, 0), (14, 0), 30), ((18, 0), (21, 30), 30)],
                anchor: (19, 30),
                gap_one_in: 4,
                durations: &[90, 105, 120],
                pence: None,
            },
            Self::Scenario => Hours {
                spans: &[((17, 0), (22, 0), 30)],
                anchor: (19, 30),
                gap_one_in: 0,
                durations: &[90],
                pence: None,
            },
            Self::Class => Hours {
                spans: &[((6, 30), (9, 30), 60), ((17, 30), (20, 30), 60)],
                anchor: (18, 30),
                gap_one_in: 3,
                durations: &[45, 50, 60],
                pence: Some(1_800),
            },
            Self::Show => Hours {
                spans: &[((14, 30), (14, 30), 1), ((19, 30), (22, 0), 150)],
                anchor: (19, 30),
                gap_one_in: 3,
                durations: &[90, 120, 135, 150],
                pence: Some(3_200),
            },
            Self::Entry => Hours {
                spans: &[((11, 0), (20, 0), 60)],
                anchor: (15, 0),
                gap_one_in: 5,
                durations: &[60, 75, 90],
                pence: Some(2_000),
            },
            Self::Tour => Hours {
                spans: &[((10, 0), (17, 30), 150)],
                anchor: (10, 0),
                gap_one_in: 4,
                durations: &[120, 150, 180],
                pence: Some(2_800),
            },
            Self::Cruise => Hours {
                spans: &[((11, 0), (15, 0), 120), ((19, 30), (19, 30), 1)],
                anchor: (15, 0),
                gap_one_in: 4,
                durations: &[60, 75, 105],
                pence: Some(2_600),
            },
            Self::DayTrip => Hours {
                spans: &[((7, 30), (9, 0), 45)],
                anchor: (8, 15),
                gap_one_in: 3,
                durations: &[540, 600, 660],
                pence: Some(8_500),
            },
            Self::Transfer => Hours {
                spans: &[((0, 30), (23, 30), 60)],
                anchor: (9, 30),
                gap_one_in: 6,
                durations: &[60, 75, 90],
                pence: Some(5_500),
            },
            Self::Stay => Hours {
                spans: &[((15, 0), (18, 0), 90)],
                anchor: (15, 0),
                gap_one_in: 3,
                // From the check-in to eleven or noon on the next day.
                durations: &[1_200, 1_260],
                pence: Some(14_000),
            },
        }
    }
}

/// A start that a venue offers on a day: local wall time, which the zone may yet skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    /// Minutes after local midnight.
    pub(super) minute: u16,
    /// Which of the venue's seatings.
    pub(super) seating: u8,
}

impl Venue {
    /// Everything the venue offers on a day, ascending by time, then by seating.
    pub(super) fn openings(&self, day: Date) -> impl Iterator<Item = Opening> {
        let hours = self.programme.hours();
        let spans = match self.scenario {
            Some(Scenario::NoSlots) => &[],
            _ => hours.spans,
        };
        let seatings = 0..self.seatings().len() as u8;
        spans
            .iter()
            .flat_map(|&(first, last, step)| (minutes(first)..=minutes(last)).step_by(step))
            .flat_map(move |minute| {
                seatings
                    .clone()
                    .map(move |seating| Opening { minute, seating })
            })
            .filter(move |&opening| {
                let anchored = opening.minute == minutes(hours.anchor) && opening.seating == 0;
                let draw = self.draw(day, opening).ask(Question::Gap);
                anchored || hours.gap_one_in == 0 || draw.below(hours.gap_one_in) != 0
            })
    }

    /// The draw about one opening.
    pub(super) fn draw(&self, day: Date, opening: Opening) -> Draw {
        let date =
            i64::from(day.year()) * 10_000 + i64::from(day.month()) * 100 + i64::from(day.day());
        self.key
            .and(date.cast_unsigned())
            .and(u64::from(opening.minute) << 8 | u64::from(opening.seating))
    }

    /// The seatings to choose from, most usual first; a single `None` where there is no choice.
    pub(super) fn seatings(&self) -> &'static [Option<&'static str>] {
        const INDOOR: Option<&str> = Some("indoor");
        const TERRACE: Option<&str> = Some("terrace");
        const BAR: Option<&str> = Some("bar");
        match (self.programme, self.key.ask(Question::Seating).below(5)) {
            (Programme::Table, 0) => &[INDOOR, TERRACE],
            (Programme::Table, 1) => &[INDOOR, BAR],
            (Programme::Table, 2) => &[INDOOR, TERRACE, BAR],
            _ => &[None],
        }
    }

    /// How long a slot lasts, in minutes.
    pub(super) fn duration_minutes(&self) -> u32 {
        let durations = self.programme.hours().durations;
        let which = self
            .key
            .ask(Question::Duration)
            .below(durations.len() as u64);
        durations[which as usize]
    }

    /// What a slot costs in pence, before it is put into the city's currency.
    pub(super) fn pence(&self) -> Option<i64> {
        let usual = self.programme.hours().pence?;
        let percent = match self.price_level {
            Some(1) => 65,
            Some(3) => 150,
            Some(4) => 220,
            _ => 100,
        };
        let wobble = 90 + self.key.ask(Question::Price).below(21).cast_signed();
        Some(usual * percent / 100 * wobble / 100)
    }
}
