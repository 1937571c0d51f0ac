use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Days, When};
use crate::model::rows;

mod changes;
mod harmless;
mod refusals;

/// A Saturday.
const NOW: &str = "2026-11-21T12:00:00.5Z";

fn resolve(text: &str, now: &str, zone: &str) -> Result<String, String> {
    let now: Timestamp = now.parse().unwrap();
    let zone = TimeZone::get(zone).unwrap();
    let when = When::parse(text).unwrap_or_else(|error| panic!("{error}"));
    when.resolve(now, &zone).map(|moment| moment.wire())
}

#[track_caller]
fn is(text: &str, now: &str, zone: &str, wire: &str) {
    assert_eq!(resolve(text, now, zone).as_deref(), Ok(wire), "{text}");
}

#[test]
fn rfc_3339_needs_no_zone_and_keeps_its_offset() {
    for [text, wire] in rows(
        "
        2026-12-01T19:30:00+01:00                | 2026-12-01T19:30:00+01:00
        2026-12-01t19:30:00z                     | 2026-12-01T19:30:00Z
        2026-12-01 19:30Z                        | 2026-12-01T19:30:00Z
        2026-12-01 19:30 UTC                     | 2026-12-01T19:30:00Z
        2026-12-01T19:30:00+00:00                | 2026-12-01T19:30:00+00:00
        2026-12-01T19:30:00-00:00                | 2026-12-01T19:30:00+00:00
        2026-12-01 19:30:15.999999999999 +0100   | 2026-12-01T19:30:15+01:00
        2026-12-01 19:30 -05                     | 2026-12-01T19:30:00-05:00
        2026-12-01T19:30:00.5-0330               | 2026-12-01T19:30:00-03:30
        Tue, 1 Dec 2026 19:30:00 +0100           | 2026-12-01T19:30:00+01:00
        ",
    ) {
        let when = When::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            when.exact().map(|moment| moment.wire()).as_deref(),
            Some(wire),
            "{text}"
        );
        is(text, NOW, "Asia/Tokyo", wire);
    }
}

#[test]
fn days_and_times_are_those_of_the_zone() {
    for [text, wire] in rows(
        "
        2026-12-01 19:30                | 2026-12-01T19:30:00+00:00
        2026-12-01 7:30pm               | 2026-12-01T19:30:00+00:00
        2026-12-01T19:30:15             | 2026-12-01T19:30:15+00:00
        12am                            | 2026-11-22T00:00:00+00:00
        12:15 pm                        | 2026-11-21T12:15:00+00:00
        12:00                           | 2026-11-22T12:00:00+00:00
        noon                            | 2026-11-22T12:00:00+00:00
        today 9:00                      | 2026-11-21T09:00:00+00:00
        Tomorrow ,  at 8 pm             | 2026-11-22T20:00:00+00:00
        8pm tomorrow                    | 2026-11-22T20:00:00+00:00
        in 2 weeks at 8 pm              | 2026-12-05T20:00:00+00:00
        in 1 week 2 days, noon          | 2026-11-30T12:00:00+00:00
        1 dec 19:30                     | 2026-12-01T19:30:00+00:00
        Dec 1st, 8pm                    | 2026-12-01T20:00:00+00:00
        tue 1 dec 19:30                 | 2026-12-01T19:30:00+00:00
        19:30 on 1 December 2027        | 2027-12-01T19:30:00+00:00
        december 1, 2027 19:30          | 2027-12-01T19:30:00+00:00
        21 nov 12:01                    | 2026-11-21T12:01:00+00:00
        21 nov 12:00                    | 2027-11-21T12:00:00+00:00
        29 feb 12:00                    | 2028-02-29T12:00:00+00:00
        ",
    ) {
        is(text, NOW, "UTC", wire);
    }
    // Noon in UTC is Saturday 21:00 in Tokyo, Saturday 07:00 in New York.
    is("7:30 PM", NOW, "Asia/Tokyo", "2026-11-22T19:30:00+09:00");
    for [zone, text, wire] in rows(
        "Asia/Tokyo       | in 3 days 19:30 | 2026-11-24T19:30:00+09:00
         America/New_York | at 19:30        | 2026-11-21T19:30:00-05:00
         America/New_York | 07:00           | 2026-11-22T07:00:00-05:00
         America/New_York | 07:00:01        | 2026-11-21T07:00:01-05:00",
    ) {
        is(text, NOW, zone, wire);
    }
}

