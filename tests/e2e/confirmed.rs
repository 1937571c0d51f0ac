//! A confirmation is meant: a word and Enter, typed after the question was drawn.

use crate::harness::{GUEST, Home, Key, Terminal, holds};

/// Each command that asks, at the sandbox, with its question.
fn asking(id: &str) -> [(Vec<&str>, &'static str); 3] {
    let paid = ["book", "ven_payment"].into_iter().chain(GUEST);
    [
        (vec!["cancel", id], "? Cancel this booking? (no)"),
        (vec!["modify", id, "--party", "3"], "? Change this booking? (no)"),
        (paid.collect(), "? Book it? (no)"),
    ]
}

fn is_untouched(home: &Home, id: &str) {
    let booking = home.booking(id);
    holds!(booking, {"status": "confirmed", "party_size": 2});
    assert_eq!(home.list("sandbox bookings").len(), 1);
}

/// A person believes to be at the shell, and types the next command or a remark.
#[test]
fn line_that_holds_y_is_asked_again_and_shown_as_it_is_typed() {
    let (home, id) = Home::with_booking("ven_confirms", 0);
    for (command, question) in asking(&id) {
        let mut terminal = Terminal::start(&home, &command);
        for line in ["sorry, wrong one", "clear; bookctl modify @1", "maybe"] {
            terminal.see(question).type_in(line);
            terminal.see(&format!("› {line}"));
            terminal.press(Key::Enter).see("type yes or no");
        }
        // Enter alone is a no, also at the sandbox.
        terminal.press(Key::Enter);
        terminal.ends(17);
    }
    is_untouched(&home, &id);
}

#[test]
fn what_was_typed_before_question_was_drawn_does_not_answer_it() {
    for plain in [false, true] {
        let (home, id) = Home::with_booking("ven_confirms", 0);
        let home = match plain {
            true => home.with("BOOKCTL_ACCESSIBLE", "1"),
            false => home,
        };
        for (command, question) in asking(&id) {
            // Once the shell has its line, the rest is there: a busy system delivers keys late.
            let shell =
                ["sh", "-c", "read start; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_bookctl")];
            let command: Vec<&str> = shell.into_iter().chain(command.iter().copied()).collect();
            let mut terminal = Terminal::of_program(&home, 100, &command);
            terminal.type_in("start\ny\nyes\n");
            let question = question.trim_end_matches("(no)");
            let question = question.trim_start_matches("? ");
            terminal.see(question).type_in("n\r");
            terminal.ends(17);
        }
        is_untouched(&home, &id);
    }
}

#[test]
fn a_plain_question_takes_the_same_words() {
    let home = Home::new().with("TERM", "dumb");
    let id = home.booked("ven_confirms", &[], 0);
    let mut terminal = Terminal::start(&home, &["cancel", &id]);
    terminal.answer("Cancel this booking? [no]", "sorry");
    // The second question: what is typed before it does not count.
    terminal.answer("then Enter Cancel this booking? [no]", "Y");
    terminal.ends(0).says("cancelled");
}
