//! Parsing dates (`2026-12-01`, `1 dec`, `december 1st, 2026`) and the names of months and weekdays.

use jiff::civil::{Date, Weekday};

use super::day::Day;
use crate::model::input_tokens::{Problem, Token, quotable, two_digits};

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
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Parses a date at the front. Returns it with the remaining tokens, or `None` if there is none.
pub(super) fn date<'t, 'a>(
    tokens: &'t [Token<'a>],
) -> Result<Option<(Day, &'t [Token<'a>])>, Problem> {
    match tokens {
        [
            Token::Number(year),
            Token::Sign('-'),
            Token::Number(month),
            Token::Sign('-'),
            Token::Number(day),
            rest @ ..,
        ] if year.len() >= 4 => {
            let rest = match rest {
                [Token::Word("t"), rest @ ..] => rest,
                rest => rest,
            };
            if month.len() != 2 || day.len() != 2 {
                return Err(numeric());
            }
            let (month, day) = two_digits(month).zip(two_digits(day)).ok_or_else(numeric)?;
            Ok(Some((full(year, month, day)?, rest)))
        }
        [
            Token::Number(first),
            Token::Sign(sign),
            Token::Number(second),
            Token::Sign(same_sign),
            Token::Number(year),
            rest @ ..,
        ] if sign == same_sign && sign != &':' => {
            let (day, month) = in_order(*sign, first, second).ok_or_else(numeric)?;
            Ok(Some((full(year, month, day)?, rest)))
        }
        [Token::Number(_), Token::Sign('/' | '-'), ..]
        | [
            Token::Number(_),
            Token::Sign('.'),
            Token::Number(_),
            Token::Sign('.'),
            ..,
        ] => Err(numeric()),
        [Token::Number(_), Token::Sign('.'), ..] => Err(Problem::new(
            "a time is written with a colon",
            "e.g. `19:30`",
        )),
        [Token::Number(number), rest @ ..] => match without_ordinal(rest) {
            [Token::Word(word), rest @ ..] => match month(word) {
                Some(month) => of_month(month, number, rest).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        },
        [Token::Word(word), rest @ ..] => match (month(word), rest) {
            (None, _) => Ok(None),
            (
                Some(_),
                [
                    Token::Number(_),
                    Token::Sign(':') | Token::Word("am" | "pm"),
                    ..,
                ],
            ) => Err(no_day_of_month()),
            (Some(month), [Token::Number(number), rest @ ..]) => {
                of_month(month, number, without_ordinal(rest)).map(Some)
            }
            (Some(_), _) => Err(no_day_of_month()),
        },
        _ => Ok(None),
    }
}

/// The day and the month of a date in numbers, where only one order gives a date: no month is above 12. With dots, the
/// month never comes first.
fn in_order(sign: char, first: &str, second: &str) -> Option<(i8, i8)> {
    let (first, second) = two_digits(first).zip(two_digits(second))?;
    match (first, second) {
        (13.., ..=12) => Some((first, second)),
        (..=12, 13..) if sign == '/' => Some((second, first)),
        _ if first == second => Some((first, second)),
        _ => None,
    }
}

fn without_ordinal<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    match tokens {
        [Token::Word("st" | "nd" | "rd" | "th"), rest @ ..] => rest,
        tokens => tokens,
    }
}

/// Parses the year that may follow a day and month: four digits that are not an hour.
fn of_month<'t, 'a>(
    month: i8,
    day: &str,
    rest: &'t [Token<'a>],
) -> Result<(Day, &'t [Token<'a>]), Problem> {
    let Some(day) = two_digits(day) else {
        return Err(Problem::new(
            format!("`{}` is not a day of a month", quotable(day)),
            "e.g. `1 dec 2026 19:30`",
        ));
    };
    match rest {
        [
            Token::Number(_),
            Token::Sign(':') | Token::Word("am" | "pm"),
            ..,
        ] => {}
        [Token::Number(year), rest @ ..] if year.len() >= 4 => {
            return Ok((full(year, month, day)?, rest));
        }
        _ => {}
    }
    // 2000 was a leap year, so it has every possible date.
    if Date::new(2000, month, day).is_err() {
        return Err(no_such_day(None, month, day));
    }
    Ok((
        Day::Yearly {
            month,
            day,
            weekday: None,
        },
        rest,
    ))
}

fn full(written: &str, month: i8, day: i8) -> Result<Day, Problem> {
    let year = match written.parse() {
        Ok(year @ 1..=9999) if written.len() == 4 => year,
        _ => {
            return Err(Problem::new(
                "a year is 0001 to 9999 in four digits",
                "e.g. `2026-12-01 19:30`",
            ));
        }
    };
    Date::new(year, month, day)
        .map(Day::Date)
        .map_err(|_| no_such_day(Some(year), month, day))
}

fn no_such_day(year: Option<i16>, month: i8, day: i8) -> Problem {
    let name = usize::try_from(month)
        .ok()
        .and_then(|month| month.checked_sub(1))
        .and_then(|index| MONTHS.get(index));
    let (Some(name), Ok(first)) = (name, Date::new(year.unwrap_or(2000), month, 1)) else {
        return Problem::new(
            format!("there is no month {month}"),
            "e.g. `2026-12-01 19:30`",
        );
    };
    let last = first.days_in_month();
    let year = year.map_or(String::new(), |year| format!(" {year}"));
    Problem::new(
        format!("there is no day {day} in {name}{year}"),
        format!("a day from 1 to {last}, e.g. `{last} {name}{year} 19:30`"),
    )
}

fn numeric() -> Problem {
    Problem::new(
        "the order of day and month is ambiguous",
        "the year first and two digits each, or the month as a word, e.g. `2026-12-01 19:30` or `1 dec 19:30`",
    )
}

fn no_day_of_month() -> Problem {
    Problem::new("the day of the month is missing", "e.g. `1 dec 19:30`")
}

/// A month by its name, or the first three or more letters of it.
fn month(word: &str) -> Option<i8> {
    MONTHS
        .iter()
        .zip(1..)
        .find(|(name, _)| begins(name, word))
        .map(|(_, month)| month)
}

/// The names of the months and the weekdays.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let weekdays = WEEKDAYS.iter().map(|(name, _)| *name);
    MONTHS.into_iter().chain(weekdays)
}

/// A weekday by its name, or the first three or more letters of it.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    WEEKDAYS
        .iter()
        .find(|(name, _)| begins(name, word))
        .map(|(_, weekday)| *weekday)
}

/// Three letters are enough to tell all months and weekdays apart.
fn begins(name: &str, word: &str) -> bool {
    word.len() >= 3 && name.starts_with(word)
}
