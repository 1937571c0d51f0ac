//! The rules of the promise "nothing is booked twice, and nothing is forgotten", each where a
//! special case once broke it.

use std::sync::mpsc::channel;

use serde_json::{Value, json};

use crate::faults::{SLOT_TIME, booking, creating, home, requested_booking};
use crate::harness::listening::until;
use crate::harness::{HANG, Home, Output, Reply, Request, Scripted, has, text, words};

fn with(booking: Value, more: Value) -> Value {
    let mut booking = booking;
    for (name, value) in more.as_object().unwrap() {
        booking[name] = value.clone();
    }
    booking
}

fn book(home: &Home, more: &[&str]) -> Output {
    home.run(booking(more))
}

/// A response that settles nothing: 16, the attempt is open, and the same command again is not
/// sent.
#[track_caller]
fn settles_nothing(status: u16, response: Value) {
    let (server, home) = creating(move |_| Reply::json(status, &response)).beside_home();
    book(&home, &[]).refused(16, "outcome_unknown");
    assert_eq!(home.list("attempts").len(), 1);
    book(&home, &[]).refused(16, "outcome_unknown");
    assert_eq!(server.creates().len(), 1);
}

/// No search showed the venue's zone.
#[test]
fn slots_offset_is_the_clock_of_a_time_without_one() {
    for (time, field, says) in [
        ("2030-12-01T20:15:00", "message", "datetime is 2030-12-01T20:15:00, not"),
        // The offset apart, as in UTC: another reading of the venue's clock mends nothing.
        ("2030-12-01T18:30:00", "hint", "read.booking=EXPRESSION"),
    ] {
        let mut shown = requested_booking("bk_1");
        shown["datetime"] = json!(time);
        let server = creating(move |_| Reply::json(201, &shown));
        let error = book(&home(&server), &[]).refused(16, "outcome_unknown");
        has(&error, field, says);
    }
}

/// Whether the first process still runs decides nothing: nobody could know it of a container, a
/// zombie, or another host.
#[test]
fn attempt_that_is_being_sent_blocks_same_booking_at_once() {
    let (sent, arrived) = channel();
    let (go_on, held) = channel::<()>();
    let (_server, home) = creating(move |_| {
        sent.send(()).unwrap();
        held.recv_timeout(HANG).unwrap();
        Reply::json(201, &requested_booking("bk_1"))
    })
    .beside_home();
    let running = home.start(booking(&["--idempotency-key", "first"]));
    arrived.recv_timeout(HANG).unwrap();
    let error = book(&home, &[]).refused(16, "outcome_unknown");
    assert!(text(&error, "hint").contains("bookctl attempts resume first"));
    assert!(text(&error, "hint").contains("--idempotency-key"));
    // Of a request that a live process sends nobody needs a warning, and of a dead one's a script
    // gets no guest's name.
    let book = |key| {
        let other = ["--slot", "slot_1", "--party", "2", "--name", "Eve Other"];
        let begun = home.list("attempts").len();
        let command = [&booking(&[])[..5], &other, &["--idempotency-key", key]].concat();
        let running = home.start(command);
        until("the request in the journal", || home.list("attempts").len() > begun);
        running
    };
    let second = book("second");
    running.kill();
    let third = book("third");
    for _ in 0..3 {
        go_on.send(()).unwrap();
    }
    let quiet = second.end();
    // Windows does not say which processes run.
    assert!(cfg!(windows) || !quiet.stderr.contains("may have booked"), "{quiet}");
    let third = third.end();
    let mut lines = third.stderr.lines();
    let warning = lines.find(|line| line.contains("may have booked")).unwrap();
    assert!(!warning.contains("Ada"), "{warning}");
}

/// "Nothing new was booked" is never said of a key that bookctl made (command line, Exit codes, 7).
#[test]
fn older_booking_under_generated_key_is_unknown() {
    let older = with(
        requested_booking("bk_eve"),
        json!({"customer": {"name": "Eve Other"}, "created_at": "2020-01-01T00:00:00Z"}),
    );
    settles_nothing(200, older.clone());
    // Also where it agrees: it cannot be the key's own.
    let agrees = with(older.clone(), json!({"customer": {"name": "Ada Lovelace"}}));
    settles_nothing(200, agrees);
    let server = creating(move |_| Reply::json(200, &older));
    book(&home(&server), &["--idempotency-key", "k"]).refused(7, "another_booking");
}

