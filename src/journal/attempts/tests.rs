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
            terms: None,
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
fn a_stored_request_that_is_no_json_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path, "https://a.example".into(), None).unwrap();
    journal.run("k", &json!({"party_size": 2}));
    journal.execute("UPDATE attempts SET request = 'not JSON'");
    let error = journal.attempt("k").unwrap_err();
    assert_eq!(error.code, crate::outcome::Code::Journal);
}
