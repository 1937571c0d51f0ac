//! A booking command that is run again: in a script after a failure, or under the key that it had
//! before.

use serde_json::Value;

use crate::harness::{GUEST, Home, Served, has, text, words};
#[cfg(unix)]
use crate::harness::{Key, Terminal};

/// How many bookings the sandbox has.
fn made(home: &Home) -> usize {
    let all = home.json("sandbox bookings");
    all["bookings"].as_array().unwrap().len()
}

fn lose(home: &Home) {
    home.fault("POST /v1/bookings", "drop_after", 9);
}

fn clear(home: &Home) {
    home.ok(["sandbox", "faults", "clear"]);
}

/// A home whose booking was made, and its response lost.
fn lost() -> Home {
    let home = Home::new();
    lose(&home);
    home.book("ven_confirms", &[]).exits(16);
    clear(&home);
    home
}

/// "A booking made twice, or made and forgotten" (design): exit 16 says that it may exist, and a
/// loop reads 16 as a failure.
#[test]
fn script_that_repeats_its_command_after_lost_answer_books_once() {
    let home = lost();
    let error = home.book("ven_confirms", &[]).refused(16, "outcome_unknown");
    let key = text(&error, "idempotency_key");
    let resume = format!("bookctl attempts resume {key}");
    has(&error, "hint", &resume);
    assert_eq!(made(&home), 1);
    home.ok(["attempts", "resume", &key]);
    // What is settled stands in nobody's way.
    home.book("ven_confirms", &[]).exits(0);
    assert_eq!(made(&home), 2);
}

#[test]
fn another_guest_party_time_or_key_is_another_booking() {
    let home = lost();
    let others: [&[&str]; 4] = [
        &["--name", "Grace Hopper"],
        &["--party", "3"],
        &["--at", "tomorrow 20:00"],
        &["--idempotency-key", "on-purpose"],
    ];
    for (number, other) in others.into_iter().enumerate() {
        let book = ["book", "ven_confirms", "--json"];
        let usual = ["--at", "tomorrow 19:30", "--party", "2", "--name", "Ada Lovelace"];
        let rest: Vec<&str> =
            usual.chunks(2).filter(|pair| pair[0] != other[0]).flatten().copied().collect();
        home.ok(book.iter().chain(&rest).chain(other));
        assert_eq!(made(&home), 2 + number);
    }
}

/// "`attempts resume` settles it with the same key" (design), and so does the same command with the
/// same key: the booking that was made holds the slot that the command would look for.
#[test]
fn same_command_with_its_key_finds_its_booking_at_a_full_venue() {
    let home = Home::new();
    let key = ["--idempotency-key", "order-1"];
    lose(&home);
    home.book("ven_last_table", &key).exits(16);
    clear(&home);
    let again = home.book("ven_last_table", &key).exits(0).json();
    // Settled, it answers the same.
    let third = home.book("ven_last_table", &key).exits(0);
    assert_eq!(third.json()["id"], again["id"], "{third}");
    assert_eq!(made(&home), 1);
}

/// "A key is never reused for another body" (design): the way on is not a second booking.
#[test]
fn key_of_another_request_is_refused_with_that_request() {
    let home = Home::new();
    lose(&home);
    home.book("ven_confirms", &["--idempotency-key", "lost"]).exits(16);
    clear(&home);
    let id = home.booked("ven_confirms", &["--idempotency-key", "made"], 0);
    let hint = |key: &str| {
        let other = ["--idempotency-key", key, "--email", "ada@example.com"];
        let error: Value = home.book("ven_confirms", &other).refused(7, "another_booking");
        text(&error, "hint")
    };
    assert!(hint("lost").contains("check it: bookctl attempts resume lost"));
    assert!(hint("made").contains(&format!("this key made {id}")));
    assert_eq!(made(&home), 2);
}

