//! What was asked is compared with what the booking says afterwards, and the journal keeps both
//! shapes of a request.

use serde_json::{Value, json};

use crate::harness::{Home, Key, Reply, Request, Scripted, Terminal, words};

fn booking() -> Value {
    json!({
        "id": "bk_1", "object": "booking", "status": "confirmed", "provider": "a", "venue_id": "ven_1",
        "datetime": "2026-12-01T19:30:00Z", "party_size": 2, "seating_preference": "window",
        "customer": {"name": "Ada Lovelace", "email": "ada@x.example"},
    })
}

fn home(server: &Scripted, profile: &str) -> Home {
    Home::new()
        .with_profile("acme", server.base_url(), profile)
        .with("BOOKCTL_API_KEY", "sk_test_compared_0001")
}

fn book(key: &str) -> Vec<String> {
    words(format!(
        "book ven_1 --slot slot_1 --at 2026-12-01T19:30:00Z --party 2 --name 'Ada Lovelace' \
         --email ada@x.example --yes --idempotency-key {key}"
    ))
}

#[test]
fn change_that_booking_does_not_show_is_warning_that_names_key() {
    let server = Scripted::start(|_| Reply::json(200, &booking()));
    let home = home(&server, "");
    home.run(["modify", "bk_1", "--party", "4"])
        .exits(7)
        .says("party_size is 2, not 4")
        .says("bookctl profile set acme dialect.modify_party_size_field=NAME");
    home.run(["modify", "bk_1", "--at", "2026-12-01T20:30:00Z"])
        .exits(7)
        .says("dialect.modify_datetime_field=NAME");
    home.ok(["modify", "bk_1", "--at", "2026-12-01T20:30:00+01:00"]);
    home.ok(["modify", "bk_1", "--seating", "Window"]);
    home.run(["cancel", "bk_1", "--yes"]).exits(7);
}

#[test]
fn a_change_to_the_same_clock_of_another_offset_is_sent() {
    let mut shown = booking();
    shown["datetime"] = json!("2026-12-01T19:30:00");
    let server = Scripted::start(move |_| Reply::json(200, &shown));
    home(&server, "").ok(["modify", "bk_1", "--at", "2026-12-01T19:30:00+05:00"]);
    let sent = server.requests();
    assert!(sent.iter().any(|it| it.path.ends_with("/modify")));
}

/// The setting that a hint names ends the doubt.
#[test]
fn time_of_another_clock_differs_once_local_times_is_set() {
    let mut shown = booking();
    shown["datetime"] = json!("2026-12-01 9:30 PM");
    let server = Scripted::start(move |_| Reply::json(201, &shown));
    let home = home(&server, "");
    let set = "profile set acme local_times=true";
    home.run(book("k")).exits(16).says("which cannot be compared").says(format!("bookctl {set}"));
    home.ok(words(set));
    let resumed = home.run(words("attempts resume k")).exits(16);
    resumed
        .says("datetime is 2026-12-01 9:30 PM, not 2026-12-01T19:30:00Z")
        .says("bookctl show bk_1; to keep it as it is: bookctl attempts abandon k");
    home.ok(words("attempts abandon k"));
    home.ok(words("bookings")).prints("bk_1");
}

/// A time that was sent without an offset is the venue's, and so is compared in its zone alone.
#[test]
fn an_instant_is_compared_with_a_local_time_in_the_venues_zone() {
    let server = Scripted::start(|request| {
        let mut shown = booking();
        shown["datetime"] = json!("2026-12-01T18:30:00Z");
        let venues = json!({"venues": [{"venue_id": "ven_1", "timezone": "Europe/Oslo"}]});
        Reply::json(200, if request.path.contains("venues") { &venues } else { &shown })
    });
    let book = "book ven_1 --slot s --at '2026-12-01 19:30' --party 2 --name 'Ada Lovelace' --yes";
    for (search, exit) in [("search dining --near Oslo --at '2026-12-01 19:30'", 0), ("limits", 16)]
    {
        let home = home(&server, "local_times = true\n");
        home.run(words(search));
        let booked = home.run(words(book)).exits(exit);
        assert_eq!(booked.stderr.contains("read.booking=EXPRESSION"), exit == 16, "{booked}");
    }
}

