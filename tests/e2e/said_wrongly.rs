//! Services whose answers would make bookctl say something untrue, if it took them for more than
//! they are.

use serde_json::{Value, json};

use crate::faults::{SLOT_TIME, confirmed, creating, slots};
use crate::harness::{GUEST, Home, Reply, Request, Scripted, has, text};

fn book(home: &Home, more: &[&str]) -> crate::harness::Output {
    let book = ["book", "ven_1", "--at", SLOT_TIME, "--json"];
    home.run(book.iter().chain(&GUEST[2..]).chain(more))
}

/// "An idempotency key is never sent to another service": two services of one host are two.
#[test]
fn two_services_of_one_host_share_no_attempt_and_no_booking() {
    let server = Scripted::start(|request: &Request| match request.path.as_str() {
        "/live/v1/bookings" => Reply::Close,
        path if path.ends_with("/v1/bookings") => Reply::json(201, &confirmed()),
        path if path.ends_with("/v1/availability/search") => Reply::json(200, &slots()),
        _ => Reply::json(404, &json!({"error": "not found"})),
    });
    let base = server.base_url();
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_x").configured(&format!(
        "[profiles.stage]\nbase_url = '{base}/stage'\n[profiles.live]\nbase_url = '{base}/live/'\n"
    ));
    let book_at =
        |profile: &str, key: &str| book(&home, &["--profile", profile, "--idempotency-key", key]);
    book_at("stage", "staged").exits(0);
    book_at("live", "order-1").refused(16, "outcome_unknown");
    let sent = server.requests().len();
    let error = home.refuses("--profile stage attempts resume order-1", 3, "config");
    let message = text(&error, "message");
    assert!(message.contains("/live,"), "{message}");
    assert!(message.contains("/stage"), "{message}");
    assert_eq!(server.requests().len(), sent, "it was sent elsewhere");
    let open =
        |profile: &str| home.json(&format!("--profile '{profile}' attempts"))["attempts"].clone();
    assert_eq!(open("stage"), json!([]));
    assert_eq!(open("live")[0]["state"], "unresolved");
    let listed = |profile: &str| home.json(&format!("--profile '{profile}' bookings"));
    assert_eq!(listed("live")["bookings"], json!([]));
    assert_eq!(listed("stage")["bookings"][0]["id"], "bk_1");
}

/// "A change that was answered but that the booking does not show" (command line, Exit codes, 7)
#[test]
fn change_that_answer_does_not_show_is_looked_up() {
    let answers = |modified: Value, read: Value| {
        Scripted::start(move |request: &Request| match request.method.as_str() {
            "POST" => Reply::json(200, &modified),
            _ if request.posted > 0 => Reply::json(200, &read),
            _ => Reply::json(200, &confirmed()),
        })
    };
    let with = |more: Value| {
        let mut booking = confirmed();
        booking.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        booking
    };
    let modification = json!({"last_modification": {"at": "2031-01-01T00:00:00Z"}});
    for (modified, read, code) in [
        (confirmed(), with(json!({"party_size": 3})), 0),
        (confirmed(), with(json!({"party_size": 2})), 7),
        (confirmed(), confirmed(), 7),
        (confirmed(), with(modification.clone()), 0),
        (with(modification), with(json!({"party_size": 2})), 0),
        (with(json!({"party_size": 3})), with(json!({"party_size": 2})), 0),
    ] {
        let case = format!("{modified} {read}");
        let (_server, home) = answers(modified, read).beside_home();
        let output = home.run(["modify", "bk_1", "--party", "3", "--json"]);
        assert_eq!(output.code, Some(code), "{case}: {output}");
        if output.stdout.is_empty() {
            assert_eq!(output.error()["code"], "change_not_shown", "{case}");
        } else {
            assert_eq!(output.json()["id"], "bk_1", "{case}");
        }
        assert_eq!(output.stderr.contains("party_size"), code == 7, "{case}: {output}");
    }
}

/// Who answers with a page may be a proxy, or another service: it does not know what has become of
/// a booking.
#[test]
fn proxy_404_does_not_prove_that_a_booking_is_gone() {
    let (_server, home) = Scripted::with_home(|request: &Request| match request.path.as_str() {
        "/v1/bookings" => Reply::json(201, &confirmed()),
        "/v1/availability/search" => Reply::json(200, &slots()),
        _ => Reply::Whole(404, "text/html", "<h1>Not Found</h1>".to_owned()),
    });
    book(&home, &[]).exits(0);
    let error = home.refuses("show bk_1", 6, "http_404");
    let message = text(&error, "message");
    assert!(message.contains("does not come from the booking service"), "{message}");
    assert!(!message.contains("no such booking"), "{message}");
    let hint = text(&error, "hint");
    assert!(hint.contains("check the base URL"), "{hint}");
    assert!(!hint.contains("forget"), "{hint}");
}

