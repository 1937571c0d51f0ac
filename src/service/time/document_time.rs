//! A time in a document of the service: RFC 3339, without an offset, or a number since 1970.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use super::text::human;
use crate::json::plain;

/// The seconds since 1970 that can be the time of a booking: from September 2001 to 2286. Any other number is an id, an
/// amount, or a day and a clock without separators.
const SECONDS: Range<i64> = 1_000_000_000..10_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentTime {
    /// The instant. `None` for a time without an offset, which is in the venue's own zone.
    pub(crate) instant: Option<Timestamp>,
    /// What a clock shows there. `None` for a number.
    pub(crate) local: Option<DateTime>,
}

impl DocumentTime {
    /// Reads a time. Returns `None` for everything that is not certainly one.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        if let Some(number) = whole_number(value) {
            return Some(DocumentTime { instant: Some(since_1970(number)?), local: None });
        }
        let text = value.as_str()?.trim();
        let instant = text.parse::<Timestamp>().ok();
        let local = text.parse::<DateTime>().ok();
        (instant.is_some() || local.is_some()).then_some(DocumentTime { instant, local })
    }

    /// The time in a field of a document.
    pub(crate) fn of(document: &Value, field: &str) -> Option<Self> {
        DocumentTime::read(document.get(field)?)
    }

    /// The offset that it shows. A time in UTC (`Z`) shows none.
    pub(crate) fn offset(&self) -> Option<Offset> {
        let wall = self.local?.to_zoned(TimeZone::UTC).ok()?.timestamp();
        let ahead = wall.duration_since(self.instant?).as_secs();
        Offset::from_seconds(i32::try_from(ahead).ok()?).ok()
    }

    /// What the clock of this zone shows, else as it is written, else in UTC.
    pub(crate) fn local_in(&self, zone: Option<&TimeZone>) -> Option<DateTime> {
        let in_zone = |zone: &TimeZone| self.instant.map(|it| zone.to_datetime(it));
        let local = zone.and_then(in_zone).or(self.local);
        local.or_else(|| in_zone(&TimeZone::UTC))
    }

    /// The day of that.
    pub(crate) fn day_in(&self, zone: Option<&TimeZone>) -> Option<Date> {
        self.local_in(zone).map(DateTime::date)
    }

    /// The instant, with the clock of this zone where the time has no offset. A local time that the zone skips or
    /// repeats has no certain instant.
    pub(crate) fn instant_in(&self, zone: Option<&TimeZone>) -> Option<Timestamp> {
        self.instant.or_else(|| {
            let zoned = zone?.to_ambiguous_zoned(self.local?);
            zoned.unambiguous().ok().map(|zoned| zoned.timestamp())
        })
    }
}

/// A time of a document as RFC 3339 text, if it came as a number. Anything else stays as it came.
pub(crate) fn as_text(value: &Value) -> String {
    let number = DocumentTime::read(value).filter(|time| time.local.is_none());
    match number.and_then(|time| time.instant) {
        Some(instant) => instant.strftime("%FT%TZ").to_string(),
        None => plain(value),
    }
}

/// A time of a document for people. What is not certainly a time is returned as it came.
pub(crate) fn time_text(value: &Value) -> String {
    human(&as_text(value))
}

/// A whole number, or a text of digits alone.
fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => {
            let is_number = text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok())?
        }
        _ => None,
    }
}

fn since_1970(number: i64) -> Option<Timestamp> {
    if SECONDS.contains(&number) {
        return Timestamp::from_second(number).ok();
    }
    let is_milliseconds = SECONDS.contains(&(number / 1000));
    is_milliseconds.then(|| Timestamp::from_millisecond(number).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_instant_is_read_from_every_form() {
        let meant: Timestamp = "2026-12-01T18:30:00Z".parse().unwrap();
        let read = |text: &str| DocumentTime::read(&text.parse().unwrap());
        let forms = r#""2026-12-01T18:30:00Z" "2026-12-01T19:30:00+01:00" 1796149800 "1796149800" 1796149800000"#;
        for form in forms.split(' ') {
            assert_eq!(read(form).unwrap().instant, Some(meant), "{form}");
        }
        // The last three are days and clocks without separators.
        let others = r#"20 "20" "soon" null {} 1.5e9 "20261124193000" 202611241930 20261124"#;
        for other in others.split(' ') {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_time_without_an_offset_becomes_an_instant_in_the_venues_zone() {
        let time = DocumentTime::read(&json!("2026-07-01 19:30")).unwrap();
        assert_eq!(time.instant, None);
        let zone = TimeZone::get("Europe/London").unwrap();
        let instant = time.instant_in(Some(&zone)).unwrap();
        assert_eq!(instant.to_string(), "2026-07-01T18:30:00Z");
        assert_eq!(time.instant_in(None), None);
    }

    #[test]
    fn a_time_is_shown_as_one_and_anything_else_as_it_came() {
        for (value, shown) in [
            (json!(1_796_149_800), "Tue 1 Dec 2026, 18:30 (UTC)"),
            (json!("2026-12-01T19:30"), "Tue 1 Dec 2026, 19:30"),
            (json!("after lunch"), "after lunch"),
            (json!(20), "20"),
        ] {
            assert_eq!(time_text(&value), shown);
        }
    }
}
