//! What is refused, and the sentence that says so.

use super::super::{Days, When};
use super::{NOW, resolve};
use crate::model::rows;

fn refusal(text: &str) -> String {
    When::parse(text).map_or_else(|error| error, |when| panic!("{text}: {when:?}"))
}

#[test]
fn whatever_is_unclear_or_impossible_is_refused_with_its_reason_and_an_example_that_works() {
    for [text, why] in rows(
        "
                                               | cannot be empty
        tomorrow                               | the time of day is missing
        2026-12-01                             | the time of day is missing
        2026-12-01T                            | the time of day is missing
        dec 1 1930                             | the time of day is missing
        in 3 days                              | the time of day is missing
        tomorrow 19                            | and no time (19:30, 8pm)
        19                                     | and no time (19:30, 8pm)
        1 dec 27 19:30                         | and no time (19:30, 8pm)
        1 and 2 dec 19:30                      | and no time (19:30, 8pm)
        19:30 20:30                            | two times of day
        01/12/2026 19:30                       | order of day and month
        01.12.2026 19:30                       | order of day and month
        1-12-2026 19:30                        | order of day and month
        2026-1-5 19:30                         | order of day and month
        2026/12/01 19:30                       | order of day and month
        19.30                                  | a time has a colon
        midnight                               | ends one day and begins another
        next fri 20:00                         | `next` is ambiguous
        now                                    | already over
        24:00                                  | hours 0 to 23
        2026-12-01 25:00                       | hours 0 to 23
        119:30                                 | hours 0 to 23, not 119
        19:60                                  | minutes are 00 to 59
        7:5                                    | minutes are 00 to 59
        2026-12-31T23:59:60Z                   | seconds are 00 to 59
        13pm                                   | 1 to 12, not 13
        0am                                    | 1 to 12, not 0
        30 feb 19:30                           | no day 30 in february
        2027-02-29 19:30                       | no day 29 in february 2027
        2026-13-01 19:30                       | no month 13
        2026-00-01 19:30                       | no month 0
        0 dec 19:30                            | no day 0
        123 dec 19:30                          | no day 123
        dec 19:30                              | the day of the month is missing
        dec 8pm                                | the day of the month is missing
        0000-01-01 19:30                       | a year is 0001 to 9999
        10000-01-01 19:30                      | a year is 0001 to 9999
        9999-12-31T23:30-12:00                 | after the year 9999
        wed 2026-12-01 19:30                   | is a Tuesday, not a Wednesday
        19:30+01:00                            | belongs to a full date
        tomorrow 19:30Z                        | belongs to a full date
        2026-12-01 19:30-20:00                 | between -12:00 and +14:00
        2026-12-01 19:30 - 20:00               | an offset is two digits
        2026-12-01 19:30 Europe/Paris          | unknown word `europe/paris`
        2026-12-01 19:30 CET                   | `cet`
        in 2 hours 19:30                       | nothing can follow them
        in 1 day 3 hours                       | days need a time of day
        in 30 minutes 1 hour                   | `in` needs a number
        in a month 19:30                       | `in` needs a number
        in 9999999999 days 19:30               | `in` needs a number
        fri sat 20:00                          | two days
        tomorow                                | did you mean 'tomorrow'?
        tomorow 20:00                          | did you mean 'tomorrow'?
        firday 8pm                             | did you mean 'friday'?
        friday                                 | the time of day is missing
        next friday                            | `next` is ambiguous; use `fri`
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
fn what_only_the_clock_can_tell_is_refused_when_it_is_asked() {
    for text in ["in 2999999 days 19:30", "in 99999999 hours"] {
        let error = resolve(text, NOW, "UTC").unwrap_err();
        assert!(error.contains("after the year 9999"), "{error}");
    }
    let error = resolve("fri 1 dec 19:30", NOW, "UTC").unwrap_err();
    assert!(
        error.starts_with("2026-12-01 is a Tuesday, not a Friday"),
        "{error}"
    );
}

#[test]
fn a_refusal_shows_no_control_character_and_no_more_than_helps() {
    let sentence = refusal("19:30\u{1b}]0;owned\u{7}\u{202e}\n");
    assert!(!sentence.chars().any(char::is_control), "{sentence}");
    assert!(
        sentence.contains(r"`19:30\u{1b}]0;owned\u{7}\u{202e}`"),
        "{sentence}"
    );
    let sentence = refusal(&"é".repeat(201));
    assert!(
        sentence.contains("longer than 200 characters") && sentence.len() < 400,
        "{sentence}"
    );
}
