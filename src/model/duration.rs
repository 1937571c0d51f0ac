//! Lengths of time: `30s`, `2m`, `1h30m`.

use std::time::Duration;

use super::input_tokens::{ParseError, Problem, Token, normal, quotable, tokens};

const EXAMPLE: &str = "e.g. `90s`, `2m` or `1h30m`";
/// The longest wait. Far above every deadline of the service, so a longer one is a typo.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The longest that the sandbox's clock can be advanced at once: ten years.
const LONGEST_JUMP: Duration = Duration::from_secs(3660 * 24 * 60 * 60);
const PERIOD_EXAMPLE: &str = "e.g. `90d` or `36h`";
/// A hundred years, which means for ever.
const LONGEST_PERIOD: Duration = Duration::from_secs(36_500 * 24 * 60 * 60);

/// Ordered from short to long. An amount names each unit at most once, the longest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
}

impl Unit {
    fn of(word: &str) -> Option<Unit> {
        Some(match word {
            "ms" | "millisecond" | "milliseconds" => Unit::Millisecond,
            "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
            "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
            "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
            "d" | "day" | "days" => Unit::Day,
            "w" | "wk" | "wks" | "week" | "weeks" => Unit::Week,
            _ => return None,
        })
    }

    fn milliseconds(self) -> u64 {
        match self {
            Unit::Millisecond => 1,
            Unit::Second => 1000,
            Unit::Minute => 60 * 1000,
            Unit::Hour => 60 * 60 * 1000,
            Unit::Day => 24 * 60 * 60 * 1000,
            Unit::Week => 7 * 24 * 60 * 60 * 1000,
        }
    }
}

/// Parses a length of time: `500ms`, `30s`, `2m`, `1h30m`, `1 day 12 hours`. A bare number counts seconds. A day has
/// 24 hours. At most 30 days.
pub(crate) fn duration(text: &str) -> Result<Duration, ParseError> {
    let too_long = Problem::new("it is longer than 30 days", "`30d` or less");
    at_most(LONGEST, too_long, text)
}

/// Like [`duration`], but not zero.
pub(crate) fn lasting(text: &str) -> Result<Duration, String> {
    match duration(text) {
        Ok(length) if length.is_zero() => Err("it must be longer than zero, e.g. 1s".to_owned()),
        Ok(length) => Ok(length),
        Err(error) => Err(error.to_string()),
    }
}

/// Like [`duration`], for advancing the sandbox's clock: at most ten years.
pub(crate) fn jump(text: &str) -> Result<Duration, ParseError> {
    let too_long = Problem::new("it is longer than ten years", "`3660d` or less");
    at_most(LONGEST_JUMP, too_long, text)
}

fn at_most(longest: Duration, too_long: Problem, text: &str) -> Result<Duration, ParseError> {
    let length = match read(text, EXAMPLE, Some(Unit::Second)) {
        Ok(length) if length > longest => Err(too_long),
        length => length,
    };
    length.map_err(|problem| problem.of(text, "a duration"))
}

/// Parses a time for which something is kept: `90d`, `36h`, `0`. A bare number is an error, because it could mean
/// days or seconds. At most a hundred years.
pub(crate) fn period(text: &str) -> Result<Duration, ParseError> {
    let read = || match read(text, PERIOD_EXAMPLE, None)? {
        length if length > LONGEST_PERIOD => Err(Problem::new(
            "it is longer than a hundred years",
            "`36500d` or less",
        )),
        length => Ok(length),
    };
    read().map_err(|problem| problem.of(text, "a duration"))
}

/// A length of time for people, to the second: `2 d 3 h`, `21 min 5 s`.
pub(crate) fn in_units(seconds: u64) -> String {
    let (mut shown, mut rest) = (Vec::new(), seconds);
    for (unit, length) in [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)] {
        let count = rest / length;
        rest %= length;
        if count > 0 {
            shown.push(format!("{count} {unit}"));
        }
    }
    match shown.is_empty() {
        true => "0 s".to_owned(),
        false => shown.join(" "),
    }
}

/// `bare` is the unit of a number without one. If it is `None`, only 0 needs no unit.
fn read(text: &str, example: &str, bare: Option<Unit>) -> Result<Duration, Problem> {
    let text = normal(text, example)?;
    let tokens = tokens(&text, example)?;
    let refuse = |why| Problem::new(why, example);
    if let [Token::Number(number)] = tokens.as_slice() {
        return match (count(number).map_err(refuse)?, bare) {
            (0, _) => Ok(Duration::ZERO),
            (count, Some(unit)) => total(&[(count, unit)]).map_err(refuse),
            (_, None) => Err(leftover(Token::Number(number), example)),
        };
    }
    let (parts, rest) = amounts(&tokens).map_err(refuse)?;
    match rest.first() {
        Some(token) => Err(leftover(*token, example)),
        None => total(&parts).map_err(refuse),
    }
}

