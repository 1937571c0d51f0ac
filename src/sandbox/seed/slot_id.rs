//! Availability ids: opaque, of a fixed length, and sufficient to find the slot again.
//!
//! `slot_` and 24 characters of Crockford's base32 in lower case. Their 120 bits are, from the top:
//! the start in seconds (40, biased, so that ids sort by start), a hash of the venue's id (40), the
//! seating (5) and a checksum of all of these (35). It hashes the id, not a row number,
//! so that new venues leave existing ids alone. Each slot has exactly one spelling.

use std::fmt;

use jiff::Timestamp;

use super::seeded_random::{Purpose, SeededRandom};
use super::venue::Venue;

const PREFIX: &str = "slot_";
const LENGTH: usize = 24;
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

const VENUE_BITS: u32 = 40;
const SEATING_BITS: u32 = 5;
const CHECK_BITS: u32 = 35;
/// Half the range of 40 bits: more seconds than the supported times have on either side of 1970.
const BIAS: i64 = 1 << 39;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotId {
    pub(super) start: Timestamp,
    /// The venue's hash, for [`SlotId::names`].
    pub(super) venue: u64,
    pub(super) seating: u8,
}

impl SlotId {
    pub(super) fn of(venue: &Venue, start: Timestamp, seating: u8) -> Self {
        Self {
            start,
            venue: venue.random.bits(VENUE_BITS),
            seating,
        }
    }

    pub(super) fn names(hash: u64, venue: &Venue) -> bool {
        venue.random.bits(VENUE_BITS) == hash
    }

    /// Parses an id; `None` if a character, the length or the checksum is wrong.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let code = text.strip_prefix(PREFIX)?.as_bytes();
        if code.len() != LENGTH {
            return None;
        }
        let bits = code.iter().try_fold(0_u128, |bits, byte| {
            let digit = DIGITS.iter().position(|it| it == byte)?;
            Some(bits << 5 | digit as u128)
        })?;
        let (said, check) = (bits >> CHECK_BITS, low(bits, CHECK_BITS));
        let (place, seating) = (said >> SEATING_BITS, low(said, SEATING_BITS));
        let (seconds, venue) = ((place >> VENUE_BITS) as i64 - BIAS, low(place, VENUE_BITS));
        let id = Self {
            start: Timestamp::from_second(seconds).ok()?,
            venue,
            seating: seating as u8,
        };
        (id.check() == check).then_some(id)
    }

    fn seconds(self) -> u64 {
        (self.start.as_second() + BIAS).cast_unsigned()
    }

    fn check(self) -> u64 {
        SeededRandom::from_text(PREFIX)
            .for_purpose(Purpose::IdCheck)
            .with(self.seconds())
            .with(self.venue)
            .with(u64::from(self.seating))
            .bits(CHECK_BITS)
    }
}

/// The lowest `count` bits, for a count below 64.
const fn low(bits: u128, count: u32) -> u64 {
    bits as u64 & ((1 << count) - 1)
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = u128::from(self.seconds()) << (VENUE_BITS + SEATING_BITS)
            | u128::from(self.venue) << SEATING_BITS
            | u128::from(self.seating);
        let bits = said << CHECK_BITS | u128::from(self.check());
        let digits = (0..LENGTH).rev().map(|place| {
            let digit = low(bits >> (5 * place), 5);
            char::from(DIGITS[digit as usize])
        });
        let mut id = String::with_capacity(PREFIX.len() + LENGTH);
        id.push_str(PREFIX);
        id.extend(digits);
        f.write_str(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed::{slot, slots_on, venue};

    fn offered() -> Vec<String> {
        let day = jiff::civil::date(2026, 12, 1);
        [
            "ven_otp",
            "ven_london_quince_and_barrow",
            "ven_tokyo_edo_pedal",
        ]
        .into_iter()
        .flat_map(|id| slots_on(venue(id).unwrap(), day))
        .map(|slot| slot.id)
        .collect()
    }

    #[test]
    fn an_id_with_one_character_changed_moved_or_missing_names_no_slot() {
        for id in offered() {
            assert!(slot(&id).is_some(), "{id}");
            for (at, was) in id.char_indices() {
                for other in ('0'..='9')
                    .chain('a'..='z')
                    .chain(['A', 'O', ' ', 'é', '\0', '😀'])
                {
                    let mut altered = id.clone();
                    altered.replace_range(at..at + was.len_utf8(), &other.to_string());
                    assert!(other == was || slot(&altered).is_none(), "{altered}");
                }
                let (head, tail) = id.split_at(at);
                assert!(slot(head).is_none());
                assert!(slot(tail).is_none() || tail == id);
                assert!(slot(&format!("{head}{tail}{was}")).is_none());
            }
            assert!(slot(&id.to_uppercase()).is_none());
        }
    }

    #[test]
    fn a_well_formed_id_that_was_never_offered_names_no_slot() {
        let venue = venue("ven_confirms").unwrap();
        let offered = slots_on(venue, jiff::civil::date(2026, 12, 1))[0]
            .datetime
            .timestamp();
        let id = |start: Timestamp, seating| SlotId::of(venue, start, seating).to_string();
        assert!(slot(&id(offered, 0)).is_some());
        assert!(slot(&id(offered, 1)).is_none());
        for seconds in [-1, 1, 60, 900, -1_800] {
            let start = Timestamp::from_second(offered.as_second() + seconds).unwrap();
            assert!(slot(&id(start, 0)).is_none(), "{seconds}");
        }
        let last = Timestamp::from_second(Timestamp::MAX.as_second() - 1).unwrap();
        for start in [Timestamp::MIN, last, Timestamp::UNIX_EPOCH] {
            assert!(slot(&id(start, 0)).is_none());
            assert!(slot(&id(start, 31)).is_none());
        }
        let stranger = SlotId {
            start: offered,
            venue: 0,
            seating: 0,
        };
        assert!(slot(&stranger.to_string()).is_none());
    }

    #[test]
    fn no_text_makes_reading_an_id_panic() {
        let alphabet: Vec<char> = "0189abstoluz_-=AZ \n\0é漢😀\u{202e}".chars().collect();
        for number in 0..20_000 {
            let random = SeededRandom::from_text("noise").with(number);
            let length = random.with(0).below(40);
            let noise: String = (1..=length)
                .map(|at| alphabet[random.with(at).below(alphabet.len() as u64) as usize])
                .collect();
            assert!(slot(&noise).is_none());
            assert!(slot(&format!("slot_{noise}")).is_none());
        }
    }

    #[test]
    fn ids_sort_by_the_start_of_their_slots() {
        let slots = slots_on(venue("ven_otp").unwrap(), jiff::civil::date(1969, 12, 31));
        assert!(slots.is_sorted_by(|one, other| one.id < other.id));
    }
}
