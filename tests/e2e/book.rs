//! Booking from a script: one command, one document, one exit code.

use serde_json::json;

use crate::harness::{GUEST, Home, Key, Served, Terminal, text};

/// "Started with no configuration at all it talks to the embedded sandbox: one line on stderr says so, and
/// that nothing is really booked." (command line, Command tree)
#[test]
fn in_an_empty_home_and_a_pipe_one_command_books_and_says_that_nothing_is_really_booked() {
    let home = Home::new();
    let output = home
        .run(["book", "ven_confirms"].iter().chain(&GUEST))
        .exits(0);
    assert!(output.stdout.starts_with("confirmed\tbk_"), "{output}");
    assert_eq!(output.stderr.lines().count(), 1, "{output}");
    output.says("sandbox").says("nothing is really booked");
}
#[test]
fn walk() {
    let home = Home::new();
    let mut t = Terminal::start(&home, &["book"]);
    t.see("? What is it").press(Key::Enter);
    t.answer("? Where?", "Sandbox");
    t.answer("? When", "tomorrow 19:30");
    t.answer("? For how many", "3");
    t.see("? Which one?"); println!("{t}"); t.type_in("(otp"); t.see("found"); println!("{t}"); t.press(Key::Enter);
    t.see("? Which slot"); println!("{t}"); t.press(Key::Down).press(Key::Enter);
    t.answer("? Guest's name", "Ada Lovelace");
    t.answer("? Guest's email", "");
    t.answer("? Guest's phone", "");
    t.see("? Book it?"); println!("{t}"); t.press(Key::Enter);
    t.see("? One-time code"); println!("{t}");
    t.type_in("000000").press(Key::Enter);
    t.see("warning:").see("? One-time code");println!("{t}");
    t.type_in(&home.code()).press(Key::Enter);
    let e = t.end();
    println!("{}\n{:?} {} {}", e.screen, e.broken, e.code, e.restored);
}
