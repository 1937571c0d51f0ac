//! Datetimes and spans of time as people read them.

use jiff::Timestamp;

use super::moment::local_text;
use super::when::When;

/// A datetime of a document for people: `Tue 1 Dec 2026, 19:30 (+01:00)`, without the offset if it has none. A text
/// that is no datetime is returned unchanged, so the caller still has to make control characters visible.
pub(crate) fn human(datetime: &str) -> String {
    let Ok(when) = When::parse(datetime) else {
        return datetime.to_owned();
    };
    match (when.exact(), when.wall()) {
        (Some(moment), _) => moment.human(),
        (None, Some(local)) => local_text(local),
        (None, None) => datetime.to_owned(),
    }
}

/// Local time at the venue, without the offset: for lists. `None` if `datetime` cannot be parsed.
pub(crate) fn local(datetime: &str) -> Option<String> {
    let when = When::parse(datetime).ok()?;
    let zoned = when.exact().map(|moment| moment.zoned().datetime());
    zoned.or(when.wall()).map(local_text)
}

/// The time left until a deadline: `14:32` (minutes and seconds), `1 h 05 min` from an hour on, `2 days 3 h` from a
/// day on, and `0:00` once it has passed. Rounds down, so that it never promises a second too many.
pub(crate) fn remaining(from: Timestamp, until: Timestamp) -> String {
    let seconds = until.duration_since(from).as_secs().max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600, seconds / 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{:02}", seconds % 60),
        (0, _) => format!("{hours} h {:02} min", minutes % 60),
        (1, _) => format!("1 day {} h", hours % 24),
        (_, _) => format!("{days} days {} h", hours % 24),
    }
}

/// How long ago something was, in one unit: `now`, `5 min ago`, `3 h ago`, `2 days ago`. A time in the future, from a
/// clock that was set back, is `now`.
pub(crate) fn since(then: Timestamp, now: Timestamp) -> String {
    let minutes = now.duration_since(then).as_mins();
    match (minutes / 1440, minutes / 60, minutes) {
        (1, _, _) => "1 day ago".to_owned(),
        (days, _, _) if days > 1 => format!("{days} days ago"),
        (_, hours, _) if hours > 0 => format!("{hours} h ago"),
        (_, _, minutes) if minutes > 0 => format!("{minutes} min ago"),
        _ => "now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datetime_is_shown_to_people_with_its_own_offset() {
        for (datetime, shown) in [
            (
                "2026-12-01T19:30:00+01:00",
                "Tue 1 Dec 2026, 19:30 (+01:00)",
            ),
            (
                "2026-12-01T19:30:15-03:30",
                "Tue 1 Dec 2026, 19:30:15 (-03:30)",
            ),
            ("2026-12-01T19:30:00.000Z", "Tue 1 Dec 2026, 19:30 (UTC)"),
            ("2026-12-01T19:30:00", "Tue 1 Dec 2026, 19:30"),
            ("sometime", "sometime"),
        ] {
            assert_eq!(human(datetime), shown);
        }
    }

    #[test]
    fn in_a_list_a_datetime_is_the_wall_clocks() {
        let local = |datetime| local(datetime).unwrap_or_default();
        assert_eq!(local("2026-12-01T19:30:00+01:00"), "Tue 1 Dec 2026, 19:30");
        assert_eq!(local("2026-12-01T19:30:00"), "Tue 1 Dec 2026, 19:30");
        assert_eq!(local("sometime"), "");
    }

    #[test]
    fn what_is_shown_to_people_can_be_typed_again() {
        for wire in [
            "2026-12-01T19:30:00+01:00",
            "2028-02-29T00:00:07-11:00",
            "2026-05-09T12:00:00Z",
        ] {
            let again = When::parse(&human(wire)).unwrap();
            assert_eq!(again.exact().unwrap().wire(), wire);
        }
    }

    #[test]
    fn how_long_ago_something_was_is_told_in_one_unit() {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        for (then, told) in [
            ("2026-12-01T11:59:01Z", "now"),
            ("2026-12-01T12:30:00Z", "now"),
            ("2026-12-01T11:58:59Z", "1 min ago"),
            ("2026-12-01T10:00:00Z", "2 h ago"),
            ("2026-11-30T12:00:00Z", "1 day ago"),
            ("2026-11-01T12:00:00Z", "30 days ago"),
        ] {
            assert_eq!(since(then.parse().unwrap(), now), told, "{then}");
        }
    }

    #[test]
    fn what_is_left_is_told_in_the_units_that_matter() {
        let from: Timestamp = "2026-12-01T12:00:00.9Z".parse().unwrap();
        for (until, told) in [
            ("2026-12-01T12:14:33Z", "14:32"),
            ("2026-12-01T12:00:09.9Z", "0:09"),
            ("2026-12-01T13:05:01Z", "1 h 05 min"),
            ("2026-12-02T12:00:00.9Z", "1 day 0 h"),
            ("2026-12-03T15:59:59Z", "2 days 3 h"),
            ("2026-12-01T11:00:00Z", "0:00"),
        ] {
            assert_eq!(remaining(from, until.parse().unwrap()), told);
        }
    }
}
