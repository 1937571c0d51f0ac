//! What support sees of a booking: its state in words, both sides of it, and what can be done now.

use serde_json::{Value, json};

use crate::harness::{Home, Key, Reply, Scripted, Served, Terminal, has};

fn card(home: &Home, id: &str) -> String {
    home.ok(["show", id, "--quiet"]).stdout
}

#[track_caller]
fn assert_lines(card: &str, lines: &[&str]) {
    let mut rest = card;
    for line in lines {
        let start = rest
            .find(line)
            .unwrap_or_else(|| panic!("{line:?} is not next in\n{card}"));
        rest = &rest[start + line.len()..];
    }
}

/// "a short card with the state first, then why, then what can be done next as a command" (command line, Output 2)
#[test]
fn a_card_has_the_state_in_words_then_the_guest_then_the_venue_then_what_can_be_done() {
    let home = Home::new();
    let guest = ["--phone", "+44 20 7946 0018", "--email", "ada@example.com"];
    let id = home.booked("ven_otp", &guest, 10);
    assert_lines(
        &card(&home, &id),
        &[
            "requires_action\tbk_",
            "waiting for\tone-time code (sent to +44 20 7946 0018 by sms)\n",
            "message\tEnter the one-time code",
            "expires\tin ",
            " UTC)\n",
            "guest\tAda Lovelace\nwhen\t",
            "(+00:00)\nparty\t2\nvenue\tThe One-Time Code (otp) · ven_otp\n",
            "email\tada@example.com\nphone\t+44 20 7946 0018\nprovider\tprovider_a\n",
            "status since\tjust now (",
            " UTC)\n",
            &format!("next\tbookctl continue {id} --otp CODE\n"),
        ],
    );
    home.advance("21m");
    let expired = card(&home, &id);
    assert_lines(
        &expired,
        &[
            "expired\t",
            "Expired. No valid answer came",
            "book again\tyes\n",
            "status since\t",
            " ago (",
            &format!("next\tbookctl book --like {id} --at WHEN\n"),
            "next\tbookctl slots ven_otp --at ",
            " --party 2 --provider provider_a\n",
        ],
    );
    // The command that it prints is one that works.
    let command = expired
        .lines()
        .last()
        .unwrap()
        .trim_start_matches("next\tbookctl ");
    let slots = home.ok(command.split(' ').chain(["--json"])).json();
    assert_eq!(slots["venue_id"], "ven_otp");
}

/// "A booking left in requires_action for more than 20 minutes is expired." (spec): where the pause says no
/// deadline of its own, it is told from when it began
#[test]
fn a_pause_without_a_deadline_says_when_it_expires_and_names_the_fields_that_it_asks_for() {
    let home = Home::new();
    let id = home.booked("ven_confirm_details", &[], 10);
    assert_eq!(home.booking(&id)["next_action"].get("expires_at"), None);
    home.advance("5m");
    assert_lines(
        &card(&home, &id),
        &[
            "waiting for\tconfirm_details\n",
            "fields\tarrival_time, dietary_requirements\n",
            "expires\tin 1",
            " minutes (",
            &format!(
                "next\tbookctl continue {id} -F arrival_time=VALUE -F dietary_requirements=VALUE\n"
            ),
        ],
    );
}

/// "provider A (the only provider that supports modify and venue-side cancel)" (spec)
#[test]
fn what_can_be_done_depends_on_the_provider() {
    let home = Home::new();
    let id = home.booked("ven_confirms", &[], 0);
    home.ok(["modify", &id, "--party", "4", "--seating", "terrace"]);
    assert_lines(
        &card(&home, &id),
        &[
            "Confirmed. The venue ",
            "changed\tjust now (",
            "change\tparty 2 → 4\n",
            "change\tseating not set → terrace\n",
            &format!("next\tbookctl modify {id} --at WHEN\nnext\tbookctl modify {id} --party N\n"),
            &format!("next\tbookctl cancel {id}\n"),
        ],
    );
    for venue in ["ven_confirms_b", "ven_confirms_c"] {
        let id = home.booked(venue, &[], 0);
        let provider = venue.replace("ven_confirms", "provider");
        let card = card(&home, &id);
        assert_lines(
            &card,
            &[&format!(
                "note\t{provider} can neither change nor cancel a booking: call the venue\n"
            )],
        );
        assert!(!card.contains("next\t"), "{card}");
    }
}

