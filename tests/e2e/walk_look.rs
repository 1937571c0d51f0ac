//! How the walk looks: its width, its colours, and its plain form.

use crate::harness::{Ended, Home, Key, Terminal, words};
use crate::walk::walk_to_summary;

/// No line is wider than the terminal, at any moment of the walk.
fn walks_at(columns: u16, variables: &[(&str, &str)]) -> Ended {
    let home = variables.iter().fold(Home::new(), |home, (name, value)| home.with(name, value));
    let mut terminal = Terminal::of_width(&home, columns, &["book"]);
    walk_to_summary(&mut terminal, "one-time (otp");
    terminal.press(Key::Enter);
    terminal.answer("? One-time code", "000000");
    terminal.see("tries");
    terminal.answer("? One-time code", &home.code());
    let ended = terminal.ends(0).fits();

    let guest = "--party 2 --name 'Ada Lovelace' --payment vendor";
    let book = words(format!("book ven_payment --at 'tomorrow 19:30' {guest}"));
    let mut terminal = Terminal::of_width(&home, columns, &book);
    terminal
        .see("? Book it?")
        .type_in("y\r")
        .see("? Payment")
        .press(Key::Down)
        .press(Key::Enter)
        .answer("? File with", "a path to/a file that is longer/than forty columns/are wide");
    terminal.see("no such file").see("? Payment").press(Key::Up);
    terminal.press(Key::Enter).see("(no)").type_in("y\r");
    terminal.ends(11).fits();
    ended
}

/// Select Graphic Rendition: colour, bold, dim. A mere reset is none.
fn has_colours(raw: &str) -> bool {
    raw.split("\u{1b}[").skip(1).any(|rest| {
        let sequence: String = rest.chars().take_while(|c| !c.is_ascii_alphabetic()).collect();
        rest[sequence.len()..].starts_with('m') && !["", "0"].contains(&sequence.as_str())
    })
}

/// "`NO_COLOR`" (command line, Output 5)
#[test]
fn no_line_of_walk_is_wider_than_terminal() {
    assert!(has_colours(&walks_at(40, &[]).raw));
    assert!(!has_colours(&walks_at(200, &[("NO_COLOR", "1")]).raw));
}

/// "`TERM=dumb`" and `BOOKCTL_ACCESSIBLE`: numbered questions, nothing is redrawn.
#[test]
fn dumb_terminal_and_screen_reader_get_plain_numbered_questions() {
    for (name, value) in [("TERM", "dumb"), ("BOOKCTL_ACCESSIBLE", "1")] {
        let home = Home::new().with(name, value);
        let mut terminal = Terminal::start(&home, &["book"]);
        terminal.see("1) dining");
        terminal.answer("What would you like to book?", "1");
        terminal.answer("Where?", "Sandbox");
        terminal.answer("When?", "tomorrow 19:30");
        terminal.answer("How many people?", "");
        terminal.see(") The One-Time Code (otp)");
        terminal.answer("Which venue?", "4");
        terminal.see("19:30").answer("Which slot", "");
        terminal.answer("Guest's name", "Ada Lovelace");
        terminal.answer("Guest's email", "");
        terminal.answer("Guest's phone", "");
        terminal.answer("Book it?", "yes");
        terminal.see("One-time code");
        let code = home.code();
        terminal.type_in(&code).press(Key::Enter);
        let ended = terminal.ends(0).says("confirmed");
        // A plain terminal cannot take back what it showed.
        assert!(!ended.raw.contains(&code), "{:?}", ended.raw);
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
        let home = variables.iter().fold(Home::new(), |home, (name, value)| home.with(name, value));
        Terminal::start(&home, arguments).ends(2).says("VENUE");
    }
}
