//! Deletes guests' data, when its retention is over or because a person asked for it.
//!
//! Deleted are the guest in a stored request and the document of a booking. The hash of the request
//! stays, so that its key is still refused for another request. An open attempt keeps its guest,
//! because it may have to be sent again. Afterwards the file has to be rewritten, so that nothing
//! of the guests remains in it.

use std::fs;

use jiff::Timestamp;

use super::Journal;
use super::scope::Scope;
use crate::outcome::Result;
use crate::platform::sql::{Sql, SqlFailure, SqlResult, Value, values};

/// How many guests a transaction deletes at most, to keep waits short; more than it adds.
const AT_ONCE: u32 = 1000;

/// The largest file, in bytes, that is rewritten after a booking request. Rewriting it takes a
/// fraction of a second.
const SMALL: u64 = 16 * 1024 * 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forgotten {
    /// Bookings, and attempts without a booking.
    pub(crate) count: u32,
    /// Attempts that match but were left unchanged, because their outcome is unknown.
    pub(crate) unresolved: u32,
}

/// Of a request in the service's own shape nothing stays: nothing says where its guest stands.
const WITHOUT_GUEST: &str = "
    request = CASE WHEN asked IS NULL THEN without_guest(request) ELSE '{}' END,
    asked = CASE WHEN asked IS NULL THEN NULL ELSE without_guest(asked) END,
    forgotten_at = ?3";

/// Concluded attempts that still have a guest, as the indexes. Unknown states do not count.
const CONCLUDED: &str = "state IN ('resolved', 'refused', 'abandoned') AND forgotten_at IS NULL";

/// The booking that answered an open attempt, by whose id that is resolved.
pub(super) const MARKED: &str =
    "idempotency_key IN (SELECT idempotency_key FROM attempts WHERE state = 'unresolved')";

/// The rows of a service (?1) up to a moment (?2).
const UNTIL: &str = "origin = ?1 AND created_at <= ?2";

/// Deletes the guests of attempts at this service that are older than the retention. A booking
/// keeps its id, status and creation time. Returns the number of changed rows, as known before the
/// commit. Leaves to another process what that is deleting.
pub(super) fn purge(statements: &dyn Sql, scope: &Scope) -> SqlResult<usize> {
    let now = Timestamp::now().to_string();
    let ended = scope.retention_cutoff().to_string();
    let row = values![&scope.origin, &ended, &now, AT_ONCE];
    let attempts = statements.execute_deferred(&strip_attempts("FOR UPDATE SKIP LOCKED"), row)?;
    let oldest = format!(
        "SELECT id FROM bookings WHERE {UNTIL} AND forgotten_at IS NULL ORDER BY created_at LIMIT ?4 FOR UPDATE SKIP LOCKED"
    );
    let facts = format!(
        "UPDATE sightings SET facts = '{{}}' WHERE origin = ?1 AND ?3 <> '' AND booking_id IN ({oldest})"
    );
    statements.execute_deferred(&facts, row)?;
    let writes = |which: &str| {
        format!(
            "UPDATE writes SET facts = '{{}}' WHERE origin = ?1 AND facts <> '{{}}' AND {which}"
        )
    };
    let of_oldest = writes(&format!("?3 <> '' AND booking_id IN ({oldest})"));
    statements.execute_deferred(&of_oldest, row)?;
    statements.execute_deferred(&writes("sent_at <= ?2"), values![&scope.origin, &ended])?;
    let bookings = format!(
        "UPDATE bookings SET forgotten_at = ?3, document = '', terms = NULL, changes = NULL, visit = NULL, guest = NULL,
                email = NULL, phone = NULL, venue = NULL, folded_id = NULL
         WHERE origin = ?1 AND id IN ({oldest})"
    );
    let results = strip_results(statements, "seen_at <= ?2", values![&scope.origin, &ended])?;
    Ok(attempts + results + statements.execute_deferred(&bookings, row)?)
}

fn strip_attempts(lock: &str) -> String {
    format!(
        "UPDATE attempts SET {WITHOUT_GUEST} WHERE idempotency_key IN
         (SELECT idempotency_key FROM attempts WHERE {UNTIL} AND {CONCLUDED} ORDER BY created_at LIMIT ?4 {lock})"
    )
}

