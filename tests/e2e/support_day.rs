//! What somebody in support does all day: find a guest, book again like before, forget somebody,
//! read a list at a glance.

use serde_json::json;

use crate::harness::{Home, Key, Reply, Scripted, Terminal, for_guest, text};

const GUEST: [&str; 4] = ["--phone", "+44 20 7946 0018", "--email", "ada@example.com"];

/// Books for a guest at a venue and a time.
fn book(home: &Home, venue: &str, guest: &str, at: &str, code: i32) -> String {
    let arguments = ["book", venue, "--party", "2", "--name", guest, "--at", at, "--json"];
    text(&home.run(arguments).exits(code).json(), "id")
}

#[test]
fn booking_like_earlier_one_has_its_venue_provider_party() {
    let home = Home::new();
    let first = home.booked("ven_confirms", &GUEST, 0);
    let before = home.booking(&first);
    let like = ["book", "--like", &first, "--json"];
    let again = home.ok(like.iter().chain(&["--at", "sat 20:00"])).json();
    for field in ["venue_id", "provider", "party_size", "customer"] {
        assert_eq!(again[field], before[field], "{field}");
    }
    let other = ["--at", "sat 21:00", "--party", "5", "--name", "Grace Hopper"];
    let other = home.ok(like.iter().chain(&other)).json();
    assert_eq!(other["party_size"], 5);
    assert_eq!(other["customer"], json!({"name": "Grace Hopper"}), "nobody else's phone");
    let paid = home.booked("ven_payment", &["--payment", "vendor"], 10);
    let again = ["book", "--like", &paid, "--at", "sat 20:00", "--dry-run", "--json"];
    assert_eq!(home.ok(again).json()["body"]["payment_collection"], "vendor_external");
    home.run(like).refused(2, "usage");
    home.run(["book", "--like", "bk_unknown", "--at", "sat 20:00", "--json"])
        .refused(6, "http_404");
    let mut terminal = Terminal::start(&home, &like[..3]);
    terminal.answer("When?", "in 9 days 22:00");
    terminal.accept("Which slot on");
    terminal.see("Ada Lovelace · ada@example.com");
    terminal.accept_last("Book it?", 0).says("confirmed");
}

/// A guided booking at a venue, after the questions about the guest.
fn asked_for_the_guest(home: &Home, venue: &str) -> Terminal {
    let walk = ["book", venue, "--at", "tomorrow 19:30", "--party", "2"];
    let mut terminal = Terminal::start(home, &walk);
    terminal.answer_guest(["Ada Lovelace", "", ""]);
    terminal
}

#[test]
fn a_slot_that_is_taken_meanwhile_leads_back_to_the_slots() {
    let home = Home::new();
    let mut terminal = asked_for_the_guest(&home, "ven_last_table");
    terminal.see("Book it?");
    book(&home, "ven_last_table", "Grace Hopper", "tomorrow 19:30", 0);
    terminal.press(Key::Enter);
    terminal.see("Another guest booked the slot.");
    terminal.see("Which slot").press(Key::Down);
    terminal.press(Key::Enter);
    terminal.accept_last("? Book it? (yes)", 0).says("confirmed");
}

/// A venue may go on listing a slot that it does not give: `--yes` must not ask for it again and
/// again.
#[test]
fn slot_refused_and_still_listed_is_asked_for() {
    let server = Scripted::start(|call| match call.path.as_str() {
        "/v1/bookings" => Reply::json(
            201,
            &json!({"id": "bk_1", "object": "booking", "status": "failed", "provider": "p", "error_code": "slot_taken"}),
        ),
        path if path.starts_with("/v1/availability") => Reply::json(
            200,
            &json!({"object": "list", "venue_id": "v1", "provider": "p", "slots":
                [{"availability_id": "s1", "datetime": "2026-12-01T19:30:00+01:00", "party_size": 2}]}),
        ),
        _ => Reply::json(200, &json!({"name": "elsewhere", "version": "1"})),
    });
    let home = Home::pointing_to(server.base_url(), "sk_live_elsewhere");
    let mut terminal = Terminal::start(
        &home,
        &[
            "book",
            "v1",
            "--at",
            "2026-12-01 19:30",
            "--tz",
            "Europe/Paris",
            "--party",
            "2",
            "--yes",
        ],
    );
    terminal.answer_guest(["Ada Lovelace", "", ""]);
    terminal.see("Another guest booked the slot.");
    terminal.see("? Which slot").press(Key::Esc);
    terminal.ends(11);
    assert_eq!(server.creates().len(), 1);
}

