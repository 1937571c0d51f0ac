//! Whose attempt it is, and which booking came back: another organization's key books a second
//! time, and an older booking is not the one that was asked for.

use serde_json::{Value, json};

use crate::harness::{Home, Output, Running, Served, has, text};

const AT: &str = "2031-12-01T19:30:00Z";

/// The one booking command of this file, with its key and guest.
fn booking<'a>(key: &'a str, guest: &'a str) -> Vec<&'a str> {
    let book = ["book", "ven_confirms", "--at", AT, "--party", "2", "--name"];
    let mut arguments = book.to_vec();
    arguments.extend([guest, "--idempotency-key", key]);
    arguments
}

/// The same home with another organization's key, and `--json`.
fn of_another(home: &Home, arguments: &[&str]) -> Output {
    let mut command = home.command(arguments.iter().chain(&["--json"]));
    command.env("BOOKCTL_API_KEY", "sk_live_other");
    Running::start(command).end()
}

/// "A booking made twice, or made and forgotten" (design, What must never happen)
#[test]
fn an_attempt_is_not_settled_with_another_organizations_key() {
    let (served, home) = Served::with_home();
    home.fault("POST /v1/bookings", "drop_after", 3);
    home.run(booking("k", "Ada Lovelace")).exits(16);
    for arguments in [&["attempts", "resume", "k"][..], &booking("k", "Ada Lovelace")] {
        let error = of_another(&home, arguments).refused(3, "config");
        has(&error, "message", "another API key");
    }
    // With its own key it is the booking that exists; where an organization changed its key, it may
    // say so.
    home.ok(["attempts", "resume", "k"]);
    assert_eq!(served.bookings().len(), 1);
    of_another(&home, &["attempts", "resume", "k", "--same-organization"]).exits(6);
}

/// Where two keys were said to be of one organization and are not, both bookings are named.
#[test]
fn key_that_returns_another_booking_is_no_quiet_success() {
    let (served, home) = Served::with_home();
    home.ok(booking("k", "Ada Lovelace"));
    let first = text(&served.bookings()[0], "id");
    let mut again = booking("k", "Ada Lovelace");
    again.push("--same-organization");
    let output = of_another(&home, &again).exits(0);
    output.tells(format!("returned booking {first} before"));
}

#[test]
fn a_batch_takes_no_row_from_another_organizations_attempts() {
    let (_served, home) = Served::with_home();
    let row = json!({"venue_id": "ven_confirms", "datetime": AT, "party_size": 2, "customer": {"name": "Ada Lovelace"}});
    let file = home.folder().join("one.jsonl");
    std::fs::write(&file, format!("{row}\n")).unwrap();
    let file = file.to_str().unwrap();
    home.ok(["batch", file]);
    of_another(&home, &["batch", file]).refused(3, "config");
    of_another(&home, &["batch", file, "--name", "theirs"]).exits(0);
}

/// "an older booking that came back under the key is said to be one"
#[test]
fn older_booking_is_said_to_be_one_at_home_too() {
    let (served, home) = Served::with_home();
    home.ok(booking("k", "Ada Lovelace"));
    home.ok(booking("k", "Ada Lovelace")).says("was already made with this idempotency key");
    let elsewhere = served.home();
    let mut other = booking("k", "Eve Other");
    elsewhere.run(other.clone()).exits(7).says("customer.name is Ada Lovelace, not Eve Other");
    other.push("--json");
    let error = elsewhere.run(other).refused(7, "another_booking");
    assert_eq!(error["body"]["customer"]["name"], "Ada Lovelace");
    assert_eq!(served.bookings().len(), 1);
}

