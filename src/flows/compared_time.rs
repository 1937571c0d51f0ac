//! Whether two times of documents may be the same moment.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::model::document_time::DocumentTime;

/// The offsets of the world's clocks from UTC, and what they are multiples of.
const LEAST_OFFSET: SignedDuration = SignedDuration::from_hours(-12);
const GREATEST_OFFSET: SignedDuration = SignedDuration::from_hours(14);
const OFFSET_STEP: i64 = 15 * 60;

/// A time in a document: RFC 3339 with or without an offset, a date alone, or seconds or milliseconds since 1970.
pub(super) struct ComparedTime {
    instant: Option<Timestamp>,
    /// What the clock shows, if the text has it.
    reading: Option<DateTime>,
    /// The day, if the text has nothing else.
    day: Option<Date>,
}

impl ComparedTime {
    /// Reads a time. Returns `None` for everything that is not certainly one.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let number = match value {
            Value::String(text) => text.trim().parse::<f64>().ok(),
            value => value.as_f64(),
        };
        if let Some(number) = number {
            let day = value.as_str().and_then(day_of);
            let whole = Value::from(number.trunc() as i64);
            let instant = DocumentTime::read(&whole).and_then(|time| time.instant);
            return (instant.is_some() || day.is_some()).then_some(ComparedTime {
                instant,
                reading: None,
                day,
            });
        }
        let text = value.as_str()?;
        if let Some(day) = day_of(text) {
            return Some(ComparedTime {
                instant: None,
                reading: None,
                day: Some(day),
            });
        }
        let time = DocumentTime::read(value)?;
        Some(ComparedTime {
            instant: time.instant,
            reading: time.local,
            day: None,
        })
    }

    /// Whether both may be the same moment. A time without an offset is local to the venue. Where only one of them has an
    /// offset that may be the venue's, the clocks are compared; else the moment is the same on some clock of the world.
    pub(super) fn may_be(&self, other: &Self) -> bool {
        match (self.day, other.day) {
            (Some(one), Some(day)) => return one == day,
            (None, Some(day)) => return self.may_be_on(day),
            (Some(day), None) => return other.may_be_on(day),
            (None, None) => {}
        }
        match (self.instant, other.instant, self.reading, other.reading) {
            (Some(one), Some(instant), ..) => one == instant,
            (.., Some(one), Some(reading)) => one == reading,
            (Some(instant), _, _, Some(reading)) | (_, Some(instant), Some(reading), _) => {
                let offset = reading.duration_since(utc(instant));
                (LEAST_OFFSET..=GREATEST_OFFSET).contains(&offset)
                    && offset.as_secs() % OFFSET_STEP == 0
            }
            _ => true,
        }
    }

    fn may_be_on(&self, day: Date) -> bool {
        if let Some(reading) = self.reading {
            return reading.date() == day;
        }
        self.instant.is_none_or(|instant| {
            let on_clock = |offset| utc(instant).saturating_add(offset).date();
            (on_clock(LEAST_OFFSET)..=on_clock(GREATEST_OFFSET)).contains(&day)
        })
    }
}

fn utc(instant: Timestamp) -> DateTime {
    TimeZone::UTC.to_datetime(instant)
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

    fn may_be(one: &Value, other: &Value) -> bool {
        match (ComparedTime::read(one), ComparedTime::read(other)) {
            (Some(one), Some(other)) => one.may_be(&other) && other.may_be(&one),
            _ => true,
        }
    }

    #[test]
    fn a_moment_is_the_same_in_each_notation_and_another_one_otherwise() {
        let asked = json!("2026-12-01T19:30:00+01:00");
        for same in [
            json!("2026-12-01T18:30:00Z"),
            json!("2026-12-01 19:30"),
            json!("2026-12-01"),
            json!("20261201"),
            json!(1_796_149_800),
            json!(1_796_149_800.0),
            json!("1796149800"),
            json!("1796149800.0"),
            json!("1796149800000"),
            json!(1.7961498e12),
            json!("on Tuesday"),
            json!("19:30"),
            json!(20),
        ] {
            assert!(may_be(&asked, &same), "{same}");
        }
        for other in [
            json!("2026-12-01T19:30:00Z"),
            json!("2026-12-01T20:30"),
            json!("2026-12-02"),
            json!("20261202"),
            json!(1_796_149_860),
            json!(1_796_149_860.5),
            json!("1796149860"),
            json!("1796149860000"),
            json!(1.79614986e12),
        ] {
            assert!(!may_be(&asked, &other), "{other}");
        }
    }

    #[test]
    fn a_time_in_utc_is_the_same_on_any_clock_of_the_world_and_on_no_other() {
        let asked = json!("2026-12-01T19:30:00Z");
        for same in [
            "2026-12-01T20:30",
            "2026-12-02T04:30",
            "2026-12-02",
            "2026-12-01",
        ] {
            assert!(may_be(&asked, &json!(same)), "{same}");
        }
        for other in [
            "2026-12-03T19:30",
            "2026-12-01T19:37",
            "2026-12-03",
            "2026-11-30",
        ] {
            assert!(!may_be(&asked, &json!(other)), "{other}");
        }
    }
}
