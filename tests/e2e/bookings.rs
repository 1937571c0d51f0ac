//! What this machine booked: listed as it was last seen, and its guests forgotten so that nothing
//! of them is left.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::faults::{SLOT_TIME, confirmed, creating};
use crate::harness::{GUEST, Home, Output, Reply, Running, Scripted, Served, has, text};

fn listed(home: &Home, more: &[&str]) -> Vec<Value> {
    let output = home.ok(["bookings", "--json"].iter().chain(more));
    output.json()["bookings"].as_array().unwrap().clone()
}

fn statuses(home: &Home) -> Vec<String> {
    let bookings = listed(home, &[]);
    bookings.iter().map(|it| text(it, "status")).collect()
}

fn forget(home: &Home, more: &[&str]) -> Output {
    home.run(["bookings", "forget", "--json"].iter().chain(more))
}

#[test]
fn bookings_are_listed_newest_first_as_the_service_sent_them() {
    let home = Home::new();
    assert_eq!(listed(&home, &[]), [] as [Value; 0]);
    let first = home.booked("ven_confirms", &[], 0);
    let second = home.booked("ven_otp", &[], 10);
    let all = listed(&home, &[]);
    assert_eq!(all, [home.booking(&second), home.booking(&first)]);
    let confirmed = listed(&home, &["--status", "confirmed"]);
    assert_eq!(confirmed, [home.booking(&first)]);
    home.run(["bookings", "--status", "confirmd"]).exits(2);
}

/// The list is as old as it says: a command that ends with a booking brings it up to date, one that
/// only reads does not.
#[test]
fn the_list_follows_what_is_done_and_shown() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    let code = home.code();
    home.ok(["continue", &id, "--otp", &code]);
    assert_eq!(statuses(&home), ["confirmed"]);
    home.ok(["modify", &id, "--party", "4"]);
    assert_eq!(listed(&home, &[]), [home.booking(&id)]);
    home.ok(["cancel", &id, "--yes"]);
    assert_eq!(statuses(&home), ["cancelled"]);

    let waits = home.booked("ven_otp", &[], 10);
    home.advance("21m");
    assert_eq!(text(&home.booking(&waits), "status"), "expired");
    assert_eq!(statuses(&home), ["requires_action", "cancelled"]);
    home.ok(["show", &waits]);
    assert_eq!(statuses(&home), ["expired", "cancelled"]);
}

/// "body lists the organization's unfinished bookings of the last day in open_bookings" (spec,
/// Errors: 404)
#[test]
fn organizations_open_bookings_are_listed_whoever_made_them() {
    let (served, other) = Served::with_home();
    let open = other.booked("ven_otp", &[], 10);
    other.booked("ven_confirms", &[], 0);
    let home = served.home();
    let listed = listed(&home, &["--open"]);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(text(&listed[0], "id"), open);
    home.ok(["bookings", "--open"]).prints(format!("{open}\trequires_action\t"));
    assert_eq!(home.booking("@1")["id"], open.as_str());
    fs::write(home.path().join("journal.db"), "no journal at all").unwrap();
    home.ok(["bookings", "--open"]);
    assert_eq!(home.booking("@1")["id"], open.as_str());
    // What this terminal saw may be lost: a file that is none of ours is replaced.
    fs::write(home.path().join("recent.db"), "no rows at all").unwrap();
    home.ok(["bookings", "--open"]);
    assert_eq!(home.booking("@1")["id"], open.as_str());
    fs::remove_file(home.path().join("recent.db")).unwrap();
    fs::create_dir(home.path().join("recent.db")).unwrap();
    home.ok(["bookings", "--open"]).says("warning: @1 and so on are not available");
    // What answers without that list is not the service.
    let (_stranger, lost) =
        Scripted::with_home(|_| Reply::json(404, &json!({"error": "not found"})));
    lost.refuses("bookings --open", 15, "unexpected_answer");
}

