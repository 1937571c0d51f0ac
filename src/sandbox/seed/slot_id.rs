//! Availability ids: opaque, of a fixed length, and sufficient to find the slot again.

use jiff::Timestamp;

use super::seeded_random::Purpose;
use super::venue::Venue;

/// More seconds than the supported times have on either side of 1970.
const BIAS: i64 = 1 << 39;

/// `slot_`, the start in seconds, so that ids sort by it, the seating, and a hash of both and the venue.
pub(super) fn slot_id(venue: &Venue, start: Timestamp, seating: u8) -> String {
    let seconds = start.as_second() + BIAS;
    let hash = venue
        .random
        .for_purpose(Purpose::IdCheck)
        .with(seconds.cast_unsigned())
        .with(seating.into())
        .bits(64);
    format!("slot_{seconds:010x}{seating:02x}{hash:016x}")
}

/// The start and the seating in an id. Its hash is not looked at.
pub(super) fn start_and_seating(id: &str) -> Option<(Timestamp, u8)> {
    let code = id.strip_prefix("slot_")?;
    let seconds = i64::from_str_radix(code.get(..10)?, 16).ok()?;
    let seating = u8::from_str_radix(code.get(10..12)?, 16).ok()?;
    let start = Timestamp::from_second(seconds.checked_sub(BIAS)?).ok()?;
    Some((start, seating))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed::seeded_random::SeededRandom;
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
        let id = |start: Timestamp, seating| slot_id(venue, start, seating);
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
