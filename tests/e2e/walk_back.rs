//! The way back in the walk, and input that is refused where it is typed.

use crate::harness::{GUEST, Home, Key, Served, Terminal, words};
use crate::walk::walk_to_summary;

fn count(terminal: &Terminal, part: &str) -> usize {
    terminal.to_string().matches(part).count()
}

/// "Esc or Shift-Tab goes back a question" (command line, Interactive)
#[test]
fn esc_and_shift_tab_return_to_the_answered_question() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    walk_to_summary(&mut terminal, "one-time (otp");
    // From the summary back to the first question, and forward again with a few answers changed.
    terminal.press(Key::Esc);
    terminal.see("? Guest's phone (optional) › +44 20 7946 0018");
    terminal.press(Key::ShiftTab);
    terminal.see("? Guest's email (optional) ›").press(Key::Esc);
    terminal.see("? Guest's name (first and last) › Ada Lovelace");
    terminal.press(Key::Esc).see("❯ 20:00").press(Key::Esc);
    terminal.see("❯ The One-Time Code (otp)");
    terminal.press(Key::ShiftTab).see("? How many people? › 3");
    terminal.press(Key::Esc);
    terminal.see("? When? (e.g. tomorrow 19:30) › tomorrow 19:30");
    terminal.press(Key::Esc).see("❯ Sandbox").press(Key::Esc);
    terminal.accept("❯ dining");
    terminal.see("? Where?");
    for question in ["? Where?", "? When?"] {
        terminal.accept(question);
    }
    terminal.answer("? How many people? › 3", "\u{15}4");
    terminal.accept("? Which venue?");
    terminal.accept("❯ 20:00");
    for _ in 0..3 {
        terminal.accept("? Guest's");
    }
    terminal.see("party 4").accept("Esc goes back");
    terminal.accept_last("? One-time code", 0).says("confirmed");
    let booking = &Served::from_home(&home).bookings()[0];
    assert_eq!(booking["party_size"], 4);
    assert_eq!(booking["customer"]["phone"], "+44 20 7946 0018");
}

#[test]
fn esc_at_the_first_question_declines_the_walk() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["book"]);
    terminal.see("❯ dining").press(Key::ShiftTab);
    terminal.press(Key::Down).see("❯ fitness").press(Key::Esc);
    terminal.ends(17).says("Nothing was booked.");
    // With a venue, the first question is another one.
    let mut terminal = Terminal::start(&home, &["book", "ven_otp"]);
    terminal.see("? When?").press(Key::Esc);
    terminal.ends(17);
}

/// 17: "declined at a prompt; nothing was sent"; Ctrl-C "ends with the booking's id, its state and
/// the command that resumes it" (command line), and so does Esc once something was sent.
#[test]
fn esc_declines_at_question_of_any_kind() {
    let (home, confirmed) = Home::with_booking("ven_confirms", 0);
    let waiting = home.booked("ven_otp", &[], 10);
    #[rustfmt::skip]
    let cases = [
        (&["cancel", &confirmed][..], "? Cancel this booking?", "Nothing was cancelled."),
        (&["modify", &confirmed], "? What would you like to change?", "Nothing more was done."),
        (&["modify", &confirmed, "--party", "3"], "? Change this booking?", "Nothing was changed."),
        (&["continue", &waiting], "? One-time code", "is still waiting"),
    ];
    for (command, question, said) in cases {
        let mut terminal = Terminal::start(&home, command);
        terminal.see(question).press(Key::Esc);
        let ended = terminal.ends(17).says(said);
        assert!(!ended.screen.contains("error:"), "{}", ended.screen);
        let mut terminal = Terminal::start(&home, command);
        terminal.see(question).press(Key::CtrlC);
        terminal.ends(130);
    }
    assert_eq!(home.booking(&confirmed)["status"], "confirmed");

    let book = ["book", "ven_otp_b"].into_iter().chain(GUEST);
    let mut terminal = Terminal::start(&home, &book.collect::<Vec<_>>());
    terminal.see("? One-time code").press(Key::Esc);
    let ended = terminal.ends(130);
    assert!(!ended.screen.contains("error:"), "{}", ended.screen);
    ended.says("is still waiting").says("answer it: bookctl continue bk_");
}

