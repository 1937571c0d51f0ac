//! What goes over the wire, and what of the service's documents comes out again.

use serde_json::json;

use crate::harness::{Home, Reply, Scripted, words};

const TIME: &str = "2031-12-01T19:30:00+01:00";

/// "Bodies are JSON." "Header: Idempotency-Key (optional, recommended)." (spec, Endpoints)
#[test]
fn create_carries_key_idempotency_key() {
    let slot = json!({"availability_id": "slot_1", "datetime": TIME});
    let (server, home) = Scripted::with_home(move |request| match request.path.as_str() {
        "/v1/bookings" => Reply::json(
            201,
            &json!({"id": "bk_1", "object": "booking", "status": "confirmed", "provider": "provider_b"}),
        ),
        _ => Reply::json(200, &json!({"slots": [slot], "provider": "provider_b"})),
    });
    let arguments = words(format!(
        "book ven_1 --at '{TIME}' --party 3 --name 'Ada Lovelace' --email \
             ada@example.org --phone '+44 20 7946 0018' --end-user user_7 --payment vendor \
             -F webhook_url=https://app.example/hooks"
    ));
    home.ok(&arguments);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let (search, create) = (&requests[0], &requests[1]);
    assert!(search.is("POST", "/v1/availability/search"));
    assert_eq!(search.json(), json!({"venue_id": "ven_1", "datetime": TIME, "party_size": 3}));
    assert_eq!(search.header("idempotency-key"), None);
    assert!(create.is("POST", "/v1/bookings"));
    for request in &requests {
        assert_eq!(request.header("authorization"), Some("Bearer sk_live_x"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(request.header("user-agent").unwrap().starts_with("bookctl/"));
    }
    assert!(create.header("idempotency-key").unwrap().len() >= 16);
    assert_eq!(
        create.json(),
        json!({
            "venue_id": "ven_1", "provider": "provider_b", "datetime": TIME, "availability_id": "slot_1",
            "party_size": 3,
            "customer": {"name": "Ada Lovelace", "email": "ada@example.org", "phone": "+44 20 7946 0018"},
            "end_user": "user_7", "webhook_url": "https://app.example/hooks",
            "payment_collection": "vendor_external",
        })
    );
}

#[test]
fn a_base_url_with_a_path_keeps_it() {
    let server = Scripted::start(|_| {
        Reply::json(200, &json!({"id": "bk_1", "object": "booking", "status": "confirmed"}))
    });
    for slash in ["", "/"] {
        let url = format!("{}/partner/api{slash}", server.base_url());
        Home::pointing_to(&url, "sk_live_x").ok(["show", "bk_1"]);
    }
    for request in server.requests() {
        assert_eq!(request.path, "/partner/api/v1/bookings/bk_1");
    }
}

/// "Reading is tolerant where a list's field is open: the dialect's field, else `data`, else a bare
/// array."
#[test]
fn a_list_is_read_wherever_the_service_puts_it() {
    let venue = json!({"venue_id": "ven_1", "name": "One"});
    for document in [json!({"venues": [venue]}), json!({"data": [venue]}), json!([venue])] {
        let answer = document.clone();
        let (_server, home) = Scripted::with_home(move |_| Reply::json(200, &answer));
        let search = ["search", "dining", "--near", "London", "--at", TIME];
        let output = home.ok(search);
        assert!(output.stdout.starts_with("ven_1\tOne"), "{output}");
        let json = home.ok(search.iter().chain(&["--json"])).json();
        assert_eq!(json, document);
    }
}

/// "exactly one JSON document, the service's own where there is one, unknown fields and key order
/// kept" (command line, Output 3)
#[test]
fn a_document_comes_out_as_it_came_in() {
    let body = r#"{"zebra":1.0e+2,"id":"bk_1","status":"teleported","amount":12.50,"big":123456789012345678901234567890,"nested":{"b":[],"a":null},"text":"é \u00e9 \/ 東京"}"#;
    let (_server, home) =
        Scripted::with_home(move |_| Reply::Whole(200, "application/json", format!(" {body}\n\n")));
    let output = home.ok(["show", "bk_1", "--json"]);
    assert_eq!(output.stdout, format!("{body}\n"));
}

/// A code that nobody knows is all that the service said: it is not kept from the person.
#[test]
fn a_refusal_with_an_unknown_code_says_the_code() {
    for body in
        [json!({"error": "too_early", "error_code": "too_early"}), json!({"error": "too_early"})]
    {
        let (_server, home) = Scripted::with_home(move |_| Reply::json(422, &body));
        home.run(["show", "bk_1"]).exits(7).says("too_early");
    }
}
