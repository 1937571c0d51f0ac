//! Parsing the words of a time or a day.

use std::time::Duration;

use jiff::Span;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{Offset, TimeZone};

use super::day::{Day, TOO_FAR};
use crate::outcome::similar::did_you_mean;
use crate::service::time::moment::Moment;
use crate::service::time::typed::quotable;
use crate::service::time::{duration, zone};

pub(crate) const TIME_EXAMPLE: &str =
    "`2030-12-01 19:30`, `tomorrow 19:30`, `fri 8pm` or `in 2 hours`";
pub(crate) const DAY_EXAMPLE: &str = "`today`, `fri`, `2030-11-27` or `2030-11-27..2030-11-30`";

/// What was read at the front of some words, and the words after it; `None` if it is not there.
type ParsedWords<'t, 'a, T> = Result<Option<(T, &'t [&'a str])>, String>;

/// A time as it was written, not yet resolved.
#[derive(Clone, Debug)]
pub(crate) enum When {
    Exact(Moment),
    Elapsed(Duration),
    Local(Day, Time),
}

/// Parses a time: day and time of day, perhaps with an offset, or an amount from now.
pub(crate) fn time(text: &str) -> Result<When, String> {
    let words = split(text);
    if let Some((span, rest)) = amount(&words)?.filter(|(span, _)| !has_days(span)) {
        if !rest.is_empty() {
            return Err(
                "hours and minutes count from now, so nothing can follow them; try `in 2 hours` or `in 3 days 19:30`"
                    .to_owned(),
            );
        }
        return Ok(When::Elapsed(duration::length(&span).ok_or(TOO_FAR)?.unsigned_abs()));
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
        (Some(Day::Ahead(..0)), ..) => {
            Err(format!("`yesterday` is in the past; try {TIME_EXAMPLE}"))
        }
        (_, None, _) => Err(format!("it has no time of day; try {TIME_EXAMPLE}")),
        (day, Some(time), None) => Ok(When::Local(day.unwrap_or(Day::Soonest), time)),
        (Some(Day::Date(date)), Some(time), Some((offset, is_zulu))) => {
            let instant = offset.to_timestamp(date.to_datetime(time)).map_err(|_| TOO_FAR)?;
            let in_zone = || Moment::new(instant.to_zoned(TimeZone::fixed(offset)));
            Ok(When::Exact(if is_zulu { Moment::zulu(instant) } else { in_zone() }))
        }
        (_, Some(_), Some(_)) => {
            Err("an offset belongs to a full date; try `2026-12-01 19:30+01:00`".to_owned())
        }
    }
}

pub(crate) fn day(text: &str) -> Result<Day, String> {
    let words = split(text);
    match read_day(&words)? {
        Some((day, [])) => Ok(day),
        Some((_, [word, ..])) => Err(unknown(word, DAY_EXAMPLE)),
        None => Err(unknown(words.first().unwrap_or(&""), DAY_EXAMPLE)),
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

fn has_days(span: &Span) -> bool {
    calendar(span).fieldwise() != Span::new().fieldwise()
}

fn calendar(span: &Span) -> Span {
    let long = Span::new().years(span.get_years()).months(span.get_months());
    long.weeks(span.get_weeks()).days(span.get_days())
}

/// Parses `in 3 days`, `in 1 month` or `in 2 hours`, up to a time of day.
fn amount<'t, 'a>(words: &'t [&'a str]) -> ParsedWords<'t, 'a, Span> {
    let ["in", words @ ..] = words else {
        return Ok(None);
    };
    let mut end = 0;
    while end < words.len() && read_clock(&words[end..])?.is_none() {
        end += 1;
    }
    let (amount, rest) = words.split_at(end);
    let amount = amount.join(" ");
    let span = duration::span(&amount).ok_or_else(|| {
        format!(
            "`{}` is not a number with a unit: minutes, hours, days, weeks, months or years; try `in 90 minutes` or \
             `in 3 days 19:30`",
            quotable(&amount)
        )
    })?;
    if has_days(&span) && span.fieldwise() != calendar(&span).fieldwise() {
        return Err(
            "days need a time of day, and hours count from now; try `in 3 days 19:30` or `in 36 hours`".to_owned(),
        );
    }
    Ok(Some((span, rest)))
}

fn read_day<'t, 'a>(words: &'t [&'a str]) -> ParsedWords<'t, 'a, Day> {
    let [first, rest @ ..] = words else {
        return Ok(None);
    };
    let day = match (*first, weekday(first)) {
        ("today", _) => Day::Ahead(0),
        ("tomorrow", _) => Day::Ahead(1),
        ("yesterday", _) => Day::Ahead(-1),
        ("in", _) => {
            return Ok(amount(words)?.map(|(span, rest)| (Day::Later(span), rest)));
        }
        (_, Some(written)) => match read_date(rest)? {
            Some((date, rest)) => return Ok(Some((date.on(Some(written))?, rest))),
            None => Day::Weekday(written),
        },
        (_, None) => return read_date(words),
    };
    Ok(Some((day, rest)))
}

