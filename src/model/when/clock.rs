//! Parsing the time of day.

use jiff::civil::Time;

use crate::model::input_tokens::{Problem, Token, quotable, two_digits};

/// Parses a time of day at the front. Returns it with the remaining tokens, or `None` if there is none.
pub(super) fn clock<'t, 'a>(
    tokens: &'t [Token<'a>],
) -> Result<Option<(Time, &'t [Token<'a>])>, Problem> {
    let (hour, minute, second, rest) = match tokens {
        [Token::Word("noon"), rest @ ..] => return Ok(Some((Time::constant(12, 0, 0, 0), rest))),
        [Token::Word("midnight"), ..] => {
            return Err(Problem::new(
                "midnight ends one day and begins another",
                "`00:00` with the day it begins, e.g. `2026-12-02 00:00`",
            ));
        }
        [
            Token::Number(hour),
            Token::Sign(':'),
            Token::Number(minute),
            rest @ ..,
        ] => match rest {
            [
                Token::Sign(':'),
                Token::Number(second),
                Token::Sign('.'),
                Token::Number(_),
                rest @ ..,
            ]
            | [Token::Sign(':'), Token::Number(second), rest @ ..] => {
                (hour, *minute, *second, rest)
            }
            rest => (hour, *minute, "00", rest),
        },
        [Token::Number(hour), rest @ ..] if matches!(rest, [Token::Word("am" | "pm"), ..]) => {
            (hour, "00", "00", rest)
        }
        _ => return Ok(None),
    };
    let hour = two_digits(hour).ok_or_else(|| {
        Problem::new(
            format!("`{}` is not an hour", quotable(hour)),
            "the hour as 0 to 23, e.g. `19:30`",
        )
    })?;
    let (hour, rest) = match rest {
        [Token::Word(half @ ("am" | "pm")), rest @ ..] => (of_twelve(hour, half)?, rest),
        rest => (of_twenty_four(hour)?, rest),
    };
    let minute = sixtieth(minute, "minutes")?;
    let second = sixtieth(second, "seconds")?;
    // Hour, minute and second have already been checked, each with its own error.
    let time = Time::new(hour, minute, second, 0)
        .map_err(|_| Problem::new("there is no such time of day", "e.g. `19:30`"))?;
    Ok(Some((time, rest)))
}

fn of_twelve(hour: i8, half: &str) -> Result<i8, Problem> {
    let afternoon = if half == "pm" { 12 } else { 0 };
    match hour {
        1..=12 => Ok(hour % 12 + afternoon),
        13..=23 if half == "pm" => Err(Problem::new(
            format!("the hour before pm is 1 to 12, not {hour}"),
            format!("`{hour}:00` or `{}pm`", hour - 12),
        )),
        _ => Err(Problem::new(
            format!("the hour before {half} is 1 to 12, not {hour}"),
            "e.g. `7:30am`, `7:30pm` or `19:30`",
        )),
    }
}

fn of_twenty_four(hour: i8) -> Result<i8, Problem> {
    match hour {
        0..=23 => Ok(hour),
        24 => Err(Problem::new(
            "24:00 is the beginning of the next day",
            "`00:00` with that day, e.g. `2026-12-02 00:00`",
        )),
        _ => Err(Problem::new(
            format!("a day has hours 0 to 23, not {hour}"),
            "e.g. `19:30` or `7:30pm`",
        )),
    }
}

fn sixtieth(digits: &str, what: &str) -> Result<i8, Problem> {
    two_digits(digits)
        .filter(|value| digits.len() == 2 && *value < 60)
        .ok_or_else(|| {
            Problem::new(
                format!("{what} are 00 to 59, not `{}`", quotable(digits)),
                "e.g. `19:30` or `19:30:15`",
            )
        })
}
