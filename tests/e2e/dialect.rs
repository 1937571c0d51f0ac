//! A service that speaks other names throughout, operated by configuration alone. Before a real
//! sandbox stands a translator that takes only its own names, and answers in them.

use serde_json::{Map, Value, json};

use crate::harness::{GUEST, Home, Reply, Request, Scripted, Served, holds, http, text, words};

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

fn foreign_name(key: &str) -> &'static str {
    let row = NAMES.iter().find(|(known, _)| *known == key);
    row.unwrap_or_else(|| panic!("{key} has no other name")).1
}

/// The open names of a request's body, with what the sandbox calls them.
fn fields_of(path: &str) -> &'static [(&'static str, &'static str)] {
    match path.rsplit('/').next().unwrap() {
        "search" if path.contains("venues") => &[("providers_field", "providers")],
        "search" => &[
            ("slots_venue_field", "venue_id"),
            ("slots_datetime_field", "datetime"),
            ("slots_party_size_field", "party_size"),
        ],
        "continue" => &[("otp_field", "otp")],
        "modify" => &[
            ("modify_datetime_field", "datetime"),
            ("modify_party_size_field", "party_size"),
            ("modify_seating_field", "seating_preference"),
        ],
        "cancel" => &[("cancel_reason_field", "reason")],
        "sessions" => &[("session_phone_field", "phone")],
        "verify" => &[("session_code_field", "code")],
        _ => &[],
    }
}

/// A request as the sandbox understands it. One that says a default name is not this service's.
fn understood(path: &str, body: &str) -> String {
    let Ok(Value::Object(body)) = serde_json::from_str(body) else {
        return body.to_owned();
    };
    let fields = fields_of(path);
    let renamed = body.into_iter().map(|(field, value)| {
        let default = fields.iter().any(|(_, default)| *default == field);
        assert!(!default, "{path} says {field}");
        let open = fields.iter().find(|(key, _)| foreign_name(key) == field);
        let field = open.map_or(field, |(_, default)| (*default).to_owned());
        (field, provider_of(&value, "provider_a", "provider_b"))
    });
    Value::Object(renamed.collect()).to_string()
}

/// The same value with its provider ids, wherever they stand, said in the sandbox's words.
fn provider_of(value: &Value, a: &str, b: &str) -> Value {
    match value {
        Value::String(id) if id == foreign_name("provider_a") => json!(a),
        Value::String(id) if id == foreign_name("provider_b") => json!(b),
        Value::String(id) => {
            assert!(id != a && id != b, "a provider is called {id}");
            value.clone()
        }
        Value::Array(list) => list.iter().map(|value| provider_of(value, a, b)).collect(),
        other => other.clone(),
    }
}

/// A document of the sandbox in the names of this service.
fn answered(value: Value) -> Value {
    match value {
        Value::String(id) if id == "provider_a" => json!(foreign_name("provider_a")),
        Value::String(id) if id == "provider_b" => json!(foreign_name("provider_b")),
        Value::Array(list) => list.into_iter().map(answered).collect(),
        Value::Object(object) => {
            let renamed = object.into_iter().map(|(field, value)| match &*field {
                "venues" => (foreign_name("venues_field").to_owned(), answered(value)),
                "slots" => (foreign_name("slots_field").to_owned(), answered(value)),
                "sessions" => (foreign_name("sessions_field").to_owned(), answered(value)),
                "next_action" => (field, action(value)),
                _ => (field, answered(value)),
            });
            Value::Object(renamed.collect())
        }
        other => other,
    }
}

fn action(value: Value) -> Value {
    let Value::Object(object) = value else {
        return value;
    };
    let renamed = object.into_iter().map(|(field, value)| match (&*field, value.as_str()) {
        ("type", Some("otp")) => {
            (foreign_name("next_action_type_field").to_owned(), json!(foreign_name("otp_action")))
        }
        ("type", Some("payment_approval")) => (
            foreign_name("next_action_type_field").to_owned(),
            json!(foreign_name("payment_action")),
        ),
        ("type", Some(_)) => (foreign_name("next_action_type_field").to_owned(), value),
        _ => (field, value),
    });
    Value::Object(renamed.collect::<Map<_, _>>())
}

