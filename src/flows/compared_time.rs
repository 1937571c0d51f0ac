//! Whether two times of documents may be the same moment.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::model::document_time::DocumentTime;

/// A time in a document: RFC 3339 with or without an offset, a date alone, or seconds or milliseconds since 1970.
pub(super) struct ComparedTime {
    instant: Option<Timestamp>,
    /// What a clock shows then, if the text has it.
    clock: Option<DateTime>,
    /// The first and the last day that it may be at the venue.
    days: Option<(Date, Date)>,
}

impl ComparedTime {
    /// Reads a time. Returns `None` for everything that is not certainly one.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let text = value.as_str().unwrap_or_default().trim();
        let number = text.parse::<f64>().ok().or(value.as_f64());
        let day = day_of(text);
        let time = match number {
            Some(number) => DocumentTime::read(&Value::from(number.trunc() as i64)),
            None => DocumentTime::read(value).filter(|_| day.is_none()),
        };
        let instant = time.and_then(|time| time.instant);
        let local = time.and_then(|time| time.local);
        let utc = || instant.map(|at| TimeZone::UTC.to_datetime(at));
        let read = ComparedTime {
            instant,
            clock: local.or_else(|| utc().filter(|_| number.is_none())),
            days: match (day.or(local.map(DateTime::date)), utc()) {
                (Some(day), _) => Some((day, day)),
                (None, Some(utc)) => {
                    Some((utc.date().yesterday().ok()?, utc.date().tomorrow().ok()?))
                }
                (None, None) => None,
            },
        };
        read.days.is_some().then_some(read)
    }

    /// Whether both are the same moment. A time without an offset is compared with the clock of the other one, as it is
    /// written. `None` if that cannot be said: a date alone shows at most that it is another one.
    pub(super) fn is(&self, other: &Self) -> Option<bool> {
        let (instants, clocks) = (self.instant.zip(other.instant), self.clock.zip(other.clock));
        let is_same = instants.map(|(one, other)| one == other);
        is_same
            .or(clocks.map(|(one, other)| one == other))
            .or_else(|| {
                let (one, other) = self.days.zip(other.days)?;
                (one.1 < other.0 || other.1 < one.0).then_some(false)
            })
    }
}

/// The day of a text that has nothing else.
fn day_of(text: &str) -> Option<Date> {
    let text = text.trim();
    let has_time = text.len() > 10 || text.contains([':', 'T', 't', ' ', '.']);
    text.parse().ok().filter(|_| !has_time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is(one: &Value, other: &Value) -> Option<bool> {
        let (one, other) = (ComparedTime::read(one)?, ComparedTime::read(other)?);
        assert_eq!(one.is(&other), other.is(&one));
        one.is(&other)
    }

    #[test]
    fn a_moment_is_the_same_in_each_notation_and_another_one_otherwise() {
        let asked = json!("2026-12-01T19:30:00+01:00");
        for same in [
            json!("2026-12-01T18:30:00Z"),
            json!("2026-12-01 19:30"),
            json!(1_796_149_800),
            json!(1_796_149_800.0),
            json!("1796149800"),
            json!("1796149800.0"),
            json!("1796149800000"),
            json!(1.7961498e12),
        ] {
            assert_eq!(is(&asked, &same), Some(true), "{same}");
        }
        for other in [
            json!("2026-12-01T19:30:00Z"),
            json!("2026-12-01T20:30"),
            json!("2026-12-01T18:30"),
            json!("2026-12-02"),
            json!("20261202"),
            json!(1_796_149_860),
            json!(1_796_149_860.5),
            json!("1796149860"),
            json!("1796149860000"),
            json!(1.79614986e12),
        ] {
            assert_eq!(is(&asked, &other), Some(false), "{other}");
        }
        for unknown in [
            json!("2026-12-01"),
            json!("20261201"),
            json!("on Tuesday"),
            json!("19:30"),
            json!(20),
        ] {
            assert_eq!(is(&asked, &unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_time_in_utc_is_compared_with_the_clock_of_utc() {
        let asked = json!("2026-12-01T19:30:00Z");
        assert_eq!(is(&asked, &json!("2026-12-01T19:30")), Some(true));
        assert_eq!(is(&asked, &json!("2026-12-01T20:30")), Some(false));
        // The day at the venue may be another one.
        assert_eq!(is(&asked, &json!("2026-12-02")), None);
        assert_eq!(is(&asked, &json!("2026-12-03")), Some(false));
        assert_eq!(is(&json!(1_796_149_800), &json!("2026-12-01T19:30")), None);
    }
}