#[test]
fn a_guest_is_forgotten_by_name_after_one_question() {
    let home = Home::new();
    for at in ["fri 18:00", "sat 18:00"] {
        book(&home, "ven_confirms", "Ada Lovelace", at, 0);
    }
    book(&home, "ven_confirms", "Grace Hopper", "fri 19:00", 0);
    let forget = ["bookings", "forget", "--guest", "lovelace"];
    home.run(forget.iter().chain(&["--json"])).refused(2, "usage");
    // The rows that it shows are those of the last list, and one that is named is the last booking.
    let hidden = &home.json("bookings --guest lovelace")["bookings"][1];
    home.ok(["bookings"]);
    let mut terminal = Terminal::start(&home, &forget);
    terminal.see("@2").accept("? Delete");
    terminal.ends(17);
    assert_eq!(home.json("show @2")["id"], hidden["id"]);
    let terminal = Terminal::start(&home, &["cancel", &text(hidden, "id")]);
    terminal.accept_last("? Cancel this booking?", 17);
    assert_eq!(home.json("show @last")["id"], hidden["id"]);
    let mut terminal = Terminal::start(&home, &forget);
    terminal.see("@2").see("2 bookings are still to come");
    terminal.answer("Delete the guests of 2 bookings from this computer?", "yes");
    terminal.ends(0).says("the guests of 2 bookings");
    assert!(!home.files_hold("journal.db", "Lovelace") && home.files_hold("journal.db", "Hopper"));
    let none = home.ok(["bookings", "forget", "--guest", "hoper", "--yes", "--json"]);
    none.tells("did you mean 'Hopper'?");
    assert_eq!(none.json()["forgotten"], 0);
}

#[test]
fn booking_is_shown_as_it_was_seen() {
    let (_server, home) = Scripted::with_home(move |request| match request.number {
        0 => Reply::json(200, &json!({"id": "bk_1", "status": "confirmed", "venue_id": "v"})),
        _ => Reply::Close,
    });
    home.ok(["show", "bk_1"]);
    let ended = Terminal::start(&home, &["show", "bk_1"]).ends(15);
    ended.says("this is what this computer saw").says("confirmed bk_1");
    home.run(["show", "bk_1", "--json"]).refused(15, "network");
}

#[test]
fn key_that_service_refuses_is_known_before_first_question() {
    let (_server, home) =
        Scripted::with_home(|_| Reply::json(401, &json!({"error": "unauthorized"})));
    let ended = Terminal::start(&home, &["book"]).ends(4);
    assert!(!ended.screen.contains("What would you like"), "{}", ended.screen);
}

#[test]
fn what_a_provider_cannot_do_is_said_before_booking() {
    let home = Home::new();
    let mut terminal = asked_for_the_guest(&home, "ven_confirms_b");
    let limit = "provider_b can neither change nor cancel a booking";
    terminal.see(limit);
    terminal.answer("Book it?", "no");
    terminal.ends(17);
    // Where all is given and nothing is asked, it is said too.
    home.book("ven_confirms_b", &[]).exits(0).tells(limit);
    let whole = [&for_guest("ven_confirms_b")[..], &["--yes"]].concat();
    let whole = Terminal::start(&home, &whole).end();
    whole.exits(0).says(limit);
}

#[test]
fn keys_typed_before_a_list_is_drawn_choose_nothing() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book", "--vertical", "dining"]);
    let ahead = "Sandbox\rtomorrow 19:30\r2\r\r\r";
    terminal.see("? Where?").type_in(ahead);
    terminal.see("type to filter").press(Key::CtrlC);
    let ended = terminal.ends(130);
    assert!(!ended.screen.contains("✔ Which venue?"), "{}", ended.screen);
}

#[test]
fn service_that_hangs_is_waited_for_with_limit_and_way_out() {
    let (_server, home) = Scripted::with_home(|_| Reply::Silence);
    for command in [&["book"][..], &["cancel", "bk_1"], &["show", "bk_1"]] {
        let command = [command, &["--timeout", "4s"]].concat();
        let mut terminal = Terminal::of_width(&home, 100, &command);
        terminal.see("waiting for the service, up to 4 s a try");
        terminal.see("3 s, Ctrl-C is safe");
        terminal.ctrl_c(130);
    }
    home.run(["show", "bk_1", "--timeout", "1s"]).tells("allow more time with --timeout");
}
