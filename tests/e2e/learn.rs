//! A service that nobody has seen: what `profile learn` shows and sets, and what it never sends.

use serde_json::{Value, json};

use crate::harness::{
    FOREIGN_KEY, Foreign, Home, Output, Reply, Scripted, Served, Terminal, has, holds, text, words,
};

pub(crate) fn learn(home: &Home, more: &[&str]) -> Output {
    let command = ["profile", "learn", "foreign", "--json"];
    home.run(command.iter().chain(more))
}

pub(crate) fn config(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("config.toml")).unwrap()
}

/// The settings that a run found, as `key = value`.
pub(crate) fn lines(learned: &Value) -> Vec<String> {
    let settings = learned["settings"].as_array().unwrap().iter();
    settings.map(|it| format!("{} = {}", text(it, "key"), text(it, "value"))).collect()
}

/// What a run shows of a kind of document.
fn learned_kind(learned: &Value, kind: &str) -> Value {
    let documents = learned["documents"].as_array().unwrap();
    let found = documents.iter().find(|it| it["kind"] == kind);
    found.cloned().unwrap_or_else(|| panic!("{kind}: {learned}"))
}

/// A home with a profile `foreign` for this server.
fn home_at(server: &Scripted) -> Home {
    Home::new().with_profile("foreign", server.base_url(), "").with("BOOKCTL_API_KEY", FOREIGN_KEY)
}

/// How the variants want the key.
const BY_HEADER: &str =
    "[profiles.foreign.dialect]\nauth_header = \"X-Partner-Key\"\nauth_scheme = \"\"\n";
const BY_TOKEN: &str =
    "[profiles.foreign.dialect]\nauth_header = \"X-API-Token\"\nauth_scheme = \"Token\"\n";

