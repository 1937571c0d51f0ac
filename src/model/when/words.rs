//! Parsing the words of a time or a day.

use std::time::Duration;

use jiff::Span;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{Offset, TimeZone};

use super::day::{Day, on_weekday};
use super::local::TOO_FAR;
use crate::model::moment::Moment;
use crate::model::similar::did_you_mean;
use crate::model::typed::quotable;
use crate::model::{duration, zone};

pub(super) const TIME_EXAMPLE: &str =
    "`2026-12-01 19:30`, `tomorrow 19:30`, `fri 8pm` or `in 2 hours`";
pub(super) const DAY_EXAMPLE: &str = "`today`, `fri`, `2026-11-27` or `2026-11-27..2026-11-30`";

/// What was read at the front of some words, and the words after it; `None` if it is not there.
type Read<'t, 'a, T> = Result<Option<(T, &'t [&'a str])>, String>;

/// A time as it was written, not yet resolved.
#[derive(Clone, Debug)]
pub(super) enum Written {
    /// An instant, from its own offset.
    Exact(Moment),
    /// This much time from now.
    Elapsed(Duration),
    /// A local time in whichever zone applies.
    Local { day: Day, time: Time },
}

/// Parses a time: a day and a time of day in either order, perhaps with an offset, or an amount of time from now.
pub(super) fn time(text: &str) -> Result<Written, String> {
    let words = split(text);
    if let Some(length) = elapsed(&words)? {
        return Ok(Written::Elapsed(length));
    }
    let (mut day, mut time, mut own) = (None, None, None);
    let mut rest = &words[..];
    while let [word, after @ ..] = rest {
        if let Some((found, after)) = read_day(rest)? {
            if day.replace(found).is_some() {
                return Err(format!("it has two days; try {TIME_EXAMPLE}"));
            }
            rest = after;
        } else if let Some(((found, offset), after)) = read_clock(rest)? {
            if time.replace(found).is_some() {
                return Err(format!("it has two times of day; try {TIME_EXAMPLE}"));
            }
            own = own.or(offset);
            rest = after;
        } else if *word == "utc" || word.starts_with(['z', '+', '-']) {
            own = Some(read_offset(word)?);
            rest = after;
        } else {
            return Err(unknown(word, TIME_EXAMPLE));
        }
    }
    match (day, time, own) {
        (Some(Day::Ahead(..0)), ..) => Err(format!("`yesterday` is over; try {TIME_EXAMPLE}")),
        (_, None, _) => Err(format!("the time of day is missing; try {TIME_EXAMPLE}")),
        (day, Some(time), None) => Ok(Written::Local {
            day: day.unwrap_or(Day::Soonest),
            time,
        }),
        (Some(Day::Date(date)), Some(time), Some(offset)) => {
            let instant = offset
                .unwrap_or(Offset::UTC)
                .to_timestamp(date.to_datetime(time));
            let instant = instant.map_err(|_| TOO_FAR)?;
            Ok(Written::Exact(match offset {
                None => Moment::zulu(instant),
                Some(offset) => Moment::new(instant.to_zoned(TimeZone::fixed(offset))),
            }))
        }
        (_, Some(_), Some(_)) => {
            Err("an offset belongs to a full date; try `2026-12-01 19:30+01:00`".to_owned())
        }
    }
}

pub(super) fn day(text: &str) -> Result<Day, String> {
    let words = split(text);
    match read_day(&words)? {
        Some((day, [])) => Ok(day),
        Some((_, [word, ..])) => Err(unknown(word, DAY_EXAMPLE)),
        None => Err(match words.first() {
            Some(word) => unknown(word, DAY_EXAMPLE),
            None => format!("there is no day in it; try {DAY_EXAMPLE}"),
        }),
    }
}

/// Blanks, commas and parentheses only separate, and so does the `t` of RFC 3339.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')')) {
        match word.split_once('t') {
            Some((date, clock)) if is_number(date.split('-').next().unwrap_or_default()) => {
                words.extend([date, clock]);
            }
            _ => words.push(word),
        }
    }
    words.retain(|word| !matches!(*word, "" | "at" | "on"));
    words
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses `in 2 hours` or `in 1h30m`. Returns `None` for a count of days and for anything else.
fn elapsed(words: &[&str]) -> Result<Option<Duration>, String> {
    let Some((span, rest)) = amount(words)? else {
        return Ok(None);
    };
    if days_of(&span) != 0 {
        return Ok(None);
    }
    if !rest.is_empty() {
        return Err(
            "hours and minutes count from now, so nothing can follow them; try `in 2 hours` or `in 3 days 19:30`"
                .to_owned(),
        );
    }
    let length = duration::length(&span).ok_or(TOO_FAR)?;
    Ok(Some(length.unsigned_abs()))
}

fn days_of(span: &Span) -> i32 {
    span.get_weeks() * 7 + span.get_days()
}

