//! Parsing a time: a day and a time in either order, the offset or zone of a date, or an amount of time from now.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};

use super::clock::clock;
use super::day::Day;
use super::day_words::{day, not_an_amount, words};
use super::local;
use crate::model::duration::{Unit, amounts, total};
use crate::model::input_tokens::{Problem, Token, normal, quotable, tokens};
use crate::model::moment::Moment;
use crate::model::zone;

const EXAMPLE: &str = "e.g. `2026-12-01 19:30`, `tomorrow 19:30`, `fri 8pm` or `in 2 hours`";

/// The first hour of `tonight`.
const EVENING: i8 = 16;

/// A time as it was written, not yet resolved.
#[derive(Clone, Debug)]
pub(super) enum Written {
    /// An instant, from its own offset or zone.
    Exact(Moment),
    /// This much time from now.
    Elapsed(Duration),
    /// A local time in whichever zone applies.
    Local { day: Day, time: Time },
}

/// Parses a time. The problem suggests what was probably meant.
pub(super) fn written(text: &str) -> Result<Written, Problem> {
    read(text, like)
}

/// Parses a time. `like` chooses a problem's example: the corrected text, or the usual example.
fn read(text: &str, like: fn(String, &str) -> String) -> Result<Written, Problem> {
    let text = normal(text, EXAMPLE)?;
    let tokens = tokens(&text, EXAMPLE)?;
    if let Some(elapsed) = elapsed(&tokens)? {
        return Ok(elapsed);
    }
    let (first, rest) = optional(&tokens, clock)?;
    let (day, rest) = optional(rest, day)?;
    let (second, rest) = if first.is_none() {
        optional(rest, clock)?
    } else {
        (None, rest)
    };
    let (own, rest) = own_zone(rest)?;
    if let Some(problem) = leftover(rest, &text, like) {
        return Err(problem);
    }
    match (day, first.or(second), own) {
        (None, None, _) => Err(Problem::new("there is no time in it", EXAMPLE)),
        (Some(_), None, _) => Err(Problem::new(
            "the time of day is missing",
            like(
                format!("{text} 19:30"),
                "e.g. `tomorrow 19:30` or `2026-12-01 19:30`",
            ),
        )),
        (Some(Day::Tonight), Some(time), _) if time.hour() < EVENING => Err(Problem::new(
            "`tonight` is after 16:00",
            "e.g. `tonight 20:00` or `tomorrow 9:00`",
        )),
        (Some(Day::Date(date)), Some(time), Some(own)) => {
            exactly(date.to_datetime(time), own).map(Written::Exact)
        }
        (_, Some(_), Some(_)) => Err(Problem::new(
            "an offset or a zone belongs to a full date",
            "the date with it, e.g. `2026-12-01 19:30+01:00`",
        )),
        (day, Some(time), None) => Ok(Written::Local {
            day: day.unwrap_or(Day::Soonest),
            time,
        }),
    }
}

/// Parses `in 2 hours` or `in 1h30m`. Returns `None` for a count of days and for anything else.
fn elapsed(tokens: &[Token<'_>]) -> Result<Option<Written>, Problem> {
    let [Token::Word("in"), rest @ ..] = tokens else {
        return Ok(None);
    };
    let (parts, rest) = amounts(rest).map_err(not_an_amount)?;
    if parts
        .first()
        .is_none_or(|(_, longest)| *longest >= Unit::Day)
    {
        return Ok(None);
    }
    match rest.first() {
        None => Ok(Some(Written::Elapsed(
            total(&parts).map_err(not_an_amount)?,
        ))),
        Some(_) => Err(Problem::new(
            "hours and minutes count from now, so nothing can follow them",
            "e.g. `in 2 hours` or `in 3 days 19:30`",
        )),
    }
}

fn optional<'t, 'a, T>(
    tokens: &'t [Token<'a>],
    reader: impl Fn(&'t [Token<'a>]) -> Result<Option<(T, &'t [Token<'a>])>, Problem>,
) -> Result<(Option<T>, &'t [Token<'a>]), Problem> {
    Ok(match reader(tokens)? {
        Some((found, rest)) => (Some(found), rest),
        None => (None, tokens),
    })
}

/// The offset or zone in the text itself.
enum Own {
    /// `Z`, which names the instant but not the local time.
    Zulu(Option<TimeZone>),
    Offset(Offset, Option<TimeZone>),
    Zone(TimeZone),
}