/// A list belongs to the process that started the command: two jobs of one home never see each
/// other's rows.
#[test]
fn a_row_belongs_to_the_shell_that_listed_it() {
    let home = Home::new();
    let shell = |script: &str| {
        let mut shell = home.program("sh");
        let script = script.replace("bookctl", env!("CARGO_BIN_EXE_bookctl"));
        shell.env("BOOKCTL_TEST_SHELL", "").args(["-c", &script]).stdin(Stdio::null());
        Running::start(shell).end()
    };
    let search = "bookctl search dining --near Sandbox --at 'tomorrow 19:30' -q > /dev/null";
    let book = "bookctl book @1 --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --json";
    let own = shell(&format!("{search}; {book}; true")).exits(0);
    assert_eq!(own.json()["status"], "confirmed");
    for stranger in [format!("{book}; exit $?"), "bookctl slots @1 --json; exit $?".to_owned()] {
        let error = shell(&stranger).refused(2, "usage");
        has(&error, "message", "this shell has not listed any venues");
        has(&error, "hint", "bookctl search");
    }
    let last = shell("bookctl cancel @last --yes --json; exit $?").refused(2, "usage");
    has(&last, "hint", "bookctl bookings");
}

/// "`@1`, `@2` stand for the rows of the last list" (command line, Command tree)
#[test]
fn row_number_stands_for_its_booking_in_every_command() {
    let (home, confirmed) = Home::with_booking("ven_confirms", 0);
    let paused = home.booked("ven_otp", &[], 10);
    let none_yet = home.refuses("show @1", 2, "usage");
    has(&none_yet, "hint", "bookctl bookings");
    assert!(text(&none_yet, "message").contains("has not listed any bookings"));
    let rows = listed(&home, &[]);
    // The newest first.
    assert_eq!(text(&rows[0], "id"), paused);
    assert_eq!(home.booking("@1")["id"], paused.as_str());
    let both = home.json("show @2 @1");
    assert_eq!(both[0]["id"], confirmed.as_str());
    let watched = home.run(["watch", "@1", "--json"]).exits(10).json();
    assert_eq!(watched["id"], paused.as_str());
    let answer = ["continue", "@1", "--otp", &home.code(), "--json"];
    let answered = home.ok(answer).json();
    assert_eq!(answered["id"], paused.as_str());
    let modified = ["modify", "@2", "--party", "3", "--json"];
    assert_eq!(home.ok(modified).json()["id"], confirmed.as_str());
    let cancelled = ["cancel", "@2", "--yes", "--dry-run", "--json"];
    assert_eq!(home.ok(cancelled).json()["path"], format!("/v1/bookings/{confirmed}/cancel"));
}

