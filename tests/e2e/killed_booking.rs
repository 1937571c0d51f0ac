//! A booking request whose process was killed, and a person who books again.

use serde_json::json;

use crate::faults::{SLOT_TIME, creating_held};
use crate::harness::{GUEST, HANG, Home, Reply, Scripted};
#[cfg(unix)]
use crate::harness::{Key, Terminal};

fn book<'a>(key: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["book", "ven_1", "--at", SLOT_TIME, "--idempotency-key", key];
    arguments.extend(&GUEST[2..]);
    arguments.extend(more);
    arguments
}

/// A home whose first booking request, under the key `killed`, was killed after it arrived. Every
/// later one books.
fn after_a_kill() -> (Scripted, Home) {
    let (server, arrived, killed) = creating_held(move |before| {
        if before == 0 {
            return Reply::Close;
        }
        let booking = json!({
            "id": format!("bk_{before}"), "object": "booking", "status": "confirmed", "provider": "provider_a",
            "venue_id": "ven_1", "datetime": SLOT_TIME, "party_size": 2, "customer": {"name": "Ada Lovelace"},
        });
        Reply::json(201, &booking)
    });
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let running = home.start(book("killed", &["--json"]));
    arrived.recv_timeout(HANG).unwrap();
    running.kill();
    killed.send(()).unwrap();
    (server, home)
}

#[test]
fn whoever_books_again_right_after_kill_is_told_of_open_attempt() {
    let (_server, home) = after_a_kill();
    home.ok(book("again", &[]))
        .says("an earlier request may have booked")
        .says("bookctl attempts resume killed");
    home.ok(["bookings", "lovelace"])
        .says("1 unresolved request may be missing here: bookctl attempts");
}

#[cfg(unix)]
#[test]
fn before_attempt_is_sent_again_booking_made_instead_is_named() {
    let (server, home) = after_a_kill();
    home.ok(book("again", &[]));
    let resume = ["attempts", "resume", "killed"];
    let mut terminal = Terminal::of_width(&home, 100, &resume);
    terminal.see("this guest already has a booking at this venue that day: bk_1");
    terminal.see("? Send the request again?");
    terminal.press(Key::Enter);
    terminal.ends(17).says("bookctl attempts abandon killed");
    assert_eq!(server.creates().len(), 2);
    home.ok(resume).says("this guest already has a booking at this venue that day: bk_1");
    assert_eq!(server.creates().len(), 3);
}

#[cfg(unix)]
#[test]
fn terminal_asks_before_it_resends_a_scripts_request() {
    let (server, home) = after_a_kill();
    home.ok(book("again", &["--json"]));
    let mut terminal = Terminal::of_width(&home, 100, &book("third", &[]));
    terminal.see("? Check it first?");
    terminal.press(Key::Enter);
    terminal.see("this guest already has a booking at this venue that day: bk_1");
    terminal.see("? Send the request again?");
    terminal.press(Key::Enter);
    // The first request is not sent again. The booking that the command line asks for is another
    // question.
    terminal.accept_last("? Book another one?", 17);
    let creates = server.creates();
    let keys: Vec<_> = creates.iter().map(|it| it.header("idempotency-key")).collect();
    assert_eq!(keys, [Some("killed"), Some("again")]);
}