/// The service before this sandbox.
fn service(base_url: String) -> Scripted {
    Scripted::start(move |request: &Request| {
        if request.path.starts_with("/sandbox/") {
            let (status, document) =
                http::send(&base_url, &request.method, &request.path, &[], &request.body);
            return Reply::json(status, &document);
        }
        assert_eq!(request.header("authorization"), None, "{}", request.path);
        let key = request.header("x-api-key").unwrap_or_default();
        let key = format!("Bearer {key}");
        let mut headers = vec![("Authorization", key.as_str())];
        if let Some(key) = request.header("idempotency-key") {
            headers.push(("Idempotency-Key", key));
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let body = understood(path, &request.body);
        assert!(!query.contains("provider_"), "{query}");
        let query = query.replace("=alpha", "=provider_a").replace("=beta", "=provider_b");
        let (status, document) =
            http::send(&base_url, &request.method, &format!("{path}?{query}"), &headers, &body);
        Reply::json(status, &answered(document))
    })
}

/// A home whose profile says every open name otherwise.
fn home_of(service: &Scripted) -> Home {
    let mut config =
        format!("[profiles.hub]\nbase_url = '{}'\n[profiles.hub.dialect]\n", service.base_url());
    for (key, name) in NAMES {
        config.push_str(&format!("{key} = '{name}'\n"));
    }
    Home::new()
        .configured(&config)
        .with("BOOKCTL_PROFILE", "hub")
        .with("BOOKCTL_API_KEY", "sk_live_sandbox")
}

/// The test above all: what it walks through is only worth something where no name was forgotten.
#[test]
fn the_service_has_another_name_for_every_open_one() {
    let table = Home::new().run(["help", "mapping", "--json"]).json();
    let table = table["mapping"].as_array().unwrap();
    let names: Vec<(String, String)> = table
        .iter()
        .map(|row| (text(row, "key"), text(row, "default")))
        // The table goes on with the expressions, by kind, and with how times are read.
        .filter(|(key, _)| !key.contains('.') && key != "local_times")
        .collect();
    assert_eq!(names.len(), NAMES.len());
    for (key, default) in names {
        assert_ne!(foreign_name(&key), default, "{key}");
    }
    let profile = home_of(&Scripted::start(|_| Reply::Close)).json("profile show");
    assert_eq!(profile["dialect"].as_object().unwrap().len(), NAMES.len());
}

/// "so the tool works against the real service without a new release" (wire contract)
#[test]
fn booking_lives_its_whole_life_under_other_names() {
    let served = Served::start();
    let service = service(served.base_url().to_owned());
    let home = home_of(&service);

    let search = "search dining --near Sandbox --at 'tomorrow 19:30'";
    let found = home.ok(words(format!("{search} --provider alpha --json"))).json();
    let venues = found["results"].as_array().unwrap();
    assert!(venues.iter().all(|venue| venue["provider"] != "beta"), "{found}");
    assert!(venues.iter().any(|venue| venue["venue_id"] == "ven_otp"), "{found}");
    let listed = home.ok(words(search)).stdout;
    assert!(listed.contains("ven_otp_b\t"), "{listed}");

    let slots = ["slots", "ven_otp", "--at", "tomorrow 19:30", "--party", "2"];
    let offered = home.ok(slots.iter().chain(&["--provider", "alpha", "--json"])).json();
    assert!(offered["options"][0]["availability_id"].is_string(), "{offered}");

    let id = home.booked("ven_otp", &["--provider", "alpha"], 10);
    let card = home.ok(["show", &id]).stdout;
    assert!(card.contains(&format!("next\tbookctl continue {id} --otp CODE\n")), "{card}");
    home.feed(["continue", &id, "--otp-stdin"], &home.code()).exits(0);
    let card = home.ok(["show", &id]).stdout;
    assert!(card.contains(&format!("next\tbookctl modify {id} ")), "{card}");

    let change = "--at 'tomorrow 20:30' --party 3 --seating terrace";
    let changed = home.json(&format!("modify {id} {change}"));
    holds!(changed, {"party_size": 3, "seating_preference": "terrace"});
    let cancelled = home.json(&format!("cancel {id} --reason rain --yes"));
    assert_eq!(cancelled["status"], "cancelled");

    let elsewhere = home.booked("ven_confirms_b", &["--provider", "beta"], 0);
    let card = home.ok(["show", &elsewhere]).stdout;
    assert!(!card.contains("bookctl modify"), "{card}");
    home.run(["cancel", &elsewhere, "--yes"]).exits(7);
}

#[test]
fn a_payment_is_answered_as_such() {
    let served = Served::start();
    let service = service(served.base_url().to_owned());
    let home = home_of(&service);

    let paying: Vec<&str> =
        ["book", "ven_payment", "--payment", "vendor", "--json"].into_iter().chain(GUEST).collect();
    let paying = home.run(paying).exits(10).json();
    assert_eq!(paying["next_action"]["kind"], "approve");
    let approval = &paying["next_action"]["psp_request"]["approval_id"];
    let answer = json!({"approval_id": approval, "status": "approved"}).to_string();
    home.feed(["continue", &text(&paying, "id"), "--psp-response", "-"], &answer).exits(0);
}

#[test]
fn a_persons_account_is_connected_listed_and_asked_for_its_card() {
    let served = Served::start();
    let service = service(served.base_url().to_owned());
    let home = home_of(&service);

    let connect = words("session connect --end-user u_7 --phone '+44 20 7946 0018' --json");
    let session = home.ok(&connect).json();
    assert_eq!(session["provider"], "beta");
    let id = text(&session, "id");
    let verified = home
        .feed(["session", "verify", &id, "--code-stdin", "--json"], &home.code())
        .exits(0)
        .json();
    assert_eq!(verified["state"], "active");
    let list = ["session", "list", "--provider", "beta"];
    let listed = home.ok(list.iter().chain(&["--json"])).json();
    assert_eq!(listed["accounts"][0]["id"], json!(id));
    assert!(home.ok(list).stdout.contains(&id));
    for card in [vec!["card", &id], vec!["card", "--end-user", "u_7", "--provider", "beta"]] {
        let card = home.ok(card.iter().chain(&["--json"])).json();
        assert_eq!(card["has_card"], true);
    }
    home.ok(["session", "disconnect", &id, "--yes"]);
}
