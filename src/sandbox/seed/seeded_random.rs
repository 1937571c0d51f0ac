//! Pseudo-random numbers that depend only on their seed.
//!
//! A slot's id, price and terms must be the same tomorrow and in the next version, so they do not
//! use a library's generator. All of the arithmetic is here: FNV-1a over bytes, and SplitMix64's
//! finaliser to mix in further numbers. **Changing either changes every slot.**

/// A random value that is determined by what was mixed into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeededRandom(u64);

/// What a random value decides. The numbers are part of the arithmetic and must not be reused.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Gap = 1,
    Capacity = 2,
    Duration = 3,
    Price = 4,
    Seating = 5,
    Policy = 6,
    IdCheck = 7,
}

impl SeededRandom {
    /// A value seeded with a text (64-bit FNV-1a).
    pub(super) fn from_text(text: &str) -> Self {
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(hash)
    }

    /// The value with a further number mixed in (SplitMix64).
    pub(super) fn with(self, number: u64) -> Self {
        let mut mixed = self
            .0
            .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(mixed ^ (mixed >> 31))
    }

    pub(super) fn for_purpose(self, purpose: Purpose) -> Self {
        self.with(purpose as u64)
    }

    /// The top `count` bits, for `count` in 1..=64.
    pub(super) const fn bits(self, count: u32) -> u64 {
        self.0 >> (64 - count)
    }

    /// A number in `0..bound`; 0 if the bound is 0.
    pub(super) const fn below(self, bound: u64) -> u64 {
        // The high half of the product is evenly distributed and needs no division.
        ((self.0 as u128 * bound as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arithmetic_is_the_published_one() {
        // FNV-1a's own test vector, and the first output of SplitMix64 seeded with 0.
        assert_eq!(SeededRandom::from_text("foobar").0, 0x8594_4171_f739_67e8);
        assert_eq!(SeededRandom(0).with(1).0, 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_draw_below_a_bound_reaches_every_number_and_no_other() {
        let mut seen = [0_u32; 6];
        for number in 0..600 {
            seen[SeededRandom::from_text("spread").with(number).below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
    }
}
