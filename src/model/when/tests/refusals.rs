//! What is refused, and the sentence that says so.

use super::super::{ResolveError, When};
use super::{NOW, resolve, rows};
use crate::model::zone::zone;

fn refusal(text: &str) -> String {
    When::parse(text).map_or_else(|error| error.to_string(), |when| panic!("{text}: {when:?}"))
}

#[test]
fn whatever_is_unclear_or_impossible_is_refused_with_its_reason_and_an_example_that_works() {
    for (text, why) in rows(
        "
                                               => cannot be empty
        tomorrow                               => the time of day is missing
        2026-12-01                             => the time of day is missing
        2026-12-01T                            => the time of day is missing
        dec 1 1930                             => the time of day is missing
        in 3 days                              => the time of day is missing
        tomorrow 19                            => and no time (19:30, 8pm)
        19                                     => and no time (19:30, 8pm)
        1 dec 27 19:30                         => and no time (19:30, 8pm)
        1 and 2 dec 19:30                      => and no time (19:30, 8pm)
        19:30 20:30                            => and no time (19:30, 8pm)
        01/12/2026 19:30                       => order of day and month
        01.12.2026 19:30                       => order of day and month
        1-12-2026 19:30                        => order of day and month
        2026-1-5 19:30                         => order of day and month
        2026/12/01 19:30                       => order of day and month
        19.30                                  => a colon
        midnight                               => ends one day and begins another
        next fri 20:00                         => `next` is ambiguous
        now                                    => already over
        24:00                                  => the beginning of the next day
        2026-12-01 25:00                       => hours 0 to 23
        119:30                                 => `119` is not an hour
        19:60                                  => minutes are 00 to 59
        7:5                                    => minutes are 00 to 59
        2026-12-31T23:59:60Z                   => seconds are 00 to 59
        13pm                                   => `13:00` or `1pm`
        0am                                    => 1 to 12, not 0
        30 feb 19:30                           => no day 30 in february
        2027-02-29 19:30                       => no day 29 in february 2027
        2026-13-01 19:30                       => no month 13
        2026-00-01 19:30                       => no month 0
        0 dec 19:30                            => no day 0
        123 dec 19:30                          => `123` is not a day
        dec 19:30                              => the day of the month is missing
        dec 8pm                                => the day of the month is missing
        0000-01-01 19:30                       => a year is 0001 to 9999
        10000-01-01 19:30                      => a year is 0001 to 9999
        9999-12-31T23:30-12:00                 => after the year 9999
        wed 2026-12-01 19:30                   => is a Tuesday, not a Wednesday
        19:30+01:00                            => belongs to a full date
        tomorrow 19:30Z                        => belongs to a full date
        2026-12-01 19:30-20:00                 => between -12:00 and +14:00
        2026-12-01 19:30 - 20:00               => `-`
        2026-12-01T19:30+02:00[Europe/Paris]   => contradicts the zone
        2026-12-01T19:30+00:00[Europe/Paris]   => contradicts the zone
        2027-03-28T02:30+01:00[Europe/Paris]   => contradicts the zone
        2027-03-28 02:30[Europe/Paris]         => does not exist in Europe/Paris
        2027-10-31 02:30[Europe/Paris]         => happens twice in Europe/Paris
        2026-12-01 19:30[Europe/Pari]          => `Europe/Paris` if you meant that
        2026-12-01 19:30[local]                => unknown time zone
        2026-12-01 19:30[Europe/Paris          => bracket is not closed
        2026-12-01 19:30 Europe/Paris          => a zone follows a date
        2026-12-01 19:30 CET                   => `cet`
        in 2 hours 19:30                       => nothing can follow them
        in 1 day 3 hours                       => days need a time of day
        in 30 minutes 1 hour                   => the longest first
        in a month 19:30                       => `in` needs a number
        in 9999999999 days 19:30               => too far away
        in 99999999999999999999 hours          => too large
        fri sat 20:00                          => `sat`
        tomorow                                => did you mean `tomorrow`?); try `tomorrow 19:30`
        tomorow 20:00                          => did you mean `tomorrow`?); try `tomorrow 20:00`
        firday 8pm                             => did you mean `friday`?); try `friday 8pm`
        friday                                 => the time of day is missing; try `friday 19:30`
        next friday                            => `next` is ambiguous; use `fri 20:00`
        tonight                                => the time of day is missing; try `tonight 19:30`
        tonight 9am                            => after 16:00
        ",
    ) {
        let sentence = refusal(text);
        assert!(sentence.contains(why), "{text}: {sentence}");
        let sentence = sentence.replace("; try ", "; use ");
        let (_, instead) = sentence.split_once("; use ").unwrap();
        for example in instead.split('`').skip(1).step_by(2) {
            assert!(
                When::parse(example).is_ok() || zone(example).is_ok(),
                "{text}: {example}"
            );
        }
    }
}

#[test]
fn what_only_the_clock_can_tell_is_refused_when_it_is_asked() {
    for text in ["in 9999999 days 19:30", "in 99999999 hours"] {
        assert_eq!(resolve(text, NOW, "UTC"), Err(ResolveError::TooFar));
    }
    let error = resolve("fri 1 dec 19:30", NOW, "UTC").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("2026-12-01 is a Tuesday, not a Friday"),
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
