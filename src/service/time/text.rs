//! Datetimes and spans of time as people read them.

use std::fmt::Display;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde::{Serialize as _, Serializer};

use super::document_time::DocumentTime;

/// A datetime of a document for people. A text that is not understood is returned unchanged, so the
/// caller still has to make control characters visible.
pub(crate) fn human(datetime: &str) -> String {
    DocumentTime::parse(datetime).map_or_else(|| datetime.to_owned(), |time| time.human())
}

/// A timestamp of bookctl in RFC 3339, UTC and whole seconds; other text unchanged.
pub(crate) fn whole_seconds(at: impl Display) -> String {
    let text = at.to_string();
    text.parse::<Timestamp>().map_or(text, |at| format!("{at:.0}"))
}

/// Serializes a time of bookctl's own documents: RFC 3339, UTC and whole seconds.
pub(crate) fn serialize_time<S: Serializer>(
    at: &(impl Copy + Into<Option<Timestamp>>),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let at: Option<Timestamp> = (*at).into();
    at.map(whole_seconds).serialize(serializer)
}

/// When something happened, always with seconds, so that a column of such times is even.
pub(crate) fn to_the_second(at: impl Display) -> String {
    let text = at.to_string();
    match text.parse::<Timestamp>() {
        Ok(at) => at.strftime("%a %-d %b %Y, %T (UTC)").to_string(),
        Err(_) => human(&text),
    }
}

/// A time for a row: weekday, day and clock, with the year if it is not `now`'s.
pub(crate) fn listed(time: &DocumentTime, now: Timestamp) -> String {
    let Some(local) = time.local_in(None) else {
        return String::new();
    };
    let is_this_year = local.year() == now.to_zoned(TimeZone::UTC).year();
    let year = if is_this_year { "" } else { " %Y" };
    local.strftime(&format!("%a %-d %b{year} %H:%M")).to_string()
}

/// A time for people, followed by the time in the reader's own zone where the two clocks differ:
/// `Fri 27 Nov 2026, 19:30 (+00:00) · 14:30 your time`. Names the day where it is another one.
pub(crate) fn with_own_time(time: &DocumentTime, own: &TimeZone) -> String {
    let own = time.zoned().and_then(|zoned| own_clock(&zoned, own));
    let own = own.map(|own| format!(" · {own}"));
    time.human() + &own.unwrap_or_default()
}

/// When something was or will be: `10 minutes ago (Tue 1 Dec 2026, 16:50 UTC)`, `in 20 minutes
/// (16:50 UTC)`. The day of a later time is left out if it is today. Adds the time in the reader's
/// own zone if that differs.
pub(crate) fn dated(at: Timestamp, now: Timestamp, own: &TimeZone) -> String {
    let utc = at.to_zoned(TimeZone::UTC);
    let is_later_today = at > now && utc.date() == now.to_zoned(TimeZone::UTC).date();
    let date = if is_later_today { "" } else { "%a %-d %b %Y, " };
    let clock = utc.strftime(&format!("{date}%H:%M")).to_string();
    let own = own_clock(&utc, own).map_or(String::new(), |own| format!(", {own}"));
    format!("{} ({clock} UTC{own})", relative(at, now))
}

/// The time on the reader's clock, if it differs from the clock of `there`: `14:30 your time`.
fn own_clock(there: &Zoned, own: &TimeZone) -> Option<String> {
    let here = there.with_time_zone(own.clone());
    if here.offset() == there.offset() {
        return None;
    }
    let is_same_day = here.date() == there.date();
    let date = if is_same_day { "" } else { "%a %-d %b, " };
    let clock = here.strftime(&format!("{date}%H:%M")).to_string();
    Some(format!("{clock} your time"))
}

/// How far a time is from `now`: `just now`, `10 minutes ago`, `in 20 minutes`, `3 days ago`.
/// Rounds down, but not a deadline set a moment ago. Only a deadline has seconds.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.duration_since(now).as_secs();
    let is_later = seconds > 0;
    let away = seconds.unsigned_abs();
    let about = away + if is_later { 5 } else { 0 };
    let counted = |count: u64, unit: &str| {
        let end = if count == 1 { "" } else { "s" };
        format!("{count} {unit}{end}")
    };
    let away = match about {
        _ if is_later && away < 90 => counted(away, "second"),
        0..3600 => counted(about / 60, "minute"),
        // An hour that is nearly two is worth its minutes.
        3660..7200 => format!("1 hour {}", counted(about / 60 % 60, "minute")),
        3600..172_800 => counted(about / 3600, "hour"),
        _ => counted(about / 86_400, "day"),
    };
    match seconds {
        -59..=0 => "just now".to_owned(),
        _ if is_later => format!("in {away}"),
        _ => format!("{away} ago"),
    }
}

