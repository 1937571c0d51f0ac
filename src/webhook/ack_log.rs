//! A log of the app's 2xx answers, written before the database transaction that records them.
//!
//! If the listener is killed between the two writes, the next listener finds the answer here and does not send the event
//! again. Each attempt in flight has a slot of a few bytes in a file of fixed size.

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

use crate::platform::system::files::{read_exact_at, write_all_at};

/// Attempts that can be in flight at once with a slot each.
const SLOTS: u64 = 256;
/// The length of a slot: event, attempt and status, time, and checksum, of 8 bytes each.
const LENGTH: usize = 32;
const SEED: u64 = 0x626f_6f6b_6374_6c31;

/// An attempt that the app answered with 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ack {
    /// The event's number in the database.
    pub(crate) number: i64,
    pub(crate) attempt: u32,
    pub(crate) status: u16,
    /// When the attempt began, in milliseconds since 1970. A new database reuses numbers, so this tells attempts apart.
    pub(crate) begun_at: i64,
}

impl Ack {
    fn encode(self) -> [u8; LENGTH] {
        let number = self.number.cast_unsigned();
        let attempt = u64::from(self.attempt) << 16 | u64::from(self.status);
        let begun_at = self.begun_at.cast_unsigned();
        let words = [
            number,
            attempt,
            begun_at,
            checksum(number, attempt, begun_at),
        ];
        let mut bytes = [0; LENGTH];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.chunks_exact(8).map(|word| {
            let word = word.try_into().ok()?;
            Some(u64::from_le_bytes(word))
        });
        let mut next = || words.next().flatten();
        let (number, attempt, begun_at, claimed) = (next()?, next()?, next()?, next()?);
        let ack = Ack {
            number: number.cast_signed(),
            attempt: u32::try_from(attempt >> 16).ok()?,
            status: u16::try_from(attempt & 0xffff).ok()?,
            begun_at: begun_at.cast_signed(),
        };
        (checksum(number, attempt, begun_at) == claimed).then_some(ack)
    }
}

fn checksum(number: u64, attempt: u64, begun_at: u64) -> u64 {
    SEED ^ number.rotate_left(7) ^ attempt.rotate_left(21) ^ begun_at.rotate_left(42)
}

/// The open log.
pub(crate) struct AckLog {
    file: File,
    free: Mutex<Vec<u64>>,
}

impl AckLog {
    /// A log in this file, which the caller has locked.
    pub(crate) fn new(file: File) -> Self {
        let free = Mutex::new((0..SLOTS).collect());
        AckLog { file, free }
    }

    /// The answers in the file, which an earlier listener wrote. The database has most of them, too.
    pub(crate) fn read(&self) -> Vec<Ack> {
        let read = |slot| {
            let mut bytes = [0; LENGTH];
            let read = read_exact_at(&self.file, &mut bytes, offset(slot));
            read.ok().and_then(|()| Ack::decode(&bytes))
        };
        (0..SLOTS).filter_map(read).collect()
    }

    /// Takes a free slot; `None` if all are in use.
    pub(super) fn slot(self: &Arc<Self>) -> Option<AckSlot> {
        let slot = self.free().pop()?;
        Some(AckSlot(self.clone(), slot))
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot of the log, free again when this is dropped; by then the database has the answer.
pub(super) struct AckSlot(Arc<AckLog>, u64);

impl AckSlot {
    /// Writes an answer if it is a 2xx. A failure is ignored: the database records the answer a little later.
    pub(super) fn write(&self, ack: Ack) {
        if !(200..300).contains(&ack.status) {
            return;
        }
        let _ = write_all_at(&self.0.file, &ack.encode(), offset(self.1));
    }
}

impl Drop for AckSlot {
    fn drop(&mut self) {
        self.0.free().push(self.1);
    }
}

fn offset(slot: u64) -> u64 {
    slot * LENGTH as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_listener_reads_what_was_written_but_nothing_half_written() {
        let file = tempfile::tempfile().unwrap();
        let ack_log = Arc::new(AckLog::new(file.try_clone().unwrap()));
        let ack = |number| Ack {
            number,
            attempt: 2,
            status: 204,
            begun_at: 1_795_262_400_000,
        };
        let slots = [ack_log.slot().unwrap(), ack_log.slot().unwrap()];
        slots[0].write(ack(7));
        slots[1].write(ack(i64::MAX));
        let next = AckLog::new(file.try_clone().unwrap());
        assert_eq!(next.read(), [ack(i64::MAX), ack(7)]);
        write_all_at(&file, &[9], offset(SLOTS - 1)).unwrap();
        assert_eq!(next.read(), [ack(i64::MAX)]);
    }

    #[test]
    fn a_full_log_has_no_slot_until_one_is_free_again() {
        let ack_log = Arc::new(AckLog::new(tempfile::tempfile().unwrap()));
        let mut slots: Vec<AckSlot> = std::iter::from_fn(|| ack_log.slot()).collect();
        assert_eq!(slots.len() as u64, SLOTS);
        slots.pop();
        assert!(ack_log.slot().is_some());
    }
}