/// Deletes the results that meet a condition, with their guests. A batch's rows stay.
fn strip_results(statements: &dyn Sql, condition: &str, values: &[Value<'_>]) -> SqlResult<usize> {
    let strip = format!(
        "UPDATE batch_rows SET exit_code = NULL, booking_id = NULL, booking = NULL, error = NULL
         WHERE origin = ?1 AND exit_code IS NOT NULL AND {condition}"
    );
    statements.execute_deferred(&strip, values)
}

impl Journal {
    /// Rewrites the file after a booking request has deleted guests, if that is fast. Else free
    /// pages may contain remains.
    pub(super) fn clean_after(&self, purged: usize) {
        let size = |path| fs::metadata(path).map_or(0, |file| file.len());
        if purged > 0 && self.file().is_some_and(|(_, path)| size(path) <= SMALL) {
            let _ = self.rewrite();
        }
    }

    /// What [`Journal::forget_next`] would delete. An attempt with a booking counts once.
    pub(crate) fn forgettable(&self, until: Timestamp) -> Result<Forgotten> {
        let query = format!(
            "SELECT (SELECT count(*) FROM (
                         SELECT id FROM bookings WHERE {UNTIL} AND ({MARKED}) IS NOT TRUE
                         UNION SELECT coalesce(booking_id, idempotency_key) FROM attempts WHERE {UNTIL} AND {CONCLUDED}
                     ) AS guests) AS guests,
                    (SELECT count(*) FROM attempts WHERE state = 'unresolved' AND {UNTIL}) AS unresolved"
        );
        self.read(|statements, scope| {
            let row = statements.first(&query, values![&scope.origin, until.to_string()])?;
            let row = row.ok_or(SqlFailure::Unreadable)?;
            Ok(Forgotten { count: row.get("guests")?, unresolved: row.get("unresolved")? })
        })
    }

    /// Deletes the oldest guests here. Returns whether there were any. Needs `rewrite_file` next.
    pub(crate) fn forget_next(&self, until: Timestamp) -> Result<bool> {
        let oldest = format!(
            "(SELECT id FROM bookings WHERE {UNTIL} AND ({MARKED}) IS NOT TRUE ORDER BY created_at LIMIT ?3)"
        );
        let delete = format!("DELETE FROM bookings WHERE origin = ?1 AND id IN {oldest}");
        let stories = ["sightings", "writes"]
            .map(|it| format!("DELETE FROM {it} WHERE origin = ?1 AND booking_id IN {oldest}"));
        self.write(|statements, scope| {
            let (origin, until, now) = (&scope.origin, &until.to_string(), Timestamp::now());
            let row = values![origin, until, now.to_string(), AT_ONCE];
            let stripped = statements.execute(&strip_attempts(""), row)?;
            for story in &stories {
                statements.execute(story, values![origin, until, AT_ONCE])?;
            }
            let deleted = statements.execute(&delete, values![origin, until, AT_ONCE])?;
            strip_results(statements, "seen_at <= ?2", values![origin, until])?;
            Ok(stripped + deleted > 0)
        })
    }

    /// Deletes a booking's guest. Counts nothing if it was deleted. Needs `rewrite_file` next.
    pub(crate) fn forget_booking(&self, id: &str) -> Result<Forgotten> {
        let strip = format!(
            "UPDATE attempts SET {WITHOUT_GUEST} WHERE origin = ?1 AND booking_id = ?2 AND {CONCLUDED}"
        );
        let marked = format!("SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2 AND {MARKED}");
        self.write(|statements, scope| {
            if statements.first(&marked, values![&scope.origin, id])?.is_some() {
                return Ok(Forgotten { count: 0, unresolved: 1 });
            }
            let now = Timestamp::now().to_string();
            let stripped = statements.execute(&strip, values![&scope.origin, id, now])?;
            for story in ["sightings", "writes"] {
                let delete = format!("DELETE FROM {story} WHERE origin = ?1 AND booking_id = ?2");
                statements.execute(&delete, values![&scope.origin, id])?;
            }
            let delete = "DELETE FROM bookings WHERE origin = ?1 AND id = ?2";
            let deleted = statements.execute(delete, values![&scope.origin, id])?;
            strip_results(statements, "booking_id = ?2", values![&scope.origin, id])?;
            Ok(Forgotten { count: u32::from(stripped + deleted > 0), unresolved: 0 })
        })
    }
}

#[cfg(test)]
mod tests {
    mod forgetting;

    use super::*;
    use crate::journal::tests::{fresh, open};
    use crate::journal::{BeginOutcome, Earlier, State};
    use crate::service::documents::booking::Booking;
    use crate::service::time::retention::Retention;
    use serde_json::{Value, json};
    use std::path::PathBuf;

    const GUEST: &str = "Canary Wharton";

    struct TestJournal {
        folder: tempfile::TempDir,
    }

    impl TestJournal {
        fn new() -> (Self, Journal) {
            let (folder, journal) = fresh("https://a.example");
            (TestJournal { folder }, journal)
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("journal.db")
        }

        /// Whether a text is anywhere in the journal's files.
        fn holds(&self, text: &str) -> bool {
            let files = fs::read_dir(self.folder.path()).unwrap();
            files
                .map(|file| fs::read(file.unwrap().path()).unwrap())
                .any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
        }
    }

    fn request(guest: &str) -> Value {
        json!({
            "venue_id": "ven_1", "customer": {"name": guest, "email": format!("{guest}@b.example")},
            "end_user": guest, "party_size": 2,
        })
    }

    fn booking(id: &str, guest: &str) -> Booking {
        let document = json!({"id": id, "status": "confirmed", "customer": {"name": guest}, "end_user": guest});
        Booking::from_document(document.into()).unwrap()
    }

    fn forget_until(journal: &Journal, until: Timestamp) -> Forgotten {
        let found = journal.forgettable(until).unwrap();
        while journal.forget_next(until).unwrap() {}
        found
    }

