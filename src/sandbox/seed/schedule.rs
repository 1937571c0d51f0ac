//! Schedules: when venues of a kind have openings, how long these last and what they cost.

use serde::Deserialize;

/// What kind of booking a venue takes ("What the service does").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Vertical {
    Dining,
    Fitness,
    Entertainment,
    Travel,
}

impl Vertical {
    pub(crate) const ALL: [Self; 4] = [
        Self::Dining,
        Self::Fitness,
        Self::Entertainment,
        Self::Travel,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Dining => "dining",
            Self::Fitness => "fitness",
            Self::Entertainment => "entertainment",
            Self::Travel => "travel",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// The kind of a venue's offer, which also determines its vertical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Schedule {
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
    /// A night, beginning with the check-in.
    Stay,
}

/// Local wall time: hour and minute.
pub(super) type Wall = (u16, u16);

pub(super) struct Hours {
    /// For each part of the day: first start, last start, and the minutes between two.
    pub(super) spans: &'static [(Wall, Wall, usize)],
    /// The start that is always offered, so that no day is empty.
    pub(super) anchor: Wall,
    /// One start in this many is left out; 0 for none.
    pub(super) gap_one_in: u64,
    /// The possible durations in minutes; a venue has one of them.
    pub(super) durations: &'static [u32],
    /// The price at price level 2 in pence; `None` for tables, which are paid for at the venue.
    pub(super) pence: Option<i64>,
}

/// Minutes after midnight.
pub(super) const fn minutes((hour, minute): Wall) -> u16 {
    hour * 60 + minute
}

impl Schedule {
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

    #[rustfmt::skip]
    pub(super) const fn hours(self) -> Hours {
        match self {
            Self::Table => Hours {
                spans: &[((12, 0), (14, 0), 30), ((18, 0), (21, 30), 30)],
                anchor: (19, 30), gap_one_in: 4, durations: &[90, 105, 120], pence: None,
            },
            Self::Scenario => Hours {
                spans: &[((17, 0), (22, 0), 30)],
                anchor: (19, 30), gap_one_in: 0, durations: &[90], pence: None,
            },
            Self::Class => Hours {
                spans: &[((6, 30), (9, 30), 60), ((17, 30), (20, 30), 60)],
                anchor: (18, 30), gap_one_in: 3, durations: &[45, 50, 60], pence: Some(1_800),
            },
            Self::Show => Hours {
                spans: &[((14, 30), (14, 30), 1), ((19, 30), (22, 0), 150)],
                anchor: (19, 30), gap_one_in: 3, durations: &[90, 120, 135, 150], pence: Some(3_200),
            },
            Self::Entry => Hours {
                spans: &[((11, 0), (20, 0), 60)],
                anchor: (15, 0), gap_one_in: 5, durations: &[60, 75, 90], pence: Some(2_000),
            },
            Self::Tour => Hours {
                spans: &[((10, 0), (17, 30), 150)],
                anchor: (10, 0), gap_one_in: 4, durations: &[120, 150, 180], pence: Some(2_800),
            },
            Self::Cruise => Hours {
                spans: &[((11, 0), (15, 0), 120), ((19, 30), (19, 30), 1)],
                anchor: (15, 0), gap_one_in: 4, durations: &[60, 75, 105], pence: Some(2_600),
            },
            Self::DayTrip => Hours {
                spans: &[((7, 30), (9, 0), 45)],
                anchor: (8, 15), gap_one_in: 3, durations: &[540, 600, 660], pence: Some(8_500),
            },
            Self::Transfer => Hours {
                spans: &[((0, 30), (23, 30), 60)],
                anchor: (9, 30), gap_one_in: 6, durations: &[60, 75, 90], pence: Some(5_500),
            },
            // Until eleven or noon on the next day.
            Self::Stay => Hours {
                spans: &[((15, 0), (18, 0), 90)],
                anchor: (15, 0), gap_one_in: 3, durations: &[1_200, 1_260], pence: Some(14_000),
            },
        }
    }
}
