//! What is left of the service's rate limits, shared by every process of this machine (spec, Limits).
//!
//! Requests are counted down here before they are sent, so that processes which run at the same time do not
//! all believe in the same last one; what the service answers then corrects the count.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::Journal;
use crate::outcome::Result;

/// An answer may be a second off: its reset is told in whole seconds.
const SLACK: SignedDuration = SignedDuration::from_secs(2);
/// How long a window is that nothing is known of yet but that the one before it is over (spec, Limits 1).
const LENGTH: SignedDuration = SignedDuration::from_mins(5);

/// So many requests are left that even many processes at once do not meet the end of the window unawares.
const PLENTY: u32 = 8;

/// One budget of one account, as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Named for its endpoint, as `POST /v1/bookings`.
    pub(crate) budget: String,
    /// Requests that a window holds.
    pub(crate) allowed: u32,
    pub(crate) remaining: u32,
    /// By the service's clock.
    pub(crate) resets_at: Timestamp,
    /// The service's clock less ours, when it was seen.
    pub(crate) ahead: SignedDuration,
    /// By our clock.
    pub(crate) seen_at: Timestamp,
}

impl Window {
    /// Whether a request now, by the service's clock, would be refused.
    pub(crate) fn is_shut(&self, now: Timestamp) -> bool {
        self.remaining == 0 && self.lasts(now)
    }

    /// Whether it is still this window. One that would reset later than any does was seen by another clock: it was
    /// set back since, here or there, and nothing is known.
    fn lasts(&self, now: Timestamp) -> bool {
        now < self.resets_at && self.resets_at.duration_since(now) <= LENGTH + SLACK
    }

    /// What is left of it now, by the service's clock, and until when: one that is over is whole again.
    pub(crate) fn left(&self, now: Timestamp) -> (u32, Duration) {
        if !self.lasts(now) {
            return (self.allowed, Duration::ZERO);
        }
        let resets_in = Duration::try_from(self.resets_at.duration_since(now)).unwrap_or_default();
        (self.remaining, resets_in)
    }

    /// The window after one request is sent now; `None` where it is shut.
    fn taken(mut self, now: Timestamp) -> Option<Window> {
        if !self.lasts(now) {
            // The next one: how long it lasts is guessed, at most, until an answer tells. That it holds nothing at
            // all is not believed: nothing would be asked again.
            self.remaining = self.allowed.max(1);
            self.resets_at = now.saturating_add(LENGTH).unwrap_or(Timestamp::MAX);
        }
        self.remaining = self.remaining.checked_sub(1)?;
        Some(self)
    }

    /// What is known once an answer showed `seen`, while others may have sent more.
    fn corrected(self, seen: Window) -> Window {
        let later = self
            .resets_at
            .saturating_add(SLACK)
            .unwrap_or(Timestamp::MAX);
        let same = seen.resets_at <= later;
        Window {
            remaining: if same {
                seen.remaining.min(self.remaining)
            } else {
                seen.remaining
            },
            ..seen
        }
    }
}

impl Journal {
    /// Every budget that was seen at this service with this account.
    pub(crate) fn windows(&self) -> Result<Vec<Window>> {
        self.read(|connection| {
            connection
                .prepare(
                    "SELECT bucket, allowed, remaining, resets_at, ahead, seen_at FROM limits
                     WHERE origin = ?1 AND account = ?2 ORDER BY bucket",
                )?
                .query_map([&self.origin, &self.account], window)?
                .collect()
        })
    }

    /// One of them.
    pub(crate) fn window(&self, budget: &str) -> Result<Option<Window>> {
        self.read(|connection| find(connection, &self.origin, &self.account, budget))
    }

    /// Counts a request that is sent now, by the service's clock; the window, where it is shut.
    pub(crate) fn take(&mut self, budget: &str, now: Timestamp) -> Result<Option<Window>> {
        // Where plenty is left the count is not worth a sync: the answer corrects it.
        let scarce = |window: Window| window.remaining <= PLENTY || window.resets_at <= now;
        if !self.window(budget)?.is_some_and(scarce) {
            return Ok(None);
        }
        let (origin, account) = (self.origin.clone(), self.account.clone());
        self.write(|connection| take(connection, &origin, &account, budget, now))
    }