/// "payment_outcome_unknown: card may have reached the venue; check before booking again" (spec)
#[test]
fn a_failure_says_whether_trying_again_is_safe_and_only_then_how() {
    let code = |code: Value| json!({"id": "bk_1", "status": "failed", "error_code": code, "venue_id": "ven_1", "datetime": "2126-12-01T19:30:00Z"});
    #[rustfmt::skip]
    let cases = [
        (code(json!("provider_error")), true, "yes"),
        (code(json!("payment_outcome_unknown")), false, "after_check"),
        (code(json!("a_code_of_tomorrow")), false, "after_check"),
        (code(Value::Null), false, "after_check"),
    ];
    for (booking, safe, said) in cases {
        let server = Scripted::start(move |_| Reply::json(200, &booking));
        let card = card(&Home::pointing_to(server.base_url(), "sk_live_x"), "bk_1");
        let retry = card
            .lines()
            .find_map(|line| line.strip_prefix("book again\t"));
        assert!(retry.unwrap().contains(said), "{card}");
        assert_eq!(card.contains("next\tbookctl slots"), safe, "{card}");
    }
}

/// What the service sends is never a command of its own, wherever it is printed in one.
#[test]
fn what_is_printed_to_be_copied_is_quoted_for_a_shell() {
    const ID: &str = "bk_1;reboot $(x) 'y'";
    const QUOTED: &str = "'bk_1;reboot $(x) '\\''y'\\'''";
    let server = Scripted::start(|request| {
        let path = request.path.as_str();
        if path.starts_with("/v1/sessions") {
            return Reply::json(200, &json!({"id": ID, "state": "pending", "end_user": ID}));
        }
        match path {
            path if path.ends_with("/cancel") => Reply::Close,
            path if path.ends_with("/modify") => {
                Reply::json(200, &json!({"id": ID, "status": "processing"}))
            }
            _ => Reply::json(200, &json!({"id": ID, "status": "requires_action"})),
        }
    });
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    for (call, printed) in [
        (&["show", ID][..], "bookctl bookings QUOTED"),
        (&["show", "x"], "bookctl continue QUOTED -F key=VALUE"),
        // The journal knows it now.
        (&["show", ID], "bookctl continue QUOTED -F key=VALUE"),
        (&["modify", ID, "--party", "3"], "bookctl watch QUOTED"),
        (&["cancel", ID, "--yes"], "bookctl show QUOTED"),
        (
            &["session", "show", "x"],
            "bookctl session verify QUOTED --code CODE",
        ),
    ] {
        let output = home.run(call);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(
            said.contains(&printed.replace("QUOTED", QUOTED)),
            "{output}"
        );
    }
}

/// "402 billing_required", "402 free_tier_exhausted", "403 org_suspended; a reason field says why when given" (spec)
#[test]
fn where_the_organization_is_not_in_order_the_hint_says_who_can_mend_it() {
    let served = Served::start();
    for (key, reason) in [("sk_live_nobilling", ""), ("sk_live_suspended", "reason: ")] {
        let error = served
            .home_with(key)
            .book("ven_confirms", &[])
            .exits(5)
            .error();
        has(&error, "hint", "ask an administrator of the organization");
        has(&error, "message", reason);
    }
}

/// A service whose first answer is a rate limit, and which is no sandbox.
fn limited(seconds: u64) -> Scripted {
    let answered = std::cell::Cell::new(false);
    Scripted::start(move |request| {
        if request.path.starts_with("/sandbox/") {
            return Reply::json(404, &json!({"error": "not found"}));
        }
        if answered.replace(true) {
            return Reply::json(200, &json!({"id": "bk_1", "status": "confirmed"}));
        }
        Reply::json(
            429,
            &json!({"error": "rate_limited", "message": "Too many requests.", "retry_after_seconds": seconds}),
        )
    })
}