/// "The journal keeps what was sent, byte for byte, so that `resume` repeats it under a changed
/// mapping."
#[test]
fn key_given_again_sends_what_was_sent_and_guest_too() {
    let server = Scripted::start(|_| Reply::json(201, &booking()));
    let home = home(&server, "");
    home.ok(book("k"));
    let other_shape = "write.create=. + {covers: .party_size}";
    home.ok(["profile", "set", "acme", other_shape]);
    home.ok(book("k"));
    home.ok(["profile", "unset", "acme", "write.create"]);
    home.ok(["bookings", "forget", "bk_1"]);
    home.ok(book("k"));
    let sent: Vec<Value> = server.requests().iter().map(Request::json).collect();
    assert_eq!(sent[0], sent[1]);
    assert_eq!(sent[2]["customer"], sent[0]["customer"]);
}

#[test]
fn last_modification_proves_what_it_names_unless_it_is_older() {
    let server = Scripted::start(move |request| {
        let is_older = request.path.contains("bk_2");
        let (at, changes) = (request.number, json!({"partySize": {"from": 2, "to": 5}}));
        let at = at + if is_older { 1_700_000_000 } else { 4_000_000_000 };
        let changed = json!({"at": at, "changes": changes});
        let id = if is_older { "bk_2" } else { "bk_1" };
        let shown =
            json!({"id": id, "status": "confirmed", "provider": "a", "last_modification": changed});
        Reply::json(200, &shown)
    });
    let home = home(&server, "");
    home.run(["modify", "bk_2", "--party", "5"]).exits(7).says("the change may not have been made");
    home.ok(["modify", "bk_1", "--party", "5"]);
    let changed = home.run(["modify", "bk_1", "--party", "5", "--seating", "terrace"]);
    let changed = changed.exits(7);
    let changed = changed.says("does not show its seating_preference");
    assert!(!changed.stderr.contains("its party_size"), "{changed}");
    home.run(["modify", "bk_1", "--party", "4"]).exits(7).says("party_size is 5, not 4");
}

/// Its bookings show neither guest, time, party nor venue.
#[test]
fn field_not_shown_is_what_was_asked_for_and_is_marked() {
    let sparse = json!({"id": "bk_1", "object": "booking", "status": "confirmed", "provider": "a"});
    let server = Scripted::start(move |_| Reply::json(200, &sparse));
    let home = home(&server, "");
    let shows = |command: &[&str], exit, parts: &str| {
        let output = home.run(command).exits(exit);
        parts.split('|').for_each(|part| output.shows(part));
    };
    let booked = home.ok(book("key-1"));
    for part in ["party\tasked for 2;", "venue\tasked for ven_1;", "19:30 (UTC); not found in the"]
    {
        booked.shows(part);
    }
    shows(&["modify", "bk_1", "--party", "5"], 7, "party\tasked for 2;");
    shows(
        &["modify", "bk_1", "--at", "2026-12-05T21:00:00Z"],
        7,
        "asked for Tue 1 Dec 2026, 19:30",
    );
    shows(&["show", "bk_1", "bk_1"], 0, "\tasked for 2\t");
    home.ok(["bookings", "--date", "2026-12-01"]).shows("asked for 2026-12-01T19:30:00Z");
    home.ok(["bookings", "--date", "2026-12-05"]).says("No bookings");
    let shown = home.ok(["show", "bk_1", "--json"]);
    assert!(shown.json()["party_size"].is_null(), "{shown}");
    let like = words("book --like bk_1 --slot s --at 2026-12-06T19:30:00Z --dry-run --json");
    assert_eq!(home.ok(like).json()["body"]["party_size"], 2);
    let mut terminal = Terminal::start(&home, &["modify", "bk_1", "--party", "6"]);
    terminal.see("change asked for Ada Lovelace · asked for Tue 1 Dec");
    terminal.see("asked for 2 → 6");
    terminal.see("Change this booking?").press(Key::CtrlC);
    terminal.ends(130);
    let mut terminal = Terminal::start(&home, &["modify", "bk_1"]);
    terminal.see("time · asked for Tue 1 Dec").see("party size · asked for 2").press(Key::CtrlC);
    terminal.ends(130);
}

