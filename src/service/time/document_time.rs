//! The one reader of times in documents: RFC 3339, without an offset, a number since 1970, RFC
//! 2822, `2026-12-01 7:30 PM`. Anything else, a day alone and `24:00` too, is not understood.

use std::ops::Range;

use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use super::moment::local_text;
use crate::json::plain;

/// The seconds since 1970 that can be the time of a booking: from September 2001 to 2286. Any other
/// number is an id, an amount, or a day and a clock without separators.
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
        let number = match value {
            Value::Number(number) => number.as_i64(),
            Value::String(text)
                if text.len() >= 10 && text.bytes().all(|it| it.is_ascii_digit()) =>
            {
                text.parse().ok()
            }
            _ => None,
        };
        if let Some(number) = number {
            return Some(DocumentTime { instant: Some(since_1970(number)?), local: None });
        }
        DocumentTime::parse(value.as_str()?)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_day = |day: &str| day.len() == "2026-12-01".len() && day.parse::<Date>().is_ok();
        let Some((_, clock)) = text.split_once(['T', 't', ' ']).filter(|it| is_day(it.0)) else {
            let zoned = rfc2822::parse(text).ok()?;
            // `GMT` is `Z`: no clock of the venue.
            let shows_offset = text.ends_with(|it: char| it.is_ascii_digit());
            let local = shows_offset.then(|| zoned.datetime());
            return Some(DocumentTime { instant: Some(zoned.timestamp()), local });
        };
        if clock.len() < "19:30".len() || clock.starts_with("24") {
            return None;
        }
        let instant = text.parse::<Timestamp>().ok();
        let twelve_hours = || DateTime::strptime("%Y-%m-%d %I:%M %p", text).ok();
        let local = text.parse::<DateTime>().ok().or_else(twelve_hours);
        (instant.is_some() || local.is_some()).then_some(DocumentTime { instant, local })
    }

    pub(crate) fn from_field(document: &Value, field: &str) -> Option<Self> {
        DocumentTime::read(document.get(field)?)
    }

    /// The offset that it shows. A time in UTC (`Z`) shows none.
    pub(crate) fn offset(&self) -> Option<Offset> {
        let wall = self.local?.to_zoned(TimeZone::UTC).ok()?.timestamp();
        Offset::from_seconds(i32::try_from(wall.duration_since(self.instant?).as_secs()).ok()?).ok()
    }

    /// What the clock of this zone shows, else as it is written, else in UTC.
    pub(crate) fn local_in(&self, zone: Option<&TimeZone>) -> Option<DateTime> {
        let in_zone = |zone: &TimeZone| self.instant.map(|it| zone.to_datetime(it));
        zone.and_then(in_zone).or(self.local).or_else(|| in_zone(&TimeZone::UTC))
    }

    /// The same time on the clock of a zone, where it is an instant.
    pub(crate) fn on_clock_of(self, zone: Option<&TimeZone>) -> Self {
        let local = self.instant.zip(zone).map(|(at, zone)| zone.to_datetime(at));
        DocumentTime { local: local.or(self.local), ..self }
    }

    /// The instant with the offset that it shows, or in UTC.
    pub(crate) fn zoned(&self) -> Option<Zoned> {
        Some(self.instant?.to_zoned(TimeZone::fixed(self.offset().unwrap_or(Offset::UTC))))
    }

    /// For programs, as in RFC 3339: without the offset if it has none.
    pub(crate) fn rfc3339(&self) -> String {
        match (self.zoned(), self.local) {
            (Some(zoned), Some(_)) => zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            (Some(zoned), None) => zoned.timestamp().to_string(),
            (None, local) => local.map(|local| local.to_string()).unwrap_or_default(),
        }
    }

    /// For people: `Tue 1 Dec 2026, 19:30 (+01:00)`, without the offset if it has none.
    pub(crate) fn human(&self) -> String {
        let local = self.local_in(None).map(local_text).unwrap_or_default();
        match (self.zoned(), self.local) {
            (Some(zoned), Some(_)) => format!("{local} ({})", zoned.strftime("%:z")),
            (Some(_), None) => format!("{local} (UTC)"),
            (None, _) => local,
        }
    }

    pub(crate) fn day_in(&self, zone: Option<&TimeZone>) -> Option<Date> {
        self.local_in(zone).map(DateTime::date)
    }

    /// The instant, with the clock of this zone where the time has no offset. A local time that the
    /// zone skips or repeats has no certain instant.
    pub(crate) fn instant_in(&self, zone: Option<&TimeZone>) -> Option<Timestamp> {
        self.instant.or_else(|| {
            let zoned = zone?.to_ambiguous_zoned(self.local?);
            zoned.unambiguous().ok().map(|zoned| zoned.timestamp())
        })
    }
}

