use super::*;
use crate::journal::tests::{open, scope};
use serde_json::json;

fn journal(folder: &tempfile::TempDir) -> Journal {
    of_account(folder, "one")
}

fn of_account(folder: &tempfile::TempDir, account: &str) -> Journal {
    let scope = Scope { account: account.to_owned(), ..scope("https://a.example") };
    Journal::open(&folder.path().join("journal.db"), scope).unwrap()
}

fn run(journal: &Journal, request: &Value) -> (RunId, Earlier) {
    match journal.begins("k", request).unwrap() {
        BeginOutcome::Run { run, earlier, .. } => (run, earlier),
        other => panic!("{other:?}"),
    }
}

fn request() -> Value {
    json!({"party_size": 2, "customer": {"name": "Ada Lovelace"}})
}

#[test]
fn a_key_is_never_reused_for_another_body() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(&folder);
    assert_eq!(run(&journal, &request()).1, Earlier::Nothing);
    assert_eq!(run(&journal, &request()).1, Earlier::MayHaveBooked);
    let other = json!({"party_size": 3});
    let error = journal.begins("k", &other).unwrap_err();
    assert_eq!(error.code.to_string(), "another_booking");
    assert_eq!(error.idempotency_key.as_deref(), Some("k"));
    let resume = |error: Error| error.hint.as_ref().unwrap().contains("attempts resume k");
    assert!(resume(error));
    journal.end_refused(&journal.run("j", &other), 400).unwrap();
    assert!(!resume(journal.begins("j", &request()).unwrap_err()));
}

#[test]
fn a_key_is_never_sent_to_another_service() {
    let folder = tempfile::tempdir().unwrap();
    run(&journal(&folder), &request());
    let path = folder.path().join("journal.db");
    let elsewhere = open(&path, "https://b.example");
    let error = elsewhere.begins("k", &request()).unwrap_err();
    assert!(error.message.contains("https://a.example"), "{error:?}");
    assert_eq!(elsewhere.attempt("k").unwrap().unwrap().runs.len(), 1);
}

#[test]
fn another_organization_may_take_over_only_what_was_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = journal(&folder);
    let (first, _) = run(&one, &request());
    let two = of_account(&folder, "two");
    let refused = two.begins("k", &request()).unwrap_err();
    assert!(refused.message.contains("another API key"));
    one.end_refused(&first, 402).unwrap();
    run(&two, &request());
    let refused = one.begins("k", &request()).unwrap_err();
    assert!(refused.message.contains("another API key"));
    one.scope.takes_any_account.set(true);
    run(&one, &request());
}

/// A1: also where the run of the first attempt is still under way, and with another API key.
#[test]
fn open_attempt_blocks_the_same_booking_under_another_key() {
    let folder = tempfile::tempdir().unwrap();
    let wish = |name: &str, time: &str| json!({"venue_id": "v", "datetime": time, "party_size": 2, "customer": {"name": name}});
    let ada = wish("Ada Lovelace", "2026-12-01T19:30:00Z");
    let (one, two) = (journal(&folder), of_account(&folder, "two"));
    let first = one.run("first", &ada);
    let begin = |key: &str, request: &Value, allow_duplicate| {
        let begun = two.record_begin(&Intent {
            key,
            request: &RecordedRequest::new(request, request),
            allow_duplicate,
            reopens: false,
            counted_in: None,
            row: None,
        });
        match begun.unwrap() {
            BeginOutcome::Run { .. } => None,
            BeginOutcome::OpenUnder(key) => Some(key),
            other => panic!("{other:?}"),
        }
    };
    let same = wish("ada  LOVELACE", "2026-12-01T20:30:00+01:00");
    assert_eq!(begin("k1", &same, false).as_deref(), Some("first"));
    let eve = wish("Eve", "2026-12-01T19:30:00Z");
    let later = wish("Ada Lovelace", "2026-12-01T21:30:00Z");
    assert_eq!(begin("k2", &eve, false), None);
    assert_eq!(begin("k3", &later, false), None);
    one.end_refused(&first, 409).unwrap();
    assert_eq!(begin("k4", &same, false), None);
    assert_eq!(begin("k5", &same, true), None);
}

/// A commit whose answer was lost is done again. Meanwhile the attempt was removed, and another
/// process has begun it anew.
#[test]
fn run_ending_twice_never_ends_another_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(&folder);
    let (first, _) = run(&journal, &request());
    journal.end_not_sent(&first).unwrap();
    run(&journal, &request());
    assert_eq!(journal.end_not_sent(&first).unwrap(), State::Refused);
    let attempt = journal.attempt("k").unwrap().unwrap();
    assert_eq!((attempt.state, attempt.runs.len()), (State::Unresolved, 1));
    assert_eq!(attempt.runs[0].outcome, Outcome::UnderWay);
    assert_eq!(attempt.runs[0].process, Some(std::process::id()));
}
