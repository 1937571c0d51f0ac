//! Hashes of texts, for indexes whose entries have to be small. They are in the file, so they may not change.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

/// 64-bit FNV-1a of two texts, mixed as SplitMix64 does, so that each bit depends on all others.
pub(super) fn hash(one: &str, other: &str) -> i64 {
    let bytes = one.bytes().chain([0xff]).chain(other.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).cast_signed()
}

/// The last 32 bits, which take half the room.
pub(super) fn short_hash(one: &str, other: &str) -> i32 {
    hash(one, other) as i32
}

/// Lets SQL statements of this program call `hash`. Nothing in a schema may: other programs have to be
/// able to check the file.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("hash", 2, flags, |call| {
        Ok(hash(call.get_raw(0).as_str()?, call.get_raw(1).as_str()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_what_it_was_when_files_were_written_with_it() {
        assert_eq!(hash("org_sandbox", "slot_1"), 8_781_897_813_812_621_763);
        assert_eq!(short_hash("org_sandbox", "slot_1"), 2_115_285_443);
        assert_ne!(hash("a", "bc"), hash("ab", "c"));
    }
}
