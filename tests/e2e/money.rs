//! What a booking costs: what its terms are for, and that they are seen before and after it is
//! made.

use serde_json::{Value, json};

use crate::harness::{Home, Key, Reply, Request, Scripted, Terminal};

/// The scenario with a card: 23.00 EUR are held for each guest, and lost within the last day.
const WITH_CARD: &str = "ven_payment";
/// What every write to a sandbox that was not named says.
const SANDBOX: &str = "sandbox: nothing is really booked";

/// "What a person must know of money (card, fee) stands on stderr in a script too, and `--quiet`
/// does not hide it."
#[test]
fn script_gets_terms_of_card_or_fee_in_one_line_also_with_quiet() {
    let home = Home::new();
    let output = home.book(WITH_CARD, &["-q"]).exits(0);
    let lines: Vec<&str> = output.stderr.lines().filter(|line| *line != SANDBOX).collect();
    let [line] = lines[..] else {
        panic!("{output}");
    };
    for part in ["A card is needed", "46.00 EUR for 2", "Free to cancel until 24 hours"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let free = home.book("ven_confirms", &["-q"]).exits(0);
    assert_eq!(free.stderr, format!("{SANDBOX}\n"));
}

/// A service that answers with these slots, and books.
fn service(slots: Value) -> Scripted {
    Scripted::start(move |request: &Request| match request.path.as_str() {
        "/v1/availability/search" => Reply::json(200, &slots),
        "/v1/bookings" => {
            let mut booking = request.json();
            booking["id"] = "bk_1".into();
            booking["status"] = "confirmed".into();
            Reply::json(201, &booking)
        }
        "/v1/bookings/bk_1" => {
            let shown =
                json!({"id": "bk_1", "object": "booking", "status": "confirmed", "provider": "a"});
            Reply::json(200, &shown)
        }
        _ => Reply::json(404, &json!({"error": "no such path"})),
    })
}

const AT: [&str; 6] =
    ["--at", "2031-12-01T19:30:00+09:00", "--party", "2", "--name", "Ada Lovelace"];

#[test]
fn terms_that_stand_in_included_are_seen_before_the_booking() {
    let link = |kind: &str| json!({"data": {"type": kind, "id": "t1"}});
    let (_service, home) = service(json!({
        "data": [{
            "type": "slots", "id": "s1",
            "attributes": {"availability_id": "s1", "datetime": "2031-12-01T19:30:00+09:00"},
            "relationships": {"card_terms": link("card"), "cancellation_terms": link("cancellation")},
        }],
        "included": [
            {"type": "card", "id": "t1", "attributes": {"required": true, "text": "JPY 24000 is charged now."}},
            {"type": "cancellation", "id": "t1", "attributes": {"text": "No refund.", "fee_amount": "24000", "currency": "JPY"}},
        ],
    })).beside_home();
    let book = [&["book", "ven_1"][..], &AT].concat();
    let mut terminal = Terminal::of_width(&home, 200, &book);
    terminal.see("JPY 24000 is charged now.").see("No refund.");
    terminal.see("? Book it?").press(Key::CtrlC);
    terminal.ends(130);
    let script = home.ok(book.iter().chain(&["--no-input", "-q"]));
    script.tells("JPY 24000 is charged");
    let slots = ["slots", "ven_1", "--at", AT[1], "-q"];
    home.ok(slots).prints("No refund.");
}

#[test]
fn a_slot_without_terms_says_that_none_were_found() {
    let slots =
        json!({"slots": [{"availability_id": "s1", "datetime": "2031-12-01T19:30:00+09:00"}]});
    let (_service, home) = service(slots).beside_home();
    let book = [&["book", "ven_1"][..], &AT].concat();
    let mut terminal = Terminal::start(&home, &book);
    terminal.see("terms").see("not found in the response");
    terminal.see("? Book it?").press(Key::CtrlC);
    terminal.ends(130);
    home.ok(book.iter().chain(&["--no-input"])).says("Terms: not found in the response.");
}

/// Terms in a shape of the service's own are no missing ones, before the booking and when it is
/// cancelled.
#[test]
fn terms_that_are_not_understood_are_shown_as_they_came() {
    let deposit = json!({"amount_minor": 25000, "currency": "NOK"});
    let (_service, home) = service(json!({"slots": [
        {"availability_id": "s1", "datetime": "2031-12-01T19:30:00+09:00", "deposit": deposit},
        {"availability_id": "s2", "datetime": "2031-12-01T20:30:00+09:00", "terms": {"cardTerms": {"text": "A card."}}},
    ]})).beside_home();
    let book = [&["book", "ven_1"][..], &AT].concat();
    let mut terminal = Terminal::start(&home, &book);
    terminal.see("deposit 250.00 NOK").see("? Book it?");
    let ended = terminal.ctrl_c(130).text();
    assert!(!ended.contains("not found"), "{ended}");
    let script = home.ok(book.iter().chain(&["--no-input"]));
    script.tells("warning: the slot shows: deposit 250.00 NOK");
    assert!(!script.stderr.contains("not found"), "{script}");
    let mut terminal = Terminal::of_width(&home, 200, &["cancel", "bk_1"]);
    terminal.see("not understood; the slot shows: deposit 250.00 NOK");
    terminal.ctrl_c(130);
    let slots = home.ok(["slots", "ven_1", "--at", AT[1]]);
    assert!(slots.stdout.contains("A card."), "{slots}");
    assert!(!slots.stdout.contains("terms."), "{slots}");
}

/// The service does not repeat the terms, and the list of slots is gone.
#[test]
fn terms_stay_with_booking_and_cancellation_says_what_it_cost() {
    let home = Home::new();
    home.ok(["sandbox", "clock", "--to", "12:00"]);
    let at = ["--at", "in 2 days 19:30", "--party", "2", "--name", "Ada L"];
    let book = [&["book", WITH_CARD, "--json", "-q"][..], &at].concat();
    let late = home.ok(&book).json()["id"].clone();
    let early = home.ok(&book).json()["id"].clone();
    let [late, early] = [&late, &early].map(|id| id.as_str().unwrap());
    std::fs::remove_file(home.path().join("recent.db")).unwrap();
    let shown = home.ok(["show", late]);
    for part in ["card\tA card is needed", "46.00 EUR for 2", "cancellation\tFree to cancel"] {
        shown.shows(part);
    }
    assert!(!home.booking(late).to_string().contains("card_terms"));

    let changed = home.ok(["modify", early, "--party", "4", "--yes", "-q"]);
    assert!(changed.stderr.contains("92.00 EUR for 4 · free until"), "{}", changed.stderr);
    let cancelled = home.ok(["cancel", early, "--yes", "-q"]);
    assert_eq!(cancelled.stderr, format!("{SANDBOX}\n"), "it was free");
    home.advance("40h");
    let fee = "23.00 EUR per guest (46.00 EUR for 2), by";
    let cancelled = home.ok(["cancel", late, "--yes", "-q"]);
    let told = format!("warning: the cancellation costs {fee} the booking's terms\n");
    assert_eq!(cancelled.stderr.replace(&format!("{SANDBOX}\n"), ""), told);
}

#[test]
fn script_is_told_of_fee_that_only_text_names() {
    let fee = "Cancelling within 24 hours costs 50 EUR.";
    let (_service, home) = service(json!({"slots": [
        {"availability_id": "s1", "datetime": "2031-12-01T19:30:00+09:00", "cancellation_terms": {"text": fee}},
    ]})).beside_home();
    home.ok([&["book", "ven_1", "-q"][..], &AT].concat()).tells(fee);
    let row = json!({
        "venue_id": WITH_CARD, "datetime": "2038-01-10T19:30:00Z", "party_size": 2, "customer": {"name": "Ada L"},
    });
    let batch = Home::new().feed(["batch", "-", "--name", "x"], &row.to_string());
    batch.exits(0).says("row 1: card: A card is needed");
}
