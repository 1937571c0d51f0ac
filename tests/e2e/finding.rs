//! A booking is found by what a person knows of it, and picked from a list where none is named.

use jiff::ToSpan;
use serde_json::{Value, json};

use crate::harness::listening::{Listening, deliver, event, home_without_a_service};
use crate::harness::{Home, Key, Reply, Scripted, Served, Terminal, each, has, text};

/// Books for a guest, on an hour of a day.
fn booked(home: &Home, venue: &str, at: &str, guest: &[&str], code: i32) -> String {
    let book = ["book", venue, "--party", "2", "--json", "--at", at];
    let output = home.run(book.iter().chain(guest)).exits(code);
    text(&output.json(), "id")
}

fn found(home: &Home, more: &[&str]) -> Vec<String> {
    let output = home.ok(["bookings", "--json"].iter().chain(more));
    let document = output.json();
    each(&document["bookings"], "id")
}

/// The names of two days, one after the other, of which neither is today or tomorrow anywhere.
fn two_days() -> [String; 2] {
    let now = jiff::Zoned::now().date();
    [3, 4].map(|days| (now + days.days()).strftime("%a").to_string().to_lowercase())
}

/// Three guests: on one day, on the next, and one whose booking waits for a code.
fn three() -> (Home, [String; 3]) {
    let home = Home::new();
    let [day, next] = two_days();
    let muller = [
        "--name",
        "Jürgen Müller",
        "--phone",
        "+44 20 7946 0018",
        "--email",
        "j.mueller@canary.example",
    ];
    let first = booked(&home, "ven_confirms", &format!("{day} 18:00"), &muller, 0);
    let second = booked(&home, "ven_confirms", &format!("{next} 19:00"), &["--name", "李 小龙"], 0);
    let third = booked(&home, "ven_otp", &format!("{next} 18:00"), &["--name", "Ada Lovelace"], 10);
    (home, [first, second, third])
}

#[test]
fn booking_is_found_by_guest_phone_email_venue_day() {
    let (home, [muller, li, ada]) = three();
    let [day, next] = &two_days();
    for (words, ids) in [
        (&["muller"][..], vec![&muller]),
        (&["MÜLLER", "jurgen"], vec![&muller]),
        (&["müller lovelace"], vec![]),
        (&["小龙"], vec![&li]),
        (&["020 7946 0018"], vec![&muller]),
        (&["+44-20"], vec![&muller]),
        (&["canary.example"], vec![&muller]),
        (&[ada.as_str()], vec![&ada]),
        (&["ven_confirms"], vec![&li, &muller]),
        (&["--guest", "LOVELACE"], vec![&ada]),
        (&["--guest", "canary"], vec![]),
        (&["--email", "Canary"], vec![&muller]),
        (&["--phone", "7946 00"], vec![&muller]),
        (&["--phone", "۷۹۴۶"], vec![&muller]),
        (&["--phone", "abc"], vec![]),
        (&["--phone", "+"], vec![]),
        (&["--venue", "ven_otp"], vec![&ada]),
        (&["--date", day], vec![&muller]),
        (&["--date", &format!("{day}..{next}")], vec![&ada, &li, &muller]),
        (&["--date", next, "--status", "confirmed"], vec![&li]),
        (&["--status", "requires_action", "muller"], vec![]),
        (&["--status", "waiting"], vec![&ada]),
        (&["100%"], vec![]),
        (&["_"], vec![&ada, &li, &muller]),
    ] {
        assert_eq!(found(&home, words).iter().collect::<Vec<_>>(), ids, "{words:?}");
    }
    let shown = home.ok(["bookings", "lovelace"]);
    assert_eq!(shown.stdout.lines().count(), 1, "{shown}");
    let shown = home.ok(["show", "@1", "--json"]);
    assert_eq!(shown.json()["id"], ada.as_str());
    for wrong in
        [&["--date", "someday"][..], &["--guest", " "], &["--date", "2026-12-02..2026-12-01"]]
    {
        home.run(["bookings", "--json"].iter().chain(wrong)).refused(2, "usage");
    }
}

#[test]
fn document_says_whether_there_is_more() {
    let (home, _) = three();
    let cut = home.json("bookings --limit 2");
    assert_eq!(cut["bookings"].as_array().unwrap().len(), 2);
    assert_eq!(cut["more"], true);
    let all = home.json("bookings --limit 0");
    assert_eq!(all["bookings"].as_array().unwrap().len(), 3);
    assert_eq!(all["more"], false);
    let words = home.json("bookings --limit 1 ven_confirms");
    assert_eq!(words["more"], true);
}