/// Parses `in 3 days`, `in 2 weeks` or `in 2 hours`, up to a time of day.
fn amount<'t, 'a>(words: &'t [&'a str]) -> Read<'t, 'a, Span> {
    let ["in", words @ ..] = words else {
        return Ok(None);
    };
    let mut end = 0;
    while end < words.len() && read_clock(&words[end..])?.is_none() {
        end += 1;
    }
    let (amount, rest) = words.split_at(end);
    let span = duration::span(&amount.join(" ")).ok_or(
        "`in` needs a number and a unit: minutes, hours, days or weeks; try `in 90 minutes` or `in 3 days 19:30`",
    )?;
    let days = Span::new().weeks(span.get_weeks()).days(span.get_days());
    if days_of(&span) != 0 && span.fieldwise() != days.fieldwise() {
        return Err(
            "days need a time of day, and hours count from now; try `in 3 days 19:30` or `in 36 hours`".to_owned(),
        );
    }
    Ok(Some((span, rest)))
}

fn read_day<'t, 'a>(words: &'t [&'a str]) -> Read<'t, 'a, Day> {
    Ok(match words {
        ["today", rest @ ..] => Some((Day::Ahead(0), rest)),
        ["tomorrow", rest @ ..] => Some((Day::Ahead(1), rest)),
        ["yesterday", rest @ ..] => Some((Day::Ahead(-1), rest)),
        ["in", ..] => amount(words)?.map(|(span, rest)| (Day::Ahead(days_of(&span)), rest)),
        ["next", ..] => {
            return Err(
                "`next` is ambiguous; use `fri` for the coming Friday, or the date, e.g. `2026-12-04`".to_owned(),
            );
        }
        ["this", word, after @ ..] | [word, after @ ..] => {
            let Some(weekday) = weekday(word) else {
                return read_date(words);
            };
            Some(match read_date(after)? {
                Some((day, rest)) => (agreeing(day, weekday)?, rest),
                None => (Day::Weekday(weekday), after),
            })
        }
        [] => None,
    })
}

/// Adds the weekday that was written before a day. It must match a full date.
fn agreeing(day: Day, written: Weekday) -> Result<Day, String> {
    match day {
        Day::Date(date) => on_weekday(date, written).map(|()| day),
        Day::Yearly { month, day, .. } => Ok(Day::yearly(month, day, Some(written))),
        day => Ok(day),
    }
}

/// Parses `2026-12-01`, `1 dec`, `1st december 2026` or `december 1, 2026`.
fn read_date<'t, 'a>(words: &'t [&'a str]) -> Read<'t, 'a, Day> {
    let [first, rest @ ..] = words else {
        return Ok(None);
    };
    if let Some(month) = month(first) {
        return match rest {
            [number, rest @ ..] if is_number(without_ordinal(number)) => {
                of_month(month, number, rest).map(Some)
            }
            _ => Err("the day of the month is missing; try `1 dec`".to_owned()),
        };
    }
    if !first.starts_with(|c: char| c.is_ascii_digit()) || first.contains(':') {
        return Ok(None);
    }
    if let [year, month, day] = first.split('-').collect::<Vec<_>>()[..]
        && year.len() >= 4
        && let (Some(month), Some(day)) = (two_digits(month), two_digits(day))
    {
        return Ok(Some((full(year, month, day)?, rest)));
    }
    if first.contains(['-', '/', '.']) {
        return Err(
            "the order of day and month is ambiguous, and a time has a colon; \
             try `2026-12-01` or `1 dec`"
                .to_owned(),
        );
    }
    let named = rest
        .split_first()
        .and_then(|(word, rest)| Some((month(word)?, rest)));
    named
        .map(|(month, rest)| of_month(month, first, rest))
        .transpose()
}

fn two_digits(digits: &str) -> Option<i8> {
    let is_two = digits.len() == 2 && is_number(digits);
    is_two.then(|| digits.parse().ok())?
}

fn without_ordinal(word: &str) -> &str {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    match word.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "st" | "nd" | "rd" | "th" => word.trim_end_matches(is_letter),
        _ => word,
    }
}

/// Parses the year of four digits that may follow a day and its month.
fn of_month<'t, 'a>(
    month: i8,
    day: &str,
    rest: &'t [&'a str],
) -> Result<(Day, &'t [&'a str]), String> {
    let Ok(day) = without_ordinal(day).parse() else {
        return Err(format!(
            "`{}` is not a day of a month; try `1 dec 2026`",
            quotable(day)
        ));
    };
    match rest {
        [year, rest @ ..] if year.len() >= 4 && is_number(year) => {
            Ok((full(year, month, day)?, rest))
        }
        // 2000 was a leap year, so it has every possible date.
        _ if Date::new(2000, month, day).is_err() => Err(no_such_day(None, month, day)),
        _ => Ok((Day::yearly(month, day, None), rest)),
    }
}

fn full(year: &str, month: i8, day: i8) -> Result<Day, String> {
    match year.parse() {
        Ok(number @ 1..=9999) if year.len() == 4 => Date::new(number, month, day)
            .map(Day::Date)
            .map_err(|_| no_such_day(Some(number), month, day)),
        _ => Err("a year is 0001 to 9999 in four digits; try `2026-12-01`".to_owned()),
    }
}

