//! The sandbox's clock: moved to a time, to what is due next, stopped, and never back.

use serde_json::{Value, json};

use crate::harness::listening::until;
use crate::harness::{Home, Served, text};

fn clock(home: &Home, words: &[&str]) -> Value {
    let command = ["sandbox", "clock"].iter().chain(words).chain(&["--json"]);
    home.ok(command).json()
}

fn now(clock: &Value) -> jiff::Timestamp {
    text(clock, "now").parse().unwrap()
}

/// "Time never goes back but by `reset` or `restore`" (sandbox tools)
#[test]
fn the_clock_goes_to_a_time_and_not_back() {
    let home = Home::new();
    let later = clock(&home, &["--to", "2031-03-04T05:06:07Z"]);
    assert!(text(&later, "now").starts_with("2031-03-04T05:06:0"), "{later}");
    // Without an offset it is UTC, and a day of the week is one that comes by this clock: 4 March
    // 2031 is a Tuesday.
    let friday = clock(&home, &["--to", "fri 19:30"]);
    assert!(text(&friday, "now").starts_with("2031-03-07T19:30:0"), "{friday}");
    let back = ["sandbox", "clock", "--to", "2031-03-05T00:00:00Z", "--json"];
    home.run(back).says("only a reset moves it back");
    assert!(now(&clock(&home, &[])) >= now(&friday));
    home.ok(["sandbox", "reset"]);
    let reset = now(&clock(&home, &[]));
    assert!(reset < now(&later), "{reset}");
}

#[test]
fn a_stopped_clock_stands_for_every_process_until_it_is_resumed() {
    let home = Home::new();
    let frozen = clock(&home, &["--freeze"]);
    assert_eq!(frozen["frozen"], true);
    for _ in 0..3 {
        assert_eq!(clock(&home, &[])["now"], frozen["now"]);
    }
    let server = Served::from_home(&home);
    let served = server.home();
    assert_eq!(clock(&served, &[])["now"], frozen["now"]);
    let moved = clock(&served, &["--advance", "21m"]);
    let by = now(&moved).duration_since(now(&frozen));
    assert_eq!(by.as_secs(), 21 * 60, "{moved}");
    assert_eq!(clock(&home, &[])["now"], moved["now"]);
    let resumed = clock(&home, &["--resume"]);
    assert_eq!(resumed.get("frozen"), None);
    assert!(now(&resumed) >= now(&moved));
    // It goes again.
    let deadline = std::time::Instant::now() + crate::harness::HANG;
    while now(&clock(&served, &[])) <= now(&resumed) {
        assert!(std::time::Instant::now() < deadline);
    }
}

#[test]
fn next_leads_to_what_is_due_next_and_says_when_nothing_is() {
    let home = Home::new();
    let nothing = ["sandbox", "clock", "--next", "--json"];
    let refused = home.run(nothing).exits(7).says("nothing is due");
    refused.says("make a booking first");
    clock(&home, &["--freeze"]);
    let id = home.booked("ven_processing", &[], 8);
    let before = clock(&home, &[]);
    let next = clock(&home, &["--next"]);
    assert_eq!(before["next_due_at"], next["now"]);
    assert_eq!(home.booking(&id)["status"], "confirmed");
    let two = ["sandbox", "clock", "--next", "--freeze", "--json"];
    home.run(two).refused(2, "usage");
}

#[test]
fn a_call_makes_one_change_and_names_it() {
    let server = Served::start();
    for body in [
        json!({}),
        json!({"freeze": true, "advance": "1m"}),
        json!({"freeze": false}),
        json!({"set": "2031-03-04 05:06"}),
        json!({"set": "1999-01-01T00:00:00Z"}),
        json!({"set": "9999-01-01T00:00:00Z"}),
    ] {
        let (status, refusal) = server.send("POST", "/sandbox/clock", &[], &body.to_string());
        assert_eq!(status, 400, "{body}");
        assert_eq!(refusal["error"], "validation failed", "{body}");
    }
    // The call is right, and the sandbox is not in a state for it.
    let next = json!({"next": true}).to_string();
    let refusal = server.send("POST", "/sandbox/clock", &[], &next);
    let said = "nothing is due: no booking and no webhook waits for a time";
    assert_eq!(refusal, (409, json!({"error": said})));
}

/// The embedded sandbox is opened by each command, and its clock moved by another one.
#[test]
fn card_after_a_wait_uses_the_moved_clock() {
    let home = Home::new();
    let book = "book ven_processing --party 2 --wait --at";
    let book = book.split(' ').chain(["tomorrow 19:30", "--name", "Ada Lovelace"]);
    let waiting = home.start(book);
    until("the booking is made", || {
        let list = home.ok(["sandbox", "bookings", "--json"]);
        list.json()["bookings"][0]["status"] == "processing"
    });
    home.advance("17m");
    // Confirmed 5 seconds after it was made.
    waiting.ends(0).prints("confirmed").prints("status since\t16 minutes ago");
}