/// Parses `2026-12-01`, `1 dec 2026` or `1 dec`.
fn read_date<'t, 'a>(words: &'t [&'a str]) -> ParsedWords<'t, 'a, Day> {
    let [first, rest @ ..] = words else {
        return Ok(None);
    };
    if let [named, rest @ ..] = rest
        && is_number(first)
        && let Some(month) = month(named)
    {
        return Ok(Some(match rest {
            [year, rest @ ..] if is_number(year) => (Day::Date(date(year, month, first)?), rest),
            // Of a leap year, because the year is not known yet.
            _ => (Day::OfYear(date("2028", month, first)?, None), rest),
        }));
    }
    match first.split('-').collect::<Vec<_>>()[..] {
        [year, month, day] if [year, month, day].into_iter().all(is_number) => {
            let month = month.parse().unwrap_or(0);
            Ok(Some((Day::Date(date(year, month, day)?), rest)))
        }
        _ => Ok(None),
    }
}

fn date(year: &str, month: i8, day: &str) -> Result<Date, String> {
    let first = match year.parse() {
        Ok(number @ 1..=9999) if year.len() == 4 => Date::new(number, month, 1),
        _ => return Err("a year is 0001 to 9999 in four digits; try `2026-12-01`".to_owned()),
    };
    let first = first.map_err(|_| "there is no such month; try `2026-12-01`")?;
    day.parse().ok().and_then(|day| Date::new(first.year(), month, day).ok()).ok_or_else(|| {
        let name = first.strftime("%B %Y").to_string().to_lowercase();
        let (day, last) = (quotable(day), first.days_in_month());
        format!("there is no day {day} in {name}; use a day from 1 to {last}, e.g. `{last} {name}`")
    })
}

/// Parses a time of day: `19:30`, `19:30:15.5+01:00`, `8pm`, `7:30 pm` or `noon`, with its offset.
fn read_clock<'t, 'a>(words: &'t [&'a str]) -> ParsedWords<'t, 'a, (Time, Option<Written>)> {
    let (word, half, rest) = match words {
        [] => return Ok(None),
        ["noon", rest @ ..] => ("12:00", "", rest),
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
    let (digits, offset) = word.split_at(word.find(['z', '+', '-']).unwrap_or(word.len()));
    let own = (!offset.is_empty()).then(|| read_offset(offset)).transpose()?;
    let time = time_of_day(digits, half).ok_or_else(|| {
        format!(
            "`{}{half}` is not a time of day; try `19:30`, `19:30:15` or `7:30pm`",
            quotable(digits)
        )
    })?;
    Ok(Some(((time, own), rest)))
}

/// A time of day in whole seconds; an hour without am or pm is of 24.
fn time_of_day(digits: &str, half: &str) -> Option<Time> {
    let (hour, rest) = digits.split_once(':').unwrap_or((digits, "00"));
    let (minute, second) = rest.split_once(':').unwrap_or((rest, "00"));
    let second = second.split_once('.').map_or(second, |(whole, _)| whole);
    let two =
        |digits: &str| (digits.len() == 2 && is_number(digits)).then(|| digits.parse().ok())?;
    let hour = match (hour.parse::<i8>().ok()?, half) {
        (hour, "") => hour,
        (hour @ 1..=12, "am") => hour % 12,
        (hour @ 1..=12, _) => hour % 12 + 12,
        _ => return None,
    };
    Time::new(hour, two(minute)?, two(second)?, 0).ok()
}

/// An offset, and whether it was typed as `Z` or `UTC`.
type Written = (Offset, bool);

fn read_offset(word: &str) -> Result<Written, String> {
    match word {
        "z" | "utc" => Ok((Offset::UTC, true)),
        offset => Ok((zone::offset(offset)?, false)),
    }
}

const MONTHS: &str =
    "january february march april may june july august september october november december";
const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday";

fn month(word: &str) -> Option<i8> {
    i8::try_from(place_of(MONTHS, word)? + 1).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    Weekday::from_monday_zero_offset(i8::try_from(place_of(WEEKDAYS, word)?).ok()?).ok()
}

/// The place of the name that begins with a word of at least three letters.
fn place_of(names: &str, word: &str) -> Option<usize> {
    let begins = |name: &str| word.len() >= 3 && name.starts_with(word);
    names.split(' ').position(begins)
}

fn unknown(word: &str, example: &str) -> String {
    let quoted = quotable(word);
    if word == "next" {
        let what = "`next` can mean this week or the week after";
        return format!("{what}; use `fri` for the coming Friday, or a date, e.g. `4 dec`");
    }
    let known = ["today", "tomorrow", "noon"].into_iter().chain(WEEKDAYS.split(' '));
    let advice = did_you_mean(word, known).unwrap_or_else(|| format!("try {example}"));
    format!("`{quoted}` is not understood; {advice}")
}