    /// Forgets every budget at this service.
    pub(crate) fn forget_windows(&mut self) -> Result<()> {
        let origin = self.origin.clone();
        self.write(|connection| {
            connection.execute("DELETE FROM limits WHERE origin = ?1", [origin])
        })?;
        Ok(())
    }

    /// Remembers what an answer showed, with the next thing that is written.
    pub(crate) fn observe(&mut self, seen: Window) {
        self.observed.push(seen);
    }

    /// Writes what was observed, where nothing else did.
    pub(crate) fn note_observed(&mut self) -> Result<()> {
        if self.observed.is_empty() {
            return Ok(());
        }
        self.write(|_| Ok(()))
    }
}

/// Counts a request within a transaction; the window, where it is shut.
pub(super) fn take(
    connection: &Connection,
    origin: &str,
    account: &str,
    budget: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<Window>> {
    let Some(known) = find(connection, origin, account, budget)? else {
        return Ok(None);
    };
    match known.clone().taken(now) {
        Some(window) => store(connection, origin, account, &window).map(|()| None),
        None => Ok(Some(known)),
    }
}

/// Corrects what is known by what an answer showed, within a transaction.
pub(super) fn correct(
    connection: &Connection,
    origin: &str,
    account: &str,
    seen: Window,
) -> rusqlite::Result<()> {
    let window = match find(connection, origin, account, &seen.budget)? {
        Some(known) => known.corrected(seen),
        None => seen,
    };
    store(connection, origin, account, &window)
}

fn find(
    connection: &Connection,
    origin: &str,
    account: &str,
    budget: &str,
) -> rusqlite::Result<Option<Window>> {
    connection
        .prepare_cached(
            "SELECT bucket, allowed, remaining, resets_at, ahead, seen_at FROM limits
             WHERE origin = ?1 AND account = ?2 AND bucket = ?3",
        )?
        .query_row([origin, account, budget], window)
        .optional()
}

fn store(
    connection: &Connection,
    origin: &str,
    account: &str,
    window: &Window,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO limits (origin, account, bucket, allowed, remaining, resets_at, ahead, seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            origin,
            account,
            window.budget,
            window.allowed,
            window.remaining,
            window.resets_at.as_millisecond(),
            i64::try_from(window.ahead.as_millis()).unwrap_or_default(),
            window.seen_at.as_millisecond(),
        ])
        .map(drop)
}

