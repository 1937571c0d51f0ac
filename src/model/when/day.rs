//! A day as it was written, and the date it resolves to.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use super::local::{self, TOO_FAR};
use crate::model::moment::Moment;

/// 29 February returns after at most eight years: 2096, 2104.
const YEARS_AHEAD: usize = 9;

/// A day that was written or implied.
#[derive(Clone, Copy, Debug)]
pub(super) enum Day {
    /// The first day on which the time is in the future: today or tomorrow.
    Soonest,
    /// This many days after today, by the calendar.
    Ahead(i32),
    /// The next such weekday on which the time is in the future.
    Weekday(Weekday),
    /// Of the weekdays around a date the nearest one on which the time is in the future.
    WeekdayNear(Weekday, Date),
    Date(Date),
    /// The next such date on which the time is in the future. A weekday that was written must match it.
    Yearly {
        month: i8,
        day: i8,
        weekday: Option<Weekday>,
    },
}

impl Day {
    pub(super) fn yearly(month: i8, day: i8, weekday: Option<Weekday>) -> Self {
        Day::Yearly {
            month,
            day,
            weekday,
        }
    }

    pub(super) fn resolve(
        self,
        time: Time,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<Moment, String> {
        let today = zone.to_datetime(now).date();
        let ahead = |days: i32| {
            let days = Span::new().try_days(days);
            days.and_then(|days| today.checked_add(days))
                .map_err(|_| TOO_FAR.to_owned())
        };
        let to_come = |date: &Date| local::is_to_come(date.to_datetime(time), now, zone);
        let date = match self {
            Day::Date(date) => Some(date),
            Day::Ahead(days) => Some(ahead(days)?),
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
            Day::Yearly { month, day, .. } => (today.year()..)
                .take(YEARS_AHEAD)
                .filter_map(|year| Date::new(year, month, day).ok())
                .find(to_come),
        };
        let date = date.ok_or(TOO_FAR)?;
        if let Day::Yearly {
            weekday: Some(weekday),
            ..
        } = self
        {
            on_weekday(date, weekday)?;
        }
        local::at(date.to_datetime(time), zone)
    }
}

/// Refuses a date that is not on the weekday that was written with it.
pub(super) fn on_weekday(date: Date, written: Weekday) -> Result<(), String> {
    if date.weekday() == written {
        return Ok(());
    }
    Err(format!(
        "{date} is a {:?}, not a {written:?}; use only the date, e.g. `{date}`",
        date.weekday()
    ))
}
