//! Times as people write them, read in two steps. [`When::parse`] reads the words. [`When::resolve`] applies the
//! clock and the zone, and rejects times that a clock change skips or repeats. Nothing is guessed.
//!
//! | written | means |
//! |---|---|
//! | `2026-12-01T19:30:00+01:00`, `2026-12-01 19:30Z`, `2026-12-01 19:30[Europe/Paris]` | that instant; RFC 3339 in all its spellings, a fraction of a second is dropped |
//! | `2026-12-01 19:30`, `1 dec 2026 7:30pm`, `Tue 1 Dec 2026, 19:30` | that time on the zone's clock |
//! | `27.11.2026 19:30`, `27/11/2026 19:30`, `11/27/2026 19:30` | the same, where only one order of day and month gives a date |
//! | `19:30`, `7pm`, `7:30 pm`, `noon` | the next time the clock shows it |
//! | `today 19:30`, `tonight 8pm`, `tomorrow 8pm`, `in 3 days 19:30`, `in 2 weeks noon` | that day of the zone's calendar |
//! | `fri 8pm`, `this friday 20:00`, `1 dec 19:30`, `dec 1 8pm` | the next such instant, which may be today |
//! | `in 2 hours`, `in 1h30m` | that much time from now, whatever the clocks do |
//!
//! The time may also come before the day. An hour without am or pm is of 24. Rejected because people read them
//! differently: `midnight`, `next friday`, `01/12/2026`, a day without a time. Only a full date can have an offset or
//! a zone.

mod clock;
mod date;
mod day;
mod day_words;
mod days;
mod local;
mod parse;

use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use self::day::Day;
pub(crate) use self::days::Days;
pub(crate) use self::local::ResolveError;
use self::parse::Written;
pub(crate) use super::input_tokens::ParseError;
pub(crate) use super::moment::Moment;

/// A time as it was written, not yet resolved.
#[derive(Clone, Debug)]
pub(crate) struct When(Written);

impl When {
    /// The time of the command. It is a minute ahead, because a service refuses a time that has passed when the request
    /// arrives.
    pub(crate) fn now() -> When {
        When(Written::Elapsed(Duration::from_secs(60)))
    }

    /// Parses the words. Rejects what is invalid with every clock and zone.
    pub(crate) fn parse(text: &str) -> Result<When, ParseError> {
        parse::written(text)
            .map(When)
            .map_err(|problem| problem.of(text, "a time"))
    }

    /// The moment, if the text has an offset or a zone of its own.
    pub(crate) fn exact(&self) -> Option<&Moment> {
        match &self.0 {
            Written::Exact(moment) => Some(moment),
            _ => None,
        }
    }

    /// The full date and time, if it was written without offset or zone.
    pub(crate) fn wall(&self) -> Option<DateTime> {
        match self.0 {
            Written::Local {
                day: Day::Date(date),
                time,
            } => Some(date.to_datetime(time)),
            _ => None,
        }
    }

    /// Whether the text is a time on some clock, which only a zone makes an instant.
    pub(crate) fn needs_zone(&self) -> bool {
        matches!(self.0, Written::Local { .. })
    }

    /// Whether a booking's own day decides on which date the time is: the text names no day, or a weekday.
    pub(crate) fn depends_on_a_day(&self) -> bool {
        matches!(
            self.0,
            Written::Local {
                day: Day::Soonest | Day::Weekday(_),
                ..
            }
        )
    }

    /// The same time of day on this date if the text names no day, or on the nearest such weekday; else the time as it was
    /// written.
    pub(crate) fn near(&self, date: Date) -> When {
        match self.0 {
            Written::Local {
                day: Day::Soonest,
                time,
            } => When(Written::Local {
                day: Day::Date(date),
                time,
            }),
            Written::Local {
                day: Day::Weekday(weekday),
                time,
            } => When(Written::Local {
                day: Day::WeekdayNear(weekday, date),
                time,
            }),
            _ => self.clone(),
        }
    }

    /// The instant at `now` in `zone`. It may be in the past if the text names its day; only the service decides
    /// whether that is allowed.
    pub(crate) fn resolve(&self, now: Timestamp, zone: &TimeZone) -> Result<Moment, ResolveError> {
        match &self.0 {
            Written::Exact(moment) => Ok(moment.clone()),
            Written::Elapsed(length) => local::after(now, *length, zone),
            Written::Local { day, time } => day.resolve(*time, now, zone),
        }
    }
}

impl FromStr for When {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<When, ParseError> {
        When::parse(text)
    }
}

#[cfg(test)]
mod tests;