#[test]
fn row_that_list_does_not_have() {
    let (server, home) = Scripted::with_home(|_| Reply::json(200, &json!({})));
    assert!(listed(&home, &[]).is_empty());
    for named in ["@1", "@0", "@x", "", " ", ".", ".."] {
        for arguments in [
            &["show", named][..],
            &["show", "bk_1", named],
            &["watch", named],
            &["continue", named, "--otp", "123456"],
            &["modify", named, "--party", "3"],
            &["cancel", named, "--yes"],
        ] {
            home.run(arguments.iter().chain(&["--json"])).refused(2, "usage");
        }
    }
    for named in ["", ".", ".."] {
        for arguments in [
            &["session", "show", named][..],
            &["session", "verify", named, "--code", "1"],
            &["session", "disconnect", named, "--yes"],
            &["card", named],
            &["bookings", "forget", named],
        ] {
            home.run(arguments.iter().chain(&["--json"])).refused(2, "usage");
        }
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn another_services_bookings_are_not_listed_and_not_forgotten() {
    let (one, two) = (Served::start(), Served::start());
    let home = one.home();
    let id = home.booked("ven_confirms", &[], 0);
    let there = home.with("BOOKCTL_BASE_URL", two.base_url());
    assert_eq!(listed(&there, &[]).len(), 0);
    forget(&there, &[&id]).refused(6, "not_found");
    let all = forget(&there, &["--before", "2100-01-01", "--yes"]).exits(0);
    assert_eq!(all.json()["forgotten"], 0);
    assert!(there.files_hold("journal.db", "Ada Lovelace"));
}

#[test]
fn forgotten_guest_is_nowhere_in_file() {
    let home = Home::new();
    let key = ["--idempotency-key", "dinner-1"];
    let guest = [&["--email", "ada@canary.example"], &key[..]].concat();
    let id = home.booked("ven_confirms", &guest, 0);
    assert!(
        home.files_hold("journal.db", "Ada Lovelace") && home.files_hold("journal.db", "canary")
    );
    let forgotten = forget(&home, &[&id]).exits(0).json();
    assert_eq!(forgotten, json!({"forgotten": 1, "unresolved": 0}));
    assert!(!home.files_hold("journal.db", "Lovelace") && !home.files_hold("journal.db", "canary"));
    assert_eq!(listed(&home, &[]).len(), 0);
    let again = forget(&home, &[&id]).exits(0).says("deleted before");
    assert_eq!(again.json()["forgotten"], 0);
    forget(&home, &["bk_unknown"]).refused(6, "not_found");

    // The key still belongs to its request, and its booking is looked at as before.
    home.book("ven_otp", &["--idempotency-key", "dinner-1"]).refused(7, "another_booking");
    let resumed = home.ok(["attempts", "resume", "dinner-1", "--json"]);
    assert_eq!(text(&resumed.json(), "id"), id);
    assert!(!home.files_hold("journal.db", "Lovelace"));
    assert_eq!(home.booked("ven_confirms", &guest, 0), id);
}

#[test]
fn attempt_not_resolved_keeps_its_guest() {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    home.fault("POST /v1/bookings", "drop_after", 3);
    let key = text(&home.book("ven_otp", &[]).refused(16, "outcome_unknown"), "idempotency_key");
    let output = forget(&home, &["--before", "2100-01-01", "--yes"]).exits(0);
    assert_eq!(output.json(), json!({"forgotten": 1, "unresolved": 1}));
    output.says("bookctl attempts");
    let open = home.json("attempts list");
    let guest = &open["attempts"][0]["request"]["customer"];
    assert_eq!(guest["name"], "Ada Lovelace");
    forget(&home, &[&key]).refused(6, "not_found");
    home.run(["attempts", "resume", &key]).exits(10);
    assert_eq!(statuses(&home), ["requires_action"]);
}

#[test]
fn forgetting_many_wants_a_yes_off_a_terminal() {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    let before = ["--before", "tomorrow"];
    let error = forget(&home, &before).refused(2, "usage");
    has(&error, "hint", "--yes");
    assert!(home.files_hold("journal.db", "Ada Lovelace"));
    forget(&home, &[&before[..], &["--yes"]].concat()).exits(0);
    // Where nothing is meant, nothing is asked.
    assert_eq!(forget(&home, &before).exits(0).json()["forgotten"], 0);
    forget(&home, &["--before", "2020-02-30"]).exits(2).error();
    forget(&home, &[]).exits(2);
    forget(&home, &["bk_1", "--before", "2020-01-01"]).exits(2);
}

#[test]
fn retention_is_read_from_file_profile_and_flag() {
    let home = Home::new().configured("retention = '0'\n");
    let id = home.booked("ven_confirms", &[], 0);
    assert_eq!(listed(&home, &[]), [json!({"id": id, "object": "booking", "status": "confirmed"})]);
    assert!(!home.files_hold("journal.db", "Lovelace"));
    // What is seen later does not bring the guest back.
    home.ok(["cancel", &id, "--yes"]);
    assert_eq!(listed(&home, &[]), [json!({"id": id, "object": "booking", "status": "cancelled"})]);
    assert!(!home.files_hold("journal.db", "Lovelace"));
    // The flag goes before the file.
    home.booked("ven_confirms", &["--retention", "1d"], 0);
    assert!(home.files_hold("journal.db", "Lovelace"));
    home.book("ven_confirms", &["--name", "Grace Hopper"]).exits(2);
    let other = ["--slot", "slot_x", "--tz", "UTC", "--retention", "0"];
    let other = other.iter().chain(&["--idempotency-key", "refused"]);
    home.book("ven_confirms", &other.copied().collect::<Vec<_>>()).exits(12);
    home.refuses("attempts resume refused", 7, "http_409");
    // A booking request that is refused forgets too, itself included.
    assert!(!home.files_hold("journal.db", "Lovelace"));
    for wrong in ["90", "soon", "-1d"] {
        home.book("ven_confirms", &["--retention", wrong]).exits(2);
    }
    let wrong = Home::new().configured("retention = '90'\n");
    wrong.book("ven_confirms", &[]).refused(3, "config");
    // A batch's rows follow the flag too, and a profile has a retention of its own.
    let home = Home::new();
    let row = json!({
        "venue_id": "ven_confirms", "datetime": "2038-01-10T19:30:00Z", "party_size": 2,
        "customer": {"name": "Ada Lovelace"},
    });
    home.feed(["batch", "-", "--name", "b", "--retention", "0"], &row.to_string()).exits(0);
    assert!(!home.files_hold("journal.db", "Lovelace"));
    assert_eq!(listed(&home, &[]).len(), 1);
    let served = Served::start();
    let home =
        Home::new().configured("retention = '0'\n").with("BOOKCTL_API_KEY", "sk_live_sandbox");
    let add = ["profile", "add", "it", "--base-url", served.base_url()];
    let add = add.iter().chain(&["retention=36h", "--json"]);
    assert_eq!(home.ok(add).json()["retention"], "36h");
    home.booked("ven_confirms", &["--profile", "it"], 0);
    assert!(home.files_hold("journal.db", "Lovelace"));
}

/// What is deleted does not come back, so a computer whose clock is ahead by months goes by the
/// service's.
#[test]
fn a_clock_that_is_ahead_of_the_services_ends_no_retention() {
    let (_server, home) = creating(|before| {
        let mut body = confirmed();
        body["id"] = json!(format!("bk_{before}"));
        let date = "Date: Wed, 01 Jan 2020 00:00:00 GMT".to_owned();
        Reply::headed(201, &[date][..usize::from(before == 1)], &body)
    })
    .beside_home();
    let book = |guest: &str, retention: &str| {
        let book = ["book", "ven_1", "--at", SLOT_TIME, "--party", "2", "--name"];
        home.ok(book.iter().chain(&[guest, "--retention", retention]));
    };
    book("Ada Lovelace", "90d");
    book("Grace Hopper", "1ms");
    assert!(home.files_hold("journal.db", "Ada Lovelace"));
    book("Emmy Noether", "1ms");
    assert!(!home.files_hold("journal.db", "Ada Lovelace"));
}

/// Every booking request is written and every booking kept, whoever lists and forgets meanwhile.
#[test]
fn several_commands_at_once_lose_nothing() {
    let (home, gone) = Home::with_booking("ven_confirms", 0);
    let books = ["One", "Two", "Three", "Four"].map(|guest| {
        let name = format!("Ada {guest}");
        let book = ["book", "ven_confirms", "--json", "--retention", "1d", "--name", &name];
        home.start(book.iter().chain(&GUEST[..4]))
    });
    let forgets = [0, 1].map(|_| home.start(["bookings", "forget", &gone, "--json"]));
    let lists = [0, 1].map(|_| home.start(["bookings", "--json"]));
    let mut ids: Vec<String> =
        books.into_iter().map(|running| text(&running.ends(0).json(), "id")).collect();
    let forgotten: i64 =
        forgets.map(|running| running.ends(0).json()["forgotten"].as_i64().unwrap()).iter().sum();
    assert_eq!(forgotten, 1);
    for running in lists {
        running.ends(0).json();
    }
    let mut kept: Vec<String> = listed(&home, &[]).iter().map(|it| text(it, "id")).collect();
    ids.sort();
    kept.sort();
    assert_eq!(kept, ids);
}

/// A journal that cannot be read stops what needs it, and nothing else.
#[test]
fn damaged_journal_fails_list_and_no_command_whose_work_is_done() {
    let served = Served::start();
    let id = served.home().booked("ven_confirms", &[], 0);
    let home = served.home();
    fs::create_dir_all(home.path()).unwrap();
    fs::write(home.path().join("journal.db"), "no database ".repeat(100)).unwrap();
    home.refuses("bookings", 3, "journal");
    forget(&home, &[&id]).refused(3, "journal");
    let cancelled = home.ok(["cancel", &id, "--yes", "--json"]);
    assert_eq!(text(&cancelled.json(), "status"), "cancelled");
}
