//! The guided booking, as a person at a terminal meets it.

use crate::harness::{Ended, GUEST, Home, Key, Served, Terminal};

/// From nothing to the summary of a booking at the venue that the filter leaves first.
fn walk_to_summary(terminal: &mut Terminal, filter: &str) {
    terminal.see("? What is it to be?").press(Key::Enter);
    terminal.answer("? Where?", "Sandbox");
    terminal.answer("? When?", "tomorrow 19:30");
    terminal.answer("? For how many?", "3");
    terminal
        .see("? Which one?")
        .type_in(filter)
        .see("found")
        .press(Key::Enter);
    terminal
        .see("? Which slot")
        .press(Key::Down)
        .press(Key::Enter);
    terminal.answer("? Guest's name", "Ada Lovelace");
    terminal.answer("? Guest's email", "");
    terminal.answer("? Guest's phone", "+44 20 7946 0018");
    terminal.see("? Book it?");
}

/// "`bookctl book` alone on a terminal is a guided walk: vertical → place → time and party → pick a venue (type to
/// filter) → pick a slot with its card and cancellation terms in view → guest → one summary that asks for the
/// go-ahead → create → pauses are walked through, not dumped: an OTP is asked for, with where it was sent and how
/// long is left." (command line, Interactive)
#[test]
fn the_walk_leads_from_nothing_to_a_confirmed_booking_through_a_wrong_code_and_the_right_one() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    terminal.see("nothing is really booked").see("❯ dining");
    walk_to_summary(&mut terminal, "one-time (otp");
    terminal
        .see("The One-Time Code (otp)")
        .see("20:00 (+00:00)");
    terminal
        .see("No card is needed.")
        .see("Free to cancel at any time.");
    assert!(
        Served::of(&home).bookings().is_empty(),
        "nothing is booked before the go-ahead"
    );
    terminal.press(Key::Enter);

    terminal
        .see("requires_action")
        .see("+44 20 7946 0018 (sms)")
        .see(":")
        .see("left");
    terminal.answer("? One-time code", "000000");
    terminal.see("tries left: 4");
    // A second process in the same home reads the message.
    terminal.answer("? One-time code", &home.code());
    let ended = terminal.end().exits(0);
    let booking = &Served::of(&home).bookings()[0];
    assert_eq!(booking["status"], "confirmed");
    assert_eq!(booking["party_size"], 3);
    ended
        .says("confirmed")
        .says(booking["id"].as_str().unwrap());
}

#[test]
fn arrow_keys_and_words_of_the_row_choose_and_what_is_not_understood_is_asked_again() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    terminal
        .see("❯ dining")
        .press(Key::Down)
        .see("❯ fitness")
        .press(Key::Up)
        .see("❯ dining");
    terminal.press(Key::Enter);
    terminal.answer("? Where?", "Atlantis");
    terminal.answer("? When?", "whenever");
    terminal.see("✘");
    // Ctrl-U clears the line.
    terminal.type_in("\u{15}tomorrow 19:30").press(Key::Enter);
    terminal
        .see("? For how many?")
        .type_in("none")
        .press(Key::Enter)
        .see("✘");
    terminal.type_in("\u{15}2").press(Key::Enter);
    // The place is what the service did not know: it is asked for again, the rest is not.
    terminal
        .see("could not be resolved")
        .answer("? Where?", "Sandbox");
    terminal
        .see("? Which one?")
        .type_in("zzzz")
        .see("nothing has")
        .press(Key::Enter);
    terminal.type_in("\u{15}").see("type to filter");
    terminal
        .type_in("SURE b")
        .see("1 of 1 found")
        .press(Key::Enter);
    terminal
        .see("✔ Which one? · The Sure Thing B (confirms)")
        .see("? Which slot");
    terminal.press(Key::CtrlC);
    terminal.end().exits(130);
}

