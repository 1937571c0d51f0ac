use super::*;
use crate::journal::{LastTry, RunEnd};
use crate::model::booking::Booking;
use serde_json::json;

fn journal(folder: &tempfile::TempDir, origin: &str) -> Journal {
    let path = folder.path().join("journal.db");
    Journal::open(&path, origin.into(), None).unwrap()
}

fn booking(id: &str) -> Booking {
    Booking::from_document(json!({"id": id, "status": "confirmed"}).into()).unwrap()
}

#[test]
fn every_open_attempt_at_this_service_is_told_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (mut here, mut there) = (journal(&folder, "here"), journal(&folder, "there"));
    here.run("under way", &json!({}));
    for (journal, key) in [(&mut here, "doubted here"), (&mut there, "doubted there")] {
        let run = journal.run(key, &json!({}));
        journal.end_in_doubt(&run, &json!({}), None).unwrap();
    }
    let open = here.open_attempts_here().unwrap();
    let keys = open.iter().map(|it| it.idempotency_key.as_str());
    assert_eq!(keys.collect::<Vec<_>>(), ["under way", "doubted here"]);
}

#[test]
fn every_attempt_is_listed_with_whether_its_booking_existed_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, "here");
    for (key, status) in [("made", 201), ("older", 200)] {
        let run = journal.run(key, &json!({}));
        journal.end_booked(&run, &booking(key), status).unwrap();
    }
    journal.run("open", &json!({}));
    let mut attempts: Vec<_> = journal
        .attempts()
        .unwrap()
        .into_iter()
        .map(|it| (it.idempotency_key, it.is_older))
        .collect();
    attempts.sort();
    let expected = [("made", false), ("older", true), ("open", false)];
    assert_eq!(
        attempts,
        expected.map(|(key, older)| (key.to_owned(), older))
    );
}

#[test]
fn a_booking_that_another_key_has_leaves_the_attempt_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, "here");
    for (key, id, other) in [
        ("first", "bk_1", None),
        ("first", "bk_1", None),
        ("second", "bk_2", None),
        ("third", "bk_1", Some("first")),
    ] {
        let run = journal.run(key, &json!({}));
        let end = RunEnd {
            last: LastTry::Booked,
            in_doubt: false,
            http_status: Some(201),
            booking: Some(&booking(id)),
            request: &json!({}),
            asked: None,
        };
        let ended = journal.end(&run, &end).unwrap();
        assert_eq!(ended.other_attempt.as_deref(), other, "{key}");
        let state = match other {
            Some(_) => State::Unsettled,
            None => State::Settled,
        };
        assert_eq!(ended.state, state, "{key}");
    }
}

#[test]
fn a_request_is_known_by_its_hash_also_where_an_older_journal_hashed_the_text_as_it_was_sent() {
    let request = json!({"datetime": "2026-12-01T19:30:00+01:00"});
    assert!(is_hash_of(&request_hash(&request), &request));
    assert!(is_hash_of(&hash(&request.to_string()), &request));
    assert_ne!(request_hash(&request), hash(&request.to_string()));
    assert!(!is_hash_of(&request_hash(&json!({})), &request));
}