/// How far something was moved, if that is more than a week: `3 weeks earlier`, `9 days later`.
pub(crate) fn moved_far(from: Timestamp, to: Timestamp) -> Option<String> {
    let apart = to.duration_since(from);
    if apart.abs() <= SignedDuration::from_hours(7 * 24) {
        return None;
    }
    let side = if from > to { "earlier" } else { "later" };
    Some(match apart.as_hours().unsigned_abs() / 24 {
        days @ 0..14 => format!("{days} days {side}"),
        days => format!("{} weeks {side}", (days + 3) / 7),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::documents::rows;

    #[test]
    fn datetime_has_its_own_offset_and_in_a_list_the_wall_clock() {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for [datetime, displayed, short] in rows(
            "2026-12-01T19:30:00+01:00 | Tue 1 Dec 2026, 19:30 (+01:00)    | Tue 1 Dec 19:30
             2026-12-01T19:30:15-03:30 | Tue 1 Dec 2026, 19:30:15 (-03:30) | Tue 1 Dec 19:30
             2026-12-01T19:30:00.000Z  | Tue 1 Dec 2026, 19:30 (UTC)       | Tue 1 Dec 19:30
             2026-12-01T19:30:00       | Tue 1 Dec 2026, 19:30             | Tue 1 Dec 19:30
             sometime                  | sometime                          | ",
        ) {
            assert_eq!(human(datetime), displayed);
            let time = DocumentTime::parse(datetime);
            assert_eq!(time.map(|it| listed(&it, now)).unwrap_or_default(), short);
        }
    }

    #[test]
    fn distance_from_now_has_the_unit_that_people_choose() {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for [at, wording] in rows(
            "2026-12-01T12:00:00Z | just now
             2026-12-01T11:59:01Z | just now
             2026-12-01T11:58:58Z | 1 minute ago
             2026-12-01T11:00:59Z | 59 minutes ago
             2026-12-01T11:00:00Z | 1 hour ago
             2026-12-01T10:10:59Z | 1 hour 49 minutes ago
             2026-12-01T12:01:13Z | in 73 seconds
             2026-12-01T11:50:00Z | 10 minutes ago
             2026-12-01T10:00:00Z | 2 hours ago
             2026-11-29T12:00:00Z | 2 days ago
             2026-12-01T12:00:01Z | in 1 second
             2026-12-01T12:14:32Z | in 14 minutes
             2026-12-01T12:19:58Z | in 20 minutes
             2026-12-01T17:05:00Z | in 5 hours
             2026-12-05T12:00:00Z | in 4 days",
        ) {
            assert_eq!(relative(at.parse().unwrap(), now), wording, "{at}");
        }
    }

    #[test]
    fn a_time_on_the_minute_has_its_seconds_like_any_other() {
        for (at, displayed) in [
            ("2026-12-01T16:30:00.25Z", "Tue 1 Dec 2026, 16:30:00 (UTC)"),
            ("2026-12-01T16:30:48Z", "Tue 1 Dec 2026, 16:30:48 (UTC)"),
            ("sometime", "sometime"),
        ] {
            assert_eq!(to_the_second(at), displayed);
        }
    }

    #[test]
    fn the_readers_own_time_is_added_where_the_clocks_differ() {
        let new_york = TimeZone::get("America/New_York").unwrap();
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        let venue = DocumentTime::parse("2026-11-27T19:30:00+00:00").unwrap();
        let displayed = "Fri 27 Nov 2026, 19:30 (+00:00)";
        for (own, added) in [
            (&TimeZone::UTC, ""),
            (&new_york, " · 14:30 your time"),
            (&tokyo, " · Sat 28 Nov, 04:30 your time"),
        ] {
            assert_eq!(with_own_time(&venue, own), format!("{displayed}{added}"));
        }
    }

    #[test]
    fn a_moment_is_dated_and_one_later_today_is_not() {
        let now: Timestamp = "2026-12-01T16:30:02Z".parse().unwrap();
        for [own, at, wording] in rows(
            "UTC              | 2026-12-01T16:50:00Z | in 20 minutes (16:50 UTC)
             America/New_York | 2026-12-01T16:50:00Z | in 20 minutes (16:50 UTC, 11:50 your time)
             UTC              | 2026-12-01T16:20:00Z | 10 minutes ago (Tue 1 Dec 2026, 16:20 UTC)
             UTC              | 2026-12-03T16:40:00Z | in 2 days (Thu 3 Dec 2026, 16:40 UTC)",
        ) {
            let own = TimeZone::get(own).unwrap();
            assert_eq!(dated(at.parse().unwrap(), now, &own), wording);
        }
    }
}
