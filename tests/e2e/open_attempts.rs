//! What leaves an attempt open and what closes it, whoever answers, and whose it is after a
//! recovery.

use serde_json::{Value, json};

use crate::faults::{booking, creating, creating_held, home, requested_booking};
use crate::harness::listening::until;
use crate::harness::{HANG, Home, Reply, Scripted, Served, has, text, words};

/// The booking command under the key of this file.
fn book<'a>(more: &[&'a str]) -> Vec<&'a str> {
    booking(&[&["--idempotency-key", "k"], more].concat())
}

/// A request whose three tries got no response, at a service that answers so from then on.
fn unresolved(answer: impl Fn(usize) -> Reply + Send + 'static) -> (Scripted, Home) {
    let (server, home) =
        creating(move |before| if before < 3 { Reply::Close } else { answer(before) })
            .beside_home();
    home.run(book(&[])).refused(16, "outcome_unknown");
    (server, home)
}

fn attempts(home: &Home) -> Vec<Value> {
    let list = home.ok(["attempts", "list", "--all", "--json"]);
    list.json()["attempts"].as_array().unwrap().clone()
}

/// "a limit is waited out between two runs, so that an interrupt then leaves nothing open"
#[cfg(unix)]
#[test]
fn interrupt_during_a_rate_limit_names_no_attempt() {
    let limited = json!({"error": "rate_limited", "retry_after_seconds": 60});
    let (_server, home) = creating(move |_| Reply::json(429, &limited)).beside_home();
    let running = home.start(book(&["--max-wait", "2m"]));
    let list = ["attempts", "list", "--all", "--json"];
    until("the refused run", || home.ok(list).json()["attempts"][0]["state"] == "refused");
    running.signal("-INT");
    let error = running.end().refused(130, "interrupted");
    assert!(error.get("idempotency_key").is_none_or(Value::is_null), "{error}");
    let hint = error["hint"].as_str().unwrap_or_default();
    assert!(!hint.contains("attempts resume"), "{error}");
}

/// "compare the request with the answer for 200 and 201", in whatever words the service repeats it.
#[test]
fn what_service_writes_own_way_is_still_booking_asked_for() {
    for status in [200, 201] {
        for (field, value) in [
            ("party_size", json!("2")),
            ("customer", json!({"name": "LOVELACE, Ada", "email": null})),
            ("venue_id", json!(null)),
            ("customer", json!({"name": "A*** L*******"})),
        ] {
            let mut shown = requested_booking("bk_1");
            shown[field] = value;
            let server = creating(move |_| Reply::json(status, &shown));
            home(&server).ok(book(&[]));
        }
    }
}

/// "429 waits for `Retry-After` (… only as long as `--max-wait` … allow)" (design), in an attempt
/// that is open, too.
#[test]
fn open_attempt_that_meets_its_rate_limit_waits_it_out() {
    let body = json!({"error": "rate_limited", "message": "slow down", "limit": 10, "retry_after_seconds": 1});
    let limit = Reply::headed(429, &["Retry-After: 1".to_owned()], &body);
    let (_server, home) = unresolved(move |before| match before {
        3 | 4 => limit.clone(),
        _ => Reply::json(200, &requested_booking("bk_ada")),
    });
    // Where it may not wait, the limit says nothing about the first run.
    let error = home.refuses("attempts resume k", 9, "rate_limited");
    has(&error, "hint", "attempts resume k");
    assert_eq!(attempts(&home)[0]["state"], "unresolved");
    home.ok(["attempts", "resume", "k", "--max-wait", "30s"]);
    let runs = attempts(&home)[0]["runs"].as_array().unwrap().clone();
    let outcomes: Vec<String> = runs.iter().map(|run| text(run, "outcome")).collect();
    assert_eq!(outcomes, ["in_doubt", "refused", "refused", "booked"]);
}