/// "error … with the body under `--json`, the dialect key that would say where to look, and what
/// was there" (real service)
#[test]
fn unreadable_booking_response_names_the_setting_to_read_it() {
    for body in [
        json!({"ok": true, "booking_id": "fx-1"}),
        json!({"success": false, "message": "The slot is gone"}),
        json!({"booking": confirmed(), "previous_booking": confirmed()}),
    ] {
        let answer = body.clone();
        let (_server, home) = creating(move |_| Reply::json(201, &answer)).beside_home();
        let error = book(&home, &["--idempotency-key", "k"]).refused(16, "outcome_unknown");
        assert_eq!(error["body"], body, "{error}");
        let hint = text(&error, "hint");
        assert!(hint.contains("attempts resume k"), "{hint}");
        assert!(hint.contains("read.booking"), "{hint}");
    }
}

#[test]
fn setting_that_answer_needs_settles_attempt_that_it_left_open() {
    let server = creating(|_| Reply::json(201, &json!({"ok": true, "booking_id": "fx-1"})));
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_x").with_profile(
        "acme",
        server.base_url(),
        "",
    );
    book(&home, &["--idempotency-key", "k"]).refused(16, "outcome_unknown");
    let expression =
        r#"{id: .booking_id, object: "booking", status: "confirmed", provider: "provider_a"}"#;
    let set = format!("read.booking={expression}");
    home.ok(["profile", "set", "acme", &set]);
    let resume = ["attempts", "resume", "k", "--jq", ".booking_id"];
    assert_eq!(home.ok(resume).stdout, "fx-1\n");
    let open = home.json("attempts");
    assert_eq!(open["attempts"], json!([]));
}

/// "Never 'none' for 'not understood'" (real service, Principles 5)
#[test]
fn unreadable_slot_times_are_not_reported_as_no_slot() {
    let (_server, home) = Scripted::with_home(|_| {
        let slot = json!({"availability_id": "a1", "datetime": "half past seven"});
        Reply::json(200, &json!({"venue_id": "ven_1", "slots": [slot]}))
    });
    let error = book(&home, &[]).refused(15, "unexpected_answer");
    let message = text(&error, "message");
    assert!(message.contains("half past seven"), "{message}");
    has(&error, "hint", "read.slots");
}

/// "Compare after writing" (real service, Principles 7)
#[test]
fn disconnect_that_returns_the_session_is_no_success() {
    for (answer, code) in [
        (json!({"id": "s1", "object": "session", "deleted": true}), 0),
        (json!({"ok": true}), 0),
        (json!({"id": "s1", "object": "session", "deleted": false}), 7),
        (json!({"id": "s1", "state": "active", "provider": "p"}), 7),
        (json!({"id": "s1", "state": "Reconnect Required", "provider": "p"}), 7),
        (json!({"id": "ses_other", "object": "session", "deleted": true}), 16),
        (json!({"error": "session in use"}), 7),
    ] {
        let case = answer.to_string();
        let (_server, home) = Scripted::with_home(move |_| Reply::json(200, &answer));
        let output = home.run(["session", "disconnect", "s1", "--yes", "--json"]);
        assert_eq!(output.code, Some(code), "{case}: {output}");
        assert_eq!(output.stderr.contains("session show s1"), code == 7, "{case}");
    }
}

/// "any other word is shown as it is, as 'a state that bookctl does not know'" (real service,
/// Principles 3): to scripts too
#[test]
fn unknown_status_exits_16_or_15_with_its_reason() {
    let mut pending = confirmed();
    pending["status"] = json!("On Hold");
    let (_server, home) = Scripted::with_home(move |request| match request.path.as_str() {
        "/v1/availability/search" => Reply::json(200, &slots()),
        _ => Reply::json(200, &pending),
    });
    let shown = home.run(["show", "bk_1", "--exit-status", "--json"]);
    let watched = home.run(["watch", "bk_1", "--json"]);
    for (output, code) in [(book(&home, &[]), 16), (shown, 15), (watched, 15)] {
        let output = output.exits(code);
        assert_eq!(output.json()["status"], "On Hold");
        output.tells("`On Hold` is a status that bookctl does not know");
        output.tells("read.booking=");
    }
    let shown = home.ok(["show", "bk_1"]);
    assert!(shown.stdout.starts_with("On Hold\tbk_1\n"), "{shown}");
    let shown = shown.prints("`On Hold` is a status that bookctl does not know.");
    shown.prints("next\tbookctl show bk_1\n").prints("next\tbookctl watch bk_1\n");
    home.run(["watch", "bk_1", "--until", "confirmed"]).exits(15);
    home.run(["cancel", "bk_1", "--yes"]).exits(16);
    home.run(["modify", "bk_1", "--party", "3"]).exits(7);
    home.run(["continue", "bk_1", "--otp", "123456"]).exits(16);
}

/// "nothing new was booked" (command line, Exit codes, 7), but the attempt stays open: the answer
/// may have been another's.
#[test]
fn key_that_service_knows_for_another_booking_blocks() {
    let mut another = confirmed();
    another["id"] = json!("bk_eve");
    another["customer"] = json!({"name": "Eve Other"});
    another["created_at"] = json!("2020-01-01T00:00:00Z");
    let (_server, home) = creating(move |before| match before {
        0 => Reply::json(200, &another),
        _ => Reply::json(201, &confirmed()),
    })
    .beside_home();
    book(&home, &["--idempotency-key", "k"]).refused(7, "another_booking");
    book(&home, &[]).refused(16, "outcome_unknown");
    book(&home, &["--idempotency-key", "new"]).exits(0);
}
