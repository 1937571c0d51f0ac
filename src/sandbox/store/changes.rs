//! Which rows changed last, for those who follow the sandbox. It keeps names of rows, not rows:
//! whoever reads a change reads the row as it is by then, so a slow reader costs no memory.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::watch;

const MOST: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChangeTopic {
    Request,
    Booking,
    Message,
    Delivery,
    Clock,
    Fault,
    Organization,
    /// More than the others can express: another process wrote, or all was deleted.
    Everything,
}

impl ChangeTopic {
    pub(super) fn of_table(name: &str) -> Option<Self> {
        Some(match name {
            "bookings" => Self::Booking,
            "messages" => Self::Message,
            "deliveries" => Self::Delivery,
            "clocks" => Self::Clock,
            "faults" => Self::Fault,
            _ => return None,
        })
    }
}

/// A row that changed; the number is 0 for a topic that one document shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChangedRow {
    pub(crate) topic: ChangeTopic,
    pub(crate) number: i64,
}

/// What followers wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tip {
    pub(crate) last: i64,
    pub(crate) is_stopped: bool,
}

pub(crate) struct ChangeFeed {
    stored: Mutex<VecDeque<ChangedRow>>,
    tip: watch::Sender<Tip>,
    /// The file's version as last seen; 0 before the first time.
    version: AtomicI64,
}

impl ChangeFeed {
    /// None yet. Places begin with the time, so that those of an earlier process lie before them.
    pub(super) fn new() -> Self {
        let tip = Tip { last: Timestamp::now().as_millisecond() << 21, is_stopped: false };
        Self { stored: Mutex::default(), tip: watch::Sender::new(tip), version: AtomicI64::new(0) }
    }

    pub(crate) fn add(&self, topic: ChangeTopic, number: i64) {
        use ChangeTopic::{Clock, Everything, Fault, Organization};
        let is_whole = matches!(topic, Clock | Fault | Organization | Everything);
        let number = if is_whole { 0 } else { number };
        let change = ChangedRow { topic, number };
        let mut stored = self.lock_rows();
        if stored.len() == MOST {
            stored.pop_front();
        }
        stored.push_back(change);
        self.tip.send_modify(|tip| tip.last += 1);
    }

    /// Reads the file's version, and adds a change if another process has written since.
    pub(crate) fn see_version(&self, version: i64) {
        let before = self.version.swap(version, Ordering::Relaxed);
        if before != 0 && before != version {
            self.add(ChangeTopic::Everything, 0);
        }
    }

    pub(crate) fn stop(&self) {
        self.tip.send_modify(|tip| tip.is_stopped = true);
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Tip> {
        self.tip.subscribe()
    }

    /// The changes after a place, each row once, and the place of the last. `None` if some of them
    /// are no longer kept.
    pub(crate) fn since(&self, place: i64) -> (Option<Vec<ChangedRow>>, i64) {
        let stored = self.lock_rows();
        let last = self.tip.borrow().last;
        let missed = last.checked_sub(place).map(usize::try_from);
        let missed = missed.and_then(Result::ok).unwrap_or(usize::MAX);
        let Some(first) = stored.len().checked_sub(missed) else {
            return (None, last);
        };
        let mut seen = HashSet::new();
        let newest_first = stored.range(first..).rev().copied();
        let mut changes: Vec<ChangedRow> = newest_first.filter(|it| seen.insert(*it)).collect();
        changes.reverse();
        (Some(changes), last)
    }

    fn lock_rows(&self) -> MutexGuard<'_, VecDeque<ChangedRow>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(number: i64) -> ChangedRow {
        ChangedRow { topic: ChangeTopic::Booking, number }
    }

    #[test]
    fn follower_gets_each_row_once() {
        let changes = ChangeFeed::new();
        let start = changes.follow().borrow().last;
        assert_eq!(changes.since(start), (Some(vec![]), start));
        for number in [1, 2, 1] {
            changes.add(ChangeTopic::Booking, number);
        }
        let both = vec![change(2), change(1)];
        assert_eq!(changes.since(start), (Some(both), start + 3));
        assert_eq!(changes.since(start + 3), (Some(vec![]), start + 3));
        for number in 0..4096 {
            changes.add(ChangeTopic::Booking, number);
        }
        assert_eq!(changes.since(start + 2).0, None);
        assert_eq!(changes.since(start + 3).0.map(|it| it.len()), Some(4096));
        // Places of an earlier process, and of none.
        assert_eq!(changes.since(start - 1).0, None);
        assert_eq!(changes.since(i64::MAX).0, None);
        assert_eq!(changes.since(i64::MIN).0, None);
    }
}