/// The key of another organization would book a second time, whatever the profile is called.
#[test]
fn attempt_belongs_to_its_key_and_not_to_name_of_profile() {
    let server = Scripted::start(move |request: &Request| match request.path.as_str() {
        "/v1/" => Reply::json(200, &json!({"object": "api", "name": "Acme", "version": "v1"})),
        "/v1/availability/search" => Reply::json(200, &crate::faults::slots()),
        _ if request.earlier < 3 => Reply::Close,
        _ => Reply::json(201, &requested_booking("bk_1")),
    });
    let home =
        Home::new().configured(&format!("[profiles.acme]\nbase_url = '{}'\n", server.base_url()));
    let log_in = |key: &str| {
        let arguments = words("auth login --profile acme --key-stdin --storage file");
        home.feed(&arguments, key).exits(0);
    };
    log_in("sk_live_one");
    let acme = ["--profile", "acme", "--idempotency-key", "k"];
    book(&home, &acme).exits(16);
    let sent = server.creates().len();
    log_in("sk_live_two");
    let resume = ["--profile", "acme", "attempts", "resume", "k", "--json"];
    home.run(resume).refused(3, "config");
    assert_eq!(server.creates().len(), sent);
    // A key that was renewed hides nothing: lists are the service's.
    let list = ["--profile", "acme", "attempts", "--json"];
    let list = home.ok(list).json();
    assert_eq!(list["attempts"][0]["idempotency_key"], "k");
    // The same key from the environment, with a blank behind it as a file gives one, is the same
    // account.
    let key =
        home.with("BOOKCTL_API_KEY", "sk_live_one ").with("BOOKCTL_BASE_URL", server.base_url());
    key.ok(["attempts", "resume", "k"]);
}

/// An envelope may have an id and a status of its own.
#[test]
fn response_with_id_and_status_alone_is_no_booking() {
    for response in [
        json!({"id": "req_1", "status": "error", "message": "upstream timeout"}),
        json!({"id": "req_1", "status": "failed", "error": "slot_taken"}),
        json!({"id": "bk_1", "status": "confirmed", "object": null}),
        json!({"id": "req_1", "status": "confirmed", "object": "error"}),
        json!({"id": "req_1", "status": "confirmed", "provider": "gateway"}),
        json!({"id": "req_1", "status": "failed", "provider": "gateway", "error_code": "timeout"}),
    ] {
        settles_nothing(200, response);
    }
    for (field, value) in [("datetime", json!(SLOT_TIME)), ("customer", json!({"name": "Ada"}))] {
        let sparse = json!({"id": "bk_1", "status": "confirmed", field: value});
        let server = creating(move |_| Reply::json(200, &sparse));
        book(&home(&server), &[]).exits(0);
    }
}

/// "The service keeps one booking for a key" (spec, Limits 7): it cannot be that of two.
#[test]
fn a_booking_that_another_key_has_already_settles_nothing() {
    let (_server, home) = creating(|_| Reply::json(201, &requested_booking("bk_1"))).beside_home();
    book(&home, &["--idempotency-key", "first"]).exits(0);
    let error = book(&home, &["--idempotency-key", "second"]).refused(16, "outcome_unknown");
    has(&error, "message", "first");
    let open = home.list("attempts");
    assert_eq!(text(&open[0], "idempotency_key"), "second");
}

