//! Input from a generator: whatever is typed, nothing panics and nothing is guessed.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::When;

const PIECES: &str = "2026 -12 -01 2027-03-28 2027-10-31 2028-02-29 T t 19:30 02:30 :15 .5 Z \
    +01:00 -05 +0100 [Europe/Paris] [ ] 7pm 7:30 pm am noon today tomorrow fri friday sun next \
    this in 1 3 31 2 days weeks hours h 30m dec 1st february 29 at , / 0 9999 \
    99999999999999999999 é \u{1b} \u{202e} ( ) - : .";

/// A small generator with a fixed seed, so that a failure comes back.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

#[test]
fn whatever_is_typed_ends_in_a_moment_that_reads_back_or_in_one_harmless_sentence() {
    let pieces: Vec<&str> = PIECES.split(' ').collect();
    let zones = ["Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]
        .map(|name| TimeZone::get(name).unwrap());
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut moments = 0;
    for _ in 0..40_000 {
        let mut text = String::new();
        for _ in 0..=dice.roll(6) {
            text.push_str(pieces[dice.roll(pieces.len())]);
            text.push_str(["", " "][dice.roll(2)]);
        }
        let now = 1_300_000_000 + i64::try_from(dice.roll(600_000_000)).unwrap();
        let now = Timestamp::from_second(now).unwrap();
        let zone = &zones[dice.roll(zones.len())];
        let outcome = When::parse(&text).and_then(|when| when.resolve(now, zone));
        match outcome {
            Ok(moment) => {
                moments += 1;
                for again in [moment.wire(), moment.human()] {
                    let again = When::parse(&again).unwrap_or_else(|e| panic!("{text}: {e}"));
                    assert_eq!(
                        again.exact().unwrap().timestamp(),
                        moment.timestamp(),
                        "{text}"
                    );
                    assert_eq!(again.exact().unwrap().wire(), moment.wire(), "{text}");
                }
            }
            Err(sentence) => {
                assert!(
                    ["; use ", "; try ", "; did you mean "]
                        .iter()
                        .any(|advice| sentence.contains(advice)),
                    "{sentence}"
                );
                assert!(
                    !sentence.contains(['\n', '\u{1b}', '\u{202e}']),
                    "{sentence}"
                );
            }
        }
    }
    assert!(moments > 500, "{moments}");
}

proptest! {
    #[test]
    fn any_text_at_all_is_a_time_or_one_harmless_sentence(text in any::<String>()) {
        if let Err(error) = When::parse(&text) {
            prop_assert!(!error.contains(char::is_control), "{}", error);
        }
    }
}
