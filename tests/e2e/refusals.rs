//! The specification's tables of errors, row for row and in its order: each one made to happen in
//! the sandbox, with the exit code, the code and the HTTP status that a script then sees.

use serde_json::Value;

use crate::harness::{Home, Output, holds, text, words};

/// One row of a table: as the specification has it, how it happens in a new home, the exit code, the
/// code, the HTTP status, and the fields of the body that the row names.
struct Row(&'static str, fn(Home) -> Output, i32, &'static str, u16, &'static [&'static str]);

impl Row {
    fn check(&self) {
        let Row(quote, happens, exit, code, status, body) = self;
        let output = happens(Home::new());
        assert_eq!(output.code, Some(*exit), "{quote}: {output}");
        let error = output.error();
        holds!(error, {"code": *code, "http_status": *status});
        for said in ["hint", "message"] {
            assert!(!text(&error, said).is_empty(), "{quote}: {output}");
        }
        for field in *body {
            assert!(!error["body"][field].is_null(), "{quote}: {output}");
        }
    }
}

/// The embedded sandbox with another key than its own.
fn with_key(home: Home, key: &str) -> Home {
    home.with("BOOKCTL_PROFILE", "sandbox").with("BOOKCTL_API_KEY", key)
}

/// A sandbox whose organization is set so.
fn with_setting(home: Home, setting: &str) -> Home {
    home.ok(["sandbox", "organization", "-F", setting]);
    home
}

/// A change of a booking at this venue, which `book` ended with this code.
fn modified(home: &Home, venue: &str, code: i32) -> Output {
    home.run(["modify", &home.booked(venue, &[], code), "--party", "3", "--json"])
}

fn search(home: &Home, near: &str) -> Output {
    let at = ["--at", "tomorrow 19:30", "--json"];
    home.run(["search", "dining", "--near", near].iter().chain(&at))
}

fn create(home: &Home, body: &str) -> Output {
    home.feed(["api", "POST", "/v1/bookings", "--input", "-", "--json"], body)
}

/// A booking of this guest at this time.
fn book(home: &Home, at: &str, name: &str) -> Output {
    home.run(words(format!("book ven_confirms --at '{at}' --party 2 --name '{name}' --json")))
}

fn paying(home: &Home, venue: &str) -> (String, String) {
    let booking = home.book(venue, &["--payment", "vendor"]).exits(10).json();
    let approval = &booking["next_action"]["psp_request"]["approval_id"];
    let answer = serde_json::json!({"approval_id": approval, "status": "approved"});
    (text(&booking, "id"), answer.to_string())
}

