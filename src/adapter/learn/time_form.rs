//! The forms in which services want times in requests.

use serde_json::Value;

/// A form of the time in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// RFC 3339 with an offset, as the contract has it.
    Offset,
    /// The venue's own clock, without an offset.
    Local,
    /// A day alone.
    Day,
    /// The instant in UTC.
    Utc,
    Seconds,
    Milliseconds,
}

impl Time {
    /// All of them, in the order in which they are tried.
    pub(crate) const ALL: [Time; 6] = [
        Time::Offset,
        Time::Local,
        Time::Day,
        Time::Milliseconds,
        Time::Seconds,
        Time::Utc,
    ];

    /// The time of the contract's request in this form, as jq writes it.
    pub(super) fn expression(self) -> &'static str {
        match self {
            Time::Offset => ".datetime",
            Time::Local => ".datetime[:16]",
            Time::Day => ".datetime[:10]",
            Time::Utc => "(.datetime | fromdateiso8601 | todateiso8601)",
            // A batch's row may have a slot's time as it came, which is a number already.
            Time::Seconds => "(.datetime | if type == \"string\" then fromdateiso8601 else . end)",
            Time::Milliseconds => {
                "(.datetime | if type == \"string\" then fromdateiso8601 * 1000 else . end)"
            }
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Time::Offset => "RFC 3339",
            Time::Local => "a time without an offset",
            Time::Day => "a day alone",
            Time::Utc => "a time in UTC",
            Time::Seconds => "seconds since 1970",
            Time::Milliseconds => "milliseconds since 1970",
        }
    }

    /// The form of a time that is a number.
    pub(super) fn of_number(value: &Value) -> Option<Time> {
        // Seconds have ten digits until the year 2286.
        match value.as_u64()? {
            1_000_000_000..=9_999_999_999 => Some(Time::Seconds),
            1_000_000_000_000..=9_999_999_999_999 => Some(Time::Milliseconds),
            _ => None,
        }
    }

    /// The forms to try where the contract's was refused, those that the refusal speaks of first.
    pub(crate) fn others(refusal: &Value) -> Vec<Time> {
        let said = refusal.to_string().to_lowercase();
        let speaks_of = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let mut forms: Vec<Time> = Time::ALL.into_iter().skip(1).collect();
        let rank = |form: &Time| match form {
            Time::Milliseconds if speaks_of(&["milli", "epoch_ms"]) => 0,
            Time::Seconds if speaks_of(&["second", "epoch", "unix", "integer", "number"]) => 1,
            Time::Milliseconds if speaks_of(&["epoch", "unix", "integer", "number"]) => 2,
            Time::Utc if speaks_of(&["utc"]) => 2,
            Time::Day if speaks_of(&["yyyy-mm-dd\""]) => 2,
            _ => 3,
        };
        forms.sort_by_key(rank);
        forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_form_that_a_refusal_speaks_of_is_tried_first() {
        for (said, form) in [
            ("must be milliseconds since 1970", Time::Milliseconds),
            ("must be seconds since 1970", Time::Seconds),
            ("an integer was expected", Time::Seconds),
            ("must be in UTC", Time::Utc),
            ("is not a time", Time::Local),
        ] {
            let forms = Time::others(&json!({"fields": {"datetime": said}}));
            assert_eq!(forms[0], form, "{said}");
            assert_eq!(forms.len(), 5);
        }
    }
}