/// Whether the service refuses the repetition or the known limit holds it back: what the key may
/// have made is in the journal.
#[test]
fn request_that_meets_a_limit_names_what_its_key_may_have_made() {
    let limited = json!({"error": "rate_limited", "retry_after_seconds": 600});
    let made = Reply::json(201, &requested_booking("bk_ada"));
    for (tries, reply, exit, hint) in [
        (0, Reply::Close, 9, "try again then, or wait for it with --max-wait 300s"),
        (3, Reply::Close, 16, "a booking may exist; check it: bookctl attempts resume k"),
        (1, made, 0, "this key made bk_ada: bookctl show bk_ada"),
    ] {
        let headers = ["RateLimit-Limit: 10", "Retry-After: 600"].map(str::to_owned);
        let limit = Reply::headed(429, &headers, &limited);
        let (server, home) =
            creating(move |before| if before < tries { &reply } else { &limit }.clone())
                .beside_home();
        home.run(book(&[])).exits(exit);
        for _ in 0..2 {
            let error = home.run(book(&[])).refused(9, "rate_limited");
            assert_eq!(error["hint"], hint);
            assert_eq!(error.get("idempotency_key").is_some(), exit == 16, "{error}");
        }
        assert_eq!(server.creates().len(), tries + 1, "the limit is known");
        if exit == 16 {
            home.ok(["attempts", "abandon", "k"]);
            let error = home.run(book(&[])).refused(9, "rate_limited");
            has(&error, "hint", "--max-wait");
        }
    }
}

/// A journal that a power cut or a restore has emptied is not one that never was.
#[test]
fn a_journal_that_is_suddenly_empty_stops_booking_requests() {
    let (served, home) = Served::with_home();
    home.booked("ven_confirms", &[], 0);
    let journal = home.path().join("journal.db");
    std::fs::write(&journal, "").unwrap();
    #[rustfmt::skip]
    let cases = [
        &["attempts", "--json"][..],
        &["bookings", "--json"],
        &["book", "ven_confirms", "--at", "2031-12-01T19:30:00Z", "--party", "2", "--name", "Ada Lovelace", "--json"],
    ];
    for arguments in cases {
        let error = home.run(arguments).refused(3, "journal");
        has(&error, "message", "is empty");
        has(&error, "hint", "journal recover");
    }
    assert_eq!(served.bookings().len(), 1);
    home.ok(["journal", "recover"]);
    home.booked("ven_confirms", &[], 0);
}

/// "nothing is booked twice" (D1): what is recovered still belongs to the API key that it was made
/// with.
#[test]
fn recovered_attempt_resists_another_organizations_key() {
    let (served, home) = Served::with_home();
    home.fault("POST /v1/bookings", "drop_after", 3);
    let book = "book ven_confirms --at 2031-12-01T19:30:00Z --party 2 --name 'Ada Lovelace'";
    home.run(words(format!("{book} --idempotency-key k"))).exits(16);
    let journal = home.path().join("journal.db");
    let mut damaged = std::fs::read(&journal).unwrap();
    damaged[..16].fill(0);
    std::fs::write(&journal, damaged).unwrap();
    home.ok(["journal", "recover"]);
    let other = served.home_with("sk_live_other");
    std::fs::create_dir_all(other.path()).unwrap();
    std::fs::copy(&journal, other.path().join("journal.db")).unwrap();
    let error = other.refuses("attempts resume k", 3, "config");
    has(&error, "message", "another API key");
    home.ok(["attempts", "resume", "k"]);
    assert_eq!(served.bookings().len(), 1);
}

/// "`journal recover` under a running batch … says that it is read-only" (L11): the command says
/// what happened to its journal, and the new journal has its attempt.
#[cfg(unix)]
#[test]
fn booking_request_whose_journal_is_replaced_meanwhile_says() {
    let (server, arrived, go_on) = creating_held(|before| {
        Reply::json(if before == 0 { 201 } else { 200 }, &requested_booking("bk_ada"))
    });
    let home = home(&server);
    let running = home.start(book(&[]));
    arrived.recv_timeout(HANG).unwrap();
    let path = home.path().join("journal.db");
    let mut pages = std::fs::read(&path).unwrap();
    pages[..16].fill(0);
    std::fs::write(&path, pages).unwrap();
    let recovered = home.run(["journal", "recover"]);
    go_on.send(()).unwrap();
    recovered.exits(0);
    running.ends(0).says("was moved or replaced while this command used it");
    assert_eq!(attempts(&home)[0]["state"], "unresolved");
    home.ok(["attempts", "resume", "k"]);
    assert_eq!(attempts(&home)[0]["booking_id"], "bk_ada");
}