/// "Every prompt has a flag, and what flags already say is not asked." (command line, Interactive)
#[test]
fn what_flags_say_is_not_asked() {
    let home = Home::new();
    let mut terminal = Terminal::start(
        &home,
        &[
            "book",
            "--party",
            "4",
            "--name",
            "Ada Lovelace",
            "--at",
            "tomorrow 19:30",
        ],
    );
    terminal.see("? What is it to be?").press(Key::Enter);
    terminal.answer("? Where?", "Sandbox");
    terminal
        .see("? Which one?")
        .type_in("sure thing (")
        .see("found")
        .press(Key::Enter);
    terminal.see("? Book it?").type_in("y");
    let ended = terminal.end().exits(0);
    for question in ["When?", "For how many?", "Guest's name", "Which slot"] {
        assert!(
            !ended.screen.contains(question),
            "{question} was asked:\n{}",
            ended.screen
        );
    }

    let mut terminal = Terminal::start(&home, &["book", "ven_confirms", "--party", "4"]);
    terminal.answer("? When?", "tomorrow 18:00");
    terminal.see("? Which slot").press(Key::Enter);
    terminal.answer("? Guest's name", "Ada Lovelace");
    terminal
        .answer("? Guest's email", "")
        .answer("? Guest's phone", "");
    terminal.see("? Book it?").press(Key::Enter);
    terminal.end().exits(0).says("18:00");

    // With everything said there is no question left, also on a terminal.
    let whole: Vec<&str> = ["book", "ven_confirms"].into_iter().chain(GUEST).collect();
    Terminal::start(&home, &whole)
        .end()
        .exits(0)
        .says("confirmed");
}

/// "`processing`: 8 unless `--wait`; on a terminal it waits." (command line, Exit codes)
#[test]
fn on_a_terminal_a_booking_in_processing_is_waited_for() {
    let home = Home::new();
    let whole: Vec<&str> = ["book", "ven_processing"]
        .into_iter()
        .chain(GUEST)
        .collect();
    let mut terminal = Terminal::start(&home, &whole);
    terminal.see("is processing");
    home.advance("5s");
    terminal.end().exits(0).says("confirmed");
}

/// "any other action asks for the fields it lists" (command line, Interactive)
#[test]
fn the_details_that_a_venue_asks_for_are_asked_for_one_by_one() {
    let home = Home::new();
    let whole: Vec<&str> = ["book", "ven_confirm_details"]
        .into_iter()
        .chain(GUEST)
        .collect();
    let mut terminal = Terminal::start(&home, &whole);
    terminal.answer("? arrival_time", "19:45");
    terminal.answer("? dietary_requirements", "none");
    terminal.end().exits(0).says("confirmed");
}

/// "`continue` without an answer" walks a person through the pause that stands.
#[test]
fn a_pause_is_taken_up_again_by_continue() {
    let home = Home::new();
    let id = home.booked("ven_otp", &[], 10);
    let mut terminal = Terminal::start(&home, &["continue", &id]);
    terminal.answer("? One-time code", &home.code());
    terminal.end().exits(0).says("confirmed");
}

/// "A booking left in requires_action for more than 20 minutes is expired." (spec, States and transitions)
#[test]
fn a_code_for_an_expired_booking_is_not_asked_for() {
    let home = Home::new();
    let id = home.booked("ven_otp", &[], 10);
    home.advance("20m1s");
    let ended = Terminal::start(&home, &["continue", &id])
        .end()
        .exits(11)
        .says("expired");
    assert!(
        !ended.screen.contains("? One-time code"),
        "{}",
        ended.screen
    );
}

/// The time runs out while the question stands.
#[test]
fn a_code_that_comes_too_late_does_not_confirm() {
    let home = Home::new();
    let id = home.booked("ven_otp", &[], 10);
    let code = home.code();
    let mut terminal = Terminal::start(&home, &["continue", &id]);
    terminal.see("? One-time code");
    home.advance("20m1s");
    terminal.type_in(&code).press(Key::Enter);
    terminal.end().exits(7).says("expired");
    assert_eq!(home.booking(&id)["status"], "expired");
}

/// Exit 17: "declined at a prompt; nothing was sent" (command line, Exit codes)
#[test]
fn declining_at_the_summary_books_nothing() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    walk_to_summary(&mut terminal, "sure");
    terminal.type_in("n");
    terminal.end().exits(17).says("nothing was booked");
    assert!(Served::of(&home).bookings().is_empty());
}