fn window(row: &rusqlite::Row<'_>) -> rusqlite::Result<Window> {
    let moment = |millis: i64| Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MIN);
    Ok(Window {
        budget: row.get(0)?,
        allowed: row.get(1)?,
        remaining: row.get(2)?,
        resets_at: moment(row.get(3)?),
        ahead: SignedDuration::from_millis(row.get(4)?),
        seen_at: moment(row.get(5)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn after(seconds: i64) -> Timestamp {
        NOW + SignedDuration::from_secs(seconds)
    }

    fn seen(remaining: u32, resets_at: Timestamp) -> Window {
        Window {
            budget: "POST /v1/bookings".into(),
            allowed: 10,
            remaining,
            resets_at,
            ahead: SignedDuration::ZERO,
            seen_at: NOW,
        }
    }

    #[test]
    fn a_window_gives_what_is_left_of_it_and_is_then_shut_until_it_resets() {
        let two = seen(2, after(60));
        let one = two.taken(NOW).unwrap();
        let none = one.taken(NOW).unwrap();
        assert!(none.is_shut(after(59)) && !none.is_shut(after(60)));
        assert_eq!(none.clone().taken(after(59)), None);
        let next = none.taken(after(60)).unwrap();
        assert_eq!((next.remaining, next.resets_at), (9, after(360)));
    }

    #[test]
    fn neither_a_clock_that_was_set_back_nor_a_limit_of_none_shuts_a_window_for_ever() {
        let none = seen(0, after(60));
        assert!(none.is_shut(after(-240)) && !none.is_shut(after(-3600)));
        assert!(none.clone().taken(after(-3600)).is_some());
        assert_eq!(none.left(after(-3600)), (10, Duration::ZERO));
        let holds_nothing = Window { allowed: 0, ..none };
        assert_eq!(holds_nothing.clone().taken(after(59)), None);
        assert!(holds_nothing.taken(after(60)).is_some());
    }

    #[test]
    fn an_answer_never_gives_back_what_others_have_taken_meanwhile() {
        // Ours said that 5 are left; two more were sent by others since, whose answers are still to come.
        let known = seen(3, after(60));
        assert_eq!(known.clone().corrected(seen(5, after(61))).remaining, 3);
        assert_eq!(known.clone().corrected(seen(1, after(60))).remaining, 1);
        assert_eq!(
            known.corrected(seen(9, after(300))).remaining,
            9,
            "a new window"
        );
    }

    #[test]
    fn two_processes_share_one_window_and_another_account_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let open = |account: &str| {
            let journal = Journal::open(&path, "o".into(), None).unwrap();
            journal.of_account(account.to_owned())
        };
        let (mut first, mut second, mut other) = (open("a"), open("a"), open("b"));
        first.observe(seen(1, after(60)));
        first.note_observed().unwrap();
        assert_eq!(second.take("POST /v1/bookings", NOW).unwrap(), None);
        assert_eq!(
            first
                .take("POST /v1/bookings", NOW)
                .unwrap()
                .map(|shut| shut.resets_at),
            Some(after(60))
        );
        assert_eq!(other.take("POST /v1/bookings", NOW).unwrap(), None);
        assert!(other.windows().unwrap().is_empty());
    }

    const BUDGET: &str = "POST /v1/bookings";

    fn journal(folder: &tempfile::TempDir, origin: &str, account: &str) -> Journal {
        let path = folder.path().join("journal.db");
        let journal = Journal::open(&path, origin.into(), None).unwrap();
        journal.of_account(account.to_owned())
    }

    #[test]
    fn what_is_left_of_a_window_is_told_with_the_time_until_it_resets() {
        let two = seen(2, after(60));
        assert_eq!(two.left(NOW), (2, Duration::from_secs(60)));
        assert_eq!(two.left(after(59)), (2, Duration::from_secs(1)));
        assert_eq!(two.left(after(60)), (10, Duration::ZERO));
    }

    #[test]
    fn a_window_is_believed_to_last_five_minutes_and_the_slack_at_most() {
        assert!(seen(0, after(302)).is_shut(NOW));
        assert!(!seen(0, after(303)).is_shut(NOW));
    }

    #[test]
    fn a_reset_that_is_told_within_the_slack_is_the_same_windows() {
        let known = seen(3, after(60));
        assert_eq!(known.clone().corrected(seen(9, after(62))).remaining, 3);
        assert_eq!(known.corrected(seen(9, after(63))).remaining, 9);
    }

    #[test]
    fn a_window_is_kept_with_all_that_was_seen_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder, "o", "a");
        let window = Window {
            ahead: SignedDuration::from_millis(-1_500),
            seen_at: after(7),
            ..seen(3, after(60))
        };
        journal.observe(window.clone());
        journal.note_observed().unwrap();
        assert_eq!(journal.window(BUDGET).unwrap(), Some(window.clone()));
        assert_eq!(journal.windows().unwrap(), [window]);
        assert_eq!(journal.window("GET /v1/bookings").unwrap(), None);
    }

    #[test]
    fn a_request_is_counted_before_it_is_sent_where_few_are_left_or_the_window_is_over() {
        for (remaining, now, left) in [
            (9, NOW, (9, after(60))),
            (8, NOW, (7, after(60))),
            (9, after(60), (9, after(360))),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut journal = journal(&folder, "o", "a");
            journal.observe(seen(remaining, after(60)));
            journal.note_observed().unwrap();
            assert_eq!(journal.take(BUDGET, now).unwrap(), None);
            let window = journal.window(BUDGET).unwrap().unwrap();
            assert_eq!((window.remaining, window.resets_at), left);
        }
    }

    #[test]
    fn the_windows_of_one_service_are_forgotten_and_those_of_another_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = journal(&folder, "one", "a");
        let mut other = journal(&folder, "other", "a");
        for journal in [&mut one, &mut other] {
            journal.observe(seen(3, after(60)));
            journal.note_observed().unwrap();
        }
        one.forget_windows().unwrap();
        assert_eq!(one.window(BUDGET).unwrap(), None);
        assert!(other.window(BUDGET).unwrap().is_some());
    }
}
