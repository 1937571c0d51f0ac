use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{Days, When};
use crate::arbitrary;
use crate::service::documents::rows;

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
        assert_eq!(when.exact().map(|moment| moment.wire()).as_deref(), Some(wire), "{text}");
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
        in 1 month 19:30                | 2026-12-21T19:30:00+00:00
        in 1 year 19:30                 | 2027-11-21T19:30:00+00:00
        in 1 week 2 days, noon          | 2026-11-30T12:00:00+00:00
        19:30 on 1 December 2027        | 2027-12-01T19:30:00+00:00
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
        FRI 8pm              | 2026-11-27T20:00:00+00:00
        sun, 0:00            | 2026-11-22T00:00:00+00:00
        20:00 thurs          | 2026-11-26T20:00:00+00:00
        Fri 4 Dec 19:30      | 2026-12-04T19:30:00+00:00
        21 nov 12:00         | 2027-11-21T12:00:00+00:00
        noon, 29 february    | 2028-02-29T12:00:00+00:00
        ",
    ) {
        is(text, NOW, "UTC", wire);
    }
}

#[test]
fn times_are_right_over_years_leap_days_and_clock_changes() {
    // At 01:30 in winter, two hours later it is 04:30 in summer. Before offsets had whole minutes a
    // moment is in UTC.
    for [zone, now, text, wire] in rows(
        "UTC          | 2026-12-31T23:30:00Z | tomorrow 0:15    | 2027-01-01T00:15:00+00:00
         UTC          | 2026-12-31T23:30:00Z | fri 8pm          | 2027-01-01T20:00:00+00:00
         UTC          | 2028-02-28T10:00:00Z | in 1 day 9am     | 2028-02-29T09:00:00+00:00
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

#[test]
fn time_that_clock_change_skips_or_repeats_is_refused() {
    for [zone, text, what, earlier, later] in rows(
        "Europe/Paris        | 2027-03-28 02:30     | does not exist | 2027-03-28T01:30:00+01:00 | 2027-03-28T03:30:00+02:00
         America/New_York    | 14 mar 2027 2:30am   | does not exist | 2027-03-14T01:30:00-05:00 | 2027-03-14T03:30:00-04:00
         Australia/Lord_Howe | 2027-10-03 02:15     | does not exist | 2027-10-03T01:45:00+10:30 | 2027-10-03T02:45:00+11:00
         Pacific/Apia        | fri 30 dec 2011, 0:00 | does not exist | 2011-12-29T00:00:00-10:00 | 2011-12-31T00:00:00+14:00
         Europe/Paris        | 2027-10-31 02:30     | happens twice  | 2027-10-31T02:30:00+02:00 | 2027-10-31T02:30:00+01:00
         America/New_York    | 2026-11-01 1:30am    | happens twice  | 2026-11-01T01:30:00-04:00 | 2026-11-01T01:30:00-05:00
         Australia/Lord_Howe | 2027-04-04 01:45     | happens twice  | 2027-04-04T01:45:00+11:00 | 2027-04-04T01:45:00+10:30",
    ) {
        let error = resolve(text, NOW, zone).unwrap_err();
        assert!(error.contains(what) && error.contains(&format!("`{earlier}` or `{later}`")), "{error}");
        for reading in [earlier, later] {
            is(reading, NOW, zone, reading);
        }
    }
}

#[test]
fn a_time_beside_a_change_has_the_offset_of_its_side() {
    for [zone, text, now, resolved] in rows(
        "Australia/Lord_Howe | 2027-10-03 02:30 | 2026-11-24T12:00:00Z | 2027-10-03T02:30:00+11:00
         Europe/Paris        | 2027-03-28 03:00 | 2026-11-24T12:00:00Z | 2027-03-28T03:00:00+02:00
         Australia/Lord_Howe | 2027-04-04 01:15 | 2026-11-24T12:00:00Z | 2027-04-04T01:15:00+11:00
         Europe/Paris        | 2027-10-31 03:00 | 2026-11-24T12:00:00Z | 2027-10-31T03:00:00+01:00
         Asia/Tokyo          | 2027-03-28 02:30 | 2026-11-24T12:00:00Z | 2027-03-28T02:30:00+09:00
         UTC                 | 2027-10-31 02:30 | 2026-11-24T12:00:00Z | 2027-10-31T02:30:00+00:00
         Europe/Paris        | sun 20:00        | 2027-03-27T12:00:00Z | 2027-03-28T20:00:00+02:00
         America/New_York    | mon 20:00        | 2026-10-31T23:30:00Z | 2026-11-02T20:00:00-05:00
         Europe/Paris        | 02:30            | 2027-03-28T01:10:00Z | 2027-03-29T02:30:00+02:00
         Europe/Paris        | 02:30            | 2027-10-31T01:30:00Z | 2027-11-01T02:30:00+01:00",
    ) {
        is(text, now, zone, resolved);
    }
}

#[test]
fn next_occurrence_of_time_is_refused() {
    let error = resolve("02:30", "2027-03-28T00:30:00Z", "Europe/Paris").unwrap_err();
    assert!(error.contains("does not exist"), "{error}");
    // Before the time is first shown, between its two readings, and although the clock was later.
    for now in ["2027-10-30T23:00:00Z", "2027-10-31T00:45:00Z", "2027-10-31T00:59:00Z"] {
        let error = resolve("sun 02:30", now, "Europe/Paris").unwrap_err();
        assert!(error.contains("happens twice"), "{now}: {error}");
    }
}

fn refusal(text: &str) -> String {
    When::parse(text).map_or_else(|error| error, |when| panic!("{text}: {when:?}"))
}

#[test]
fn unclear_or_impossible_time_is_refused_with_its_reason() {
    for [text, why] in rows(
        "
                                               | cannot be empty
        tomorrow                               | it has no time of day
        2026-12-01T                            | it has no time of day
        in 3 days                              | it has no time of day
        tomorrow 19                            | `19` is not understood
        1 and 2 dec 19:30                      | `1` is not understood
        19:30 20:30                            | two times of day
        01/12/2026 19:30                       | `01/12/2026` is not understood
        01.12.2026 19:30                       | `01.12.2026` is not understood
        1-12-2026 19:30                        | a year is 0001 to 9999
        19.30                                  | `19.30` is not understood
        midnight                               | `midnight` is not understood
        next fri 20:00                         | `next` can mean
        now                                    | `now` is not understood
        1 dec 19:30Z                           | belongs to a full date
        30 feb 19:30                           | no day 30 in february
        dec 8pm                                | `dec` is not understood
        24:00                                  | not a time of day
        119:30                                 | not a time of day
        19:60                                  | not a time of day
        7:5                                    | not a time of day
        2026-12-31T23:59:60Z                   | not a time of day
        13pm                                   | `13pm` is not a time of day
        0am                                    | `0am` is not a time of day
        2027-02-29 19:30                       | no day 29 in february 2027
        123 dec 2027 19:30                     | no day 123 in december 2027
        2026-13-01 19:30                       | no such month
        0000-01-01 19:30                       | a year is 0001 to 9999
        10000-01-01 19:30                      | a year is 0001 to 9999
        1 dec 27 19:30                         | a year is 0001 to 9999
        9999-12-31T23:30-12:00                 | after the year 9999
        wed 2026-12-01 19:30                   | is a Tuesday, not a Wednesday
        tomorrow 19:30Z                        | belongs to a full date
        2026-12-01 19:30-20:00                 | between -12:00 and +14:00
        2026-12-01 19:30 - 20:00               | an offset is two digits
        2026-12-01 19:30 Europe/Paris          | `europe/paris` is not understood
        in 2 hours 19:30                       | nothing can follow them
        in 1 day 3 hours                       | days need a time of day
        in a month 19:30                       | `a month` is not a number with a unit
        in 2 parsecs 19:30                     | `2 parsecs` is not a number with a unit
        in 9999999999 days 19:30               | is not a number with a unit
        fri sat 20:00                          | two days
        tomorow 20:00                          | did you mean 'tomorrow'?
        ",
    ) {
        let sentence = refusal(text);
        assert!(sentence.contains(why), "{text}: {sentence}");
        let sentence = sentence.replace("; try ", "; use ");
        let Some((_, instead)) = sentence.split_once("; use ") else {
            assert!(sentence.contains("did you mean"), "{sentence}");
            continue;
        };
        for example in instead.split('`').skip(1).step_by(2) {
            let is_offset = example.starts_with(['+', '-']);
            assert!(
                When::parse(example).is_ok() || Days::parse(example).is_ok() || is_offset,
                "{text}: {example}"
            );
        }
    }
}

#[test]
fn time_that_needs_the_clock_is_refused_when_it_is_resolved() {
    for text in ["in 2999999 days 19:30", "in 99999999 hours"] {
        let error = resolve(text, NOW, "UTC").unwrap_err();
        assert!(error.contains("after the year 9999"), "{error}");
    }
    let error = resolve("thu 4 dec 19:30", NOW, "UTC").unwrap_err();
    let agreed = "2026-12-04 is a Friday, not a Thursday; use only the date";
    assert!(error.contains(agreed), "{error}");
}

#[test]
fn refusal_of_a_time_shows_no_control_characters() {
    let sentence = refusal("19:30\u{1b}]0;owned\u{7}\u{202e}\n");
    assert!(!sentence.chars().any(char::is_control), "{sentence}");
    assert!(sentence.contains(r"`19:30\u{1b}]0;owned\u{7}\u{202e}`"), "{sentence}");
    let sentence = refusal(&"é".repeat(201));
    assert!(sentence.contains("longer than 200 characters") && sentence.len() < 400, "{sentence}");
}

/// What times are made of. `|` separates.
const PIECES: &str = " | | |2026|-12|-01|2027-03-28|2027-10-31|2028-02-29|T|19:30|02:30|:15|.5|Z|+01:00|-05|[Europe/Paris]|7pm|pm|noon|today|\
    tomorrow|fri|next|in |1|3|31| days| hours|h|30m|dec|1st|february|29|,|/|99999999999999999999|\u{202e}";

proptest! {
    #[test]
    fn any_text_is_a_moment_that_reads_back_or_one_sentence(
        text in prop_oneof![1 => any::<String>(), 9 => arbitrary::made_of(PIECES.split('|').collect::<Vec<_>>())],
        now in 1_300_000_000..1_900_000_000_i64,
        zone in prop::sample::select(&["Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]),
    ) {
        let now = Timestamp::from_second(now).unwrap();
        let zone = TimeZone::get(zone).unwrap();
        match When::parse(&text).and_then(|when| when.resolve(now, &zone)) {
            Ok(moment) => {
                let again = When::parse(&moment.wire()).unwrap();
                prop_assert_eq!(again.exact().unwrap().timestamp(), moment.timestamp());
                prop_assert_eq!(again.exact().unwrap().wire(), moment.wire());
            },
            Err(sentence) => {
                let mut advice = ["; use ", "; try ", "; did you mean "].into_iter();
                prop_assert!(advice.any(|it| sentence.contains(it)), "{}", sentence);
                prop_assert!(!sentence.contains(['\n', '\u{1b}', '\u{202e}']), "{}", sentence);
            }
        }
    }
}