/// The id of the booking that stands on the screen.
fn id_on(terminal: &Terminal) -> String {
    let screen = terminal.to_string();
    let start = screen.find("bk_").unwrap();
    screen[start..]
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned()
}

fn paying(home: &Home) -> Terminal {
    let arguments: Vec<&str> = ["book", "ven_payment"]
        .into_iter()
        .chain(GUEST)
        .chain(["--payment", "vendor"])
        .collect();
    let mut terminal = Terminal::start(home, &arguments);
    terminal
        .see("? Payment (")
        .see("left")
        .see("❯ read the answer from a file");
    terminal
}

/// The vendor's answer to the approval that a booking waits for.
fn approval(home: &Home, id: &str) -> String {
    let booking = home.booking(id);
    let approval = &booking["next_action"]["psp_request"]["approval_id"];
    serde_json::json!({"approval_id": approval, "status": "approved"}).to_string()
}

/// "a payment approval shows amount, deadline counting down, and takes the answer from a file, an editor or a
/// paste, or aborts" (command line, Interactive)
#[test]
fn a_payment_shows_its_amount_and_deadline_and_takes_the_answer_from_a_file_after_a_malformed_one()
{
    let home = Home::new();
    let mut terminal = paying(&home);
    terminal.see("EUR").see("until");
    let id = id_on(&terminal);
    let file = home.folder().join("answer.json");

    std::fs::write(&file, "approved!").unwrap();
    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's answer", "answer.json");
    terminal.see("no JSON").see("? Payment (");
    std::fs::write(&file, r#"{"approval_id": "another", "status": "approved"}"#).unwrap();
    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's answer", "answer.json");
    terminal.see("psp_response").see("? Payment (");
    assert_eq!(home.booking(&id)["status"], "requires_action");

    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's answer", "nowhere.json");
    terminal
        .see("nowhere.json: no such file")
        .see("? Payment (");
    std::fs::write(&file, approval(&home, &id)).unwrap();
    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's answer", "answer.json");
    terminal.end().exits(0).says("confirmed");
}

#[test]
fn a_payment_is_answered_in_the_persons_own_editor() {
    let home = Home::new().with("EDITOR", r#"sed -i 's/"status": ""/"status": "approved"/'"#);
    let mut terminal = paying(&home);
    terminal
        .press(Key::Down)
        .see("❯ write it in an editor")
        .press(Key::Enter);
    terminal.end().exits(0).says("confirmed");
}

#[test]
fn a_payment_is_answered_by_a_paste() {
    let home = Home::new();
    let mut terminal = paying(&home);
    let answer = approval(&home, &id_on(&terminal)).replace(',', ",\r\n\r\n");
    terminal
        .press(Key::Down)
        .press(Key::Down)
        .see("❯ paste it")
        .press(Key::Enter);
    terminal.see("? Paste the vendor's answer");
    terminal
        .type_in(&format!("\u{1b}[200~{answer}\u{1b}[201~"))
        .press(Key::Enter)
        .press(Key::Enter);
    terminal.end().exits(0).says("confirmed");
}

#[test]
fn a_payment_is_aborted() {
    let home = Home::new();
    let mut terminal = paying(&home);
    terminal
        .press(Key::Up)
        .see("❯ abort the payment")
        .press(Key::Enter);
    terminal.end().exits(11).says("payment_declined");
}

/// No line is wider than the terminal, at any moment of the walk.
fn walks_at(columns: u16, variables: &[(&str, &str)]) -> Ended {
    let home = variables
        .iter()
        .fold(Home::new(), |home, (name, value)| home.with(name, value));
    let mut terminal = Terminal::of_width(&home, columns, &["book"]);
    walk_to_summary(&mut terminal, "one-time (otp");
    terminal
        .press(Key::Enter)
        .answer("? One-time code", "000000");
    terminal
        .see("tries")
        .answer("? One-time code", &home.code());
    let ended = terminal.end().exits(0);
    assert!(
        ended.broken.is_empty(),
        "wider than {columns}: {:#?}",
        ended.broken
    );

    let mut terminal = Terminal::of_width(
        &home,
        columns,
        &[
            "book",
            "ven_payment",
            "--at",
            "tomorrow 19:30",
            "--party",
            "2",
            "--name",
            "Ada Lovelace",
            "--payment",
            "vendor",
        ],
    );
    terminal.see("? Payment").press(Key::Enter).answer(
        "? File with",
        "a path to/a file that is longer/than forty columns/are wide",
    );
    terminal
        .see("no such file")
        .see("? Payment")
        .press(Key::Up)
        .press(Key::Enter);
    let paid = terminal.end().exits(11);
    assert!(
        paid.broken.is_empty(),
        "wider than {columns}: {:#?}",
        paid.broken
    );
    ended
}

#[test]
fn at_40_columns_no_line_of_the_walk_is_wider_than_the_terminal() {
    walks_at(40, &[]);
}

#[test]
fn at_80_columns_no_line_of_the_walk_is_wider_than_the_terminal() {
    walks_at(80, &[]);
}

#[test]
fn at_200_columns_no_line_of_the_walk_is_wider_than_the_terminal() {
    walks_at(200, &[]);
}

/// Select Graphic Rendition: colour, bold, dim. A mere reset is none.
fn has_colours(raw: &str) -> bool {
    raw.split("\u{1b}[").skip(1).any(|rest| {
        let sequence: String = rest
            .chars()
            .take_while(|c| !c.is_ascii_alphabetic())
            .collect();
        rest[sequence.len()..].starts_with('m') && !["", "0"].contains(&sequence.as_str())
    })
}

/// "`NO_COLOR`" (command line, Output 5)
#[test]
fn no_color_takes_every_colour_out_of_the_walk() {
    assert!(has_colours(&walks_at(80, &[]).raw));
    assert!(!has_colours(&walks_at(80, &[("NO_COLOR", "1")]).raw));
}

/// "`TERM=dumb`" and `BOOKCTL_ACCESSIBLE`: numbered questions, nothing is redrawn.
#[test]
fn a_dumb_terminal_and_a_screen_reader_get_plain_numbered_questions() {
    for (name, value) in [("TERM", "dumb"), ("BOOKCTL_ACCESSIBLE", "1")] {
        let home = Home::new().with(name, value);
        let mut terminal = Terminal::start(&home, &["book"]);
        terminal.see("1) dining").answer("What is it to be?", "1");
        terminal.answer("Where?", "Sandbox");
        terminal.answer("When?", "tomorrow 19:30");
        terminal.answer("For how many?", "");
        terminal
            .see(") The One-Time Code (otp)")
            .answer("Which one?", "4");
        terminal.see("19:30").answer("Which slot", "");
        terminal.answer("Guest's name", "Ada Lovelace");
        terminal
            .answer("Guest's email", "")
            .answer("Guest's phone", "");
        terminal.answer("Book it?", "yes");
        terminal
            .see("One-time code")
            .type_in(&home.code())
            .press(Key::Enter);
        let ended = terminal.end().exits(0).says("confirmed");
        let moves = ended.raw.split("\u{1b}[").skip(1).any(|rest| {
            let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
            &rest[end..=end] != "m"
        });
        assert!(!moves, "{name}: {:?}", ended.raw);
        if name == "TERM" {
            assert!(!has_colours(&ended.raw), "{:?}", ended.raw);
        }
    }
}

/// "Every prompt has a flag"; nothing is asked where nobody may be there.
#[test]
fn nothing_is_asked_on_a_terminal_that_nobody_looks_at() {
    for (variables, arguments) in [
        (&[("CI", "true")][..], &["book"][..]),
        (&[("BOOKCTL_NO_INPUT", "1")], &["book"]),
        (&[], &["book", "--no-input"]),
        (&[], &["book", "--json"]),
        (&[], &["book", "--jq", ".id"]),
    ] {
        let home = variables
            .iter()
            .fold(Home::new(), |home, (name, value)| home.with(name, value));
        Terminal::start(&home, arguments)
            .end()
            .exits(2)
            .says("VENUE");
    }
}