    fn make(journal: &Journal, key: &str, id: &str) {
        let run = journal.run(key, &request(GUEST));
        journal.end_booked(&run, &booking(id, GUEST), 201).unwrap();
    }

    #[test]
    fn forgotten_guest_is_nowhere_in_file() {
        let (place, journal) = TestJournal::new();
        make(&journal, "k", "bk_1");
        assert!(place.holds(GUEST));
        assert_eq!(journal.forget_booking("bk_1").unwrap().count, 1);
        Journal::rewrite_file(&place.path()).unwrap();
        assert!(!place.holds(GUEST));
        assert_eq!(journal.forget_booking("bk_1").unwrap().count, 0);
        assert!(journal.made("bk_1").unwrap() && !journal.made("bk_2").unwrap());
        let again = journal.begins("k", &request(GUEST)).unwrap();
        let earlier = match again {
            BeginOutcome::Run { earlier, .. } => earlier,
            other => panic!("{other:?}"),
        };
        assert_eq!(earlier, Earlier::Booked);
        assert!(journal.begins("k", &request("Another Guest")).is_err());
        let left = journal.attempt("k").unwrap().unwrap();
        assert_eq!(left.request.body, json!({"venue_id": "ven_1", "party_size": 2}));
    }

    /// Pages that were split, merged and freed hold no remains either.
    #[test]
    fn of_many_guests_of_all_lengths_nothing_remains() {
        let (place, journal) = TestJournal::new();
        let guest = |number: usize| format!("{GUEST} {}", "x".repeat(number * 37 % 3000));
        for number in 0..150 {
            let (key, id) = (format!("k{number}"), format!("bk_{:03}", number * 61 % 150));
            let run = journal.run(&key, &request(&guest(number)));
            journal.end_booked(&run, &booking(&id, &guest(number)), 201).unwrap();
            // What is seen later is longer or shorter than what it replaces.
            journal.update(&booking(&id, &guest(number * 7))).unwrap();
        }
        assert!(place.holds("Canary"));
        let forgotten = forget_until(&journal, Timestamp::now());
        Journal::rewrite_file(&place.path()).unwrap();
        assert_eq!((forgotten.count, forgotten.unresolved), (150, 0));
        assert!(!place.holds("Canary"));
        assert!(!place.holds("xxxxxxxx"));
    }

    #[test]
    fn unresolved_attempt_keeps_its_guest_when_it_is_forgotten() {
        let (place, journal) = TestJournal::new();
        journal.scope.retention.set(Retention::parse("0").unwrap());
        journal.run("open", &request(GUEST));
        let closed = journal.run("closed", &request("Another Guest"));
        journal.end_refused(&closed, 400).unwrap();
        journal.run("other", &request("Third Guest"));
        journal.abandon("other").unwrap();
        // What was refused or abandoned is forgotten at once, since nothing of it is to be kept.
        let forgotten = forget_until(&journal, Timestamp::now());
        Journal::rewrite_file(&place.path()).unwrap();
        assert_eq!((forgotten.count, forgotten.unresolved), (0, 1));
        let open = journal.attempt("open").unwrap().unwrap();
        assert_eq!(open.request.body, request(GUEST));
        assert!(!place.holds("Another Guest") && !place.holds("Third Guest"));
    }

    #[test]
    fn booking_request_deletes_expired_guests_of_its_own_service() {
        let (place, journal) = TestJournal::new();
        make(&journal, "old", "bk_1");
        journal.execute(
            "UPDATE attempts SET created_at = '2020-01-01T00:00:00Z';
             UPDATE bookings SET created_at = '2020-01-01T00:00:00Z'",
        );
        let other = open(&place.path(), "https://b.example");
        let run = other.run("b", &request("Neighbour"));
        other.end_booked(&run, &booking("bk_b", "Neighbour"), 201).unwrap();
        assert!(place.holds(GUEST));
        let run = journal.run("new", &request("Newcomer"));
        journal.end_booked(&run, &booking("bk_2", "Newcomer"), 201).unwrap();
        assert!(!place.holds(GUEST) && place.holds("Newcomer"));
        assert_eq!(journal.bookings(None, None).unwrap().len(), 2);
    }

    /// A limit that is waited out refuses an attempt and opens it again: it must then be whole.
    #[test]
    fn a_refused_attempt_that_is_tried_again_has_its_guest_again() {
        let (place, journal) = TestJournal::new();
        journal.scope.retention.set(Retention::parse("0").unwrap());
        let refused = journal.run("k", &request(GUEST));
        journal.end_refused(&refused, 429).unwrap();
        assert!(!place.holds(GUEST));
        let again = journal.run("k", &request(GUEST));
        let open = &journal.open_attempts().unwrap()[0];
        assert_eq!(open.request.body, request(GUEST));
        assert_eq!(open.forgotten_at, None);
        journal.end_booked(&again, &booking("bk_1", GUEST), 201).unwrap();
        assert!(!place.holds(GUEST));
    }
}
