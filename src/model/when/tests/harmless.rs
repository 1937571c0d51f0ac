//! Input from a generator: whatever is typed, nothing panics and nothing is guessed.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::When;
use crate::arbitrary;

const PIECES: &[&str] = &[
    " ",
    " ",
    " ",
    "2026",
    "-12",
    "-01",
    "2027-03-28",
    "2027-10-31",
    "2028-02-29",
    "T",
    "19:30",
    "02:30",
    ":15",
    ".5",
    "Z",
    "+01:00",
    "-05",
    "[Europe/Paris]",
    "7pm",
    "pm",
    "noon",
    "today",
    "tomorrow",
    "fri",
    "next",
    "in ",
    "1",
    "3",
    "31",
    " days",
    " hours",
    "h",
    "30m",
    "dec",
    "1st",
    "february",
    "29",
    ",",
    "/",
    "99999999999999999999",
    "\u{202e}",
];

proptest! {
    #[test]
    fn whatever_is_typed_ends_in_a_moment_that_reads_back_or_in_one_harmless_sentence(
        text in prop_oneof![1 => any::<String>(), 9 => arbitrary::made_of(PIECES)],
        now in 1_300_000_000..1_900_000_000_i64,
        zone in prop::sample::select(&["Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]),
    ) {
        let now = Timestamp::from_second(now).unwrap();
        let zone = TimeZone::get(zone).unwrap();
        match When::parse(&text).and_then(|when| when.resolve(now, &zone)) {
            Ok(moment) => for again in [moment.wire(), moment.human()] {
                let again = When::parse(&again).unwrap();
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
