//! Parsing a day: its name, a count from today, a weekday or a date.

use jiff::civil::Weekday;

use super::date::{date, names, weekday};
use super::day::Day;
use super::local::ResolveError;
use crate::model::duration::{Unit, amounts};
use crate::model::input_tokens::{Problem, Token};

/// The words of which times are made, in full.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let others = ["today", "tonight", "tomorrow", "noon", "in", "next", "this"];
    others.into_iter().chain(names())
}

/// Parses a day at the front. Returns it with the remaining tokens, or `None` if there is none.
pub(super) fn day<'t, 'a>(
    tokens: &'t [Token<'a>],
) -> Result<Option<(Day, &'t [Token<'a>])>, Problem> {
    let Some((Token::Word(word), rest)) = tokens.split_first() else {
        return date(tokens);
    };
    Ok(match (*word, weekday(word)) {
        ("today", _) => Some((Day::Ahead(0), rest)),
        ("tonight", _) => Some((Day::Tonight, rest)),
        ("tomorrow", _) => Some((Day::Ahead(1), rest)),
        ("in", _) => Some(days_ahead(rest)?),
        ("next", _) => {
            return Err(Problem::new(
                "`next` is ambiguous",
                "`fri 20:00` for the coming Friday, or the date, e.g. `2026-12-04 20:00`",
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

/// Parses `3 days` or `2 weeks`, after `in`.
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
                "`in` needs a number and a unit: minutes, hours, days or weeks",
            ));
        }
        _ => {
            return Err(Problem::new(
                "days need a time of day, and hours count from now",
                "either, e.g. `in 3 days 19:30` or `in 36 hours`",
            ));
        }
    };
    match days.and_then(|days| i32::try_from(days).ok()) {
        Some(days) => Ok((Day::Ahead(days), rest)),
        None => Err(not_an_amount("that is too far away")),
    }
}

/// Adds the weekday that was written before a day. It must match a full date.
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

/// The error for what follows `in`.
pub(super) fn not_an_amount(why: &'static str) -> Problem {
    Problem::new(why, "e.g. `in 90 minutes` or `in 3 days 19:30`")
}
