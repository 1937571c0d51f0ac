//! What is counted, how much a transaction deletes, and when the file is rewritten.

use super::*;

#[test]
fn booking_counts_once_if_either_row_names_the_guest() {
    let (_place, journal) = TestJournal::new();
    for (id, delete) in [
        ("bk_1", "DELETE FROM bookings WHERE id = 'bk_1'"),
        ("bk_2", "DELETE FROM attempts WHERE booking_id = 'bk_2'"),
    ] {
        make(&journal, id, id);
        journal.execute(delete);
        assert_eq!(journal.forget_booking(id).unwrap().count, 1, "{id}");
        assert_eq!(journal.forget_booking(id).unwrap().count, 0, "{id}");
    }
}

#[test]
fn more_guests_than_one_transaction_deletes_are_forgotten() {
    let (_place, journal) = TestJournal::new();
    make(&journal, "k", "bk_1");
    let copies = AT_ONCE * 2;
    journal.execute(&format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {copies})
         INSERT INTO bookings (origin, id, status, document, created_at, seen_at)
         SELECT origin, id || '_' || n, status, document, '2020-01-01T00:00:00.' || n || 'Z', seen_at FROM bookings, numbers"
    ));
    let forgotten = forget_until(&journal, Timestamp::now());
    assert_eq!(forgotten.count, copies + 1);
    assert_eq!(journal.bookings(None, None).unwrap().len(), 0);
    let left = forget_until(&journal, Timestamp::now());
    assert_eq!(left, Forgotten::default());
}

#[test]
fn a_create_that_deletes_guests_leaves_no_free_pages() {
    let (place, journal) = TestJournal::new();
    let old = journal.run("old", &request(&GUEST.repeat(9_999)));
    journal.end_refused(&old, 400).unwrap();
    let size = || fs::metadata(place.path()).unwrap().len();
    let before = size();
    journal.scope.retention.set(Retention::parse("0").unwrap());
    let new = journal.run("new", &request(GUEST));
    journal.end_refused(&new, 400).unwrap();
    assert!(size() < before);
}

#[test]
fn damaged_request_blocks_no_other_from_resolving() {
    let (place, journal) = TestJournal::new();
    let old = journal.run("old", &request(GUEST));
    journal.end_refused(&old, 400).unwrap();
    let damage = "UPDATE attempts SET request = request || ' {'";
    journal.execute(damage);
    journal.scope.retention.set(Retention::parse("0").unwrap());
    make(&journal, "new", "bk_1");
    assert_eq!(journal.attempt("new").unwrap().unwrap().state, State::Resolved);
    assert!(!place.holds(GUEST));
}