fn own_zone<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<(Option<Own>, &'t [Token<'a>]), Problem> {
    if let [Token::Word("z" | "utc"), rest @ ..] = tokens {
        let (zone, rest) = optional(rest, bracketed)?;
        return Ok((Some(Own::Zulu(zone)), rest));
    }
    let (offset, rest) = optional(tokens, zone::offset)?;
    let (zone, rest) = optional(rest, bracketed)?;
    let own = match (offset, zone) {
        (Some(offset), zone) => Some(Own::Offset(offset, zone)),
        (None, zone) => zone.map(Own::Zone),
    };
    Ok((own, rest))
}

/// Parses `[Europe/Paris]`, or `[!Europe/Paris]`, which RFC 9557 defines as critical. Zones are always critical here.
fn bracketed<'t, 'a>(
    tokens: &'t [Token<'a>],
) -> Result<Option<(TimeZone, &'t [Token<'a>])>, Problem> {
    match tokens {
        [Token::Bracketed(name), rest @ ..] => {
            Ok(Some((zone::named(name.trim_start_matches('!'))?, rest)))
        }
        _ => Ok(None),
    }
}

fn exactly(local: DateTime, own: Own) -> Result<Moment, Problem> {
    let instant = |offset: Offset| -> Result<Timestamp, Problem> {
        offset
            .to_timestamp(local)
            .map_err(|_| Problem::from(&local::ResolveError::TooFar))
    };
    match own {
        Own::Zone(zone) => local::at(local, &zone).map_err(|error| Problem::from(&error)),
        Own::Zulu(None) => instant(Offset::UTC).map(Moment::zulu),
        Own::Zulu(Some(zone)) => Ok(Moment::new(instant(Offset::UTC)?.to_zoned(zone))),
        Own::Offset(offset, zone) => {
            let zone = zone.unwrap_or_else(|| TimeZone::fixed(offset));
            let moment = Moment::new(instant(offset)?.to_zoned(zone));
            if moment.zoned().offset() == offset {
                Ok(moment)
            } else {
                Err(Problem::new(
                    format!(
                        "the offset contradicts the zone, where that instant is {}",
                        moment.wire()
                    ),
                    format!("the one or the other, e.g. `{}`", moment.wire()),
                ))
            }
        }
    }
}

/// The corrected text as an example, if it is a valid time.
fn like(text: String, otherwise: &str) -> String {
    // Its own problem would suggest a further correction, and so on.
    match read(&text, |_, otherwise| otherwise.to_owned()) {
        Ok(_) => format!("e.g. `{text}`"),
        Err(_) => otherwise.to_owned(),
    }
}

pub(super) fn meant(word: &str) -> Option<&'static str> {
    let distance = |known: &&str| strsim::osa_distance(word, known);
    let nearest = words().min_by_key(distance)?;
    // A short word is near to too many others.
    let most = if word.len() < 5 { 1 } else { 2 };
    (word.len() > 2 && distance(&nearest) <= most).then_some(nearest)
}

/// The error for tokens that no parser used; `None` if there are none.
fn leftover(tokens: &[Token<'_>], text: &str, like: fn(String, &str) -> String) -> Option<Problem> {
    let why = match tokens {
        [] => return None,
        [Token::Word("now"), ..] => {
            let why = "`now` is already over when the request arrives";
            return Some(Problem::new(why, "e.g. `in 30 minutes`"));
        }
        [Token::Word("yesterday"), ..] => {
            return Some(Problem::new("`yesterday` is over", EXAMPLE));
        }
        [Token::Word(_), Token::Sign('/'), ..] => {
            return Some(Problem::new(
                "a zone follows a date and a time, in brackets",
                "e.g. `2026-12-01 19:30[Europe/Paris]`",
            ));
        }
        [Token::Number(number), ..] => format!(
            "`{}` is no year (4 digits) and no time (19:30, 8pm)",
            quotable(number)
        ),
        [Token::Word(word), ..] => match meant(word) {
            Some(meant) => {
                let corrected = text.replacen(word, meant, 1);
                let with_time = like(format!("{corrected} 19:30"), EXAMPLE);
                return Some(Problem::new(
                    format!("unknown word `{word}` (did you mean `{meant}`?)"),
                    like(corrected, &with_time),
                ));
            }
            None => format!("unknown word `{}`", quotable(word)),
        },
        [Token::Sign(sign), ..] => format!("unexpected `{sign}`"),
        [Token::Bracketed(inside), ..] => {
            format!("unexpected `[{}]`", quotable(inside))
        }
    };
    Some(Problem::new(why, EXAMPLE))
}
