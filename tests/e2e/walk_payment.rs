//! A payment approval, as a person at a terminal answers it.

use std::os::unix::fs::PermissionsExt;

use crate::harness::{GUEST, Home, Key, Served, Terminal};

/// The id of the booking that stands on the screen.
fn id_on(terminal: &Terminal) -> String {
    let screen = terminal.to_string();
    let start = screen.find("bk_").unwrap();
    screen[start..].split_whitespace().next().unwrap().to_owned()
}

/// A booking in this home that waits for its payment on the screen.
fn paying(home: Home) -> (Home, Terminal) {
    let arguments: Vec<&str> =
        ["book", "ven_payment"].into_iter().chain(GUEST).chain(["--payment", "vendor"]).collect();
    let mut terminal = Terminal::start(&home, &arguments);
    // A card is needed, so it is asked about.
    terminal.see("? Book it?").type_in("y\r");
    terminal.see("? Payment response (").see("left");
    terminal.see("❯ Approve it as the vendor would");
    terminal.press(Key::Down);
    terminal.see("❯ Read the vendor's response from a file");
    (home, terminal)
}

/// The vendor's answer to the approval that a booking waits for.
fn approval(home: &Home, id: &str) -> String {
    let booking = home.booking(id);
    let approval = &booking["next_action"]["psp_request"]["approval_id"];
    serde_json::json!({"approval_id": approval, "status": "approved"}).to_string()
}

