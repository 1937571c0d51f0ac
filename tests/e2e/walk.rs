//! The guided booking, as a person at a terminal meets it.

use serde_json::json;

use crate::harness::{Home, Key, Reply, Scripted, Served, Terminal, for_guest, holds, text, words};

/// From nothing to the summary of a booking at the venue that the filter leaves first.
pub(crate) fn walk_to_summary(terminal: &mut Terminal, filter: &str) {
    terminal.accept("? What would you like");
    terminal.answer("? Where?", "Sandbox");
    terminal.answer("? When?", "tomorrow 19:30");
    terminal.answer("? How many people?", "3");
    terminal.see("? Which venue?").type_in(filter);
    terminal.accept(" match");
    terminal.see("? Which slot").press(Key::Down);
    terminal.press(Key::Enter);
    terminal.answer_guest(["Ada Lovelace", "", "+44 20 7946 0018"]);
    terminal.see("? Book it?");
}

/// "`bookctl book` alone on a terminal is a guided walk: vertical → place → time and party → pick a
/// venue (type to filter) → pick a slot with its card and cancellation terms in view → guest → one
/// summary that asks for the go-ahead → create → pauses are walked through, not dumped: an OTP is
/// asked for, with where it was sent and how long is left." (command line, Interactive)
#[test]
fn walk_leads_through_a_wrong_code_to_a_confirmed_booking() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    terminal.see("nothing is really booked").see("❯ dining");
    walk_to_summary(&mut terminal, "one-time (otp");
    terminal.see("The One-Time Code (otp)");
    terminal.see("20:00 (+00:00)");
    terminal.see("No card is needed.");
    terminal.see("Free to cancel at any time.");
    terminal.see("Example Street").see("90 min");
    assert!(
        Served::from_home(&home).bookings().is_empty(),
        "nothing is booked before the confirmation"
    );
    terminal.press(Key::Enter);
    terminal.see("bookctl book ven_otp --at");

    terminal.see("waiting");
    terminal.see("sent to +44 20 7946 0018 by sms").see(":");
    terminal.see("left");
    terminal.answer("? One-time code", "000000");
    terminal.see("tries left: 4");
    // A second process in the same home reads the message.
    let code = home.code();
    terminal.see("? One-time code").type_in(&code).see(&code);
    terminal.press(Key::Enter);
    let ended = terminal.ends(0).says("One-time code · ********");
    // What was typed is not to stay for whoever looks next.
    assert!(!ended.screen.contains(&code), "{}", ended.screen);
    let booking = &Served::from_home(&home).bookings()[0];
    holds!(booking, {"status": "confirmed", "party_size": 3});
    ended.says("confirmed").says(booking["id"].as_str().unwrap());
}

#[test]
fn arrow_keys_and_words_of_row_choose() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    terminal.see("❯ dining").press(Key::Down).see("❯ fitness");
    terminal.press(Key::Up).see("❯ dining");
    terminal.press(Key::Enter);
    terminal.answer("? Where?", "Atlantis");
    terminal.answer("? When?", "whenever");
    terminal.see("✘").see("fri 8pm");
    // Ctrl-U clears the line.
    terminal.type_in("\u{15}tomorrow 19:30").press(Key::Enter);
    terminal.answer("? How many people?", "none").see("✘");
    terminal.type_in("\u{15}2").press(Key::Enter);
    // Of what was answered, the place alone is asked for again.
    terminal.see("could not be resolved");
    terminal.answer("? Where? › Atlantis", "\u{15}Sandbox");
    terminal.see("? Which venue?").type_in("zzzz");
    terminal.accept("no matches");
    terminal.type_in("\u{15}").see("type to filter");
    terminal.type_in("SURE b").accept(" match");
    terminal.see("✔ Which venue? · The Sure Thing B (confirms)");
    terminal.see("? Which slot");
    terminal.ctrl_c(130);
}

/// "Every prompt has a flag, and what flags already say is not asked." (command line, Interactive)
#[test]
fn what_flags_say_is_not_asked() {
    let home = Home::new();
    let mut terminal = Terminal::start(
        &home,
        &words("book --party 4 --name 'Ada Lovelace' --at 'tomorrow 19:30'"),
    );
    terminal.accept("? What would you like");
    terminal.answer("? Where?", "Sandbox");
    terminal.see("? Which venue?").type_in("sure thing (");
    terminal.accept(" match");
    terminal.see("? Book it?").type_in("y\r");
    let ended = terminal.ends(0);
    for question in ["When?", "How many people?", "Guest's name", "Which slot"] {
        assert!(!ended.screen.contains(question), "{question} was asked:\n{}", ended.screen);
    }

    let mut terminal = Terminal::start(&home, &["book", "ven_confirms", "--party", "4"]);
    terminal.answer("? When?", "tomorrow 18:00");
    terminal.accept("? Which slot");
    terminal.answer_guest(["Grace Hopper", "", ""]);
    terminal.accept_last("? Book it?", 0).says("18:00");

    // With everything said there is no question left, also on a terminal.
    let home = Home::new();
    let whole = for_guest("ven_confirms");
    let ended = Terminal::start(&home, &whole).ends(0);
    assert!(!ended.screen.contains('?'), "{}", ended.screen);
    ended.says("Terms: No card is needed. · Free to cancel at any time.").says("confirmed");
}

