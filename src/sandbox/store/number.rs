//! Numbers of new rows, and random codes.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

/// The last number that was given out or read from a database.
static LAST: AtomicI64 = AtomicI64::new(0);

/// A number that grows with the time of creation: the milliseconds of real time, then 21 bits that
/// start at random in each millisecond and count up. It is real time because the sandbox's clock
/// can be reset, and a number must never be used again.
pub(crate) fn next_number() -> i64 {
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
    // It is called under the store's lock, so that no other number was taken meanwhile.
    LAST.store(next, Ordering::Relaxed);
    next
}

/// Makes the numbers of this transaction follow those that other processes committed.
pub(super) fn count_on(connection: &Connection) -> rusqlite::Result<()> {
    let last = connection
        .prepare_cached(
            "SELECT max(ifnull((SELECT max(number) FROM bookings), 0), \
             ifnull((SELECT max(number) FROM events), 0), \
             ifnull((SELECT max(number) FROM messages), 0), \
             ifnull((SELECT max(number) FROM sessions), 0), \
             ifnull((SELECT max(number) FROM faults), 0))",
        )?
        .query_row((), |row| row.get(0))?;
    LAST.fetch_max(last, Ordering::Relaxed);
    Ok(())
}

pub(crate) fn one_time_code() -> String {
    format!("{:06}", 1 + random() % 999_999)
}

/// 32 random bits: the end of a hash under a key that is drawn anew. Only the first key of a thread
/// is asked of the system.
pub(crate) fn random() -> u32 {
    RandomState::new().hash_one(()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_past_those_that_another_process_committed() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("schema.sql")).unwrap();
        let ahead = next_number() + (1 << 40);
        connection.execute("INSERT INTO faults (number, fault) VALUES (?, '')", [ahead]).unwrap();
        count_on(&connection).unwrap();
        assert!(next_number() > ahead);
    }

    #[test]
    fn a_code_has_six_digits_and_is_not_all_zeros() {
        for _ in 0..1_000 {
            let code = one_time_code();
            assert!(code.len() == 6 && code != "000000", "{code}");
        }
    }
}
