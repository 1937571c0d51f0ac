//! The day: named, counted from today, or the next one of its kind.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::date::{date, weekday};
use super::local::{self, ResolveError};
use crate::model::duration::{Unit, amounts};
use crate::model::moment::Moment;
use crate::model::typed::{Problem, Token};

/// 29 February returns after eight years at the latest: 2096, 2104.
const YEARS_AHEAD: usize = 9;

#[derive(Clone, Copy, Debug)]
pub(super) enum Day {
    /// The first on which the time is still to come: today or tomorrow.
    Soonest,
    /// So many days of the calendar after today.
    Ahead(i32),
    /// The next of its name on which the time is still to come.
    Weekday(Weekday),
    Date(Date),
    /// The next such date on which the time is still to come; the weekday must then be right.
    Yearly {
        month: i8,
        day: i8,
        weekday: Option<Weekday>,
    },
}

impl Day {
    pub(super) fn resolve(
        self,
        time: Time,
        now: Timestamp,
        zone: &TimeZone,
    ) -> Result<Moment, ResolveError> {
        let today = zone.to_datetime(now).date();
        let ahead = |days: i32| {
            let days = Span::new().try_days(days);
            days.and_then(|days| today.checked_add(days))
                .map_err(|_| ResolveError::TooFar)
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
            Day::Yearly { month, day, .. } => (today.year()..)
                .take(YEARS_AHEAD)
                .filter_map(|year| Date::new(year, month, day).ok())
                .find(to_come),
        };
        let date = date.ok_or(ResolveError::TooFar)?;
        match self {
            Day::Yearly {
                weekday: Some(written),
                ..
            } if written != date.weekday() => Err(ResolveError::OtherWeekday { date, written }),
            _ => local::at(date.to_datetime(time), zone),
        }
    }
}

/// A day at the front, and what follows it; `None` where there is none.
pub(super) fn day<'t, 'a>(
    tokens: &'t [Token<'a>],
) -> Result<Option<(Day, &'t [Token<'a>])>, Problem> {
    let Some((Token::Word(word), rest)) = tokens.split_first() else {
        return date(tokens);
    };
    Ok(match (*word, weekday(word)) {
        ("today", _) => Some((Day::Ahead(0), rest)),
        ("tomorrow", _) => Some((Day::Ahead(1), rest)),
        ("in", _) => Some(days_ahead(rest)?),
        ("next", _) => {
            return Err(Problem::new(
                "`next` means the coming one to some and the one after it to others",
                "`fri 20:00` for the coming Friday, else the date, e.g. `2026-12-04 20:00`",
            ));
        }
        ("this", _) => match rest {
            [Token::Word(word), rest @ ..] => weekday(word).map(|name| (Day::Weekday(name), rest)),
            _ => None,
        },
        (_, Some(weekday)) => match date(rest)? {
            Some((day, rest)) => Some((agreeing(day, weekday)?, rest)),
            None => Some((Day::Weekday(weekday), rest)),
        },
        (_, None) => date(tokens)?,
    })
}

/// `in 3 days`, `in 2 weeks`, behind the `in`.
fn days_ahead<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<(Day, &'t [Token<'a>]), Problem> {
    let (parts, rest) = amounts(tokens).map_err(not_an_amount)?;
    let days = match parts.as_slice() {
        [(days, Unit::Day)] => Some(*days),
        [(weeks, Unit::Week)] => weeks.checked_mul(7),
        [(weeks, Unit::Week), (days, Unit::Day)] => {
            weeks.checked_mul(7).and_then(|sum| sum.checked_add(*days))
        }
        [] => {
            return Err(not_an_amount(
                "`in` is followed by a number and minutes, hours, days or weeks",
            ));
        }
        _ => {
            return Err(Problem::new(
                "days are counted on the calendar and need a time, hours are counted from now",
                "one or the other, e.g. `in 3 days 19:30` or `in 36 hours`",
            ));
        }
    };
    match days.and_then(|days| i32::try_from(days).ok()) {
        Some(days) => Ok((Day::Ahead(days), rest)),
        None => Err(not_an_amount("that is too far away")),
    }
}

/// The day with the weekday that was written before it.
fn agreeing(day: Day, written: Weekday) -> Result<Day, Problem> {
    match day {
        Day::Date(date) if date.weekday() != written => {
            Err(Problem::from(&ResolveError::OtherWeekday { date, written }))
        }
        Day::Yearly { month, day, .. } => Ok(Day::Yearly {
            month,
            day,
            weekday: Some(written),
        }),
        day => Ok(day),
    }
}

/// The refusal of what follows `in`.
pub(super) fn not_an_amount(why: &'static str) -> Problem {
    Problem::new(why, "e.g. `in 90 minutes` or `in 3 days 19:30`")
}