/// A hint is a command that can be pasted.
#[test]
fn key_like_a_flag_or_row_is_resumed_by_the_printed_command() {
    for key in ["-x", "@1"] {
        let home = Home::new();
        lose(&home);
        let lost = home.book("ven_confirms", &[&*format!("--idempotency-key={key}")]);
        let hint = text(&lost.refused(16, "outcome_unknown"), "hint");
        clear(&home);
        home.booked("ven_otp", &["--idempotency-key", "another"], 10);
        let (_, command) = hint.split_once("bookctl ").unwrap();
        home.ok(["attempts", "list", "--all"]);
        // PowerShell wants quotes around @.
        let resumed = home.ok(command.split(' ').map(|word| word.trim_matches('\'')));
        assert!(resumed.stdout.starts_with("confirmed"), "{resumed}");
    }
}

/// An attempt of another API key cannot be resumed with this one, and may have made the booking all
/// the same.
#[test]
fn the_open_attempt_of_another_api_key_blocks_the_same_booking() {
    let served = Served::start();
    let other = served.home().with("BOOKCTL_API_KEY", "sk_live_other");
    lose(&other);
    other.book("ven_confirms", &[]).exits(16);
    clear(&other);
    let own = other.with("BOOKCTL_API_KEY", "sk_live_sandbox");
    own.book("ven_confirms", &[]).exits(16).says("an earlier request may have booked");
    own.book("ven_confirms", &["--idempotency-key", "on-purpose"])
        .exits(0)
        .says("an earlier request may have booked");
}

#[test]
fn after_a_reset_of_the_sandbox_nothing_is_in_doubt() {
    let home = Home::new();
    lose(&home);
    home.book("ven_confirms", &[]).exits(16);
    home.ok(["sandbox", "reset", "--yes"]);
    home.book("ven_confirms", &[]).exits(0);
    assert_eq!(made(&home), 1);
}

/// A row that got another key, because its file was changed or is another one.
#[test]
fn row_of_batch_is_not_sent_while_same_booking_is_in_doubt() {
    let home = lost();
    let known = home.json("attempts list");
    let mut row = known["attempts"][0]["request"].clone();
    let file = home.path().join("rows.jsonl");
    std::fs::write(&file, format!("{row}\n")).unwrap();
    let book = ["batch", file.to_str().unwrap(), "--json"];
    home.run(book).exits(18).shows("\"exit_code\":16");
    assert_eq!(made(&home), 1);
    row["idempotency_key"] = "on-purpose".into();
    std::fs::write(&file, format!("{row}\n")).unwrap();
    home.ok(book);
    assert_eq!(made(&home), 2);
}

/// The command for the usual guest, where `more` does not say otherwise.
fn usual<'a>(venue: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual = GUEST.chunks(2).filter(|pair| !more.contains(&pair[0]));
    let book = ["book", venue].into_iter().chain(usual.flatten().copied());
    book.chain(more.iter().copied()).collect()
}

#[cfg(unix)]
fn again(home: &Home, venue: &str, more: &[&str]) -> Terminal {
    Terminal::of_width(home, 80, &usual(venue, more))
}

/// The guest calls twice, or two people take the call: in other letters, at another hour, by the
/// phone or the email alone.
#[cfg(unix)]
#[test]
fn same_guest_on_that_day_is_a_question_with_no_as_default() {
    let home = Home::new();
    let known = ["--phone", "+44 20 7946 0018", "--email", "ada@example.com"];
    let first = home.booked("ven_confirms", &known, 0);
    #[rustfmt::skip]
    let alike: [&[&str]; 4] = [
        &[],
        &["--name", "ada  LOVÉLACE", "--at", "tomorrow 21:00", "--party", "4"],
        &["--name", "Grace Hopper", "--phone", "+442079460018"],
        &["--name", "Grace Hopper", "--email", "ADA@example.com"],
    ];
    for more in alike {
        let mut terminal = again(&home, "ven_confirms", more);
        let is_other = more.contains(&"Grace Hopper");
        terminal.see(if is_other { "a guest with the same phone number" } else { "this guest" });
        terminal.see("already has a booking at this venue that day");
        terminal.see(&format!("{first}, Ada Lovelace"));
        terminal.see("19:30 (+00:00), party 2");
        terminal.accept("? Book another one? (no)");
        terminal.ends(17).says("Nothing was sent.");
        assert_eq!(made(&home), 1);
    }
    again(&home, "ven_confirms", &["--yes"])
        .ends(0)
        .says(&format!("at this venue that day: {first}"));
    assert_eq!(made(&home), 2);
    let others: [(&str, &[&str]); 3] = [
        ("ven_confirms_b", &[]),
        ("ven_confirms", &["--name", "Grace Hopper"]),
        ("ven_confirms", &["--at", "in 3 days 19:30"]),
    ];
    for (venue, more) in others {
        let ended = again(&home, venue, more).ends(0);
        assert!(!ended.screen.contains("already"), "{}", ended.screen);
    }
}

