//! Lengths of time: `30s`, `2m`, `1h30m`.

use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};

use super::typed;

const EXAMPLE: &str = "`90s`, `2m` or `1h30m`";
/// The longest wait. Far above every deadline of the service, so a longer one is a typo.
const LONGEST_DAYS: i64 = 30;
/// A hundred years, which means for ever.
const LONGEST_PERIOD_DAYS: i64 = 36_500;

/// Parses a length of time: `500ms`, `30s`, `2m`, `1h30m`, `1 day 12 hours`. A bare number counts
/// seconds. A day has 24 hours. At most 30 days.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    at_most(LONGEST_DAYS, text)
}

pub(crate) fn lasting(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be longer than zero, e.g. 1s".to_owned()),
        length => Ok(length),
    }
}

/// Parses a time for which something is kept: `90d`, `36h`, `0`. A bare number is an error, because
/// it could mean days or seconds. At most a hundred years.
pub(crate) fn period(text: &str) -> Result<Duration, String> {
    if text.trim() != "0" && text.trim().parse::<u64>().is_ok() {
        return Err(format!("`{}` has no unit; try `90d` or `36h`", text.trim()));
    }
    at_most(LONGEST_PERIOD_DAYS, text)
}

fn at_most(days: i64, text: &str) -> Result<Duration, String> {
    typed::read(text, "a duration", EXAMPLE, |text| {
        let with_unit = match text.parse::<u64>() {
            Ok(_) => format!("{text}s"),
            Err(_) => text.to_owned(),
        };
        let length = span(&with_unit).and_then(|span| length(&span));
        let Some(length) = length else {
            return Err(format!("it needs numbers with units; try {EXAMPLE}"));
        };
        if length > SignedDuration::from_hours(24 * days) {
            return Err(format!("it is longer than {days} days; use `{days}d` or less"));
        }
        Ok(length.unsigned_abs())
    })
}

/// Counts with units, such as `1 week 2 days` or `1h30m`; `None` for anything else, and below zero.
pub(crate) fn span(text: &str) -> Option<Span> {
    let starts_with_a_count = text.starts_with(|c: char| c.is_ascii_digit());
    let span: Span = text.parse().ok().filter(|_| starts_with_a_count)?;
    (!span.is_negative()).then_some(span)
}

/// The length of a span in which a day has 24 hours; `None` with months or years.
pub(crate) fn length(span: &Span) -> Option<SignedDuration> {
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// A length of time for people, to the second: `2 d 3 h`, `21 min 5 s`.
pub(crate) fn in_units(seconds: u64) -> String {
    let (mut displayed, mut rest) = (Vec::new(), seconds);
    for (unit, length) in [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)] {
        if rest >= length || seconds == 0 && length == 1 {
            displayed.push(format!("{} {unit}", rest / length));
        }
        rest %= length;
    }
    displayed.join(" ")
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
            ("1 hour, 30 minutes 5 secs", 5_405_000),
            ("1.5h", 5_400_000),
            ("0", 0),
            ("30d", 2_592_000_000),
        ] {
            let length = Duration::from_millis(milliseconds);
            assert_eq!(duration(text), Ok(length), "{text}");
        }
    }

    #[test]
    fn invalid_duration_gets_one_sentence_and_a_working_example() {
        for (text, why) in [
            ("", "cannot be empty"),
            ("soon", "numbers with units"),
            ("5 parsecs", "numbers with units"),
            ("-5s", "numbers with units"),
            ("1h 1h", "numbers with units"),
            ("1 month", "numbers with units"),
            ("31d", "longer than 30 days"),
            ("99999999999999999999", "numbers with units"),
            ("PT30S", "numbers with units"),
            ("5\u{1b}[31ms", "`5\\u{1b}[31ms`"),
        ] {
            let sentence = duration(text).unwrap_err();
            assert!(sentence.contains(why), "{text}: {sentence}");
            let (_, advice) = sentence.rsplit_once("; ").unwrap();
            for example in advice.split('`').skip(1).step_by(2) {
                assert!(duration(example).is_ok(), "{text}: {example}");
            }
        }
    }

    #[test]
    fn a_length_is_shown_in_the_units_that_it_has() {
        for (seconds, displayed) in [
            (0, "0 s"),
            (30, "30 s"),
            (1260, "21 min"),
            (1265, "21 min 5 s"),
            (183_605, "2 d 3 h 5 s"),
        ] {
            assert_eq!(in_units(seconds), displayed);
        }
    }

    proptest! {
        #[test]
        fn any_duration_is_within_bounds_or_one_harmless_sentence(
            text in prop_oneof![
                any::<String>(),
                arbitrary::made_of(&["1", "30", "0", " ", "ms", "s", "m", "h", "d", "w", ".", "-", "99999999999999999999"]),
            ],
        ) {
            match duration(&text) {
                Ok(length) => prop_assert!(length.as_secs() <= 30 * 86_400),
                Err(error) => prop_assert!(!error.to_string().contains(char::is_control), "{}", error),
            }
        }
    }
}
