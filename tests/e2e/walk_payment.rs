//! A payment approval, as a person at a terminal answers it.

use crate::harness::{GUEST, Home, Key, Terminal};

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
        .see("? Payment response (")
        .see("left")
        .see("❯ Read the vendor's response from a file");
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
    terminal.see("EUR").see("expires");
    let id = id_on(&terminal);
    let file = home.folder().join("answer.json");

    std::fs::write(&file, "approved!").unwrap();
    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's response", "answer.json");
    terminal.see("not valid JSON").see("? Payment response (");
    std::fs::write(&file, r#"{"approval_id": "another", "status": "approved"}"#).unwrap();
    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's response", "answer.json");
    terminal.see("psp_response").see("? Payment response (");
    assert_eq!(home.booking(&id)["status"], "requires_action");

    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's response", "nowhere.json");
    terminal
        .see("nowhere.json: no such file")
        .see("? Payment response (");
    std::fs::write(&file, approval(&home, &id)).unwrap();
    terminal
        .press(Key::Enter)
        .answer("? File with the vendor's response", "answer.json");
    terminal.end().exits(0).says("confirmed");
}

#[test]
fn a_payment_is_answered_in_the_persons_own_editor() {
    let home = Home::new().with("EDITOR", r#"sed -i 's/"status": ""/"status": "approved"/'"#);
    let mut terminal = paying(&home);
    terminal
        .press(Key::Down)
        .see("❯ Write it in an editor")
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
        .see("❯ Paste it")
        .press(Key::Enter);
    terminal.see("? Paste the vendor's response");
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
        .see("❯ Abort the payment")
        .press(Key::Enter);
    terminal.end().exits(11).says("payment_declined");
}
