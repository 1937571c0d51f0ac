//! Times and days as people write them, read in two steps. [`When::parse`] reads the words.
//! [`When::resolve`] applies the clock and the zone, and rejects times that a clock change skips or
//! repeats. Nothing is guessed.
//!
//! | written | means |
//! |---|---|
//! | `2026-12-01T19:30:00+01:00`, `2026-12-01 19:30Z` | that instant; a fraction of a second is dropped |
//! | `2026-12-01 19:30`, `1 dec 2026 7:30pm`, `Tue 1 Dec 2026, 19:30` | that time on the zone's clock |
//! | `19:30`, `7pm`, `7:30 pm`, `noon` | the next time the clock shows it |
//! | `today 19:30`, `tomorrow 8pm`, `in 3 days 19:30`, `in 1 month noon` | that day of the zone's calendar |
//! | `fri 8pm`, `4 dec 19:30`, `Fri 4 Dec 19:30` | the next such instant, which may be today |
//! | `in 2 hours`, `in 1h30m` | that much time from now, whatever the clocks do |
//!
//! The time may also come before the day. An hour without am or pm is of 24. Rejected because
//! people read them differently: `midnight`, `next friday`, `01/12/2026`, a day without a time.
//! Only a full date can have an offset.

pub(crate) mod day;
pub(crate) mod words;

use std::time::Duration;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::document_time::DocumentTime;
use super::typed;
use day::Day;
use words::{DAY_EXAMPLE, TIME_EXAMPLE};

pub(crate) use super::moment::Moment;
pub(crate) use words::When;

impl When {
    /// A minute ahead, because a service refuses a time that has passed when the request arrives.
    pub(crate) fn now() -> When {
        When::Elapsed(Duration::from_secs(60))
    }

    pub(crate) fn parse(text: &str) -> Result<When, String> {
        typed::read(text, "a time", TIME_EXAMPLE, words::time)
    }

    /// A time of a document, such as a slot's start.
    pub(crate) fn of_document(time: &DocumentTime) -> Option<When> {
        match (time.zoned(), time.local) {
            (Some(zoned), _) => Some(When::Exact(Moment::new(zoned))),
            (None, local) => local.map(|it| When::Local(Day::Date(it.date()), it.time())),
        }
    }

    /// The moment, if the text has an offset of its own.
    pub(crate) fn exact(&self) -> Option<&Moment> {
        if let When::Exact(moment) = self { Some(moment) } else { None }
    }

    /// The full date and time, if it was written without offset.
    pub(crate) fn wall(&self) -> Option<DateTime> {
        match self {
            When::Local(Day::Date(date), time) => Some(date.to_datetime(*time)),
            _ => None,
        }
    }

    /// Whether the text is a time on some clock, which only a zone makes an instant.
    pub(crate) fn needs_zone(&self) -> bool {
        matches!(self, When::Local(..))
    }

    /// Whether the date is named, so that it is the same one in every zone.
    pub(crate) fn names_its_date(&self) -> bool {
        matches!(self, When::Local(Day::Date(_) | Day::OfYear(..) | Day::WeekdayNear(..), _))
    }

    /// Whether a booking's own day decides the date: the text names none, or a weekday.
    pub(crate) fn depends_on_a_day(&self) -> bool {
        matches!(self, When::Local(Day::Soonest | Day::Weekday(_), _))
    }

    /// The same time of day on this date if the text names no day, or on the nearest such weekday.
    pub(crate) fn near(&self, date: Date) -> When {
        match self {
            When::Local(Day::Soonest, time) => When::Local(Day::Date(date), *time),
            When::Local(Day::Weekday(day), time) => {
                When::Local(Day::WeekdayNear(*day, date), *time)
            }
            _ => self.clone(),
        }
    }

    /// The instant at `now` in `zone`, perhaps in the past if the text names its day.
    pub(crate) fn resolve(&self, now: Timestamp, zone: &TimeZone) -> Result<Moment, String> {
        match self {
            When::Exact(moment) => Ok(moment.clone()),
            When::Elapsed(length) => day::after(now, *length, zone),
            When::Local(day, time) => day.resolve(*time, now, zone),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Days(Day, Day);

impl Days {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        typed::read(text, "a day", DAY_EXAMPLE, |text| {
            let (first, last) = text.split_once("..").unwrap_or((text, text));
            Ok(Days(words::day(first)?, words::day(last)?))
        })
    }

    /// Whether they are counted from today, so that they differ between zones.
    pub(crate) fn are_relative(&self) -> bool {
        [self.0, self.1].iter().any(|day| !matches!(day, Day::Date(_)))
    }

    /// The dates at `now` in `zone`. A weekday is the coming one, which may be today.
    pub(crate) fn resolve(&self, now: Timestamp, zone: &TimeZone) -> Result<(Date, Date), String> {
        // No clock change skips a time in UTC, and the end of the day is to come on every day.
        let today = zone.to_datetime(now).date().at(0, 0, 0, 0);
        let now = today.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?.timestamp();
        let date = |day: Day| {
            let date = day.resolve(Time::MAX, now, &TimeZone::UTC)?.zoned.date();
            // What is listed may be over.
            let is_far =
                matches!(day, Day::OfYear(..)) && today.date().saturating_add(6.months()) < date;
            Ok::<_, String>(if is_far { date.saturating_sub(1.year()) } else { date })
        };
        let (first, last) = (date(self.0)?, date(self.1)?);
        if first <= last {
            return Ok((first, last));
        }
        match self.0 {
            // From `fri` to `mon`, read on a Saturday: the Friday before.
            Day::Weekday(_) => Ok((first.saturating_sub(7.days()), last)),
            _ => Err(format!("the first day, {first}, is after the last, {last}")),
        }
    }
}

#[cfg(test)]
mod tests;