/// The time that was asked for is not offered: Enter takes another one, and does not book it.
#[test]
fn another_time_than_the_given_one_is_asked_about() {
    let home = Home::new();
    let mut whole = for_guest("ven_confirms");
    whole[3] = "tomorrow 19:40";
    let mut terminal = Terminal::start(&home, &whole);
    terminal.see("No slot at").accept("? Which slot");
    terminal.see("when").see("19:30 (+00:00)");
    terminal.answer("? Book it? (no)", "maybe");
    terminal.see("type yes or no");
    assert!(Served::from_home(&home).bookings().is_empty());
    terminal.type_in("y\r");
    terminal.ends(0).says("confirmed");
    assert_eq!(Served::from_home(&home).bookings().len(), 1);
}

/// A venue with two tables at the same time, and the slot that each request named.
fn two_tables() -> Scripted {
    Scripted::start(|request| match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/availability/search") => {
            let slot = |id: &str, seating: &str| {
                json!({
                    "availability_id": id, "datetime": "2031-12-01T19:30:00+00:00", "seating": seating,
                })
            };
            let slots = [slot("slot_bar", "bar"), slot("slot_window", "window")];
            Reply::json(200, &json!({"slots": slots}))
        }
        ("POST", "/v1/bookings") => {
            let mut booking = request.json();
            booking["id"] = json!(format!("bk_{}", text(&booking, "availability_id")));
            booking["status"] = json!("confirmed");
            Reply::json(201, &booking)
        }
        _ => Reply::json(404, &json!({"error": "no such path"})),
    })
}

#[test]
fn of_slots_at_same_time_user_chooses_one() {
    let (_server, home) = two_tables().beside_home();
    let book = "book ven_1 --at 2031-12-01T19:30:00+00:00 --party 2";
    let first = format!("{book} --name 'Ada Lovelace' --json");
    let first = home.ok(words(&first));
    assert_eq!(first.json()["id"], "bk_slot_bar");
    first
        .says("2 slots start at that time. Booking 19:30 · bar.")
        .says("pass --slot ID: slot_window (19:30 · window)");
    let mut terminal = Terminal::start(&home, &words(format!("{book} --name 'Grace Hopper'")));
    terminal.see("❯ 19:30 · bar").press(Key::Down);
    terminal.accept("❯ 19:30 · window");
    terminal.see("seating window").see("? Book it?");
    terminal.type_in("y\r");
    terminal.ends(0).says("bk_slot_window");
}

/// "`book` returns with the create's answer … unless `--wait`; on a terminal it waits." (command
/// line, Exit codes)
#[test]
fn on_a_terminal_a_booking_in_processing_is_waited_for() {
    let home = Home::new();
    let whole = for_guest("ven_processing");
    let mut terminal = Terminal::start(&home, &whole);
    terminal.see("is processing");
    home.advance("5s");
    terminal.ends(0).says("confirmed");
    let (home, id) = Home::with_booking("ven_otp", 10);
    let ended = Terminal::start(&home, &["continue", &id, "--otp", &home.code()]).ends(0);
    assert!(!ended.raw.contains("is processing"), "{}", ended.raw);
}

/// An empty answer would be refused by the service: it is asked for again at once, and nothing is
/// sent.
#[test]
fn detail_left_empty_is_asked_for_again_before_anything_is_sent() {
    let (home, id) = Home::with_booking("ven_confirm_details", 10);
    let mut terminal = Terminal::start(&home, &["continue", &id]);
    terminal.answer("? arrival_time", "");
    terminal.answer("arrival_time cannot be empty", "19:45");
    // Neither a line that was meant for another window nor one typed ahead sends it.
    terminal.see("? dietary_requirements");
    terminal.type_in("none\ryes\r");
    terminal.answer("? Send these answers? (", "stray");
    let ended = terminal.accept_last("type yes or no", 17).says("is still waiting");
    assert_eq!(home.booking(&id)["status"], "requires_action");
    assert!(!ended.screen.contains("is required"), "{}", ended.screen);
}

/// A script is refused by the service and told the names; a person chooses (command line,
/// Interactive).
#[test]
fn booking_by_flags_asks_for_provider() {
    let home = Home::new();
    let whole = for_guest("ven_multi_provider");
    home.run(&whole).exits(12).says("choose one: --provider NAME");
    let search = ["search", "dining", "--near", "Sandbox"];
    home.ok(search);
    home.run(&whole).exits(12).says("choose one with --provider: provider_a or provider_c");
    let mut terminal = Terminal::start(&home, &whole);
    terminal.see("? Which provider?").press(Key::Down);
    terminal.accept("❯ provider_c").see("? Book it?");
    terminal.type_in("y\r");
    terminal.ends(0).says("provider_c");
}

/// The time runs out while the question stands: a moved clock is noticed, and the booking is read
/// again.
#[test]
fn a_code_is_no_longer_asked_for_once_its_time_is_over() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    let mut terminal = Terminal::start(&home, &["continue", &id]);
    terminal.see("? One-time code (").type_in("12");
    home.advance("20m1s");
    terminal.ends(11).says("The time to answer is up.").says("expired");
}

#[test]
fn details_refused_are_asked_for_again_with_what_was_answered() {
    let (home, id) = Home::with_booking("ven_confirm_details", 10);
    home.ok(words(
        "sandbox faults add --on 'POST /v1/bookings/{id}/continue' --kind status --status 400",
    ));
    let mut terminal = Terminal::start(&home, &["continue", &id]);
    terminal.answer("? arrival_time", "19:45");
    terminal.answer("? dietary_requirements", "none");
    terminal.answer("? Send these answers?", "yes");
    terminal.see("a fault responds with 400");
    terminal.accept("19:45");
    terminal.accept("? dietary_requirements");
    terminal.answer("? Send these answers?", "yes");
    terminal.ends(0).says("confirmed");
}
