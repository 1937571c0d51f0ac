//! A day as it was written, the date it resolves to, and the instant of a local time in a zone.

use std::time::Duration;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Span, Timestamp, ToSpan};

use crate::service::time::moment::{Moment, local_text};

pub(crate) const TOO_FAR: &str = "it is after the year 9999; try `in 3 days 19:30`";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Day {
    /// The first day on which the time is in the future: today or tomorrow.
    Soonest,
    /// This many days after today, by the calendar.
    Ahead(i32),
    /// This long after today, in days, weeks, months and years.
    Later(Span),
    /// The next such weekday on which the time is in the future.
    Weekday(Weekday),
    /// Of the weekdays around a date the nearest one on which the time is in the future.
    WeekdayNear(Weekday, Date),
    Date(Date),
    /// The next such day of a year with a future time, of the weekday if there is one.
    OfYear(Date, Option<Weekday>),
}

impl Day {
    /// This day, if it agrees with the weekday that is written beside it.
    pub(crate) fn on(self, weekday: Option<Weekday>) -> Result<Self, String> {
        match (self, weekday) {
            (Day::Date(date), Some(written)) if date.weekday() != written => Err(format!(
                "{date} is a {:?}, not a {written:?}; use only the date, e.g. `{date}`",
                date.weekday()
            )),
            (Day::OfYear(day, None), weekday) => Ok(Day::OfYear(day, weekday)),
            (day, _) => Ok(day),
        }
    }

    pub(crate) fn resolve(
        self,
        time: Time,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<Moment, String> {
        let today = zone.to_datetime(now).date();
        let ahead = |days: i32| {
            let days = Span::new().try_days(days);
            days.and_then(|days| today.checked_add(days)).map_err(|_| TOO_FAR.to_owned())
        };
        let to_come = |date: &Date| is_to_come(date.to_datetime(time), now, zone);
        let date = match self {
            Day::Date(date) => Some(date),
            Day::Ahead(days) => Some(ahead(days)?),
            Day::Later(span) => Some(today.checked_add(span).map_err(|_| TOO_FAR)?),
            Day::OfYear(day, weekday) => {
                // At most eight years lie between two leap days.
                let years = today.year()..=today.year() + 8;
                let mut dates = years.filter_map(|it| Date::new(it, day.month(), day.day()).ok());
                let next = dates.find(to_come).ok_or(TOO_FAR)?;
                return Day::Date(next).on(weekday)?.resolve(time, now, zone);
            }
            Day::Soonest => [today, ahead(1)?].into_iter().find(to_come),
            Day::Weekday(weekday) => {
                let first = i32::from(today.weekday().until(weekday));
                [ahead(first)?, ahead(first + 7)?].into_iter().find(to_come)
            }
            Day::WeekdayNear(weekday, near) => {
                let after = i64::from(near.weekday().until(weekday));
                let nearest = if after > 3 { after - 7 } else { after };
                let dates = [nearest, nearest + 7].map(|days| near.saturating_add(days.days()));
                // If both are over, the service says so.
                dates.into_iter().find(to_come).or(Some(dates[0]))
            }
        };
        find_moment(date.ok_or(TOO_FAR)?.to_datetime(time), zone)
    }
}

/// The instant at which the clock of `zone` shows `local`. A time that a clock change skips or
/// repeats is an error that names the instants that may be meant.
fn find_moment(local: DateTime, zone: &TimeZone) -> Result<Moment, String> {
    let instant = |offset: Offset| {
        let instant = offset.to_timestamp(local).map_err(|_| TOO_FAR)?;
        Ok::<_, String>(Moment::new(instant.to_zoned(zone.clone())))
    };
    let (what, one, other) = match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => return instant(offset),
        AmbiguousOffset::Fold { before, after } => ("happens twice", before, after),
        AmbiguousOffset::Gap { before, after } => ("does not exist", after, before),
    };
    Err(format!(
        "{} {what} in {}, when the clock changes; use an offset: `{}` or `{}`",
        local_text(local),
        zone.iana_name().unwrap_or("this zone"),
        instant(one)?.wire(),
        instant(other)?.wire(),
    ))
}

/// Whether `zone`'s clock has yet to show `local`, or to skip it. Only a time that is shown twice
/// can still come although the clock has already shown a later one.
fn is_to_come(local: DateTime, now: Timestamp, zone: &TimeZone) -> bool {
    let again = match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Fold { after, .. } => after.to_timestamp(local).is_ok_and(|t| t > now),
        _ => false,
    };
    again || zone.to_datetime(now) < local
}

pub(crate) fn after(now: Timestamp, length: Duration, zone: &TimeZone) -> Result<Moment, String> {
    now.checked_add(length)
        .and_then(|then| Timestamp::from_second(then.as_second()))
        .map(|then| Moment::new(then.to_zoned(zone.clone())))
        .map_err(|_| TOO_FAR.to_owned())
}