#[test]
fn a_code_that_the_service_skips_is_told_from_one_that_it_takes() {
    let server = Scripted::start(|_| {
        let mut paused = booking();
        paused["status"] = json!("requires_action");
        paused["next_action"] = json!({"type": "otp"});
        Reply::json(200, &paused)
    });
    home(&server, "")
        .run(["continue", "bk_1", "--otp", "123456"])
        .says("still waits for it")
        .says("bookctl profile set acme dialect.otp_field=NAME");
    assert_eq!(server.requests().len(), 2, "the answer, and what came of it");
}

#[test]
fn fresh_booking_may_be_answered_with_200_and_old_one_with_201() {
    for (status, created_at, is_old) in [
        (200, None, false),
        (201, Some("2020-01-01T00:00:00Z"), true),
        (200, Some("2099-01-01T00:00:00Z"), false),
        (202, Some("2020-01-01T00:00:00Z"), true),
    ] {
        let server = Scripted::start(move |_| {
            let mut made = booking();
            if let Some(at) = created_at {
                made["created_at"] = json!(at);
            }
            Reply::json(status, &made)
        });
        let output = home(&server, "").ok(book("key-1"));
        let said = output.stderr.contains("was already made with this idempotency key");
        assert_eq!(said, is_old, "{status} {created_at:?}: {output}");
        assert_eq!(server.creates().len(), 1);
    }
}

const WRITTEN: &str = "[profiles.acme.write]\n\
    create = '{place: .venue_id, at: .datetime, people: .party_size, who: .customer.name}'\n";

/// Loses the first answer to a booking request.
fn losing_the_first() -> impl Fn(&Request) -> Reply + Send + 'static {
    move |request| match request.is("POST", "/v1/bookings") {
        true if request.earlier < 3 => Reply::Close,
        _ => Reply::json(201, &booking()),
    }
}

#[test]
fn what_is_resumed_are_bytes_sent_whatever_profile_says_now() {
    let server = Scripted::start(losing_the_first());
    let home = home(&server, WRITTEN);
    home.run(book("key-1")).exits(16);
    let sent = server.creates();
    assert_eq!(
        sent[0].json(),
        json!({"place": "ven_1", "at": "2026-12-01T19:30:00Z", "people": 2, "who": "Ada Lovelace"})
    );
    let open = home.json("attempts");
    assert_eq!(open["attempts"][0]["asked"]["venue_id"], "ven_1");
    assert_eq!(open["attempts"][0]["request"]["place"], "ven_1");
    home.ok(["attempts"]).prints("Ada Lovelace");
    // Another expression for later requests.
    let config = home.path().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("place:", "venue:")).unwrap();
    home.ok(book("key-1"));
    let all = server.creates();
    for request in &all {
        assert_eq!(request.body, sent[0].body);
        assert_eq!(request.header("idempotency-key"), Some("key-1"));
    }
    assert!(all.len() > sent.len());
    home.ok(["attempts", "resume", "key-1"]);
    assert_eq!(server.creates().len(), all.len(), "a settled attempt is read");
}

