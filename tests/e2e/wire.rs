//! What goes over the wire, and what of the service's documents comes out again.

use serde_json::json;

use crate::harness::{GUEST, Home, Reply, Scripted, text};

const TIME: &str = "2031-12-01T19:30:00+01:00";

/// "Bodies are JSON." "Header: Idempotency-Key (optional, recommended)." (spec, Endpoints)
#[test]
fn a_create_carries_the_key_an_idempotency_key_and_the_fields_of_the_specification() {
    let slot = json!({"availability_id": "slot_1", "datetime": TIME});
    let server = Scripted::start(move |request| match request.path.as_str() {
        "/v1/bookings" => Reply::json(
            201,
            &json!({"id": "bk_1", "object": "booking", "status": "confirmed", "provider": "provider_b"}),
        ),
        _ => Reply::json(200, &json!({"slots": [slot], "provider": "provider_b"})),
    });
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let arguments = [
        "book",
        "ven_1",
        "--at",
        TIME,
        "--party",
        "3",
        "--name",
        "Ada Lovelace",
        "--email",
        "ada@example.org",
        "--phone",
        "+44 20 7946 0018",
        "--end-user",
        "user_7",
        "--payment",
        "vendor",
        "-F",
        "webhook_url=https://app.example/hooks",
    ];
    home.run(arguments).exits(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let (search, create) = (&requests[0], &requests[1]);
    assert!(search.is("POST", "/v1/availability/search"));
    assert_eq!(
        search.json(),
        json!({"venue_id": "ven_1", "datetime": TIME, "party_size": 3})
    );
    assert_eq!(search.header("idempotency-key"), None);
    assert!(create.is("POST", "/v1/bookings"));
    for request in &requests {
        assert_eq!(request.header("authorization"), Some("Bearer sk_live_x"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(
            request
                .header("user-agent")
                .unwrap()
                .starts_with("bookctl/")
        );
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

/// "What the spec leaves open is a name in the dialect: … a profile can override it in `config.toml` …, so the tool
/// works against the real service without a new release." (wire contract)
#[test]
fn a_service_with_names_of_its_own_is_spoken_to_in_its_dialect() {
    let server = Scripted::start(|request| match request.path.as_str() {
        "/v1/venues/search" => Reply::json(
            200,
            &json!({"results": [{"venue_id": "ven_1", "name": "One"}]}),
        ),
        "/v1/availability/search" => Reply::json(
            200,
            &json!({"openings": [{"availability_id": "slot_1", "datetime": TIME}]}),
        ),
        "/v1/bookings" => Reply::json(
            201,
            &json!({"id": "bk_1", "object": "booking", "provider": "b", "status": "requires_action", "next_action": {"kind": "pin", "message": "PIN, please"}}),
        ),
        _ => Reply::json(
            200,
            &json!({"id": "bk_1", "object": "booking", "status": "confirmed"}),
        ),
    });
    let config = format!(
        "default_profile = 'real'\n[profiles.real]\nbase_url = '{}'\n[profiles.real.dialect]\n\
         auth_header = 'X-Api-Key'\nauth_scheme = ''\nvenues_field = 'results'\nslots_field = 'openings'\n\
         providers_field = 'sources'\nslots_venue_field = 'venue'\nslots_datetime_field = 'when'\n\
         slots_party_size_field = 'covers'\notp_field = 'pin'\nnext_action_type_field = 'kind'\notp_action = 'pin'\n",
        server.base_url()
    );
    let home = Home::new()
        .configured(&config)
        .with("BOOKCTL_API_KEY", "sk_live_x")
        .with("BOOKCTL_PROFILE", "real");

    let search = [
        "search",
        "dining",
        "--near",
        "London",
        "--at",
        TIME,
        "--provider",
        "provider_b",
        "--json",
    ];
    let found = home.run(search).exits(0).json();
    assert_eq!(
        found["results"][0]["venue_id"], "ven_1",
        "the document is the service's own"
    );
    let book = ["book", "@1", "--at", TIME];
    let card = home.run(book.iter().chain(&GUEST[2..])).exits(10);
    assert!(
        card.stdout.contains("bookctl continue bk_1 --otp"),
        "{card}"
    );
    home.run(["continue", "bk_1", "--otp", "246810"]).exits(0);

    let requests = server.requests();
    for request in &requests {
        assert_eq!(request.header("x-api-key"), Some("sk_live_x"));
        assert_eq!(request.header("authorization"), None);
    }
    assert_eq!(requests[0].json()["sources"], json!(["provider_b"]));
    assert_eq!(
        requests[1].json(),
        json!({"venue": "ven_1", "when": TIME, "covers": 2})
    );
    assert_eq!(requests[3].json(), json!({"pin": "246810"}));
}

/// A name that is not the dialect's is a typo, and a typo must not silently mean the default.
#[test]
fn an_open_name_that_there_is_not_is_refused_with_its_line() {
    let home = Home::new().configured(
        "[profiles.real]\nbase_url = 'https://a.example'\n[profiles.real.dialect]\notp_feild = 'pin'\n",
    );
    let error = home
        .run(["show", "bk_1", "--profile", "real", "--json"])
        .refused(3, "config");
    let message = text(&error, "message");
    assert!(
        message.contains("line 4") && message.contains("otp_feild"),
        "{error}"
    );
}

#[test]
fn a_base_url_with_a_path_keeps_it() {
    let server = Scripted::start(|_| {
        Reply::json(
            200,
            &json!({"id": "bk_1", "object": "booking", "status": "confirmed"}),
        )
    });
    for slash in ["", "/"] {
        let url = format!("{}/partner/api{slash}", server.base_url());
        Home::pointing_to(&url, "sk_live_x")
            .run(["show", "bk_1"])
            .exits(0);
    }
    for request in server.requests() {
        assert_eq!(request.path, "/partner/api/v1/bookings/bk_1");
    }
}

/// An id is opaque: whatever it holds, it stays one segment of the path.
#[test]
fn an_id_cannot_leave_its_place_in_the_path() {
    let server = Scripted::start(|_| Reply::json(200, &json!({"id": "x", "status": "confirmed"})));
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    for id in ["../organizations", "a/b", "a?b=c", "a#b", "%2e%2e", "ключ"] {
        home.run(["watch", "--", id]).exits(15);
    }
    for request in server.requests() {
        let segment = request.path.strip_prefix("/v1/bookings/").unwrap();
        assert!(!segment.contains(['/', '?', '#', ' ']), "{}", request.path);
        assert_ne!(segment, "..");
    }
}

/// "Reading is tolerant where a list's field is open: the dialect's field, else `data`, else a bare array."
#[test]
fn a_list_is_read_wherever_the_service_puts_it() {
    let venue = json!({"venue_id": "ven_1", "name": "One"});
    for document in [
        json!({"venues": [venue]}),
        json!({"data": [venue]}),
        json!([venue]),
    ] {
        let answer = document.clone();
        let server = Scripted::start(move |_| Reply::json(200, &answer));
        let home = Home::pointing_to(server.base_url(), "sk_live_x");
        let search = ["search", "dining", "--near", "London", "--at", TIME];
        let output = home.run(search).exits(0);
        assert!(output.stdout.starts_with("ven_1\tOne"), "{output}");
        let json = home.run(search.iter().chain(&["--json"])).exits(0).json();
        assert_eq!(json, document);
    }
}

/// "exactly one JSON document, the service's own where there is one, unknown fields and key order kept"
/// (command line, Output 3)
#[test]
fn a_document_comes_out_as_it_came_in() {
    let body = r#"{"zebra":1.0e+2,"id":"bk_1","status":"teleported","amount":12.50,"big":123456789012345678901234567890,"nested":{"b":[],"a":null},"text":"é \u00e9 \/ 東京"}"#;
    let server =
        Scripted::start(move |_| Reply::Whole(200, "application/json", format!(" {body}\n\n")));
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let output = home.run(["show", "bk_1", "--json"]).exits(0);
    assert_eq!(output.stdout, format!("{body}\n"));
}

/// "unknown fields kept": a status that nobody knows is shown, and is no success.
#[test]
fn a_status_that_nobody_knows_is_shown_and_is_no_success() {
    let server =
        Scripted::start(|_| Reply::json(200, &json!({"id": "bk_1", "status": "teleported"})));
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    let output = home.run(["show", "bk_1", "--exit-status"]);
    assert!(output.stdout.contains("teleported"), "{output}");
    assert_ne!(output.code, Some(0), "{output}");
}

/// A code that nobody knows is all that the service said: it is not kept from the person.
#[test]
fn a_refusal_with_an_unknown_code_says_the_code() {
    for body in [
        json!({"error": "too_early", "error_code": "too_early"}),
        json!({"error": "too_early"}),
    ] {
        let server = Scripted::start(move |_| Reply::json(422, &body));
        let home = Home::pointing_to(server.base_url(), "sk_live_x");
        home.run(["show", "bk_1"]).exits(7).says("too_early");
    }
}

/// "Text that came from outside is shown with its control and bidi characters made visible, everywhere."
#[test]
fn text_from_outside_cannot_drive_the_terminal() {
    let nasty = "Evil\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}elbaT\u{9b}31m\r\nfake\tcolumn";
    let document = json!({
        "id": "bk_1", "status": "failed", "error_code": nasty, "error_message": nasty, "venue_name": nasty,
        "customer": {"name": nasty}, "venues": [{"venue_id": "v", "name": nasty, "tags": [nasty]}],
    });
    let refusal = json!({"error": nasty, "error_code": "nasty_code"});
    let server = Scripted::start(move |request| match request.path.as_str() {
        "/v1/bookings/refused" => Reply::json(409, &refusal),
        _ => Reply::json(200, &document),
    });
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    for arguments in [
        vec!["show", "bk_1"],
        vec!["show", "bk_1", "bk_2"],
        vec!["show", "bk_1", "--json"],
        vec!["show", "refused"],
        vec!["show", "refused", "--json"],
        vec!["show", "bk_1", "-v"],
        vec!["search", "dining", "--near", "x", "--at", TIME],
        vec!["show", "bk_1", "--jq", ".venue_name"],
    ] {
        let output = home.run(&arguments);
        for stream in [&output.stdout, &output.stderr] {
            let harmful = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
            assert!(!stream.contains(harmful), "{arguments:?}: {stream:?}");
        }
        assert!(
            output.stdout.contains("Evil") || output.stderr.contains("Evil"),
            "{output}"
        );
    }
}
