//! What support sees of a booking: its state in words, both sides of it, and what can be done now.

use serde_json::{Value, json};

use crate::harness::{Home, Key, Reply, Scripted, Served, Terminal, has};

fn card(home: &Home, id: &str) -> String {
    home.ok(["show", id, "--quiet"]).stdout
}

/// The card of an expired booking names a command, and that is one that works.
#[test]
fn the_command_on_a_card_works_as_it_is_printed() {
    let home = Home::new();
    let id = home.booked("ven_otp", &[], 10);
    home.advance("21m");
    let expired = card(&home, &id);
    let (_, command) = expired.trim_end().rsplit_once("next\tbookctl ").unwrap();
    assert_eq!(home.json(command)["venue_id"], "ven_otp");
}

/// "payment_outcome_unknown: card may have reached the venue; check before booking again" (spec)
#[test]
fn failure_says_whether_trying_again_is_safe_and_only_then_how() {
    let code = |code: Value| json!({"id": "bk_1", "status": "failed", "error_code": code, "venue_id": "ven_1", "datetime": "2126-12-01T19:30:00Z"});
    #[rustfmt::skip]
    let cases = [
        (code(json!("provider_error")), true, "yes"),
        (code(json!("payment_outcome_unknown")), false, "not yet: check with the venue"),
        (code(json!("a_code_of_tomorrow")), false, "not yet"),
        (code(Value::Null), false, "not yet"),
    ];
    for (booking, safe, said) in cases {
        let server = Scripted::start(move |_| Reply::json(200, &booking));
        let card = card(&Home::pointing_to(server.base_url(), "sk_live_x"), "bk_1");
        let retry = card.lines().find_map(|line| line.strip_prefix("book again\t"));
        assert!(retry.unwrap().contains(said), "{card}");
        assert_eq!(card.contains("next\tbookctl slots"), safe, "{card}");
    }
}

/// What the service sends is never a command of its own, wherever it is printed in one.
#[test]
fn what_is_printed_to_be_copied_is_quoted_for_a_shell() {
    const ID: &str = "bk_1;reboot $(x) 'y'";
    const QUOTED: &str = "'bk_1;reboot $(x) '\\''y'\\'''";
    let (_server, home) = Scripted::with_home(|request| {
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
    for (call, printed) in [
        (&["show", ID][..], "bookctl bookings QUOTED"),
        (&["show", "x"], "bookctl continue QUOTED -F key=VALUE"),
        (&["show", ID, ID], "requires_action"),
        // The journal knows it now.
        (&["show", ID], "bookctl continue QUOTED -F key=VALUE"),
        (&["modify", ID, "--party", "3"], "bookctl watch QUOTED"),
        (&["cancel", ID, "--yes"], "bookctl show QUOTED"),
        (&["session", "show", "x"], "bookctl session verify QUOTED --code CODE"),
    ] {
        let output = home.run(call);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(said.contains(&printed.replace("QUOTED", QUOTED)), "{output}");
    }
}

/// "402 billing_required", "402 free_tier_exhausted", "403 org_suspended; a reason field says why
/// when given" (spec)
#[test]
fn where_organization_is_not_in_order_hint_says_who_can_mend_it() {
    let served = Served::start();
    for (key, reason) in [("sk_live_nobilling", ""), ("sk_live_suspended", "reason: ")] {
        let error = served.home_with(key).book("ven_confirms", &[]).exits(5).error();
        has(&error, "hint", "ask an administrator of the organization");
        has(&error, "message", reason);
    }
}

/// A service whose first answer is a rate limit, and which is no sandbox.
fn limited(seconds: u64) -> Scripted {
    Scripted::start(move |request| {
        if request.path.starts_with("/sandbox/") {
            return Reply::json(404, &json!({"error": "not found"}));
        }
        if request.earlier > 0 {
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

/// "429 waits for `Retry-After` (clamped, and only as long as `--max-wait` or a person allows)"
/// (design)
#[test]
fn a_person_is_asked_whether_a_rate_limit_is_waited_out() {
    let (_server, home) = limited(1).beside_home();
    let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
    terminal.see("? Rate limited; resets in 1 s. Wait?");
    terminal.type_in("y\r");
    terminal.ends(0).says("confirmed");

    let (server, home) = limited(120).beside_home();
    let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
    terminal.see("? Rate limited; resets in 2 min. Wait?");
    terminal.type_in("n\r");
    terminal.ends(9).says("--max-wait 120s");
    assert_eq!(looks(&server), 1);
}

#[test]
fn a_wait_for_a_rate_limit_counts_down_and_ends_with_ctrl_c() {
    for (seen, key, code) in
        [("rate limited; continuing in 1 min 5", Key::CtrlC, 130), ("Esc gives up", Key::Esc, 17)]
    {
        let (server, home) = limited(120).beside_home();
        let mut terminal = Terminal::start(&home, &["show", "bk_1"]);
        terminal.see("Wait?").type_in("y\r").see(seen).press(key);
        terminal.ends(code);
        assert_eq!(looks(&server), 1);
    }
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
        terminal.ends(130);
    }
}

#[test]
fn with_max_wait_nothing_is_asked() {
    let (_server, home) = limited(1).beside_home();
    let ended = Terminal::start(&home, &["show", "bk_1", "--max-wait", "30s"]).ends(0);
    assert!(!ended.raw.contains("Wait?"), "{}", ended.screen);

    let (_server, home) = limited(1).beside_home();
    home.refuses("show bk_1", 9, "rate_limited");
}

/// "several: a table, or a JSON array" (command line, Command tree)
#[test]
fn several_bookings_are_table_or_array() {
    let home = Home::new();
    let one = home.booked("ven_confirms", &[], 0);
    let two = home.booked("ven_otp", &[], 10);
    let table = home.run(["show", &one, &two, "--exit-status"]).exits(10);
    assert_eq!(table.stdout.lines().count(), 2, "{table}");
    let array = home.ok(["show", &one, &two, "--json"]).json();
    assert_eq!(array, json!([home.booking(&one), home.booking(&two)]));
    let array = home.run(["show", &one, "bk_no", "--json"]).exits(6).json();
    assert_eq!((&array[0], &array[1]["error"]["code"]), (&home.booking(&one), &json!("http_404")));
}