/// "an answer proves that nothing was booked if it carries a code of something else", or if nobody
/// else has the key. A refusal that carries the very booking proves nothing.
#[test]
fn conflict_proves_what_the_key_and_its_code_allow() {
    #[rustfmt::skip]
    let cases = [
        (409, json!({"error": "exists already", "booking": requested_booking("bk_1")}), 16, 16, 16),
        (422, json!({"error": "duplicate", "details": {"existing": requested_booking("bk_1")}}), 16, 16, 16),
        (409, json!({"error": "exists", "booking": {"id": "bk_1", "status": "confirmed"}}), 16, 16, 16),
        (423, json!({"error": "resource is locked by another request"}), 16, 16, 16),
        (407, json!({"error": "proxy authentication required"}), 16, 16, 16),
        (409, json!({"error": "a request with this idempotency key is in progress"}), 7, 16, 16),
        (409, json!({"error": "conflict", "error_code": "idempotency_request_in_progress"}), 7, 16, 16),
        (409, json!({"error": {"code": "keyInUse", "message": "try later"}}), 7, 16, 16),
        (409, json!({"status": 409, "error": "Conflict"}), 7, 16, 16),
        (409, json!({"error": "could not acquire it"}), 7, 7, 16),
        (422, json!({"error": "idempotency_key_reuse"}), 7, 16, 16),
        (409, json!({"error": "conflict", "error_code": "slot_taken"}), 7, 7, 7),
        (422, json!({"error": "no table"}), 7, 7, 7),
    ];
    for (status, body, own, row, given) in cases {
        let what = format!("{status} {body}");
        let (server, home) = creating(move |_| Reply::json(status, &body)).beside_home();
        let left = |home: &Home, code: i32| {
            assert_eq!(home.list("attempts").len(), usize::from(code == 16), "{what}");
        };
        book(&home, &[]).exits(own);
        left(&home, own);
        let elsewhere = self::home(&server);
        let asked = elsewhere.folder().join("rows.jsonl");
        let request = json!({
            "venue_id": "ven_1", "datetime": SLOT_TIME, "party_size": 2, "customer": {"name": "Ada Lovelace"},
        });
        std::fs::write(&asked, request.to_string()).unwrap();
        let batch = elsewhere.run(["batch", asked.to_str().unwrap(), "--json"]);
        assert!(batch.stdout.contains(&format!("\"exit_code\":{row},")), "{what}: {batch}");
        left(&elsewhere, row);
        let third = self::home(&server);
        let ended = book(&third, &["--idempotency-key", "k"]).exits(given);
        left(&third, given);
        if own == 7 && given == 16 {
            ended.says("read.error=EXPRESSION");
            third.run(["attempts", "resume", "k"]).exits(16).says("bookctl attempts abandon k");
        }
    }
    let theirs = with(requested_booking("bk_1"), json!({"customer": {"name": "Eve Other"}}));
    for refusal in [
        json!({"error": "conflict", "open_bookings": [requested_booking("bk_1")]}),
        json!({"error": "the table is taken", "by": theirs}),
    ] {
        let (_server, home) = creating(move |_| Reply::json(409, &refusal)).beside_home();
        assert_eq!(book(&home, &[]).exits(7).code, Some(7));
        assert!(home.list("attempts").is_empty());
    }
}

/// Nothing of a key that was made just now can have been modified, and no modify changes the guest.
#[test]
fn a_fresh_booking_is_not_excused_by_a_change_that_it_shows() {
    let changes =
        json!({"datetime": {"from": SLOT_TIME}, "customer.name": {"from": "Ada Lovelace"}});
    for other in [
        json!({"datetime": "2031-03-09T19:30:00Z"}),
        json!({"customer": {"first_name": "Eve", "last_name": "Other"}}),
    ] {
        let changed =
            with(requested_booking("bk_other"), json!({"last_modification": {"changes": changes}}));
        settles_nothing(201, with(changed, other));
    }
    // What another process made under the caller's key may have been moved since, unless it is
    // younger than this request.
    for (created_at, exit) in [("2020-01-01T00:00:00Z", 0), ("2031-01-01T00:00:00Z", 16)] {
        let moved = json!({
            "datetime": "2031-03-09T19:30:00Z", "created_at": created_at,
            "last_modification": {"changes": changes},
        });
        let moved = with(requested_booking("bk_1"), moved);
        let (_server, home) = creating(move |_| Reply::json(200, &moved)).beside_home();
        book(&home, &["--idempotency-key", "k"]).exits(exit);
    }
}