fn no_such_day(year: Option<i16>, month: i8, day: i8) -> String {
    let Ok(first) = Date::new(year.unwrap_or(2000), month, 1) else {
        return format!("there is no month {month}; try `2026-12-01`");
    };
    let last = first.days_in_month();
    let name = first.strftime("%B").to_string().to_lowercase();
    let year = year.map_or(String::new(), |year| format!(" {year}"));
    format!(
        "there is no day {day} in {name}{year}; use a day from 1 to {last}, e.g. `{last} {name}{year}`"
    )
}

/// Parses a time of day: `19:30`, `19:30:15.5+01:00`, `8pm`, `7:30 pm` or `noon`, with its offset.
fn read_clock<'t, 'a>(words: &'t [&'a str]) -> Read<'t, 'a, (Time, Option<Option<Offset>>)> {
    let (word, half, rest) = match words {
        [] => return Ok(None),
        ["noon", rest @ ..] => return Ok(Some(((Time::constant(12, 0, 0, 0), None), rest))),
        ["midnight", ..] => {
            return Err(
                "midnight ends one day and begins another; use `00:00` with the day it begins, e.g. `2026-12-02 00:00`"
                    .to_owned(),
            );
        }
        [word, half @ ("am" | "pm"), rest @ ..] => (*word, *half, rest),
        [word, rest @ ..] => match (word.strip_suffix("am"), word.strip_suffix("pm")) {
            (Some(word), _) => (word, "am", rest),
            (_, Some(word)) => (word, "pm", rest),
            _ => (*word, "", rest),
        },
    };
    let is_clock = word.contains(':') || !half.is_empty();
    if !is_clock || !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let (word, offset) = word.split_at(word.find(['z', '+', '-']).unwrap_or(word.len()));
    let own = (!offset.is_empty())
        .then(|| read_offset(offset))
        .transpose()?;
    let mut parts = word.splitn(3, ':');
    let hour = parts.next().unwrap_or_default();
    let minute = sixtieth(parts.next().unwrap_or("00"), "minutes")?;
    let second = match parts.next() {
        Some(seconds) => sixtieth(seconds.split('.').next().unwrap_or_default(), "seconds")?,
        None => 0,
    };
    let time = Time::new(hour_of(hour, half)?, minute, second, 0);
    // Hour, minute and second have already been checked, each with its own error.
    let time = time.map_err(|_| "there is no such time of day; try `19:30`".to_owned())?;
    Ok(Some(((time, own), rest)))
}

fn hour_of(digits: &str, half: &str) -> Result<i8, String> {
    match (digits.parse::<i8>(), half) {
        (Ok(hour @ 0..=23), "") => Ok(hour),
        (Ok(hour @ 1..=12), "am") => Ok(hour % 12),
        (Ok(hour @ 1..=12), "pm") => Ok(hour % 12 + 12),
        (_, "") => Err(format!(
            "a day has hours 0 to 23, not {}; try `19:30` or `7:30pm`",
            quotable(digits)
        )),
        _ => Err(format!(
            "the hour before {half} is 1 to 12, not {}; try `7:30pm` or `19:30`",
            quotable(digits)
        )),
    }
}

fn sixtieth(digits: &str, what: &str) -> Result<i8, String> {
    two_digits(digits)
        .filter(|value| *value < 60)
        .ok_or_else(|| {
            format!(
                "{what} are 00 to 59, not `{}`; try `19:30` or `19:30:15`",
                quotable(digits)
            )
        })
}

/// `None` is UTC by its name.
fn read_offset(word: &str) -> Result<Option<Offset>, String> {
    match word {
        "z" | "utc" => Ok(None),
        offset => zone::offset(offset).map(Some),
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// A month by its name, or the first three or more letters of it.
fn month(word: &str) -> Option<i8> {
    let place = MONTHS.iter().position(|name| begins(name, word))?;
    i8::try_from(place + 1).ok()
}

/// A weekday by its name, or the first three or more letters of it.
fn weekday(word: &str) -> Option<Weekday> {
    let place = WEEKDAYS.iter().position(|name| begins(name, word))?;
    Weekday::from_monday_zero_offset(i8::try_from(place).ok()?).ok()
}

/// Three letters are enough to tell all months and weekdays apart.
fn begins(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.starts_with(word)
}

fn unknown(word: &str, example: &str) -> String {
    if word == "now" {
        return "`now` is already over when the request arrives; try `in 30 minutes`".to_owned();
    }
    if is_number(word) {
        return format!(
            "`{}` is no year (4 digits) and no time (19:30, 8pm); try {example}",
            quotable(word)
        );
    }
    let known = ["today", "tomorrow", "noon"].into_iter();
    let known = known.chain(WEEKDAYS).chain(MONTHS);
    let quoted = quotable(word);
    match did_you_mean(word, known) {
        Some(meant) => format!("unknown word `{quoted}`; {meant}"),
        None => format!("unknown word `{quoted}`; try {example}"),
    }
}
