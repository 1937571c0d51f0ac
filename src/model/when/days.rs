//! A day or a range of days, in the words that a time takes.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::day::Day;
use super::day_words::day;
use super::parse::meant;
use crate::model::input_tokens::{ParseError, Problem, Token, normal, quotable, tokens};

const EXAMPLE: &str = "e.g. `today`, `fri`, `2026-11-27` or `2026-11-27..2026-11-30`";

/// The first and the last day.
#[derive(Clone, Debug)]
pub(crate) struct Days(Day, Day);

impl Days {
    /// Parses `DAY` or `DAY..DAY`.
    pub(crate) fn parse(text: &str) -> Result<Self, ParseError> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let days = one(first).and_then(|first| Ok(Days(first, one(last)?)));
        days.map_err(|problem| problem.of(text, "a day"))
    }

    /// The dates at `now` in `zone`. A weekday is the coming one, which may be today.
    pub(crate) fn resolve(&self, now: Timestamp, zone: &TimeZone) -> Result<(Date, Date), String> {
        let today = zone.to_datetime(now).date();
        // No clock change skips a time in UTC, and the end of the day is to come on every day.
        let now = today.at(0, 0, 0, 0).to_zoned(TimeZone::UTC);
        let now = now.map_err(|error| error.to_string())?.timestamp();
        let date = |day: Day| {
            let moment = day.resolve(Time::MAX, now, &TimeZone::UTC);
            moment
                .map(|moment| moment.zoned().date())
                .map_err(|error| error.to_string())
        };
        let (first, last) = (date(self.0)?, date(self.1)?);
        match first <= last {
            true => Ok((first, last)),
            // From `fri` to `mon`, read on a Saturday: the Friday before.
            false => match self.0 {
                Day::Weekday(_) => Ok((first.saturating_sub(7.days()), last)),
                _ => Err(format!("the first day, {first}, is after the last, {last}")),
            },
        }
    }
}

fn one(text: &str) -> Result<Day, Problem> {
    let text = normal(text, EXAMPLE)?;
    if text == "yesterday" {
        return Ok(Day::Ahead(-1));
    }
    let tokens = tokens(&text, EXAMPLE)?;
    let why = match tokens.as_slice() {
        [Token::Word("next"), ..] => {
            let ways = "`fri` for the coming Friday, or the date, e.g. `2026-12-04`";
            return Err(Problem::new("`next` is ambiguous", ways));
        }
        all => match day(all).map_err(|problem| problem.of_a_day(EXAMPLE))? {
            Some((day, [])) => return Ok(day),
            Some((_, rest)) => unknown(rest).unwrap_or("there is more than a day in it".to_owned()),
            None => unknown(all).unwrap_or("there is no day in it".to_owned()),
        },
    };
    Err(Problem::new(why, EXAMPLE))
}

/// Why the first of some tokens is no part of a day, if it is a word.
fn unknown(tokens: &[Token<'_>]) -> Option<String> {
    let Some(Token::Word(word)) = tokens.first() else {
        return None;
    };
    Some(match meant(word) {
        Some(meant) => format!("unknown word `{word}` (did you mean `{meant}`?)"),
        None => format!("unknown word `{}`", quotable(word)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_and_a_range_are_read_as_in_a_time() {
        // A Sunday.
        let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
        for (text, first, last) in [
            ("today", "2026-11-22", "2026-11-22"),
            ("yesterday..tomorrow", "2026-11-21", "2026-11-23"),
            ("fri", "2026-11-27", "2026-11-27"),
            ("sunday", "2026-11-22", "2026-11-22"),
            ("2026-11-27", "2026-11-27", "2026-11-27"),
            ("2026-11-27 .. 2026-12-02", "2026-11-27", "2026-12-02"),
            ("sat..mon", "2026-11-21", "2026-11-23"),
        ] {
            let days = Days::parse(text).unwrap().resolve(now, &TimeZone::UTC);
            let (from, to) = days.unwrap();
            assert_eq!(
                (from.to_string(), to.to_string()),
                (first.into(), last.into()),
                "{text}"
            );
        }
        for text in ["", "..", "19:30", "fri 19:30", "fri..", "someday"] {
            assert!(Days::parse(text).is_err(), "{text:?}");
        }
        for text in [
            "2026-13-01",
            "31 nov",
            "3/4/2026",
            "27.",
            "dec",
            "20266-1-1",
        ] {
            let sentence = Days::parse(text).unwrap_err().to_string();
            let advice = sentence.rsplit("; ").next().unwrap();
            let mut examples = advice.split('`').skip(1).step_by(2).peekable();
            assert!(examples.peek().is_some(), "{sentence}");
            for example in examples {
                assert!(Days::parse(example).is_ok(), "{sentence}");
            }
        }
        let backwards = Days::parse("2026-11-27..2026-11-20").unwrap();
        assert!(backwards.resolve(now, &TimeZone::UTC).is_err());
    }
}
