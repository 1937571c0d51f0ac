//! Refusals that the name of a field can cause, and the ways to send the key.

use serde_json::json;

use crate::harness::{Home, Reply, Scripted, words};

/// A home whose profile `acme` leads to this server.
fn home(server: &Scripted, profile: &str) -> Home {
    Home::new()
        .with_profile("acme", server.base_url(), profile)
        .with("BOOKCTL_API_KEY", "sk_test_sent_names_0001")
}

const SLOTS: &str = "slots ven_1 --at 2026-12-01T19:30:00Z --party 2";

#[test]
fn a_refused_search_names_what_finds_out_what_it_asks_for() {
    for body in [
        json!({"error": "validation failed", "errors": [{"pointer": "/party_size", "detail": "is not expected"}]}),
        json!({"error": {"code": "bad_request", "message": "unknown field party_size"}}),
        json!({"error": "a field is missing", "missing": ["channel"]}),
    ] {
        let server = Scripted::start(move |_| Reply::json(400, &body));
        let output = home(&server, "").run(SLOTS.split(' ')).exits(12);
        output.says("bookctl profile learn acme");
    }
}

#[test]
fn a_refused_answer_comes_with_the_command_that_names_its_field() {
    let server = Scripted::start(|request| match request.method.as_str() {
        "GET" => {
            Reply::json(200, &json!({"id": "b1", "status": "requires_action", "provider": "a"}))
        }
        _ => Reply::json(400, &json!({"error": "pin: is required", "missing": ["pin"]})),
    });
    let output = home(&server, "").run(words("continue b1 --otp 271828")).exits(12);
    output.says("hint: bookctl profile set acme dialect.otp_field=pin");
}

#[test]
fn everything_that_a_refusal_says_is_shown_whatever_its_shape() {
    let body = json!({
        "error": "validation failed",
        "problems": {"by_field": {"vertical": ["is closed in winter"]}},
        "reference": "req-77",
    });
    let server = Scripted::start(move |_| Reply::json(400, &body));
    let output = home(&server, "").run(SLOTS.split(' ')).exits(12);
    output.says("is closed in winter").says("reference: req-77");
}

#[test]
fn an_error_that_is_an_object_proves_that_nothing_was_booked() {
    let server = Scripted::start(|_| {
        Reply::json(422, &json!({"error": {"code": "no_tables", "message": "no table is left"}}))
    });
    let home = home(&server, "");
    let arguments = words(
        "book ven_1 --slot slot_1 --at 2026-12-01T19:30:00Z --party 2 --name 'Ada \
             Lovelace' --email ada@x.example --yes",
    );
    let output = home.run(arguments);
    assert_ne!(output.code, Some(16), "{output}");
    output.says("no table is left");
    assert_eq!(server.creates().len(), 1);
    home.ok(["attempts"]).says("No unresolved requests.");
}

#[test]
fn field_named_and_secret_missing_are_not_taken_for_another() {
    let unknown = json!({"error": "no", "errors": [{"source": {"pointer": "/party_size"}, "detail": "is not a known field"}]});
    let (_server, home) = Scripted::with_home(move |_| Reply::json(400, &unknown));
    let guest = "book v --slot s --at 2031-12-01T19:30:00Z --party 2 --name 'Ada Lovelace' --yes";
    let refused = home.run(words(guest)).exits(12);
    assert!(!refused.stderr.contains("several providers"), "{refused}");
    let listen = home.run(["webhook", "listen", "--port", "0"]);
    listen.says("set BOOKCTL_WEBHOOK_SECRET");
}

#[test]
fn a_refused_key_is_told_how_it_was_sent() {
    let server = Scripted::start(|_| Reply::json(401, &json!({"error": "unauthorized"})));
    let output = home(&server, "").run(["status"]).exits(4);
    output.says("sent as: Authorization: Bearer ***").says("bookctl profile learn acme");
}

#[test]
fn key_goes_in_query_or_as_user_of_basic_and_is_never_shown() {
    let echo = |profile: &str| {
        let server = Scripted::start(|request| {
            let sent = format!("{} {:?}", request.path, request.header("authorization"));
            Reply::json(400, &json!({"error": format!("you sent {sent}")}))
        });
        let output = home(&server, profile).run(["api", "GET", "/v1/x?a=b", "-v"]).exits(12);
        for text in [&output.stdout, &output.stderr] {
            assert!(!text.contains("sk_test_sent_names_0001"), "{output}");
            assert!(!text.contains("c2tfdGVzdF9zZW50X25hbWVz"), "{output}");
        }
        (server.requests().remove(0), output)
    };
    let (request, output) =
        echo("auth_query = \"api_key\"\n[profiles.acme.headers]\nX-Org = \"20417\"\n");
    assert_eq!(request.path, "/v1/x?a=b&api_key=sk_test_sent_names_0001");
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.header("x-org"), Some("20417"));
    output.says("> GET /v1/x?a=b&api_key=***").says("> X-Org: 20417");
    let (request, output) = echo("[profiles.acme.dialect]\nauth_scheme = \"Basic\"\n");
    assert_eq!(request.header("authorization"), Some("Basic c2tfdGVzdF9zZW50X25hbWVzXzAwMDE6"));
    output.says("> Authorization: Basic ***");
}

#[test]
fn secret_header_is_refused_with_its_line() {
    let server = Scripted::start(|_| Reply::json(200, &json!({})));
    let right = home(
        &server,
        "auth_query = \"k\"\n[profiles.acme.headers]\nX-Api-Version = \"2026-10-01\"\n",
    );
    right
        .ok(["profile", "show", "acme"])
        .prints("headers.X-Api-Version = 2026-10-01")
        .prints("auth_query = k");
    right
        .ok(["cancel", "bk_1", "--dry-run"])
        .prints("X-Api-Version: 2026-10-01")
        .prints("POST /v1/bookings/bk_1/cancel?k=***");
    let wrong = home(&server, "[profiles.acme.headers]\nAuthorization = \"x\"\n");
    wrong
        .run(["status"])
        .exits(3)
        .says("line 5: profile acme: headers.Authorization may carry a secret");
}

#[test]
fn a_failure_of_the_service_at_a_search_names_no_setting() {
    let body = json!({"error": "unexpected party_size overflow", "fields": ["party_size"]});
    let server = Scripted::start(move |_| Reply::json(500, &body));
    let output = home(&server, "").run(SLOTS.split(' ')).exits(14);
    let output = output.says("nothing was changed");
    assert!(!output.stderr.contains("profile set"), "{output}");
    assert!(!output.stderr.contains("idempotency"), "{output}");
}
