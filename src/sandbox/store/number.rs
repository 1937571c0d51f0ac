//! Numbers for what is new, and what has to be random.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A number that grows with the time of creation: the milliseconds of real time, then 21 bits that
/// are random at the first draw in a millisecond and counted on from there, so that one process
/// never repeats itself and several hardly meet. Real time, since the sandbox's clock can be reset.
pub(super) fn next_number() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    const RANDOM_BITS: u32 = 21;
    let millis = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |it| i64::try_from(it.as_millis()).unwrap_or_default());
    let last = LAST.load(Ordering::Relaxed);
    let next = if last >> RANDOM_BITS < millis {
        millis << RANDOM_BITS | i64::from(random() & ((1 << RANDOM_BITS) - 1))
    } else {
        last + 1
    };
    // The store numbers under its lock, so nobody else drew meanwhile.
    LAST.store(next, Ordering::Relaxed);
    next
}

/// Six random digits, never 000000.
pub(crate) fn one_time_code() -> String {
    format!("{:06}", 1 + random() % 999_999)
}

/// A reference that nobody guesses.
pub(crate) fn reference(prefix: &str) -> String {
    format!("{prefix}{:08x}{:08x}", random(), random())
}

/// 32 random bits: the end of a version 7 UUID.
fn random() -> u32 {
    let [.., a, b, c, d] = uuid::Uuid::now_v7().into_bytes();
    u32::from_be_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_six_digits_and_is_not_all_zeros() {
        for _ in 0..1_000 {
            let code = one_time_code();
            assert!(code.len() == 6 && code != "000000", "{code}");
        }
    }
}