/// Whether two times are one: the same instant, however it is written, or the same time on the
/// venue's clock.
pub(crate) fn is_same_time(one: Option<DocumentTime>, other: Option<DocumentTime>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return false;
    };
    match (one.instant, other.instant) {
        (Some(one), Some(other)) => one == other,
        _ => one.local.is_some() && one.local == other.local,
    }
}

/// A time of a document for people. What is not understood is returned as it came.
pub(crate) fn time_text(value: &Value) -> String {
    DocumentTime::read(value).map_or_else(|| plain(value), |time| time.human())
}

fn since_1970(number: i64) -> Option<Timestamp> {
    if SECONDS.contains(&number) {
        return Timestamp::from_second(number).ok();
    }
    SECONDS.contains(&(number / 1000)).then(|| Timestamp::from_millisecond(number).ok())?
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
        for form in [r#""Tue, 01 Dec 2026 19:30:00 +0100""#, r#""Tue, 1 Dec 2026 18:30:00 GMT""#] {
            assert_eq!(read(form).unwrap().instant, Some(meant), "{form}");
        }
        let local = DocumentTime::parse("2026-12-01T19:30").unwrap();
        for form in ["2026-12-01 19:30:00", "2026-12-01 7:30 PM", "2026-12-01 07:30 pm"] {
            assert_eq!(DocumentTime::parse(form), Some(local), "{form}");
        }
        // Days and clocks without separators, a day alone, ambiguous clocks.
        let others = r#"20 "20" "soon" null {} 1.5e9 "20261124193000" 202611241930 20261124 "2026-12-01"
            "2026-12-01T24:00:00+01:00" "2026-12-01T24:00" "01/12/2026_19:30" "9_March_2031_20:30" "19:30""#;
        for other in others.split_whitespace() {
            assert_eq!(read(&other.replace('_', " ")), None, "{other}");
        }
    }

    #[test]
    fn time_without_offset_becomes_instant_in_venues_zone() {
        let time = DocumentTime::read(&json!("2026-07-01 19:30")).unwrap();
        assert_eq!(time.instant, None);
        let zone = TimeZone::get("Europe/London").unwrap();
        let instant = time.instant_in(Some(&zone)).unwrap();
        assert_eq!(instant.to_string(), "2026-07-01T18:30:00Z");
        assert_eq!(time.instant_in(None), None);
    }

    #[test]
    fn a_time_is_shown_as_one_and_anything_else_as_it_came() {
        for (value, displayed) in [
            (json!(1_796_149_800), "Tue 1 Dec 2026, 18:30 (UTC)"),
            (json!("Tue, 1 Dec 2026 18:30:00 GMT"), "Tue 1 Dec 2026, 18:30 (UTC)"),
            (json!("Tue, 1 Dec 2026 19:30:00 +0100"), "Tue 1 Dec 2026, 19:30 (+01:00)"),
            (json!("2026-12-01T19:30"), "Tue 1 Dec 2026, 19:30"),
            (json!("after lunch"), "after lunch"),
            (json!(20), "20"),
        ] {
            assert_eq!(time_text(&value), displayed);
        }
    }

    #[test]
    fn times_are_one_by_their_instant() {
        let is_same = |one: &str, other: &str| {
            let read = |text: &str| DocumentTime::read(&json!(text));
            is_same_time(read(one), read(other))
        };
        assert!(is_same("2026-12-01T19:30:00+01:00", "2026-12-01T18:30:00Z"));
        assert!(!is_same("2026-12-01T19:30:00+01:00", "2026-12-01T19:30:00Z"));
        assert!(is_same("2026-12-01T19:30:00", "2026-12-01T19:30:00"));
        assert!(!is_same("2026-12-01T19:30:00", "2026-12-01T20:30:00"));
        assert!(is_same("2026-12-01T19:30:00", "2026-12-01T19:30:00+01:00"));
        assert!(!is_same("soon", "soon"));
    }
}