#[test]
fn booking_shown_is_found_as_well() {
    let (served, other) = Served::with_home();
    let [ada, eve] = ["Ada Lovelace", "Eve Other"]
        .map(|name| booked(&other, "ven_confirms", "fri 18:00", &["--name", name], 0));
    let home = served.home();
    home.ok(["show", &eve, "--json"]);
    assert!(!home.path().join("journal.db").exists(), "a script's read opens no journal");
    home.ok(["show", &ada]);
    assert_eq!(found(&home, &["lovelace"]), [ada.as_str()]);
    assert_eq!(found(&home, &["eve"]), [] as [&str; 0]);
    assert_eq!(home.booking("@last")["id"], ada.as_str());
    home.ok(["bookings", "forget", &ada]);
    assert_eq!(found(&home, &[]), [] as [&str; 0]);
    // Nothing is kept where nothing is to be kept.
    let home = home.configured("retention = \"0\"\n");
    home.ok(["show", &ada]);
    assert_eq!(found(&home, &[]), [] as [&str; 0]);
}

#[test]
fn a_booking_of_a_received_webhook_is_found_by_its_id() {
    let home = home_without_a_service();
    let listening = Listening::start(&home, &[]);
    let bodies = [
        event("evt_1", "booking.created", "bk_first", "processing"),
        event("evt_2", "booking.confirmed", "bk_first", "confirmed"),
        event("evt_3", "booking.failed", "bk_second", "failed"),
    ];
    deliver(&listening.url, &bodies[..1]);
    assert_eq!(found(&home, &["first"]), ["bk_first"]);
    deliver(&listening.url, &bodies);
    assert_eq!(found(&home, &[]).len(), 2);
    let late = event("evt_0", "booking.processing", "bk_first", "processing");
    deliver(&listening.url, &[late.replace("2026-11-21", "2026-11-20")]);
    listening.end();
    assert_eq!(found(&home, &["--status", "confirmed"]), ["bk_first"]);
    home.ok(["bookings", "forget", "bk_first"]);
    assert_eq!(found(&home, &[]), ["bk_second"], "an event is taken in once");
}

#[test]
fn of_guest_forgotten_nothing_is_left_in_what_is_searched() {
    let (home, [muller, ..]) = three();
    assert_eq!(found(&home, &["muller"]), [muller.as_str()]);
    home.ok(["bookings", "forget", &muller]);
    assert_eq!(found(&home, &["muller"]), [] as [&str; 0]);
    for part in ["jurgen muller", "Müller", "canary", "442079460018"] {
        assert!(!home.files_hold("journal.db", part), "{part}");
    }
    // The same where a retention ends with the next booking.
    assert_eq!(found(&home, &["lovelace"]).len(), 1);
    let home = home.configured("retention = \"0\"\n");
    let hopper = ["--name", "Grace Hopper"];
    booked(&home, "ven_confirms", "sun 18:00", &hopper, 0);
    for part in ["lovelace", "Lovelace", "hopper", "Hopper"] {
        assert_eq!(found(&home, &[part]), [] as [&str; 0]);
        assert!(!home.files_hold("journal.db", part), "{part}");
    }
    assert_eq!(found(&home, &[]).len(), 3);
}

#[test]
fn a_text_names_the_booking_of_every_command_that_takes_one() {
    let (home, [muller, ..]) = three();
    // One match is what a command that only reads was asked for.
    for command in ["watch", "show"] {
        let ended = Terminal::start(&home, &[command, "muller"]).ends(0).says(&muller);
        assert!(!ended.screen.contains("Which booking?"), "{}", ended.screen);
    }
    let terminal = Terminal::start(&home, &["cancel", "muller", "--yes"]);
    terminal.accept_last("Which booking?", 0).says("cancelled");
    // What cannot be changed is refused before it is asked what to change.
    let terminal = Terminal::start(&home, &["modify", "muller"]);
    let ended = terminal.accept_last("Which booking?", 7).says("already cancelled");
    assert!(!ended.screen.contains("What would you like"), "{}", ended.screen);
    home.run(["cancel", "no body", "--yes"]).exits(6).says("bookctl bookings 'no body'");
}

#[test]
fn without_booking_terminal_offers_list_at_every_width() {
    let (home, [muller, _, ada]) = three();
    for columns in [50, 120] {
        let mut terminal = Terminal::of_width(&home, columns, &["show"]);
        // The next visit is first, as in `bookings`, and what waits says how long.
        terminal.see("Which booking?").see("❯ Jürgen M").see("18:00");
        terminal.see("Ada Lov").see("waiting ").see(" left");
        terminal.type_in("MULLER").accept("1 of 3 match");
        terminal.ends(0).says(&muller).fits();
    }
    let code = home.code();
    let terminal = Terminal::start(&home, &["continue", "--otp", &code]);
    terminal.accept_last("1 booking, type to filter", 0).says(&ada);
    let mut terminal = Terminal::start(&home, &["cancel", "--yes"]);
    terminal.answer("Which booking?", "lovelace");
    terminal.ends(0).says("cancelled");
    let mut terminal = Terminal::start(&home, &["continue"]);
    terminal.see("no booking here is waiting for an answer");
    terminal.ends(2);
    for command in [
        &["show"][..],
        &["watch"],
        &["continue"],
        &["cancel", "--yes"],
        &["modify", "--party", "3"],
    ] {
        home.run(command).exits(2).says("the booking is missing").says("BOOKING");
        let error = home.run(command.iter().chain(&["--json"])).refused(2, "usage");
        has(&error, "hint", "BOOKING");
    }
    home.run(["slots", "--at", "fri 18:00"]).exits(2).says("VENUE");
    home.run(["attempts", "resume"]).exits(2).says("KEY");
    home.run(["webhook", "events", "show"]).exits(2).says("EVENT");
}