/// "a payment approval shows amount, deadline counting down, and takes the answer from a file, an
/// editor or a paste, or aborts" (command line, Interactive)
#[test]
fn payment_shows_its_amount_and_deadline() {
    let (home, mut terminal) = paying(Home::new());
    terminal.see("EUR").see("expires");
    let id = id_on(&terminal);
    let file = home.folder().join("answer.json");
    let answer = |terminal: &mut Terminal| {
        terminal.press(Key::Enter);
        terminal.answer("? File with the vendor's response", "answer.json");
    };
    for (text, why) in [
        ("", "answer.json: no such file"),
        ("approved!", "not valid JSON"),
        (r#"{"approval_id": "another", "status": "approved"}"#, "psp_response"),
    ] {
        if !text.is_empty() {
            std::fs::write(&file, text).unwrap();
        }
        answer(&mut terminal);
        terminal.see(why).see("❯ Approve it as the vendor would");
        terminal.press(Key::Down);
        terminal.see("❯ Read the vendor's response from a file");
    }
    assert_eq!(home.booking(&id)["status"], "requires_action");
    std::fs::write(&file, approval(&home, &id)).unwrap();
    answer(&mut terminal);
    terminal.ends(0).says("confirmed");
}

#[test]
fn a_payment_is_answered_by_a_paste() {
    let (home, mut terminal) = paying(Home::new());
    let answer = approval(&home, &id_on(&terminal)).replace(',', ",\r\n\r\n");
    terminal.press(Key::Down).press(Key::Down);
    terminal.accept("❯ Paste it");
    terminal.see("? Paste the vendor's response");
    terminal.type_in(&format!("\u{1b}[200~{answer}\u{1b}[201~"));
    terminal.press(Key::Enter);
    terminal.ends(0).says("confirmed");
}

/// Who does not know what the vendor's response is pastes the card.
#[test]
fn paste_card_number_or_empty_is_not_sent() {
    let (_served, home) = Served::with_home();
    let (home, mut terminal) = paying(home);
    let id = id_on(&terminal);
    terminal.press(Key::Down).press(Key::Down);
    terminal.accept("❯ Paste it");
    for (pasted, why) in [
        ("4111 1111 1111 1111", "it is not valid JSON"),
        ("\"4111-1111-1111-1111\"", "it looks like a card number"),
        ("", "it is empty"),
    ] {
        terminal.answer("? Paste the vendor's response (JSON, never a card number)", pasted);
        terminal.see(why);
        terminal.see("the JSON that the vendor's payment page returned, never a card number");
        terminal.see("This payment's response has the approval_id psp_");
        terminal.see("❯ Approve it as the vendor would");
        terminal.press(Key::Up).press(Key::Up).accept("❯ Paste it");
    }
    terminal.see("? Paste the vendor's response (JSON");
    let ended = terminal.ctrl_c(130);
    let requests = home.ok(["sandbox", "requests", "--json"]).stdout;
    for card in ["4111 1111", "4111-1111"] {
        assert!(!ended.screen.contains(card) && !requests.contains(card));
    }
    assert!(!requests.contains("/continue"), "{requests}");
    assert_eq!(home.booking(&id)["status"], "requires_action");
}

/// An editor of a test: what it finds is in `seen`, and `next` is what it writes.
const EDITOR: &str = r#"f() { cat "$1" >> seen; echo --- >> seen; cp next "$1"; }; f"#;

#[test]
fn editor_opens_again_with_what_was_written() {
    let home = Home::new().with("EDITOR", EDITOR);
    let next = home.folder().join("next");
    std::fs::write(&next, "{\"status\": \"approved\"").unwrap();
    let (home, mut terminal) = paying(home);
    let id = id_on(&terminal);
    terminal.press(Key::Down).accept("❯ Write it in an editor");
    terminal.see("not valid JSON");
    std::fs::write(&next, approval(&home, &id)).unwrap();
    terminal.see("❯ Approve it as the vendor would");
    terminal.press(Key::Down).press(Key::Down);
    terminal.accept_last("❯ Write it in an editor", 0).says("confirmed");
    let seen = std::fs::read_to_string(home.folder().join("seen")).unwrap();
    let second = seen.split("---\n").nth(1).unwrap();
    assert_eq!(second, "{\"status\": \"approved\"", "{seen}");
}

/// A key that a person takes for an answer must not abort: the menu has no filter, and an abort is
/// asked about.
#[test]
fn a_payment_is_aborted_only_by_a_choice_and_a_yes() {
    let (home, mut terminal) = paying(Home::new());
    let id = id_on(&terminal);
    terminal.type_in("y").press(Key::Down);
    terminal.see("❯ Write it in an editor").press(Key::Down);
    terminal.press(Key::Down).accept("❯ Abort the payment");
    terminal.see("? Abort the payment? The booking then fails (");
    terminal.accept("(no) ›");
    terminal.see("Abort the payment? The booking then fails · no");
    terminal.see("❯ Approve it");
    assert_eq!(home.booking(&id)["status"], "requires_action");
    terminal.press(Key::Up).accept("❯ Abort the payment");
    terminal.see("(no) ›").type_in("y\r");
    terminal.ends(11).says("payment_declined");
}

/// "what cannot be undone is asked for" (design); a script's flag is enough
#[test]
fn the_flag_that_aborts_a_payment_asks_on_a_terminal_alone() {
    let home = Home::new();
    let pays = || home.booked("ven_payment", &["--payment", "vendor"], 10);
    let id = pays();
    let abort = ["continue", &id, "--psp-abort"];
    for no in [Key::Enter, Key::Esc] {
        let mut terminal = Terminal::start(&home, &abort);
        terminal.see("EUR").see("? Abort the payment?").press(no);
        terminal.ends(17).says("The payment was not aborted.");
    }
    assert_eq!(home.booking(&id)["status"], "requires_action");
    let mut terminal = Terminal::start(&home, &abort);
    terminal.see("? Abort the payment?").type_in("y\r");
    terminal.ends(11).says("payment_declined");
    let other = pays();
    let terminal = Terminal::start(&home, &["continue", &other, "--psp-abort", "--yes"]);
    let ended = terminal.ends(11);
    assert!(!ended.screen.contains('?'), "{}", ended.screen);
    home.run(["continue", &pays(), "--psp-abort"]).exits(11);
    // Of a booking that waits for something else, it says so before it asks.
    let otp = home.booked("ven_otp", &[], 10);
    let terminal = Terminal::start(&home, &["continue", &otp, "--psp-abort"]);
    terminal.ends(12).says("is waiting for a one-time code");
}

#[test]
fn a_sandbox_approves_a_payment_as_the_vendor_would() {
    let (_home, mut terminal) = paying(Home::new());
    terminal.press(Key::Up);
    terminal.accept_last("❯ Approve it as the vendor would", 0).says("confirmed");
}

/// As git does it.
#[test]
fn without_a_named_editor_vi_is_opened() {
    let home = Home::new();
    let vi = home.folder().join("vi");
    let script = r#"#!/bin/sh
sed -i 's/"status": ""/"status": "approved"/' "$1"
"#;
    std::fs::write(&vi, script).unwrap();
    std::fs::set_permissions(&vi, PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", home.folder().display());
    let home = home.with("PATH", &path);
    let (_home, mut terminal) = paying(home);
    terminal.press(Key::Down).accept("❯ Write it in an editor");
    terminal.ends(0).says("confirmed");
}
