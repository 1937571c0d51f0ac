//! A service that has another name for everything that the specification leaves open: what is sent
//! to it, and what is read in its documents. Whole lives under other names are in `foreign_life`.

use serde_json::json;

use crate::harness::{Home, Reply, Request, Scripted, text, words};

/// Every open name, and what this service says instead.
const NAMES: &[(&str, &str)] = &[
    ("auth_header", "X-Api-Key"),
    ("auth_scheme", ""),
    ("service_name", "Tablehub"),
    ("provider_a", "alpha"),
    ("provider_b", "beta"),
    ("venues_field", "results"),
    ("slots_field", "options"),
    ("sessions_field", "accounts"),
    ("providers_field", "sources"),
    ("slots_venue_field", "place"),
    ("slots_datetime_field", "around"),
    ("slots_party_size_field", "covers"),
    ("modify_datetime_field", "new_time"),
    ("modify_party_size_field", "new_covers"),
    ("modify_seating_field", "new_area"),
    ("otp_field", "pin"),
    ("session_phone_field", "mobile"),
    ("session_code_field", "token"),
    ("cancel_reason_field", "why"),
    ("next_action_type_field", "kind"),
    ("otp_action", "enter_pin"),
    ("payment_action", "approve"),
    ("event_id_field", "event"),
    ("event_type_field", "topic"),
];

/// What stands under a default name is about something else.
fn service() -> (Scripted, Home) {
    let server = Scripted::start(|request: &Request| {
        let list = |own: &str, default: &str, id: &str| {
            let one = |value: &str| json!([{id: value, "datetime": "2030-12-01T19:30:00Z", "state": "active", "provider": "beta"}]);
            json!({default: one("far"), own: one("near")})
        };
        let booking = |status: &str, provider: &str, action: &str| {
            let action = json!({"kind": action, "type": "otp", "psp_request": {}});
            json!({"id": "bk_1", "object": "booking", "status": status, "provider": provider, "next_action": action})
        };
        let path = request.path.split('?').next().unwrap();
        let document = match path.trim_start_matches("/v1/") {
            "venues/search" => list("results", "venues", "venue_id"),
            "availability/search" => list("options", "slots", "availability_id"),
            "sessions" if request.method == "GET" => list("accounts", "sessions", "id"),
            path if path.starts_with("sessions") => {
                json!({"id": "s1", "state": "active", "provider": "beta", "end_user": "u"})
            }
            path if path.contains("code") => booking("requires_action", "alpha", "enter_pin"),
            path if path.contains("pay") => booking("requires_action", "alpha", "approve"),
            path if path.contains("other") => booking("confirmed", "beta", ""),
            _ => booking("confirmed", "alpha", ""),
        };
        Reply::json(200, &document)
    });
    let mut config =
        format!("[profiles.hub]\nbase_url = '{}'\n[profiles.hub.dialect]\n", server.base_url());
    for (key, name) in NAMES {
        config.push_str(&format!("{key} = '{name}'\n"));
    }
    let home = Home::new().configured(&config).with("BOOKCTL_API_KEY", "sk_live_dialect");
    (server, home.with("BOOKCTL_PROFILE", "hub"))
}

/// The tests above all: they are only worth something where no name was forgotten.
#[test]
fn the_service_has_another_name_for_every_open_one() {
    let table = Home::new().run(["help", "mapping", "--json"]).json();
    // The table goes on with the expressions, by kind, and with how times are read.
    let mut rows = table["mapping"].as_array().unwrap().clone();
    rows.retain(|row| !text(row, "key").contains('.') && row["key"] != "local_times");
    assert_eq!(rows.len(), NAMES.len());
    for (row, (key, name)) in rows.iter().zip(NAMES) {
        assert_eq!(text(row, "key"), *key);
        assert_ne!(text(row, "default"), *name, "{key}");
    }
    let profile = service().1.json("profile show");
    assert_eq!(profile["dialect"].as_object().unwrap().len(), NAMES.len());
}

/// "so the tool works against the real service without a new release" (wire contract)
#[test]
fn each_request_has_the_names_of_the_profile() {
    let (server, home) = service();
    let at = "2030-12-01T20:30:00Z";
    #[rustfmt::skip]
    let requests = [
        ("search dining --near Oslo --at AT --provider alpha", json!({"sources": ["alpha"]}), "providers"),
        ("slots v --at AT --party 2", json!({"place": "v", "around": at, "covers": 2}), "venue_id datetime party_size"),
        ("modify bk_1 --at AT --party 3 --seating bar", json!({"new_time": at, "new_covers": 3, "new_area": "bar"}), "datetime party_size seating_preference"),
        ("continue bk_code --otp 271828", json!({"pin": "271828"}), "otp"),
        ("cancel bk_1 --reason rain --yes", json!({"why": "rain"}), "reason"),
        ("session connect --end-user u --phone '+44 20 7946 0018'", json!({"mobile": "+44 20 7946 0018", "provider": "beta"}), "phone"),
        ("session verify s1 --code 271828", json!({"token": "271828"}), "code"),
    ];
    for (command, sent, defaults) in requests {
        home.run(words(command.replace("AT", at)));
        let request = server.requests().into_iter().rfind(|it| it.method == "POST").unwrap();
        let body = request.json();
        for (name, value) in sent.as_object().unwrap() {
            assert_eq!(body[name], *value, "{command}: {body}");
        }
        for default in defaults.split(' ') {
            assert_eq!(body.get(default), None, "{command}: {body}");
        }
        assert_eq!(request.header("x-api-key"), Some("sk_live_dialect"));
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn each_document_is_read_by_the_names_of_the_profile() {
    let (_server, home) = service();
    for command in [
        "search dining --near Oslo --at '2030-12-01 19:30' --tz UTC",
        "slots v --at 2030-12-01T19:30:00Z",
        "session list",
    ] {
        let listed = home.ok(words(command)).stdout;
        assert!(listed.contains("near") && !listed.contains("far"), "{command}: {listed}");
    }
    for (id, next, other) in [
        ("bk_code", "bookctl continue bk_1 --otp CODE", "--psp-response"),
        ("bk_pay", "--psp-response", "--otp"),
        ("bk_1", "bookctl modify bk_1", "continue"),
        ("bk_other", "beta", "bookctl modify"),
    ] {
        let card = home.run(["show", id]).stdout;
        assert!(card.contains(next) && !card.contains(other), "{id}: {card}");
    }
}