#[test]
fn a_resumed_booking_of_another_venue_is_told_by_what_was_asked() {
    let server = Scripted::start(move |request| {
        if request.is("POST", "/v1/bookings") && request.earlier < 3 {
            return Reply::Close;
        }
        let mut made = booking();
        made["venue_id"] = json!("ven_other");
        Reply::json(201, &made)
    });
    let home = home(&server, WRITTEN);
    home.run(book("key-1")).exits(16);
    home.run(["attempts", "resume", "key-1"]).exits(16).says("venue_id is ven_other, not ven_1");
}

#[test]
fn a_guest_is_forgotten_in_both_shapes_of_a_request() {
    let server = Scripted::start(|_| Reply::json(201, &booking()));
    let home = home(&server, &format!("retention = \"0\"\n{WRITTEN}"));
    home.ok(book("key-1"));
    let shown = home.ok(["attempts", "list", "--all", "--json"]);
    assert!(!shown.stdout.contains("Lovelace"), "{shown}");
    shown.shows("ven_1");
    let journal = std::fs::read_dir(home.path()).unwrap();
    for file in journal.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        let holds = bytes.windows(8).any(|part| part == b"Lovelace");
        assert!(!holds, "{}", file.display());
    }
}

#[test]
fn local_times_are_sent_on_the_venues_clock() {
    let server = Scripted::start(|_| Reply::json(200, &booking()));
    let home = home(&server, "local_times = true\n");
    let sent = |arguments: &[&str]| {
        let output = home.ok(arguments);
        let body = output.stdout.lines().last().unwrap_or_default().to_owned();
        serde_json::from_str::<Value>(&body).unwrap()["datetime"].clone()
    };
    let tokyo = ["--tz", "Asia/Tokyo"];
    let at = ["--at", "2026-12-01 19:30"];
    assert_eq!(
        sent(&[&["modify", "bk_1", "--dry-run"][..], &at, &tokyo].concat()),
        "2026-12-01T19:30:00"
    );
    home.run([&["search", "dining", "--near", "Tokyo"][..], &at, &tokyo].concat());
    let mut requests = server.requests().into_iter();
    let searched = requests.find(|request| request.path.ends_with("/venues/search"));
    let searched = searched.unwrap();
    assert_eq!(searched.json()["datetime"], "2026-12-01T19:30:00");
    for (time, sent) in
        [("2026-12-01T19:30", "2026-12-01T19:30"), ("2026-12-01 19:30", "2026-12-01T19:30:00")]
    {
        let row = format!(
            "venue_id,datetime,availability_id,party_size,customer.name,customer.email\n\
             ven_1,{time},s,2,Ada Lovelace,ada@x.example\n"
        );
        let rows = home.feed(["batch", "-", "--name", "b", "--dry-run"], &row).exits(0);
        rows.prints(format!("\"datetime\":\"{sent}\""));
    }
}

#[test]
fn a_time_with_an_offset_is_never_taken_for_the_venues_clock() {
    let mut answer = booking();
    answer["slots"] = json!([{"availability_id": "s", "datetime": "2026-12-01T19:30"}]);
    let server = Scripted::start(move |_| Reply::json(200, &answer));
    let home = home(&server, "local_times = true\n");
    for (at, exit) in [
        ("2026-12-01T19:30:00Z", 2),
        ("2026-12-01T19:30:00Z --tz Europe/Oslo", 7),
        ("2026-12-01T18:30:00Z --tz Europe/Oslo", 0),
        ("2026-12-01T19:30:00+01:00", 2),
        ("2026-12-01T19:30:00-08:00", 2),
        ("2026-12-01T10:30:00-08:00 --tz Europe/Oslo", 0),
        ("'2026-12-01 19:30'", 0),
    ] {
        let guest = "--party 2 --name 'Ada Lovelace' --dry-run";
        for command in ["book ven_1", "book ven_1 --slot unseen"] {
            let booked = home.run(words(format!("{command} --at {at} {guest}")));
            // What a slot that nobody saw offers is not known.
            let is_unseen = exit == 7 && command.contains("unseen");
            let booked = booked.exits(if is_unseen { 0 } else { exit });
            assert!(!booked.stderr.contains("with an offset"), "{booked}");
            assert_eq!(booked.stderr.contains("--tz Europe/Paris"), exit == 2);
        }
        if exit == 2 {
            home.run(words(format!("modify bk_1 --at {at} --dry-run")))
                .exits(2)
                .says("--tz Europe/Paris");
        }
    }
    for at in ["2026-12-01T19:30:00Z", "2026-12-01T20:30:00+01:00", "2026-12-01T19:30:00-08:00"] {
        let row = json!({"venue_id": "ven_1", "datetime": at, "party_size": 2, "customer": {"name": "Ada Lovelace"}});
        home.feed(["batch", "-", "--name", at, "--yes"], &row.to_string()).exits(18);
    }
    let mut sent = server.requests().into_iter();
    assert!(!sent.any(|it| it.path.ends_with("/bookings")));
}

