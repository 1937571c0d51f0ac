use super::*;
use crate::journal::RunEnd;
use crate::model::booking::Booking;
use serde_json::json;

fn journal(folder: &tempfile::TempDir, origin: &str) -> Journal {
    let path = folder.path().join("journal.db");
    Journal::open(&path, origin.into(), None).unwrap()
}

fn booking(id: &str) -> Booking {
    Booking::from_document(json!({"id": id, "status": "confirmed"}).into()).unwrap()
}

fn run(outcome: Outcome, started_at: &str) -> Run {
    Run {
        number: 1,
        process: None,
        outcome,
        http_status: None,
        booking_id: None,
        started_at: started_at.to_owned(),
        ended_at: None,
        maker: None,
        token: None,
        abandoned: false,
        account: None,
    }
}

#[test]
fn a_run_without_an_end_has_died_once_it_began_before_the_longest_one() {
    let long_ago: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
    for (started_at, died) in [
        ("2026-11-21T11:59:59Z", true),
        ("2026-11-21T12:00:00Z", false),
        ("2026-11-21T12:00:01Z", false),
    ] {
        let under_way = run(Outcome::UnderWay, started_at);
        assert_eq!(under_way.has_ended_in_doubt(long_ago), died, "{started_at}");
    }
    for (outcome, doubt) in [
        (Outcome::InDoubt, true),
        (Outcome::AnotherBooking, false),
        (Outcome::NotSent, false),
        (Outcome::Refused, false),
        (Outcome::Booked, false),
    ] {
        let ended = run(outcome, "2026-11-21T11:00:00Z");
        assert_eq!(ended.has_ended_in_doubt(long_ago), doubt, "{outcome:?}");
    }
}

#[test]
fn a_run_whose_process_was_killed_on_this_machine_is_in_doubt_at_once() {
    let program = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(program);
    let mut child = command.args(["--list", "no such test"]).spawn().unwrap();
    child.wait().unwrap();
    let now = "2026-11-21T12:00:00Z";
    let of = |process: u32, host: &str| Run {
        process: Some(process),
        maker: Some(Maker {
            user: "ada".to_owned(),
            host: host.to_owned(),
        }),
        ..run(Outcome::UnderWay, now)
    };
    assert!(of(child.id(), "here").was_killed_on("here"));
    assert!(!of(child.id(), "there").was_killed_on("here"));
    assert!(!of(std::process::id(), "here").was_killed_on("here"));
    let ended = Run {
        outcome: Outcome::Refused,
        ..of(child.id(), "here")
    };
    assert!(!ended.was_killed_on("here"));
}

#[test]
fn an_attempt_in_doubt_at_this_service_is_told_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (mut here, mut there) = (journal(&folder, "here"), journal(&folder, "there"));
    here.run("under way", &json!({}));
    for (journal, key) in [(&mut here, "doubted here"), (&mut there, "doubted there")] {
        let run = journal.run(key, &json!({}));
        journal.end_in_doubt(&run, &json!({}), None).unwrap();
    }
    let doubtful = here.attempts_in_doubt().unwrap();
    let keys = doubtful.iter().map(|it| it.idempotency_key.as_str());
    assert_eq!(keys.collect::<Vec<_>>(), ["doubted here"]);
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
fn the_other_attempt_that_has_a_booking_is_found_by_it() {
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
            outcome: Outcome::Booked,
            http_status: Some(201),
            booking: Some(&booking(id)),
            request: &json!({}),
            asked: None,
        };
        let ended = journal.end(&run, &end).unwrap();
        assert_eq!(ended.other_attempt.as_deref(), other, "{key}");
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