/// Whatever is read of a booking that is waited for decides the exit code.
#[test]
fn booking_that_becomes_another_guests_is_not_confirmed() {
    let (_server, home) =
        Scripted::with_home(move |request: &Request| match request.path.as_str() {
            "/v1/bookings" => {
                let processing = json!({"status": "processing"});
                Reply::json(201, &with(requested_booking("bk_1"), processing))
            }
            "/v1/availability/search" => Reply::json(200, &crate::faults::slots()),
            _ => {
                let eve = json!({"customer": {"name": "Eve Other"}});
                Reply::json(200, &with(requested_booking("bk_1"), eve))
            }
        });
    book(&home, &["--wait=5s", "--idempotency-key", "k"]).exits(16).says("Eve Other");
    home.run(["attempts", "resume", "k", "--json"]).exits(16).says("Eve Other");
}

/// An id becomes part of a path and of a printed command.
#[test]
fn response_with_id_of_several_lines_or_of_row_is_no_booking() {
    for id in ["bk_1\nbookctl cancel bk_2", "bk_1\r", "\u{1b}[2Jbk_1", "..", "@last", "@1"] {
        settles_nothing(201, with(requested_booking("bk_1"), json!({"id": id})));
    }
}

/// Whatever an id looks like, it is one segment of a path and no flag of a command.
#[test]
fn an_id_that_looks_like_a_flag_or_a_path_stays_an_id() {
    for (id, path, cancel) in [
        ("--yes", "/v1/bookings/--yes", "cancel -- --yes"),
        ("-v", "/v1/bookings/-v", "cancel -- -v"),
        ("../venues", "/v1/bookings/..%2Fvenues", "cancel ../venues"),
        ("a?b#c", "/v1/bookings/a%3Fb%23c", "cancel 'a?b#c'"),
    ] {
        let (server, home) =
            Scripted::with_home(move |request: &Request| match request.path.as_str() {
                "/v1/availability/search" => Reply::json(200, &crate::faults::slots()),
                _ => Reply::json(200, &requested_booking(id)),
            });
        book(&home, &[]).exits(0);
        let shown = home.ok(["show", "--", id]);
        assert!(server.requests().iter().any(|request| request.path == path));
        let lines: Vec<&str> = shown.stdout.lines().collect();
        assert!(lines.contains(&&*format!("next\tbookctl {cancel}")), "{shown}");
        let party = match id.starts_with('-') {
            true => format!("next\tbookctl modify --party N -- {id}"),
            false => cancel.replace("cancel", "next\tbookctl modify") + " --party N",
        };
        assert!(lines.contains(&&*party), "{shown}");
    }
}

/// A time without an offset is one by the clock that was asked for, not by any clock of the world.
#[test]
fn a_time_without_an_offset_at_another_hour_is_another_booking() {
    let book = |shown: &'static str| {
        let server = Scripted::start(move |request: &Request| match request.path.as_str() {
            "/v1/availability/search" => {
                let mut slots = crate::faults::slots();
                slots["slots"][0]["datetime"] = "2030-12-01T18:30:00Z".into();
                Reply::json(200, &slots)
            }
            _ => Reply::json(201, &with(requested_booking("bk_1"), json!({"datetime": shown}))),
        });
        let output = home(&server).run(booking(&[]));
        assert_eq!(server.creates().len(), 1, "{output}");
        output
    };
    book("2030-12-01T18:30:00").exits(0);
    book("2030-12-01T22:30:00").refused(16, "outcome_unknown");
}

/// A date alone does not tell a booking from another one of the same day.
#[test]
fn a_booking_that_shows_nothing_but_its_day_settles_nothing() {
    let sparse = |more: Value| {
        let sparse = json!({"id": "bk_1", "status": "confirmed", "datetime": "2030-12-01"});
        with(sparse, more)
    };
    settles_nothing(201, sparse(json!({})));
    settles_nothing(201, sparse(json!({"customer": {"name": "Ada Lovelace"}})));
    settles_nothing(201, with(requested_booking("bk_1"), json!({"datetime": "2030-12-02"})));
}