#[test]
fn a_venue_of_an_earlier_search_and_the_last_one_need_no_id() {
    let home = Home::new();
    home.ok(["slots", "ven_otp", "--at", "fri 18:00"]);
    home.ok(["slots", "@last", "--at", "sat 18:00"]);
    home.ok(["search", "dining", "--near", "Paris", "--at", "fri 19:00"]);
    let terminal = Terminal::of_width(&home, 80, &["slots", "--at", "fri 18:00"]);
    terminal.accept_last("Which venue?", 0).says("@1");
}

#[test]
fn after_reset_no_booking_is_listed_and_old_one_is_not_found() {
    let (home, [_, _, ada]) = three();
    home.ok(["sandbox", "reset", "--yes"]);
    home.ok(["bookings"]).says("No bookings found (sandbox).");
    home.run(["show", &ada]).exits(6);
}

#[test]
fn booking_that_real_service_does_not_show_stays_in_list() {
    let (_server, home) = Scripted::with_home(move |request| match request.number {
        0 => Reply::json(200, &json!({"id": "bk_1", "status": "processing"})),
        _ => Reply::json(404, &json!({"error": "booking not found"})),
    });
    home.ok(["show", "bk_1"]);
    home.run(["show", "bk_1"]).exits(6);
    assert_eq!(found(&home, &[]), ["bk_1"], "another key may still show it");
}

/// A home with so many attempts whose answers were lost.
fn unsettled(keys: &[&str]) -> Home {
    let home = Home::new();
    for key in keys {
        home.fault("POST /v1/bookings", "drop_after", 3);
        home.book("ven_confirms", &["--idempotency-key", key]).exits(16);
    }
    home
}

#[test]
fn last_attempt_is_only_open_one_and_row_of_list_names_one() {
    let home = unsettled(&["first"]);
    let booking: Value = home.json("attempts resume @last");
    assert_eq!(booking["status"], "confirmed");
    home.refuses("attempts resume @last", 2, "usage");
    let home = unsettled(&["first", "second"]);
    home.refuses("attempts abandon @1", 2, "usage");
    let list = home.json("attempts");
    let second = text(&list["attempts"][1], "idempotency_key");
    let several = home.refuses("attempts resume @last", 2, "usage");
    has(&several, "hint", "bookctl attempts");
    let abandoned = home.json("attempts abandon @2");
    assert_eq!(text(&abandoned["attempts"][0], "idempotency_key"), second);
    let mut terminal = Terminal::of_width(&home, 80, &["attempts", "resume"]);
    terminal.see("Which request?").accept("Ada Lovelace");
    terminal.answer("Send the request again?", "yes");
    terminal.ends(0).says("confirmed");
}

/// Esc in a list is a choice and no accident.
#[test]
fn a_list_that_is_left_says_that_nothing_was_chosen() {
    let (home, _) = three();
    for command in [&["show"][..], &["cancel", "muller"], &["slots", "--at", "fri 18:00"]] {
        home.ok(["search", "dining", "--near", "Paris"]);
        let mut terminal = Terminal::of_width(&home, 80, command);
        terminal.see("type to filter").press(Key::Esc);
        let ended = terminal.ends(17).says("Nothing was chosen.");
        assert!(!ended.screen.contains("error:"), "{}", ended.screen);
        let mut terminal = Terminal::of_width(&home, 80, command);
        terminal.see("type to filter").press(Key::CtrlC);
        terminal.ends(130);
    }
}

/// "`@1`, `@2` stand for the rows of the last list" (command line, Command tree), wherever a
/// booking is named.
#[test]
fn a_row_names_the_booking_of_a_filter_and_of_an_event_too() {
    let (_served, home) = Served::with_home();
    let id = home.booked("ven_confirms", &[], 0);
    home.ok(["bookings"]);
    let event = ["webhook", "send", "booking.confirmed", "--dry-run"];
    let to = ["--to", "http://127.0.0.1:9/", "--booking", "@1", "--json"];
    let event = home.ok(event.iter().chain(&to));
    event.shows(&id);
    let requests = ["sandbox", "requests", "--booking", "@1", "--json"];
    let requests = home.ok(requests).json();
    // The booking was made, and read for the event.
    assert_eq!(requests["requests"].as_array().unwrap().len(), 2);
    home.run(["sandbox", "requests", "--booking", "@2"]).exits(2);
    home.run(["webhook", "events", "list", "--booking", "@2"]).exits(2);
}