#[test]
fn a_weekday_is_the_next_one_on_which_the_time_is_still_to_come() {
    for [text, wire] in rows(
        "
        sat 13:00            | 2026-11-21T13:00:00+00:00
        sat noon             | 2026-11-28T12:00:00+00:00
        this saturday 11:59  | 2026-11-28T11:59:00+00:00
        FRI 8pm              | 2026-11-27T20:00:00+00:00
        sun, 0:00            | 2026-11-22T00:00:00+00:00
        20:00 thurs          | 2026-11-26T20:00:00+00:00
        ",
    ) {
        is(text, NOW, "UTC", wire);
    }
}

#[test]
fn years_end_leap_days_come_and_hours_pass_whatever_the_clocks_do() {
    // At 01:30 in winter, two hours later it is 04:30 in summer. Before offsets had whole minutes a moment is told in UTC.
    for [zone, now, text, wire] in rows(
        "UTC          | 2026-12-31T23:30:00Z | tomorrow 0:15    | 2027-01-01T00:15:00+00:00
         UTC          | 2026-12-31T23:30:00Z | fri 8pm          | 2027-01-01T20:00:00+00:00
         Asia/Tokyo   | 2026-12-31T23:30:00Z | 1 jan 0:00       | 2028-01-01T00:00:00+09:00
         UTC          | 2028-02-28T10:00:00Z | in 1 day 9am     | 2028-02-29T09:00:00+00:00
         UTC          | 2096-02-29T12:00:00Z | 29 feb 12:00     | 2104-02-29T12:00:00+00:00
         Europe/Paris | 2026-11-21T12:00:00Z | in 2 hours       | 2026-11-21T15:00:00+01:00
         UTC          | 2026-11-21T12:00:00Z | in 1h30m         | 2026-11-21T13:30:00+00:00
         Europe/Paris | 2027-03-28T00:30:00Z | in 120 minutes   | 2027-03-28T04:30:00+02:00
         Europe/Paris | 2027-10-30T10:00:00Z | in 24 hours      | 2027-10-31T11:00:00+01:00
         Europe/Paris | 2027-10-30T10:00:00Z | in 1 day 12:00   | 2027-10-31T12:00:00+01:00
         Europe/Paris | 2026-11-21T12:00:00Z | 1900-01-01 12:00 | 1900-01-01T11:50:39+00:00",
    ) {
        is(text, now, zone, wire);
    }
}

#[test]
fn a_day_and_a_range_are_read_as_in_a_time() {
    // A Sunday.
    let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
    for [text, first, last] in rows(
        "today                    | 2026-11-22 | 2026-11-22
         yesterday..tomorrow      | 2026-11-21 | 2026-11-23
         fri                      | 2026-11-27 | 2026-11-27
         sunday                   | 2026-11-22 | 2026-11-22
         2026-11-27               | 2026-11-27 | 2026-11-27
         2026-11-27 .. 2026-12-02 | 2026-11-27 | 2026-12-02
         sat..mon                 | 2026-11-21 | 2026-11-23",
    ) {
        let days = Days::parse(text).unwrap().resolve(now, &TimeZone::UTC);
        let (from, to) = days.unwrap();
        assert_eq!(format!("{from} {to}"), format!("{first} {last}"), "{text}");
    }
    for text in ["", "..", "19:30", "fri 19:30", "fri..", "someday"] {
        assert!(Days::parse(text).is_err(), "{text:?}");
    }
    for text in "2026-13-01|31 nov|3/4/2026|27.|dec|20266-1-1|next fri".split('|') {
        let sentence = Days::parse(text).unwrap_err();
        let (_, advice) = sentence.rsplit_once("; ").unwrap();
        let mut examples = advice.split('`').skip(1).step_by(2).peekable();
        assert!(examples.peek().is_some(), "{sentence}");
        for example in examples {
            assert!(Days::parse(example).is_ok(), "{sentence}");
        }
    }
    let backwards = Days::parse("2026-11-27..2026-11-20").unwrap();
    assert!(backwards.resolve(now, &TimeZone::UTC).is_err());
}
