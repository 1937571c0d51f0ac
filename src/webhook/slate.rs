//! What the app answered, noted at once: a few bytes in a file of fixed size, long before the deliveries' file has it
//! too. So a listener that is killed in between leaves word, and the app does not get twice what it took.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers that can be noted at once.
const SLOTS: u64 = 256;
/// Number, attempt and status, time, and a sum that says that all of it was written: 8 bytes each.
const LENGTH: usize = 32;
const SEED: u64 = 0x626f_6f6b_6374_6c31;

/// An attempt that the app answered with 2xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) number: i64,
    pub(crate) attempt: u32,
    pub(crate) status: u16,
    /// When the attempt began, in milliseconds since 1970: a number may stand for something else in a new file.
    pub(crate) begun_at: i64,
}

impl Taken {
    fn write(self) -> [u8; LENGTH] {
        let number = self.number.cast_unsigned();
        let attempt = u64::from(self.attempt) << 16 | u64::from(self.status);
        let begun_at = self.begun_at.cast_unsigned();
        let words = [number, attempt, begun_at, sum(number, attempt, begun_at)];
        let mut bytes = [0; LENGTH];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.chunks_exact(8).map(|word| {
            let word = word.try_into().ok()?;
            Some(u64::from_le_bytes(word))
        });
        let mut next = || words.next().flatten();
        let (number, attempt, begun_at, claimed) = (next()?, next()?, next()?, next()?);
        let taken = Taken {
            number: number.cast_signed(),
            attempt: u32::try_from(attempt >> 16).ok()?,
            status: u16::try_from(attempt & 0xffff).ok()?,
            begun_at: begun_at.cast_signed(),
        };
        (sum(number, attempt, begun_at) == claimed).then_some(taken)
    }
}

fn sum(number: u64, attempt: u64, begun_at: u64) -> u64 {
    SEED ^ number.rotate_left(7) ^ attempt.rotate_left(21) ^ begun_at.rotate_left(42)
}

/// The file.
pub(crate) struct Slate {
    file: File,
    free: Mutex<Vec<u64>>,
}

impl Slate {
    pub(crate) fn new(file: File) -> Self {
        let free = Mutex::new((0..SLOTS).collect());
        Slate { file, free }
    }

    /// What an earlier listener noted. Most of it the deliveries' file has, too.
    pub(crate) fn left(&self) -> Vec<Taken> {
        let read = |slot| {
            let mut bytes = [0; LENGTH];
            let read = self.file.read_exact_at(&mut bytes, offset(slot));
            read.ok().and_then(|()| Taken::read(&bytes))
        };
        (0..SLOTS).filter_map(read).collect()
    }

    /// A slot for an attempt; `None` where more are under way than the slate has room for.
    pub(super) fn slot(self: &Arc<Self>) -> Option<Slot> {
        let slot = self.free().pop()?;
        Some(Slot(self.clone(), slot))
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one answer, until this is dropped: by then the deliveries' file has it.
pub(super) struct Slot(Arc<Slate>, u64);

impl Slot {
    /// Leaves word of an answer that must not be forgotten. Where it cannot be written, the deliveries' file says it a
    /// little later.
    pub(super) fn note(&self, taken: Taken) {
        if !(200..300).contains(&taken.status) {
            return;
        }
        let _ = self.0.file.write_all_at(&taken.write(), offset(self.1));
    }
}

impl Drop for Slot {
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
    fn what_was_noted_is_there_for_the_next_listener_and_what_is_half_written_is_not() {
        let file = tempfile::tempfile().unwrap();
        let slate = Arc::new(Slate::new(file.try_clone().unwrap()));
        let taken = |number| Taken {
            number,
            attempt: 2,
            status: 204,
            begun_at: 1_795_262_400_000,
        };
        let slots = [slate.slot().unwrap(), slate.slot().unwrap()];
        slots[0].note(taken(7));
        slots[1].note(taken(i64::MAX));
        let next = Slate::new(file.try_clone().unwrap());
        assert_eq!(next.left(), [taken(i64::MAX), taken(7)]);
        file.write_all_at(&[9], offset(SLOTS - 1)).unwrap();
        assert_eq!(next.left(), [taken(i64::MAX)]);
    }

    #[test]
    fn a_slate_that_is_full_gives_no_slot_until_one_is_free_again() {
        let slate = Arc::new(Slate::new(tempfile::tempfile().unwrap()));
        let mut slots: Vec<Slot> = std::iter::from_fn(|| slate.slot()).collect();
        assert_eq!(slots.len() as u64, SLOTS);
        slots.pop();
        assert!(slate.slot().is_some());
    }
}