#[test]
fn row_whose_key_brings_back_another_booking_is_not_booked() {
    let served = Served::start();
    served.home().ok(booking("k", "Ada Lovelace"));
    let home = served.home();
    let row = json!({
        "venue_id": "ven_confirms", "datetime": "2031-12-08T19:30:00Z", "party_size": 4,
        "customer": {"name": "Grace Hopper"}, "idempotency_key": "k",
    });
    let file = home.folder().join("one.jsonl");
    std::fs::write(&file, format!("{row}\n")).unwrap();
    for _ in 0..2 {
        let output = home.run(["batch", file.to_str().unwrap(), "--json"]).exits(18);
        let line: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(line["exit_code"], 7, "{line}");
        assert_eq!(line["error"]["code"], "another_booking", "{line}");
        assert_eq!(line["error"]["body"]["customer"]["name"], "Ada Lovelace");
    }
    assert_eq!(served.bookings().len(), 1);
}

/// A script that went away is not there to be told; whoever looks at stderr is.
#[test]
fn a_booking_that_nobody_reads_is_named_on_stderr() {
    let home = Home::new();
    let mut command = home.command(booking("k", "Ada Lovelace"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer).stderr(std::process::Stdio::piped());
    let ended = command.spawn().unwrap().wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    let id = text(&Served::from_home(&home).bookings()[0], "id");
    assert!(
        stderr.contains(&format!("the output was closed; booking {id} has status confirmed")),
        "{stderr}"
    );
}

/// "two escape hatches exist on every call: `-F key=value` adds a raw body field" (contract)
#[test]
fn field_without_flag_travels_with_every_call() {
    let home = Home::new();
    for line in [
        "book ven_confirms --slot slot_1 --at 2031-12-01T19:30:00Z --party 2 --name Ada",
        "modify bk_1 --party 3",
        "modify bk_1",
        "cancel bk_1",
        "continue bk_1",
        "session connect --end-user u",
        "session verify ses_1 --code 123456",
    ] {
        let arguments = line.split(' ').chain(["-F", "note=7", "--dry-run", "--json"]);
        let request = home.ok(arguments).json();
        assert_eq!(request["body"]["note"], 7, "{line}: {request}");
        assert_eq!(request["method"], "POST");
    }
    // What has a flag is said with it: what was looked up, shown and asked would not be what is
    // sent.
    #[rustfmt::skip]
    let cases = [
        ("book ven_confirms --at 2031-12-01T19:30:00Z --party 2 --name Ada", "party_size=5"),
        ("book ven_confirms --at 2031-12-01T19:30:00Z --party 2", "customer[name]=Bob"),
        ("modify bk_1 --party 3", "party_size=5"),
        ("search dining --near London --at 2031-12-01T19:30:00Z", "location=Paris"),
        ("slots ven_confirms --at 2031-12-01T19:30:00Z", "venue_id=ven_otp"),
    ];
    for (line, field) in cases {
        let error = home.run(line.split(' ').chain(["-F", field, "--json"])).refused(2, "usage");
        has(&error, "message", "already");
    }
    // Deeper than any service reads, and than the stack is.
    // Windows takes 32,767 characters.
    let depth = if cfg!(windows) { 10_000 } else { 20_000 };
    let deep = format!("a{}=1", "[x]".repeat(depth));
    home.refuses(&format!("api POST /v1/x --dry-run -F '{deep}'"), 2, "usage");
    // A field of the guest does not replace the guest.
    let book = "book ven_confirms --slot slot_1 --at 2031-12-01T19:30:00Z --party 2 --name Ada --dry-run --json -F";
    let body = home.ok(book.split(' ').chain(["customer[note]=x"])).json()["body"].clone();
    assert_eq!(body["customer"], json!({"name": "Ada", "note": "x"}));
    let (served, home) = Served::with_home();
    for line in [
        "search dining --near London --at 2031-12-01T19:30:00Z",
        "slots ven_confirms --at 2031-12-01T19:30:00Z",
    ] {
        let arguments = line.split(' ').chain(["-F", "note=7", "-v"]);
        home.ok(arguments).says("\"note\":7");
    }
    home.ok(["session", "disconnect", "ses_1", "--dry-run"]);
    home.ok(["api", "PUT", "/v1/x", "--dry-run"]);
    assert!(served.bookings().is_empty());
}