/// A journal on a disk that is not there now is not one that never was: nothing is read, replaced
/// or booked.
#[cfg(unix)]
#[test]
fn link_to_journal_not_there_stops_booking_requests_and_stays() {
    let (_server, home) = unresolved(|_| Reply::json(200, &requested_booking("bk_ada")));
    let (journal, disk) = (home.path().join("journal.db"), home.folder().join("disk"));
    std::fs::rename(&journal, &disk).unwrap();
    std::os::unix::fs::symlink(&disk, &journal).unwrap();
    assert_eq!(attempts(&home)[0]["state"], "unresolved");
    let away = home.folder().join("away");
    std::fs::rename(&disk, &away).unwrap();
    for arguments in [&["attempts", "--json"][..], &book(&[])] {
        let error = home.run(arguments).refused(3, "journal");
        has(&error, "message", "link");
    }
    assert!(journal.symlink_metadata().unwrap().is_symlink());
    std::fs::rename(&away, &disk).unwrap();
    assert_eq!(attempts(&home)[0]["state"], "unresolved");
}

/// "The journal is one file": a kill while the request is under way leaves all that is known in
/// `journal.db`. Whatever becomes of what lies beside it, the attempt stays open, and the same wish
/// is not booked again.
///
/// Not covered: a kill within a commit, which lasts some milliseconds. The rollback file then holds
/// the pages as they were before. Where somebody removes or damages it, SQLite cannot take the half
/// of the commit back, and may not notice.
#[test]
fn kill_in_flight_leaves_attempt_in_file_itself() {
    let damages: [(&str, Option<&[u8]>); 5] = [
        ("journal.db-journal", None),
        ("journal.db-journal", Some(b"")),
        ("journal.db-journal", Some(&[0; 4096])),
        ("journal.db-wal", Some(b"")),
        ("journal.db-wal", Some(&[0; 4096])),
    ];
    let (sent, arrived) = std::sync::mpsc::channel();
    let server = creating(move |_| {
        sent.send(()).unwrap();
        Reply::Silence
    });
    for (name, content) in &damages {
        let home = home(&server);
        let running = home.start(book(&[]));
        arrived.recv_timeout(HANG).unwrap();
        running.kill();
        for log in ["journal.db-wal", "journal.db-shm"] {
            assert!(!home.path().join(log).exists(), "{log}");
        }
        let file = home.path().join(name);
        match content {
            Some(content) => std::fs::write(&file, content).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        assert_eq!(attempts(&home)[0]["state"], "unresolved", "{name}");
        home.run(booking(&["--no-input"])).exits(16);
    }
    assert_eq!(server.creates().len(), damages.len());
}

/// A backup with hard links (`cp -al`) leaves two names, of which each would forget what is booked
/// under the other.
#[cfg(unix)]
#[test]
fn journal_with_second_name_is_refused() {
    let (server, home) = unresolved(|_| Reply::json(200, &requested_booking("bk_ada")));
    let journal = home.path().join("journal.db");
    std::fs::hard_link(&journal, home.folder().join("backup")).unwrap();
    let sent = server.creates().len();
    let mut hint = String::new();
    for arguments in [&["attempts", "--json"][..], &book(&[])] {
        let error = home.run(arguments).refused(3, "journal");
        has(&error, "message", "second name");
        hint = text(&error, "hint");
    }
    assert_eq!(server.creates().len(), sent);
    let mend = &hint[hint.find("cp -p ").unwrap()..];
    let mended = std::process::Command::new("sh").args(["-c", mend]).status();
    assert!(mended.unwrap().success(), "{mend}");
    assert_eq!(attempts(&home)[0]["state"], "unresolved");
    home.ok(["attempts", "resume", "k"]);
}

/// A person who gives an attempt up is told that another process is still at it.
#[test]
fn whoever_abandons_an_attempt_that_is_being_sent_is_told_so() {
    let (server, arrived, go_on) =
        creating_held(|_| Reply::json(201, &requested_booking("bk_ada")));
    let home = home(&server);
    let running = home.start(book(&[]));
    arrived.recv_timeout(HANG).unwrap();
    home.ok(["attempts", "abandon", "k"]).says("another process may still be sending this request");
    go_on.send(()).unwrap();
    running.ends(0);
    assert_eq!(attempts(&home)[0]["state"], "resolved");
}

/// Who gave a request up may have booked anew since. To send it again ends the same: each hint leads
/// on.
#[test]
fn rejected_request_that_may_have_booked_leads_to_its_end() {
    let (server, home) = unresolved(|before| match before {
        // A key that can be mended.
        3 => Reply::json(401, &json!({"error": "Invalid API key"})),
        _ => Reply::json(422, &json!({"error": "no_table", "message": "no table is left"})),
    });
    let refused = |arguments: &[&str], exit, code, hint| {
        let error = home.run(arguments).refused(exit, code);
        assert_eq!(error["idempotency_key"], "k", "{error}");
        has(&error, "hint", hint);
        text(&error, "message")
    };
    let (resume, abandon) =
        (["attempts", "resume", "k", "--json"], ["attempts", "abandon", "k", "--json"]);
    refused(&resume, 16, "outcome_unknown", "attempts resume k");
    let rejected = "an earlier try may have booked; this one did not: no table is left";
    for again in [&resume[..], &book(&[])] {
        let hint = "check with the venue and abandon the request: bookctl attempts abandon k";
        let message = refused(again, 16, "outcome_unknown", hint);
        assert!(message.ends_with(rejected), "{message}");
    }
    home.ok(abandon);
    let sent = server.creates().len();
    for again in [resume, abandon] {
        refused(&again, 7, "abandoned", "bookctl book ven_1 ");
    }
    assert_eq!(server.creates().len(), sent);
    let message = refused(&book(&[]), 16, "outcome_unknown", "with a new --idempotency-key");
    assert!(message.ends_with(rejected), "{message}");
}

/// "What a person must know of money and of a second booking for the same guest … stands on stderr
/// in a script too, and `--quiet` does not hide it" (command line, Exit codes)
#[test]
fn second_booking_beside_abandoned_request_is_warned_of() {
    let (server, home) = unresolved(|before| match before {
        3 => Reply::json(201, &requested_booking("bk_new")),
        _ => Reply::json(201, &requested_booking("bk_ada")),
    });
    home.ok(["attempts", "abandon", "k"]);
    let abandoned = "an abandoned request may have booked this guest at this venue that day: k, ";
    home.ok(booking(&["-q"])).says(abandoned);
    let booked = home.ok(book(&["-q"]));
    let booked = booked.says("this guest already has a booking at this venue that day: bk_new, ");
    assert!(!booked.stderr.contains("abandoned"), "{booked}");
    home.ok(["attempts", "list", "--all"]).prints(server.base_url());
}

#[test]
fn request_that_is_closed_is_not_abandoned() {
    let (_server, home) = creating(|before| match before {
        0 => Reply::json(201, &requested_booking("bk_ada")),
        _ => Reply::json(422, &json!({"error": "no_table"})),
    })
    .beside_home();
    home.ok(book(&[]));
    home.run(booking(&["--idempotency-key", "other"])).exits(7);
    for (key, hint) in [("k", "bookctl show bk_ada"), ("other", "`bookctl book`")] {
        let error = home.refuses(&format!("attempts abandon {key}"), 7, "http_409");
        assert_eq!(error["idempotency_key"], key);
        has(&error, "hint", hint);
    }
}