fn leftover(token: Token<'_>, example: &str) -> Problem {
    let why = match token {
        Token::Number(number) => format!("`{}` has no unit", quotable(number)),
        Token::Word(word) => format!("`{}` is not a unit of time", quotable(word)),
        Token::Sign('.') => "fractions are not supported".to_owned(),
        Token::Sign('-') => "it is negative".to_owned(),
        Token::Sign(sign) => format!("unexpected `{sign}`"),
        Token::Bracketed(_) => "unexpected brackets".to_owned(),
    };
    Problem::new(why, format!("whole numbers with units, {example}"))
}

/// The parts of an amount, each a count and its unit.
pub(super) type Amount = Vec<(u64, Unit)>;

const TOO_LARGE: &str = "the number is too large";

/// Parses the longest run of counts with units at the front, which may be empty. Returns the amount and the remaining
/// tokens.
pub(super) fn amounts<'t, 'a>(
    mut tokens: &'t [Token<'a>],
) -> Result<(Amount, &'t [Token<'a>]), &'static str> {
    let mut parts: Amount = Vec::new();
    loop {
        let (number, word, rest) = match tokens {
            [Token::Number(number), Token::Word(word), rest @ ..] => (*number, *word, rest),
            [
                Token::Word("a" | "an" | "one"),
                Token::Word(word),
                rest @ ..,
            ] => ("1", *word, rest),
            [Token::Word("and"), rest @ ..]
                if !parts.is_empty() && matches!(rest, [Token::Number(_), ..]) =>
            {
                tokens = rest;
                continue;
            }
            _ => break,
        };
        let Some(unit) = Unit::of(word) else { break };
        if parts.last().is_some_and(|(_, longer)| *longer <= unit) {
            return Err("use each unit once, the longest first");
        }
        parts.push((count(number)?, unit));
        tokens = rest;
    }
    Ok((parts, tokens))
}

fn count(digits: &str) -> Result<u64, &'static str> {
    digits.parse().map_err(|_| TOO_LARGE)
}

/// The sum of an amount's parts. The error says why there is none.
pub(super) fn total(parts: &[(u64, Unit)]) -> Result<Duration, &'static str> {
    parts
        .iter()
        .try_fold(0u64, |sum, (count, unit)| {
            sum.checked_add(count.checked_mul(unit.milliseconds())?)
        })
        .map(Duration::from_millis)
        .ok_or(TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_of_a_duration_is_understood() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("30", 30_000),
            ("30s", 30_000),
            (" 2 M ", 120_000),
            ("1h30m", 5_400_000),
            ("1 hour, 30 minutes and 5 secs", 5_405_000),
            ("an hour", 3_600_000),
            ("0", 0),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(
                duration(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn whatever_is_no_duration_is_refused_in_one_sentence_with_an_example_that_works() {
        for (text, why) in [
            ("", "cannot be empty"),
            ("soon", "`soon` is not a unit of time"),
            ("5 parsecs", "`5` has no unit"),
            ("1.5h", "`1` has no unit"),
            ("-5s", "it is negative"),
            ("30m1h", "the longest first"),
            ("1h 1h", "use each unit once"),
            ("31d", "longer than 30 days"),
            ("99999999999999999999", "the number is too large"),
            ("99999999999999w", "the number is too large"),
            ("PT30S", "`pt` is not a unit"),
            ("5\u{1b}[31ms", "unexpected `\\u{1b}`"),
        ] {
            let sentence = duration(text).unwrap_err().to_string();
            assert!(sentence.contains(why), "{text}: {sentence}");
            for example in sentence
                .replace("; try ", "; use ")
                .rsplit("; use ")
                .next()
                .unwrap()
                .split('`')
                .skip(1)
                .step_by(2)
            {
                assert!(duration(example).is_ok(), "{text}: {example}");
            }
        }
    }

    #[test]
    fn a_length_is_shown_in_the_units_that_it_has() {
        for (seconds, shown) in [
            (0, "0 s"),
            (30, "30 s"),
            (1260, "21 min"),
            (1265, "21 min 5 s"),
            (183_605, "2 d 3 h 5 s"),
        ] {
            assert_eq!(in_units(seconds), shown);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_a_length_within_bounds_or_one_harmless_sentence(
            text in prop_oneof![
                any::<String>(),
                arbitrary::made_of(&["1", "30", "0", " ", "ms", "s", "m", "h", "d", "w", ".", "-", "99999999999999999999"]),
            ],
        ) {
            match duration(&text) {
                Ok(length) => prop_assert!(length <= LONGEST),
                Err(error) => prop_assert!(!error.to_string().contains(char::is_control), "{}", error),
            }
        }
    }
}