/// How often the booking was asked for.
fn looks(server: &Scripted) -> usize {
    let mut requests = server.requests();
    requests.retain(|request| request.path == "/v1/bookings/bk_1");
    requests.len()
}

/// "429 waits for `Retry-After` (clamped, and only as long as `--max-wait` or a person allows)" (design)
#[test]
fn a_person_is_asked_whether_a_rate_limit_is_waited_out() {
    let server = limited(1);
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
    terminal
        .see("? Rate limited; resets in 1 s. Wait?")
        .type_in("y\r");
    terminal.end().exits(0).says("confirmed");

    let server = limited(120);
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
    terminal
        .see("? Rate limited; resets in 2 min. Wait?")
        .type_in("n\r");
    terminal.end().exits(9).says("--max-wait 120s");
    assert_eq!(looks(&server), 1);
}

#[test]
fn a_wait_for_a_rate_limit_counts_down_and_ends_with_ctrl_c() {
    let server = limited(120);
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
    terminal.see("Wait?").type_in("y\r");
    terminal
        .see("rate limited; continuing in 1 min 5")
        .press(Key::CtrlC);
    terminal.end().exits(130);
    assert_eq!(looks(&server), 1);
    let server = limited(120);
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
    terminal.see("Wait?").type_in("y\r");
    terminal.see("Esc gives up").press(Key::Esc);
    terminal.end().exits(17);
}

/// Where nothing is redrawn, the wait is said once.
#[test]
fn a_wait_for_a_rate_limit_is_said_where_nothing_counts_down() {
    for (name, value) in [("BOOKCTL_ACCESSIBLE", "1"), ("TERM", "dumb")] {
        let server = limited(120);
        let home = Home::pointing_to(server.base_url(), "sk_live_x").with(name, value);
        let mut terminal = Terminal::start(&home, &["show", "bk_1", "--max-wait", "3m"]);
        terminal.see("rate limited; continuing in 2 min");
        terminal.press(Key::CtrlC);
        terminal.end().exits(130);
    }
}

#[test]
fn with_max_wait_nobody_is_asked_and_off_a_terminal_nobody_waits_without_it() {
    let server = limited(1);
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let ended = Terminal::start(&home, &["show", "bk_1", "--max-wait", "30s"])
        .end()
        .exits(0);
    assert!(!ended.raw.contains("Wait?"), "{}", ended.screen);

    let server = limited(1);
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    home.refuses("show bk_1", 9, "rate_limited");
}

#[test]
fn a_booking_whose_time_is_long_over_is_told_in_the_past_and_offers_no_change() {
    let home = Home::new();
    let id = home.booked("ven_confirms", &[], 0);
    assert_lines(
        &card(&home, &id),
        &["The venue is expecting this guest.", "bookctl cancel"],
    );
    home.advance("72h");
    let over = card(&home, &id);
    assert_lines(
        &over,
        &[
            "Confirmed. The venue expected this guest.",
            "when\t",
            "bookctl book --like",
        ],
    );
    assert_eq!(over.matches("next\t").count(), 1, "{over}");
}

/// "several: a table, or a JSON array" (command line, Command tree)
#[test]
fn several_bookings_are_a_table_or_an_array_and_the_first_that_is_not_confirmed_decides() {
    let home = Home::new();
    let one = home.booked("ven_confirms", &[], 0);
    let two = home.booked("ven_otp", &[], 10);
    let table = home.run(["show", &one, &two, "--exit-status"]).exits(10);
    assert_eq!(table.stdout.lines().count(), 2, "{table}");
    let array = home.ok(["show", &one, &two, "--json"]).json();
    assert_eq!(array, json!([home.booking(&one), home.booking(&two)]));
    home.refuses(&format!("show '{one}' bk_no"), 6, "http_404");
}
