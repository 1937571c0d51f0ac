//! Draws: numbers that look accidental and never change.
//!
//! A slot's id, price and terms have to be the same tomorrow and in the next version, so they hang
//! on no library's generator. The whole of the arithmetic is here: FNV-1a over bytes, SplitMix64's
//! finaliser to fold in further numbers. **Changing either changes every seeded slot.**

/// A draw in progress: what it is about so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw(u64);

/// What a draw decides. The numbers are part of the arithmetic: they are never reused.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    Gap = 1,
    Capacity = 2,
    Duration = 3,
    Price = 4,
    Seating = 5,
    Policy = 6,
    IdCheck = 7,
}

impl Draw {
    /// A draw about a named thing (64-bit FNV-1a of the name).
    pub(super) fn about(name: &str) -> Self {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(hash)
    }

    /// The same draw, narrowed to one number (SplitMix64 over both).
    pub(super) fn and(self, number: u64) -> Self {
        let mut mixed = self
            .0
            .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(mixed ^ (mixed >> 31))
    }

    /// The same draw, for one question.
    pub(super) fn ask(self, question: Question) -> Self {
        self.and(question as u64)
    }

    /// The top `count` bits, for `count` in 1..=64.
    pub(super) const fn bits(self, count: u32) -> u64 {
        self.0 >> (64 - count)
    }

    /// A number in `0..bound`; 0 where the bound is 0.
    pub(super) const fn below(self, bound: u64) -> u64 {
        // The high half of the product: even, without a division.
        ((self.0 as u128 * bound as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arithmetic_is_the_published_one() {
        // FNV-1a's own test vector, and the first output of SplitMix64 seeded with 0.
        assert_eq!(Draw::about("foobar").0, 0x8594_4171_f739_67e8);
        assert_eq!(Draw(0).and(1).0, 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_draw_below_a_bound_reaches_every_number_and_no_other() {
        let mut seen = [0_u32; 6];
        for number in 0..600 {
            seen[Draw::about("spread").and(number).below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
    }
}
