use crate::journal::tests::{fresh, journal};
use serde_json::json;

#[test]
fn every_open_attempt_at_this_service_is_listed_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (journal(&folder, "here"), journal(&folder, "there"));
    here.run("under way", &json!({}));
    for (journal, key) in [(&here, "doubted here"), (&there, "doubted there")] {
        let run = journal.run(key, &json!({}));
        journal.end_in_doubt(&run, &json!({}), None).unwrap();
    }
    let open = here.open_attempts_here().unwrap();
    let keys = open.iter().map(|it| it.idempotency_key.as_str());
    assert_eq!(keys.collect::<Vec<_>>(), ["under way", "doubted here"]);
}

#[test]
fn a_stored_request_that_is_no_json_is_an_error() {
    let (_folder, journal) = fresh("https://a.example");
    journal.run("k", &json!({"party_size": 2}));
    journal.execute("UPDATE attempts SET request = 'not JSON'");
    let error = journal.attempt("k").unwrap_err();
    assert_eq!(error.code, crate::outcome::Code::Journal);
}