#[test]
fn at_projects_own_sandbox_everything_is_read() {
    let served = Served::start();
    let config = format!(
        "default_profile = \"own\"\n[profiles.own]\nbase_url = \"{}\"\n",
        served.base_url()
    );
    let home = Home::new().configured(&config).with("BOOKCTL_API_KEY", "sk_live_sandbox");
    home.booked("ven_confirms", &[], 0);
    let learned = home.json("profile learn own --yes");
    assert_eq!(lines(&learned), Vec::<String>::new(), "{learned}");
    for kind in ["index", "venues", "slots", "sessions", "booking"] {
        let shown = learned_kind(&learned, kind);
        holds!(shown, {"read": true, "missing": []});
    }
    assert_eq!(learned["written"], Value::Null);
    let check = ["profile", "learn", "own", "--check"];
    home.ok(check).prints("fits");
    home.ok(["doctor", "--probe", "--near", "London"]).prints("fits");
    home.fault("POST /v1/venues/search", "status", 99);
    home.run(check).exits(3).prints("does not fit").prints("not read venues");
    let probed = Home::new().ok(["doctor", "--probe"]).stderr;
    assert_eq!(probed, "sandbox: nothing is really booked\n");
    assert_eq!(served.bookings().len(), 1);
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn what_searches_ask_for_is_learned_from_their_refusals() {
    for (variant, mapping, expected) in [
        (
            "enveloped",
            BY_HEADER,
            &[
                "write.search = del(.party_size)",
                "write.slots = del(.venue_id, .datetime) * {venue: {venue_id: .venue_id}} * {day: .datetime[:10]}",
            ][..],
        ),
        (
            "nested",
            "auth_query = \"api_key\"\n",
            &[
                "write.slots = del(.venue_id, .datetime, .party_size) * {where: {venue_id: .venue_id}} * {when: {start: .datetime}} * {who: {party_size: .party_size}}",
            ],
        ),
        (
            "reservations",
            "[profiles.foreign.dialect]\nauth_header = \"X-Book-Key\"\n",
            &[
                "local_times = true",
                "write.slots = del(.venue_id, .datetime, .party_size) * {restaurant: {venue_id: .venue_id}} * {on: .datetime[:10]} * {from: .datetime[11:16]} * {table: {covers: .party_size}}",
            ],
        ),
    ] {
        let Some((service, home)) = Foreign::with_home(variant, mapping) else { return };
        let learned = learn(&home, &["--yes"]).exits(0).json();
        assert_eq!(lines(&learned), *expected, "{variant}");
        assert!(learned["calls"].as_u64().unwrap() <= 25, "{learned}");
        service.saw_no_write();
        let kept = std::fs::read_to_string(home.path().join("config.toml.bak")).unwrap();
        assert!(!kept.contains("read_only"), "{kept}");
        let file = config(&home);
        let again = learn(&home, &["--yes"]).exits(0).json();
        assert_eq!(again["written"], Value::Null, "{again}");
        assert_eq!(config(&home), file, "learning twice changed the profile");
        let search = words("search dining --near 'New York' --at 'tomorrow 19:30'");
        home.ok(&search);
        let slots = ["slots", "@1", "--at", "tomorrow 19:00", "--party", "2"];
        home.ok(slots).prints("10:00");
    }
}

#[test]
fn example_given_by_hand_is_shown_whatever_else_is_known() {
    let (served, home) = Served::with_home();
    let home = home
        .with_profile("foreign", served.base_url(), "")
        .with("BOOKCTL_API_KEY", "sk_live_sandbox");
    home.booked("ven_confirms", &[], 0);
    std::fs::write(
        home.folder().join("b.json"),
        r#"{"id": "b", "status": "confirmed", "object": "booking", "seq": 1}"#,
    )
    .unwrap();
    let learned = learn(&home, &["--check", "--example", "booking=b.json"]).json();
    assert_eq!(learned_kind(&learned, "booking")["paths"][".seq"], "number");
}

/// A service whose slots stand under days and areas, without a name that bookctl knows.
fn grouped() -> Scripted {
    Scripted::start(|request| {
        let slot = json!({"ref": "s1", "starts": "2030-01-01T19:00:00Z"});
        let answer = match request.path.as_str() {
            "/v1/" => {
                json!({"name": "S", "version": "v1", "server_time": "2030-01-01T19:00:00Z", "endpoints": []})
            }
            "/v1/venues/search" => {
                json!({"venues": [{"venue_id": 7, "name": "Caf\u{e9}", "provider": "p"}]})
            }
            "/v1/availability/search" => {
                json!({"data": {"days": {"2030-01-01": {"main_room": [slot]}}}})
            }
            _ => json!({"sessions": []}),
        };
        Reply::json(200, &answer)
    })
}

#[test]
fn document_not_read_comes_with_expression_that_user_completes() {
    let service = grouped();
    let home = home_at(&service);
    let output = learn(&home, &["--check"]).exits(3);
    let slots = learned_kind(&output.json(), "slots");
    assert_eq!(slots["read"], false, "{slots}");
    assert_eq!(slots["paths"][".data.days[][][].starts"], "time");
    let page = home.run(["profile", "learn", "foreign", "--check"]);
    let page = page.prints("bookctl profile set foreign 'read.slots=");
    for said in [output.stdout, page.stdout] {
        assert!(!said.contains("19:00") && !said.contains("Caf"), "{said}");
    }
    let setting = text(&slots, "setting");
    assert!(
        setting.starts_with(
            "read.slots={slots: [.data.days[][][] | {availability_id: .<?>, datetime: .<?>"
        ),
        "{setting}"
    );
    home.run(["doctor", "--probe"]).exits(3).prints("not read").prints(".data.days[][][].starts");
    // A command with a hole changes nothing.
    let before = config(&home);
    home.run(["profile", "set", "foreign", &setting]).exits(2);
    assert_eq!(config(&home), before);
    let filled = setting.replacen("<?>", "ref", 1).replacen("<?>", "starts", 1);
    let filled = filled.split(", card_terms").next().unwrap().to_owned() + "}]}";
    home.ok(["profile", "set", "foreign", &filled]);
    learn(&home, &["--check"]).exits(0);
    home.ok(["doctor", "--probe"]);
    // What the profile's own expression no longer finds is a difference.
    home.ok([
        "profile",
        "set",
        "foreign",
        "read.venues=. * {venues: [.venues[] | {venue_id, name: .title}]}",
    ]);
    home.run(["doctor", "--probe"]).exits(3).prints("read.venues finds no longer: name");
}

#[test]
fn second_page_is_tried_with_what_was_learned() {
    for is_taken in [true, false] {
        let service = Scripted::start(move |request| {
            let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
            let has = |field: &str| body.get(field).is_some();
            let refuse = |field: &str| {
                Reply::json(400, &json!({"error": "x", "field": field, "detail": "unknown field"}))
            };
            match request.path.as_str() {
                "/v1/venues/search" if has("party_size") => refuse("party_size"),
                "/v1/venues/search" if has("cursor") && !is_taken => refuse("cursor"),
                "/v1/venues/search" if has("cursor") => Reply::json(200, &json!({"venues": []})),
                "/v1/venues/search" => {
                    let venue = json!({"venue_id": 7, "name": "Hut"});
                    Reply::json(200, &json!({"venues": [venue], "next_cursor": "c2"}))
                }
                "/v1/availability/search" => Reply::json(200, &json!({"slots": []})),
                _ => Reply::json(200, &json!({"name": "S", "sessions": []})),
            }
        });
        let learned = learn(&home_at(&service), &["--yes"]).exits(0).json();
        assert_eq!(lines(&learned), ["write.search = del(.party_size)"]);
        let notes = learned["notes"].to_string();
        assert_eq!(notes.contains("second page is refused"), !is_taken, "{notes}");
    }
}

#[test]
fn service_is_read_again_with_what_was_written() {
    let service = Scripted::start(move |request| match request.path.as_str() {
        "/v1/venues/search" if request.body.contains("party_size") => Reply::json(
            400,
            &json!({"error": "x", "field": "party_size", "detail": "unknown field"}),
        ),
        "/v1/venues/search" => Reply::json(200, &json!({"venues": []})),
        "/v1/sessions" if request.earlier == 0 => Reply::json(200, &json!({"rows": [{"a": 1}]})),
        "/v1/sessions" => Reply::json(200, &json!({"sessions": []})),
        _ => Reply::json(200, &json!({"name": "S"})),
    });
    let learned = learn(&home_at(&service), &["--yes", "--near", "Oslo"]).exits(0).json();
    assert_eq!(lines(&learned), ["write.search = del(.party_size)"]);
    assert_eq!(learned_kind(&learned, "sessions")["read"], true, "{learned}");
    let sent = service.requests().into_iter().filter(|it| it.body.contains("party_size"));
    assert_eq!(sent.count(), 1);
    assert_eq!(learned["calls"], service.requests().len());
}

#[test]
fn half_of_what_a_rate_limit_leaves_is_left_for_others() {
    let service = Scripted::start(|request| {
        if request.path != "/v1/venues/search" {
            return Reply::json(200, &json!({"name": "S", "sessions": []}));
        }
        let left = 9 - request.earlier;
        let limit =
            format!("RateLimit-Limit: 10\r\nRateLimit-Remaining: {left}\r\nRateLimit-Reset: 60");
        Reply::headed(400, &[limit], &json!({"error": "x", "missing": [format!("field_{left}")]}))
    });
    learn(&home_at(&service), &["--check", "--near", "Oslo"]).exits(0);
    let searches = service.requests().into_iter().filter(|it| it.path.ends_with("venues/search"));
    assert_eq!(searches.count(), 5);
}

#[test]
fn another_place_is_asked_where_one_is_not_known() {
    let service = Scripted::start(|request| {
        let answer = match request.path.as_str() {
            "/v1/venues/search" if !request.body.contains("Reykjavik") => {
                let is_paris = request.body.contains("Paris");
                let why =
                    if is_paris { "unknown city Paris" } else { "location could not be resolved" };
                return Reply::json(400, &json!({"error": why}));
            }
            "/v1/venues/search" => json!({"venues": [{"venue_id": 7, "name": "Caf\u{e9}"}]}),
            "/v1/availability/search" => json!({"slots": []}),
            _ => json!({"name": "S", "sessions": []}),
        };
        Reply::json(200, &answer)
    });
    let home = home_at(&service);
    home.ok(["doctor", "--probe"]).prints("--near");
    let searches = service.requests().into_iter().filter(|it| it.path.ends_with("venues/search"));
    assert_eq!(searches.count(), 3);
    home.ok(["doctor", "--probe", "--near", "Reykjavik"]).prints("venues");
    home.run(["doctor", "--probe", "--near", "Oslo"]).exits(3).prints("could not be resolved");
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn check_writes_nothing_and_file_has_command_that_says_same() {
    let Some(service) = Foreign::start("enveloped") else {
        return;
    };
    let home = Home::new().configured(&format!(
        "[profiles.\"it's a.b\"]\nbase_url = \"{}\"\n[profiles.\"it's a.b\".dialect]\nauth_header = \"X-Partner-Key\"\nauth_scheme = \"\"\n",
        service.base_url()
    )).with("BOOKCTL_API_KEY", FOREIGN_KEY);
    let before = config(&home);
    let check = ["profile", "learn", "it's a.b", "--check"];
    home.run(check).exits(3).prints("does not fit");
    let out = ["--yes", "--out", "review.sh"];
    home.ok(check[..3].iter().chain(&out)).prints("review.sh");
    assert_eq!(config(&home), before);
    let review = std::fs::read_to_string(home.folder().join("review.sh")).unwrap();
    let mut shell = home.program("sh");
    let script = review.replacen("bookctl", env!("CARGO_BIN_EXE_bookctl"), 1);
    let applied = shell.args(["-c", &script]).output().unwrap();
    assert!(applied.status.success(), "{applied:?}");
    home.ok(check).prints("fits");
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn recorded_documents_are_shown_in_the_same_way() {
    let Some((service, home)) = Foreign::with_home("assumed", "") else { return };
    let file = |name: &str, content: &str| {
        let path = home.folder().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let delivery = file(
        "delivery.txt",
        "Acme-Signature: t=1,v1=00\n\n{\"event\": {\"id\": \"e1\", \"kind\": \"booking.confirmed\"}}",
    );
    let booking = file(
        "booking.json",
        r#"{"reservation": {"no": "b1", "state": "ok", "starts_at": "2026-12-01T19:30:00Z", "guest": {"full_name": "Ada Lovelace"}}}"#,
    );
    let example = format!("booking={booking}");
    let output = learn(&home, &["--yes", "--delivery", &delivery, "--example", &example]).exits(0);
    let learned = output.json();
    assert_eq!(lines(&learned), ["dialect.service_name = Acme"]);
    let booking = learned_kind(&learned, "booking");
    assert_eq!(booking["read"], false);
    assert_eq!(booking["paths"][".reservation.starts_at"], "time");
    let setting = text(&booking, "setting");
    assert!(
        setting.starts_with("read.booking=.reservation | {id: .<?>, status: .<?>"),
        "{setting}"
    );
    let event = learned_kind(&learned, "event");
    has(&event, "why", "dialect.event_id_field=PATH");
    assert_eq!(event["paths"][".event.kind"], "text");
    assert!(!output.stdout.contains("Ada Lovelace"), "{output}");
    assert!(!output.stdout.contains("e1\""), "{output}");
    assert_eq!(config(&home).matches("Acme").count(), 1);
    service.saw_no_write();
    learn(&home, &["--yes", "--example", "bookings=x"]).exits(2).says("the kinds are");
    let broken = file("broken.json", "{");
    learn(&home, &["--yes", "--example", &format!("booking={broken}")]).exits(2);
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn nothing_is_sent_or_written_without_yes() {
    let Some((service, home)) = Foreign::with_home("enveloped", BY_HEADER) else { return };
    let before = config(&home);
    learn(&home, &[]).exits(2);
    let start = || Terminal::start(&home, &["profile", "learn", "foreign"]);
    let terminal = start();
    terminal.accept_last("Send at most 25 reads", 17);
    assert_eq!(service.calls().len(), 0);
    let mut terminal = start();
    terminal.see("Send at most 25 reads").type_in("y\r");
    terminal.see("2 settings to profile foreign?");
    terminal.type_in("n\r");
    terminal.ends(17);
    assert_eq!(config(&home), before);
    let mut terminal = start();
    terminal.see("Send at most 25 reads").type_in("y\r");
    terminal.see("2 settings to profile foreign?");
    terminal.type_in("y\r");
    let ended = terminal.ends(0);
    for part in [
        "read-only from now on",
        "bookctl doctor --probe --profile foreign",
        "bookctl profile set foreign read_only=false",
    ] {
        assert!(ended.screen.contains(part), "{part}: {}", ended.screen);
    }
    assert!(config(&home).contains("read_only = true"));
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn learned_profile_is_read() {
    let Some((_service, home)) = Foreign::with_home("shouting", BY_TOKEN) else { return };
    let learn = || home.ok(["profile", "learn", "foreign", "--yes"]);
    let delivery = |name: &str| {
        std::fs::write(
            home.folder().join("delivery"),
            format!("{name}-Signature: t=1,v1=00\n\n{{}}"),
        )
        .unwrap();
        let set = "profile learn foreign --yes --delivery delivery";
        home.ok(words(set));
    };
    learn();
    assert!(!config(&home).contains("read_only"), "nothing was learned");
    delivery("Acme");
    home.run(["cancel", "bk_1", "--yes"]).exits(3).says("is read-only; nothing was sent");
    home.ok(["profile", "set", "foreign", "read_only=false"]);
    delivery("Other");
    let file = config(&home);
    assert!(file.contains("read_only = false") && file.contains("Other"), "{file}");
}