#[test]
fn script_is_warned_of_same_guest_also_with_quiet() {
    let home = Home::new();
    let first = home.booked("ven_confirms", &[], 0);
    let warning = format!("this guest already has a booking at this venue that day: {first}");
    let more = ["-q", "--at", "tomorrow 21:00", "--name", "LOVELACE, Ada"];
    home.ok(usual("ven_confirms", &more)).says(&warning);
    assert_eq!(made(&home), 2);
    home.booked("ven_provider_fails", &[], 11);
    let cancelled = home.booked("ven_modify_refused", &[], 0);
    home.ok(["cancel", &cancelled, "--yes"]);
    for (venue, code) in [("ven_provider_fails", 11), ("ven_modify_refused", 0)] {
        let output = home.book(venue, &[]).exits(code);
        assert!(!output.stderr.contains("already"), "{output}");
    }
}

#[test]
fn resumed_request_is_not_warned_of_its_own_booking() {
    let home = Home::new();
    home.fault("POST /v1/bookings", "drop_after", 3);
    home.book("ven_confirms", &["--idempotency-key", "k"]).exits(16);
    let made = &home.json("sandbox bookings")["bookings"][0];
    home.ok(["show", &text(made, "id")]);
    let resumed = home.ok(words("attempts resume k"));
    assert!(!resumed.stderr.contains("already"), "{resumed}");
}

/// Found out, shown, and not booked a second time in the same breath: also if nothing of guests is
/// kept.
#[cfg(unix)]
#[test]
fn what_was_found_out_first_is_same_guests_booking_in() {
    for retention in ["90d", "0"] {
        let home = lost();
        let more = ["--name", "ADA lovelace", "--party", "3", "--retention", retention];
        let mut terminal = again(&home, "ven_confirms", &more);
        terminal.accept("? Check it first? (yes)");
        terminal.see("this guest already has a booking at this venue that day");
        terminal.accept("? Book another one? (no)");
        terminal.ends(17);
        assert_eq!(made(&home), 1);
    }
}

/// A lost response: what follows is not a second request under another key.
#[cfg(unix)]
#[test]
fn unknown_outcome_offers_to_find_out_and_never_to_send_again() {
    for finds_out in [true, false] {
        let home = Home::new();
        lose(&home);
        let mut terminal =
            Terminal::start(&home, &words("book ven_confirms --at 'tomorrow 19:30' --party 2"));
        terminal.answer("? Guest's name", "Ada Lovelace");
        terminal.answer("? Guest's email", "");
        terminal.answer("? Guest's phone", "");
        terminal.accept("? Book it? (yes)");
        terminal.see("? The booking may exist. Check now? (yes)");
        clear(&home);
        let ended = if finds_out {
            terminal.press(Key::Enter);
            terminal.ends(0).says("confirmed")
        } else {
            terminal.type_in("no\r");
            let ended = terminal.ends(16).says("bookctl attempts resume");
            assert!(!ended.screen.contains("bookctl book "), "{}", ended.screen);
            ended
        };
        assert!(!ended.screen.contains("try again"), "{}", ended.screen);
        assert_eq!(made(&home), 1);
    }
}