#[test]
fn a_code_is_masked_under_whatever_name_it_is_sent() {
    let server = Scripted::start(|_| Reply::json(400, &json!({"error": "bad code 774411"})));
    let profile = "[profiles.acme.write]\notp = '{auth: {pinCode: .otp}}'\n";
    let home = home(&server, profile);
    let id = booking()["id"].as_str().unwrap().to_owned();
    for more in ["-v", "--dry-run"] {
        let output = home.run(["continue", &id, "--otp", "774411", more]);
        assert!(!output.stderr.contains("774411"), "{output}");
        assert!(!output.stdout.contains("774411"), "{output}");
    }
}

#[test]
fn another_booking_or_session_is_shown() {
    let server = Scripted::start(|request| match request.path.contains("sessions") {
        true => Reply::json(
            200,
            &json!({"id": "ses_2", "state": "active", "provider": "b", "end_user": "u"}),
        ),
        false => Reply::json(200, &booking()),
    });
    let home = home(&server, "");
    home.run(["show", "bk_2"])
        .exits(15)
        .prints("bk_1")
        .says("the service returned booking bk_1 instead of bk_2");
    assert_eq!(home.json("bookings")["bookings"], json!([]));
    let several = home.run(["show", "bk_1", "bk_2", "--json"]).exits(15).json();
    assert_eq!([&several[0]["id"], &several[1]["error"]["code"]], ["bk_1", "unexpected_answer"]);
    home.ok(["show", "urn:booking:BK_1"]);
    home.run(["session", "verify", "ses_1", "--code", "774411"])
        .exits(16)
        .prints("ses_2")
        .says("the service returned session ses_2 instead of ses_1");
    let error = home.refuses("session verify ses_1 --code 774411", 16, "outcome_unknown");
    assert_eq!(error["body"]["id"], "ses_2");
    home.run(["session", "show", "ses_1"]).exits(15);
    home.ok(["session", "show", "ses_2"]);
}

#[test]
fn repeated_code_and_key_are_neither_stored_nor_shown() {
    let server = Scripted::start(|request| {
        let mut shown = booking();
        if request.path.ends_with("/continue") {
            // `partner:` and the key in base64 for addresses, without padding.
            shown["echo"] = json!({"code": 774_411, "said": "code 774411",
                "auth": "Basic cGFydG5lcjpza190ZXN0X2NvbXBhcmVkXzAwMDE"});
        }
        Reply::json(200, &shown)
    });
    let home = home(&server, "");
    home.ok(book("key-1"));
    let output = home.run(["continue", "bk_1", "--otp", "774411", "-v"]);
    let output = output.exits(0);
    for secret in ["774411", "cGFydG5lcjpza190ZXN0X2NvbXBhcmVkXzAwMDE"] {
        assert!(!output.stderr.contains(secret), "{output}");
        assert!(!output.stdout.contains(secret), "{output}");
        for file in std::fs::read_dir(home.path()).unwrap() {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap_or_default();
            let holds = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!holds, "{}: {secret}", path.display());
        }
    }
    home.ok(["bookings"]).prints("bk_1");
}