/// Errors, Body shapes.
#[rustfmt::skip]
const BODY_SHAPES: &[Row] = &[
    Row(
        "400 | error, missing (list of names) | required fields missing on venue search",
        |home| home.run(["api", "POST", "/v1/venues/search", "-F", "vertical=dining", "--json"]),
        12, "http_400", 400, &["error", "missing"],
    ),
    Row(
        "400 | error \"invalid request body\", field, detail | body not valid JSON or a field has the wrong type",
        |home| create(&home, r#"{"venue_id": "ven_confirms", "party_size": "two"}"#),
        12, "http_400", 400, &["error", "field", "detail"],
    ),
    Row(
        "400 | error, error_code placeholder_customer | the guest is a placeholder on booking create",
        |home| book(&home, "tomorrow 19:30", "Test User"),
        12, "placeholder_customer", 400, &["error", "error_code"],
    ),
    Row(
        "400 | error | booking create with a venue_id without resolvable provider and no provider field",
        |home| create(
            &home,
            r#"{"venue_id": "ven_multi_provider", "datetime": "2030-12-01T19:30:00Z", "party_size": 2, "customer": {"name": "Ada Lovelace"}}"#,
        ),
        12, "http_400", 400, &["error"],
    ),
    Row(
        "401 | error unauthorized | bad or missing key",
        |home| with_key(home, "sk_live_nonsense").run(["status", "--json"]),
        4, "unauthorized", 401, &["error"],
    ),
    Row(
        "402 | error billing_required, message | live key without billing",
        |home| search(&with_key(home, "sk_live_nobilling"), "London"),
        5, "billing_required", 402, &["error", "message"],
    ),
    Row(
        "402 | error free_tier_exhausted, limit, message | test allowance used up",
        |home| {
            let home = with_key(home, "sk_test_sandbox");
            for _ in 0..3 {
                home.book("ven_confirms", &[]).exits(0);
            }
            search(&home, "London")
        },
        5, "free_tier_exhausted", 402, &["error", "limit", "message"],
    ),
    Row(
        "403 | error insufficient_scope, required_scope | scope missing",
        |home| with_key(home, "sk_live_readonly").book("ven_confirms", &[]),
        5, "insufficient_scope", 403, &["error", "required_scope"],
    ),
    Row(
        "429 | error rate_limited, message, limit, retry_after_seconds (also header Retry-After) | rate limit exceeded",
        |home| {
            for _ in 0..25 {
                search(&home, "London").exits(0);
            }
            search(&home, "London")
        },
        9, "rate_limited", 429, &["error", "message", "limit", "retry_after_seconds"],
    ),
];

/// Errors, Codes by condition.
#[rustfmt::skip]
const CODES_BY_CONDITION: &[Row] = &[
    Row(
        "400 | missing_last_name | provider A needs first and last name in customer.name; nothing created",
        |home| book(&home, "tomorrow 19:30", "Ada"),
        12, "missing_last_name", 400, &[],
    ),
    Row(
        "400 | slot_not_offered | datetime differs from the time the availability_id was offered at",
        |home| {
            let slots = ["slots", "ven_confirms", "--at", "tomorrow 19:30", "--party", "2", "--json"];
            let slots = home.ok(slots).json();
            let slot = &slots["slots"][0];
            let another = &slots["slots"][2]["datetime"];
            let body = serde_json::json!({
                "venue_id": "ven_confirms", "availability_id": slot["availability_id"], "datetime": another,
                "party_size": 2, "customer": {"name": "Ada Lovelace"},
            });
            create(&home, &body.to_string())
        },
        12, "slot_not_offered", 400, &[],
    ),
    Row(
        "400 | (none) | \"validation failed\" naming each field, e.g. datetime must be in the future; nothing created",
        |home| book(&home, "2020-01-01 19:30", "Ada Lovelace"),
        12, "http_400", 400, &["fields"],
    ),
    Row(
        "400 | (none) | location could not be resolved on venue search; send a more specific location or latitude and longitude",
        |home| search(&home, "Atlantis"),
        12, "http_400", 400, &[],
    ),
    Row(
        "403 | wrong_key_environment | beta (v3) key sent to /v1",
        |home| with_key(home, "sk_v3_sandbox").run(["status", "--json"]),
        4, "wrong_key_environment", 403, &[],
    ),
    Row(
        "403 | org_suspended | organization suspended; retry does not help",
        |home| search(&with_key(home, "sk_live_suspended"), "London"),
        5, "org_suspended", 403, &["reason"],
    ),
    Row(
        "404 | (none) | booking not found; body lists the organization's unfinished bookings of the last day in open_bookings",
        |home| {
            home.booked("ven_otp", &[], 10);
            home.run(["show", "bk_nobody", "--json"])
        },
        6, "http_404", 404, &["open_bookings"],
    ),
    Row(
        "404 | (none) | venue not found; run venue search first",
        |home| home.run(["slots", "ven_nowhere", "--at", "tomorrow 19:30", "--json"]),
        6, "http_404", 404, &[],
    ),
    Row(
        "409 | (none) | modify on a booking that is not confirmed",
        |home| modified(&home, "ven_otp", 10),
        7, "http_409", 409, &[],
    ),
    Row(
        "413 | (none) | body too large (limit 1 MB)",
        |home| create(&home, &format!(r#"{{"note": "{}"}}"#, "x".repeat(1_100_000))),
        12, "http_413", 413, &[],
    ),
    Row(
        "422 | modify_unsupported | provider cannot modify; nothing attempted",
        |home| modified(&home, "ven_confirms_c", 0),
        7, "modify_unsupported", 422, &[],
    ),
    Row(
        "422 | the provider's code | venue refused the change; body carries the unchanged booking, still confirmed",
        |home| modified(&home, "ven_modify_refused", 0),
        7, "modification_refused", 422, &["booking"],
    ),
    Row(
        "502 | search_failed | every provider failed on search; providers_failed lists them; retry",
        |home| search(&home, "Outage"),
        13, "search_failed", 502, &["providers_failed"],
    ),
    Row(
        "502 | availability_failed | provider failed reading availability; provider names it; retry",
        |home| home.run(["slots", "ven_availability_fails", "--at", "tomorrow 19:30", "--json"]),
        13, "availability_failed", 502, &["provider"],
    ),
    Row(
        "503 | no_search_provider | no search-capable provider configured",
        |home| search(&with_setting(home, "search_providers=[]"), "London"),
        13, "no_search_provider", 503, &[],
    ),
    Row(
        "503 | no_search_provider | … (400 when the caller named providers)",
        |home| home.run(["search", "dining", "--near", "London", "--at", "tomorrow 19:30", "--provider", "provider_z", "--json"]),
        13, "no_search_provider", 400, &[],
    ),
    Row(
        "503 | billing_check_unavailable, … | billing could not be checked; retry shortly",
        |home| search(&with_setting(home, "billing_check=unavailable"), "London"),
        14, "billing_check_unavailable", 503, &[],
    ),
    Row(
        "503 | …, entitlement_check_unavailable | billing could not be checked; retry shortly",
        |home| {
            let home = with_key(home, "sk_test_sandbox");
            search(&with_setting(home, "entitlement_check=unavailable"), "London")
        },
        14, "entitlement_check_unavailable", 503, &[],
    ),
];

/// Errors, Vendor payment codes: those that are answers of their own.
#[rustfmt::skip]
const VENDOR_PAYMENT: &[Row] = &[
    Row(
        "vault_unavailable | 409 at create | venue cannot be paid through the vendor; nothing created",
        |home| home.book("ven_vault_unavailable", &["--payment", "vendor"]),
        7, "vault_unavailable", 409, &[],
    ),
    Row(
        "vendor_disabled | 503 at create | vendor payments are off",
        |home| with_setting(home, "vendor_payments=false").book("ven_payment", &["--payment", "vendor"]),
        14, "vendor_disabled", 503, &[],
    ),
    Row(
        "(none) | 400 on continue | malformed psp_response; booking stays paused; retry before expires_at",
        |home| {
            let (id, _) = paying(&home, "ven_payment");
            home.run(["continue", &id, "--psp-response", "{}", "--json"])
        },
        12, "http_400", 400, &["error"],
    ),
];

/// Session codes named (spec, Errors).
#[rustfmt::skip]
const SESSIONS: &[Row] = &[
    Row(
        "live_key_required",
        |home| with_key(home, "sk_test_sandbox").run(["session", "list", "--json"]),
        5, "live_key_required", 403, &[],
    ),
    Row(
        "invalid_code",
        |home| {
            let connect = ["session", "connect", "--end-user", "u", "--phone", "+44 20 7946 0018", "--json"];
            let id = text(&home.ok(connect).json(), "id");
            home.run(["session", "verify", &id, "--code", "000000", "--json"])
        },
        12, "invalid_code", 400, &[],
    ),
    Row(
        "reconnect_required",
        |home| home.book("ven_confirms_b", &["--end-user", "nobody"]),
        7, "reconnect_required", 409, &[],
    ),
];

#[test]
fn each_body_shape_of_the_specification() {
    BODY_SHAPES.iter().for_each(Row::check);
}

#[test]
fn each_code_by_condition_of_the_specification() {
    CODES_BY_CONDITION.iter().for_each(Row::check);
}

#[test]
fn each_refusal_of_a_vendor_payment_of_the_specification() {
    VENDOR_PAYMENT.iter().for_each(Row::check);
}

#[test]
fn each_session_code_of_the_specification() {
    SESSIONS.iter().for_each(Row::check);
}

/// A row whose code is a booking's own: it stands on stdout, and what it means in the catalog and
/// on the card.
struct Outcome {
    quote: &'static str,
    happens: fn(&Home) -> Output,
    exit: i32,
    code: &'static str,
    status: &'static str,
}

/// An approved payment at this venue, after so long.
fn paid(home: &Home, venue: &str, after: &str) -> Output {
    let (id, answer) = paying(home, venue);
    if !after.is_empty() {
        home.advance(after);
    }
    home.run(["continue", &id, "--psp-response", &answer, "--json"])
}

/// Errors, Vendor payment codes that a booking carries, and "Other booking error_code".
#[rustfmt::skip]
const OUTCOMES: &[Outcome] = &[
    Outcome {
        quote: "(none) | 400 on continue | answer arrived after expires_at; … booking is failed (… payment_approval_expired)",
        happens: |home| paid(home, "ven_payment", "15m1s"),
        exit: 11, code: "payment_approval_expired", status: "failed",
    },
    Outcome {
        quote: "payment_declined | error_code | payment abandoned with psp_abort",
        happens: |home| {
            let (id, _) = paying(home, "ven_payment");
            home.run(["continue", &id, "--psp-abort", "--json"])
        },
        exit: 11, code: "payment_declined", status: "failed",
    },
    Outcome {
        quote: "payment_approval_expired | error_code | no answer before expires_at",
        happens: |home| {
            let (id, _) = paying(home, "ven_payment");
            home.advance("15m1s");
            home.run(["show", &id, "--exit-status", "--json"])
        },
        exit: 11, code: "payment_approval_expired", status: "failed",
    },
    Outcome {
        quote: "payment_outcome_unknown | error_code | card may have reached the venue; check before booking again",
        happens: |home| paid(home, "ven_payment_outcome_unknown", "15m1s"),
        exit: 16, code: "payment_outcome_unknown", status: "failed",
    },
    Outcome {
        quote: "payment_setup_failed | error_code | payment could not be prepared for this venue",
        happens: |home| home.book("ven_payment_setup_fails", &["--payment", "vendor"]),
        exit: 11, code: "payment_setup_failed", status: "failed",
    },
    Outcome {
        quote: "payment_replay_failed | error_code | processor may hold the card; check before booking again",
        happens: |home| paid(home, "ven_payment_replay_fails", ""),
        exit: 16, code: "payment_replay_failed", status: "failed",
    },
    Outcome {
        quote: "card_declined | error_code | processor declined the end user's card",
        happens: |home| paid(home, "ven_payment_declines", ""),
        exit: 11, code: "card_declined", status: "failed",
    },
    Outcome {
        quote: "Other booking error_code: cancellation_unsupported (cancel on a non-A provider leaves booking confirmed).",
        happens: |home| {
            let id = home.booked("ven_confirms_c", &[], 0);
            home.run(["cancel", &id, "--yes", "--json"])
        },
        exit: 7, code: "cancellation_unsupported", status: "confirmed",
    },
];

/// "8, 10 and 11 print the booking on stdout as 0 does" (command line, Exit codes); the card says
/// why and what next.
#[test]
fn each_code_that_a_booking_carries_of_the_specification() {
    for Outcome { quote, happens, exit, code, status } in OUTCOMES {
        let home = Home::new();
        let output = happens(&home);
        assert_eq!(output.code, Some(*exit), "{quote}: {output}");
        let booking = output.json();
        holds!(booking, {"error_code": *code, "status": *status});
        let explained = home.ok(["explain", code, "--json"]).json();
        let row: &Value = &explained["codes"][0];
        assert_eq!(row["exit_code"], *exit, "{quote}");
        let card = home.ok(["show", &text(&booking, "id")]).stdout;
        for part in [code, text(row, "next").as_str()] {
            assert!(card.contains(part), "{quote}: {part}: {card}");
        }
    }
}