#[test]
fn a_guest_is_checked_where_it_is_typed() {
    let home = Home::new();
    let arguments = "book ven_confirms --at 'tomorrow 19:30' --party 2";
    let mut terminal = Terminal::start(&home, &words(arguments));
    terminal.answer("? Guest's name", "Ada");
    terminal.answer("✘ this venue needs a first and a last name", " Lovelace");
    terminal.answer("? Guest's email", "notmail");
    terminal.answer("✘ that is not an email address", "\u{15}ada@example.com");
    terminal.answer("? Guest's phone", "ada@x");
    terminal.answer("✘ that is not a phone number", "\u{15}+44 20 7946 0018");
    terminal.see("Free to cancel at any time.");
    terminal.accept_last("? Book it?", 0).says("confirmed");
}

/// A placeholder is known to the service alone: only the name is asked for again.
#[test]
fn a_refused_guest_is_asked_for_the_name_alone() {
    let home = Home::new();
    let arguments = "book ven_confirms --at 'tomorrow 19:30' --party 2";
    let mut terminal = Terminal::start(&home, &words(arguments));
    terminal.answer_guest(["Test User", "", ""]);
    terminal.accept("? Book it?");
    terminal.answer("? Guest's name (first and last) › Test User", "\u{15}Ada Lovelace");
    terminal.see("guest Ada Lovelace");
    let ended = terminal.accept_last("? Book it? (yes)", 0).says("confirmed");
    assert_eq!(ended.screen.matches("Guest's email").count(), 1);
}

/// "at its end the walk shows the same command with flags" (command line, Interactive)
#[test]
fn the_command_at_the_end_makes_the_same_booking() {
    let home = Home::new();
    let mut terminal = Terminal::of_width(&home, 250, &["book", "ven_confirms", "--party", "2"]);
    terminal.answer("? When?", "tomorrow 19:30");
    terminal.accept("❯ 19:30");
    terminal.answer_guest(["Ada O'Hara", "ada@example.com", ""]);
    let ended = terminal.accept_last("? Book it?", 0);
    let command = ended.screen.lines().map(str::trim);
    let command =
        command.clone().find(|line| line.starts_with("bookctl book ven_confirms")).unwrap();
    let words = command.strip_prefix("bookctl").unwrap();
    let script = format!("{} {words} --json", env!("CARGO_BIN_EXE_bookctl"));
    let mut again = home.program("sh");
    let output = again.args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{command}");
    let bookings = Served::from_home(&home).bookings();
    assert_eq!(bookings.len(), 2);
    for field in ["venue_id", "datetime", "party_size", "customer", "provider"] {
        assert_eq!(bookings[0][field], bookings[1][field], "{field}");
    }
}

/// "Every prompt has a flag, and what flags already say is not asked." (command line, Interactive)
#[test]
fn the_vertical_and_the_place_have_flags_too() {
    let home = Home::new();
    let arguments = "book --vertical dining --near Sandbox --at 'tomorrow 19:30'";
    let mut terminal = Terminal::start(&home, &words(arguments));
    terminal.answer("? How many people?", "2");
    terminal.see("? Which venue?");
    assert_eq!(count(&terminal, "Where?"), 0);
    terminal.ctrl_c(130);
    let arguments = ["book", "--vertical", "dining", "--near", "Atlantis"];
    let more = ["--at", "tomorrow 19:30", "--party", "2"];
    let mut terminal = Terminal::start(&home, &[&arguments[..], &more].concat());
    terminal.see("could not be resolved");
    terminal.see("? Where? › Atlantis");
    terminal.ctrl_c(130);
}

/// A code that is no code of the sandbox costs no try.
#[test]
fn code_of_sandbox_is_offered_and_what_cannot_be_one_is_refused() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    let mut terminal = Terminal::of_width(&home, 50, &["continue", &id]);
    let code = home.code();
    terminal.see(&format!("Enter uses {code} from the sandbox's inbox"));
    terminal.type_in("abc").press(Key::Enter);
    terminal.see("✘ the code has 6 digits");
    terminal.type_in("\u{15}").press(Key::Enter);
    let ended = terminal.ends(0).says("confirmed").fits();
    assert!(!ended.screen.contains(&code), "{}", ended.screen);
}
