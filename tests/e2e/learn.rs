//! A service that nobody has seen: what is set from the shell, what `profile learn` finds out, and what it never sends.

use serde_json::{Value, json};

use crate::harness::{
    FOREIGN_KEY, Foreign, Home, Key, Output, Reply, Scripted, Served, Terminal, text,
};

const SEARCH: [&str; 6] = [
    "search",
    "dining",
    "--near",
    "New York",
    "--at",
    "tomorrow 19:30",
];

fn learn(home: &Home, more: &[&str]) -> Output {
    let command = ["profile", "learn", "foreign", "--json"];
    home.run(command.iter().chain(more))
}

fn config(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("config.toml")).unwrap()
}

/// The settings that a run found, as `key = value`.
fn lines(learned: &Value) -> Vec<String> {
    let findings = learned["findings"].as_array().unwrap();
    let set = findings.iter().filter(|it| it["key"] != "");
    set.map(|it| format!("{} = {}", text(it, "key"), text(it, "value")))
        .collect()
}

/// What a person sees of the venues and the slots there.
fn seen(home: &Home, more: &[&str]) -> (String, String) {
    let venues = home.run(SEARCH.iter().chain(more)).exits(0).stdout;
    let slots = home
        .run(["slots", "@1", "--at", "tomorrow 19:00", "--party", "2"])
        .exits(0)
        .stdout;
    (venues, slots)
}

#[test]
fn settings_are_changed_from_the_shell_and_comments_are_kept() {
    let home = Home::new().configured(
        "# mine\n[profiles.x]\nbase_url = \"https://a.example\" # there\nkey_origin = \"https://a.example\"\n",
    );
    let shown = home
        .run([
            "profile",
            "set",
            "x",
            "read_only=true",
            "local_times=true",
            "otp_field=pin",
            "dialect.venues_field=data.results",
            "read.booking=.data",
            "write.otp={otpCode: .otp}",
            "auth_query=api_key",
            "headers.X-Org=7",
            "--json",
        ])
        .exits(0);
    drop(shown);
    let shown = home.run(["profile", "show", "x", "--json"]).exits(0).json();
    assert_eq!(shown["read"]["booking"], ".data");
    assert_eq!(shown["write"]["otp"], "{otpCode: .otp}");
    assert_eq!(shown["local_times"], true);
    assert_eq!(shown["auth_query"], "api_key");
    assert_eq!(shown["headers"]["X-Org"], "7");
    assert_eq!(shown["dialect"]["venues_field"], "data.results");
    let file = config(&home);
    assert!(
        file.starts_with("# mine\n") && file.contains("# there"),
        "{file}"
    );
    let page = home.run(["profile", "show", "x"]).exits(0).stdout;
    assert!(page.contains("booking = .data"), "{page}");

    let unset = [
        "profile",
        "unset",
        "x",
        "read.booking",
        "write.otp",
        "local_times",
        "otp_field",
        "auth_query",
        "headers.X-Org",
    ];
    home.run(unset.iter().chain(&["venues_field"])).exits(0);
    let after = config(&home);
    assert!(
        !["dialect", "write", "local_times", "auth_query", "headers"]
            .iter()
            .any(|key| after.contains(key)),
        "{after}"
    );
}

#[test]
fn a_setting_that_cannot_be_is_refused_by_name_and_nothing_is_written() {
    let home = Home::new().configured(
        "[profiles.x]\nbase_url = \"https://a.example\"\nkey_origin = \"https://a.example\"\n",
    );
    let before = config(&home);
    for (setting, exit, names) in [
        ("read.booking=.data |", 2, "read.booking"),
        ("read.bookings=.", 2, "read.bookings"),
        ("otp_field=", 2, "dialect.otp_field"),
        ("otp_field=psp_abort", 3, "dialect.otp_field"),
        ("read_only=maybe", 2, "read_only"),
        ("base_url=https://b.example", 3, "base_url"),
        ("color=red", 2, "color"),
    ] {
        home.run(["profile", "set", "x", "local_times=true", setting])
            .exits(exit)
            .says(names);
        assert_eq!(config(&home), before, "{setting}");
    }
    home.run(["profile", "set", "x", "base_url=https://a.example/v2"])
        .exits(0);
    home.run(["profile", "unset", "x", "base_url"]).exits(2);
    home.run(["profile", "set", "nobody", "read_only=true"])
        .exits(3);
}

#[test]
fn at_the_projects_own_sandbox_nothing_is_proposed_and_the_probe_is_content() {
    let served = Served::start();
    let config = format!(
        "default_profile = \"own\"\n[profiles.own]\nbase_url = \"{}\"\n",
        served.base_url()
    );
    let home = Home::new()
        .configured(&config)
        .with("BOOKCTL_API_KEY", "sk_live_sandbox");
    home.booked("ven_confirms", &[], 0);
    let learned = home
        .run(["profile", "learn", "own", "--yes", "--json"])
        .exits(0)
        .json();
    assert_eq!(lines(&learned), Vec::<String>::new(), "{learned}");
    assert_eq!(learned["unread"], serde_json::json!([]), "{learned}");
    assert_eq!(learned["written"], Value::Null);
    home.run(["profile", "learn", "own", "--check"]).exits(0);
    home.run(["doctor", "--probe"]).exits(0);
    let openapi = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
    let learned = home
        .run([
            "profile",
            "learn",
            "own",
            "--yes",
            "--json",
            "--openapi",
            openapi,
        ])
        .exits(0)
        .json();
    assert_eq!(lines(&learned), Vec::<String>::new(), "{learned}");
    assert_eq!(served.bookings().len(), 1);
}

/// Learns at a variant, and returns what a person then sees.
fn learned_at(variant: &str, adapter: &str, search: &[&str]) -> Option<(Value, String, String)> {
    let service = Foreign::start(variant)?;
    let home = service.home(adapter);
    let learned = learn(&home, &["--yes"]).exits(0).json();
    assert!(learned["calls"].as_u64().unwrap() <= 25, "{learned}");
    service.saw_no_write();
    let file = config(&home);
    assert!(file.contains("read_only = true"), "{file}");
    let kept = std::fs::read_to_string(home.path().join("config.toml.bak")).unwrap();
    assert!(!kept.contains("read_only"), "{kept}");

    let again = learn(&home, &["--yes"]).exits(0).json();
    assert_eq!(again["written"], Value::Null, "{again}");
    assert_eq!(config(&home), file, "learning twice changed the profile");
    let (venues, slots) = seen(&home, search);
    Some((learned, venues, slots))
}

#[test]
fn nested_names_are_learned_and_venues_and_slots_show_them() {
    let Some((learned, venues, slots)) = learned_at("jsonapi", "", &[]) else {
        return;
    };
    let lines = lines(&learned);
    assert!(
        lines.contains(&"dialect.auth_scheme = Key".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"dialect.slots_venue_field = filter.venue".to_owned()),
        "{lines:?}"
    );
    assert!(venues.contains("Lantern House"), "{venues}");
    assert!(slots.contains("10:00"), "{slots}");
}

#[test]
fn an_envelope_with_other_names_and_a_day_alone_is_learned() {
    let adapter =
        "[profiles.foreign.dialect]\nauth_header = \"X-Partner-Key\"\nauth_scheme = \"\"\n";
    let Some((learned, venues, slots)) = learned_at("enveloped", adapter, &[]) else {
        return;
    };
    let lines = lines(&learned);
    assert!(
        lines
            .iter()
            .any(|it| it.starts_with("read.venues = ") && it.contains("\"name\"")),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .any(|it| it.starts_with("write.slots = ") && it.contains("day: .datetime[:10]")),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"write.search = del(.party_size)".to_owned()),
        "{lines:?}"
    );
    assert!(venues.contains("Lantern House"), "{venues}");
    assert!(slots.contains("10:00"), "{slots}");
}

#[test]
fn the_words_of_a_restaurant_book_are_learned() {
    let adapter = "[profiles.foreign.dialect]\nauth_header = \"X-Book-Key\"\n";
    let Some((learned, venues, slots)) = learned_at("reservations", adapter, &[]) else {
        return;
    };
    let lines = lines(&learned);
    assert!(
        lines.contains(&"local_times = true".to_owned()),
        "{lines:?}"
    );
    assert!(venues.contains("Lantern House"), "{venues}");
    assert!(slots.contains("10:00"), "{slots}");
}

#[test]
fn terms_in_capitals_are_read_where_they_stand() {
    let adapter =
        "[profiles.foreign.dialect]\nauth_header = \"X-API-Token\"\nauth_scheme = \"Token\"\n";
    let Some((_, venues, slots)) = learned_at("shouting", adapter, &[]) else {
        return;
    };
    assert!(venues.contains("Lantern House"), "{venues}");
    assert!(slots.contains("HOLD USD 25.00"), "{slots}");
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_check_writes_nothing_and_exits_with_3_where_the_service_differs() {
    let Some(service) = Foreign::start("nested") else {
        return;
    };
    drop(service);
    let Some(service) = Foreign::start("shouting") else {
        return;
    };
    let home = service.home(
        "[profiles.foreign.dialect]\nauth_header = \"X-API-Token\"\nauth_scheme = \"Token\"\n",
    );
    let before = config(&home);
    let drifted = learn(&home, &["--check"]).exits(3);
    assert!(!drifted.json()["findings"].as_array().unwrap().is_empty());
    home.run(["doctor", "--probe"]).exits(3);
    assert_eq!(config(&home), before);
    let out = home.folder().join("review.toml");
    learn(&home, &["--yes", "--out", out.to_str().unwrap()]).exits(0);
    assert_eq!(config(&home), before);
    let review = std::fs::read_to_string(&out).unwrap();
    assert!(
        review.contains("\n[profiles.foreign.read]\n") && review.contains("\nslots = "),
        "{review}"
    );
    learn(&home, &["--yes"]).exits(0);
    learn(&home, &["--check"]).exits(0);
    service.saw_no_write();
    assert!(!review.contains(FOREIGN_KEY));
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn recorded_files_show_what_only_writes_show() {
    let Some(service) = Foreign::start("assumed") else {
        return;
    };
    let home = service.home("");
    let file = |name: &str, content: &str| {
        let path = home.folder().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let har = file(
        "calls.har",
        r#"{"log": {"entries": [{"request": {"method": "POST",
        "url": "https://x.example/v1/bookings/b1/continue", "postData": {"text": "{\"pin\": \"482913\"}"}},
        "response": {"status": 200, "content": {"text": "{}"}}}]}}"#,
    );
    let delivery = file(
        "delivery.txt",
        "Acme-Signature: t=1,v1=00\n\n{\"event\": {\"id\": \"e1\", \"kind\": \"booking.confirmed\"}}",
    );
    let booking = file(
        "booking.json",
        r#"{"booking": {"id": "b1", "object": "booking", "status": "confirmed",
        "starts_at": "2026-12-01T19:30:00Z", "guest": {"full_name": "Ada Lovelace"}}}"#,
    );
    let cancel = file("cancel.json", r#"{"why": "ill"}"#);
    let learned = learn(
        &home,
        &[
            "--yes",
            "--har",
            &har,
            "--delivery",
            &delivery,
            "--example",
            &format!("booking={booking}"),
            "--example",
            &format!("cancel={cancel}"),
        ],
    )
    .exits(0);
    let said = format!("{}{}", learned.stdout, learned.stderr);
    for value in ["482913", "Ada Lovelace", "ill\""] {
        assert!(
            !said.contains(value) && !config(&home).contains(value),
            "{value}: {said}"
        );
    }
    let shown = home
        .run(["profile", "show", "foreign", "--json"])
        .exits(0)
        .json();
    assert_eq!(shown["dialect"]["otp_field"], "pin");
    assert_eq!(shown["dialect"]["service_name"], "Acme");
    assert_eq!(shown["dialect"]["event_id_field"], "event.id");
    assert_eq!(shown["dialect"]["event_type_field"], "event.kind");
    assert_eq!(shown["dialect"]["cancel_reason_field"], "why");
    assert!(
        text(&shown["read"], "booking").contains("move(.starts_at; \"datetime\")"),
        "{shown}"
    );
    assert_eq!(shown["read_only"], true);
    service.saw_no_write();
    learn(&home, &["--yes", "--example", "bookings=x"]).exits(2);
    let broken = file("broken.har", "{}");
    learn(&home, &["--yes", "--har", &broken]).exits(2);
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn nothing_is_sent_or_written_without_a_yes() {
    let Some(service) = Foreign::start("shouting") else {
        return;
    };
    let home = service.home(
        "[profiles.foreign.dialect]\nauth_header = \"X-API-Token\"\nauth_scheme = \"Token\"\n",
    );
    let before = config(&home);
    learn(&home, &[]).exits(2);
    assert_eq!(service.calls().len(), 0);
    let mut terminal = Terminal::start(&home, &["profile", "learn", "foreign"]);
    terminal.see("Send at most 25 reads").press(Key::Enter);
    terminal.end().exits(17);
    assert_eq!(service.calls().len(), 0);
    let mut terminal = Terminal::start(&home, &["profile", "learn", "foreign"]);
    terminal.see("Send at most 25 reads").type_in("y");
    terminal.see("settings to profile foreign?").type_in("n");
    terminal.end().exits(17);
    assert_eq!(config(&home), before);
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn an_enter_after_a_y_does_not_answer_the_next_question() {
    let Some(service) = Foreign::start("shouting") else {
        return;
    };
    let home = service.home(
        "[profiles.foreign.dialect]\nauth_header = \"X-API-Token\"\nauth_scheme = \"Token\"\n",
    );
    let mut terminal = Terminal::start(&home, &["profile", "learn", "foreign"]);
    terminal.see("Send at most 25 reads").type_in("y\r");
    terminal.see("settings to profile foreign?").type_in("y\r");
    let ended = terminal.end().exits(0);
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
fn names_of_the_session_list_are_learned() {
    let Some(service) = Foreign::start("enveloped") else {
        return;
    };
    let home = service.home(
        "[profiles.foreign.dialect]\nauth_header = \"X-Partner-Key\"\nauth_scheme = \"\"\nsession_phone_field = \"mobile\"\n",
    );
    home.run([
        "session",
        "connect",
        "--end-user",
        "u1",
        "--provider",
        "seatlink",
        "--phone",
        "+44 20 7946 0018",
    ])
    .exits(0);
    let before = service.calls().len();
    let learned = learn(&home, &["--yes"]).exits(0).json();
    let lines = lines(&learned);
    assert!(
        lines
            .iter()
            .any(|it| it.starts_with("read.sessions = ") && it.contains("opened_at")),
        "{lines:?}"
    );
    let sent = service.calls().split_off(before);
    assert!(sent.contains(&"GET /v1/sessions".to_owned()), "{sent:?}");
    let ignored = learned["findings"].as_array().unwrap().iter();
    let ignored = ignored.filter(|it| text(it, "why").contains("ignores without a word"));
    assert_eq!(ignored.count(), 1, "{learned}");
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_file_for_review_says_how_it_is_applied_and_changes_no_profile() {
    let Some(service) = Foreign::start("shouting") else {
        return;
    };
    let home = Home::new().configured(&format!(
        "[profiles.\"it's a.b\"]\nbase_url = \"{}\"\n[profiles.\"it's a.b\".dialect]\nauth_header = \"X-API-Token\"\nauth_scheme = \"Token\"\n",
        service.base_url()
    )).with("BOOKCTL_API_KEY", FOREIGN_KEY);
    let before = config(&home);
    let command = ["profile", "learn", "it's a.b", "--yes"];
    let said = home
        .run(command.iter().chain(&["--out", "review.toml"]))
        .exits(0)
        .stdout;
    assert!(
        said.contains("wrote") && said.contains("review.toml"),
        "{said}"
    );
    assert!(
        !said.contains("learned") && !said.contains("read_only"),
        "{said}"
    );
    assert_eq!(config(&home), before);
    // The command at the top of the file says the same as `--yes`.
    let review = std::fs::read_to_string(home.folder().join("review.toml")).unwrap();
    let apply = review
        .lines()
        .find_map(|line| line.strip_prefix("#   bookctl "))
        .unwrap();
    let mut shell = std::process::Command::new("sh");
    home.enter(&mut shell);
    let script = format!("'{}' {apply}", env!("CARGO_BIN_EXE_bookctl"));
    let applied = shell.args(["-c", &script]).output().unwrap();
    assert!(applied.status.success(), "{applied:?}");
    let check = ["profile", "learn", "it's a.b", "--check"];
    home.run(check).exits(0).prints("fits");
}

#[test]
fn settings_that_hold_a_key_a_device_or_no_path_are_refused() {
    let home = Home::new()
        .configured(
            "[profiles.x]\nbase_url = \"https://a.example\"\nkey_origin = \"https://a.example\"\n",
        )
        .with("BOOKCTL_API_KEY", "whatever_the_key_is");
    let before = config(&home);
    for (setting, exit, says) in [
        ("ca_file=/dev/zero", 3, "not a regular file"),
        ("auth_query=cursor", 3, "bookctl sends that parameter"),
        (
            "headers.X-Org=sk_live_4eC39HqLyjWD",
            3,
            "bookctl auth login",
        ),
        ("headers.X-Org=whatever_the_key_is", 2, "bookctl auth login"),
        ("otp_field=pin\n", 2, "control character"),
        ("venues_field=..*", 2, "names with dots between them"),
        ("venues_field=data[0].x", 2, "read.KIND"),
    ] {
        home.run(["profile", "set", "x", setting])
            .exits(exit)
            .says(says);
        assert_eq!(config(&home), before, "{setting}");
    }
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_login_in_a_script_names_what_finds_out_how_the_key_is_wanted() {
    let Some(service) = Foreign::start("jsonapi") else {
        return;
    };
    let home = Home::new();
    let login = [
        "auth",
        "login",
        "--profile",
        "foreign",
        "--base-url",
        service.base_url(),
        "--storage",
        "file",
        "--key-stdin",
    ];
    let add = format!(
        "bookctl profile add foreign --base-url {}",
        service.base_url()
    );
    home.feed(login, FOREIGN_KEY)
        .exits(4)
        .says("nothing was stored")
        .says(&add)
        .says("bookctl profile learn foreign")
        .says("--dialect auth_header=NAME");
    let add: Vec<&str> = add.split(' ').skip(1).collect();
    home.run(add).exits(0);
    let home = home.with("BOOKCTL_API_KEY", FOREIGN_KEY);
    home.run(["profile", "learn", "foreign", "--yes"]).exits(0);
    home.run(["status", "--profile", "foreign"]).exits(0);
}

#[test]
fn where_no_keyring_answers_a_person_is_offered_the_file_before_anything_is_asked() {
    let served = Served::start();
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["auth", "login"]);
    terminal
        .see("in a file that only you can read instead?")
        .type_in("n");
    terminal.end().exits(3);
    let mut terminal = Terminal::start(&home, &["auth", "login"]);
    terminal
        .see("in a file that only you can read instead?")
        .type_in("y");
    terminal.answer("? Base URL", served.base_url());
    terminal.see("? Profile name").press(Key::Enter);
    terminal.answer("? API key for", "sk_live_sandbox");
    terminal.end().exits(0);
    home.run(["status", "--profile", "live"]).exits(0);
    let chosen = Terminal::start(&home, &["auth", "login", "--storage", "keyring"]);
    chosen.end().exits(3);
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn after_a_401_a_login_asks_again_and_names_what_finds_out_how_the_key_is_wanted() {
    let Some(service) = Foreign::start("jsonapi") else {
        return;
    };
    let login = [
        "auth",
        "login",
        "--profile",
        "foreign",
        "--base-url",
        service.base_url(),
        "--storage",
        "file",
    ];
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &login);
    terminal.answer("API key for", FOREIGN_KEY);
    terminal
        .see("the key was sent as `Authorization: Bearer ***`")
        .see("bookctl profile learn foreign");
    terminal.see("Enter keeps this one").press(Key::Enter);
    terminal.end().exits(0);
    assert!(config(&home).contains("key_origin"));
    let home = home.with("X", "");
    let learned = home
        .run(["profile", "learn", "foreign", "--yes", "--json"])
        .exits(0)
        .json();
    assert!(
        lines(&learned).contains(&"dialect.auth_scheme = Key".to_owned()),
        "{learned}"
    );
    assert!(!config(&home).contains(FOREIGN_KEY));

    let other = Home::new();
    let piped = login
        .iter()
        .chain(&["--key-stdin", "--dialect", "auth_scheme=Key"]);
    other.feed(piped, FOREIGN_KEY).exits(0);
    assert!(config(&other).contains("auth_scheme = \"Key\""));
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn what_a_booking_looks_like_is_learned_from_the_first_one() {
    let Some(service) = Foreign::start("enveloped") else {
        return;
    };
    let home = service
        .home("[profiles.foreign.dialect]\nauth_header = \"X-Partner-Key\"\nauth_scheme = \"\"\n");
    learn(&home, &["--yes"]).exits(0);
    home.run(["book", "x", "--json"].iter().chain(&crate::harness::GUEST))
        .refused(3, "config");
    home.run(["profile", "set", "foreign", "read_only=false"])
        .exits(0);
    let mut search = SEARCH;
    search[3] = "Reykjavik";
    let venues = home.run(search.iter().chain(&["--json"])).exits(0).json();
    let venue = text(&venues["data"]["results"][0], "venue_id");
    let booked = home.book(&venue, &[]).exits(0).json();
    let id = text(&booked["data"], "id");
    let before = service.calls().len();
    let learned = learn(&home, &["--yes"]).exits(0).json();
    let line = lines(&learned).concat();
    assert!(line.contains("move(.starts_at; \"datetime\")"), "{line}");
    let writes = service.calls().split_off(before);
    assert!(
        writes
            .iter()
            .all(|call| !call.starts_with("POST /v1/bookings")),
        "{writes:?}"
    );
    let shown = home.run(["show", &id]).exits(0).stdout;
    for part in ["19:30", "Harbour Table", "Ada Lovelace"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("starts_at"), "{shown}");
    assert_eq!(
        learn(&home, &["--yes"]).exits(0).json()["written"],
        Value::Null
    );
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_key_of_basic_or_of_the_query_is_found_and_the_ways_that_were_tried_are_listed() {
    for (variant, expected) in [
        ("plain", "dialect.auth_scheme = Basic"),
        ("nested", "auth_query = api_key"),
    ] {
        let Some(service) = Foreign::start(variant) else {
            return;
        };
        let home = service.home("");
        let learned = learn(&home, &["--yes"]).exits(0);
        for way in [
            "sent as `Authorization: Bearer ***`",
            "`X-Api-Key: ***`",
            "`Authorization: Basic ***`",
            "`?api_key=***`",
        ] {
            assert!(learned.stderr.contains(way), "{way}: {learned}");
        }
        let lines = lines(&learned.json());
        assert!(lines.contains(&expected.to_owned()), "{lines:?}");
        service.saw_no_write();
        assert!(service.calls().len() <= 25);
        // Learned once, nothing else is tried.
        let before = service.calls().len();
        let again = learn(&home, &["--check"]);
        assert!(!again.stderr.contains("other ways"), "{again}");
        assert!(service.calls().len() - before < 15);
        assert!(!config(&home).contains(FOREIGN_KEY));
    }
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn a_header_that_a_refusal_names_is_said_with_the_command_that_sets_it() {
    let refusal =
        json!({"error": "unauthorized", "message": "the header X-Organization-Id is missing"});
    let scripted = Scripted::start(move |_| Reply::json(401, &refusal));
    let home = Home::new()
        .configured(&format!(
            "[profiles.foreign]\nbase_url = \"{}\"\n",
            scripted.base_url()
        ))
        .with("BOOKCTL_API_KEY", FOREIGN_KEY);
    learn(&home, &["--yes"])
        .exits(4)
        .says("bookctl profile set foreign headers.X-Organization-Id=VALUE");
    assert_eq!(scripted.requests().len(), 1, "no other way was tried");
}

/// An OpenAPI document of a service whose continue, card check and refusals differ from bookctl's own names.
fn openapi() -> Value {
    let body = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
    let text = json!({"type": "string"});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let booking = object(json!({
        "id": text, "object": text, "provider": text,
        "status": {"type": "string", "enum": ["confirmed", "in_progress", "awaiting_guest", "parked"]},
    }));
    let refusal =
        object(json!({"problem": object(json!({"x": text})), "message": text, "code": text}));
    json!({
        "openapi": "3.1.0",
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "api_key"}}},
        "paths": {
            "/v1/bookings/{id}": {"get": {"responses": {"200": body(booking), "404": body(refusal)}}},
            "/v1/bookings/{id}/continue": {"post": {"requestBody": body(json!({"oneOf": [
                object(json!({"sms_code": text})),
                object(json!({"psp_response": text})),
                object(json!({"psp_abort": {"type": "string", "enum": ["give_up"]}})),
                object(json!({"answers": {"type": "object"}})),
            ]}))}},
            "/v1/sessions/{id}/card": {"get": {"responses": {"200": body(object(json!({"card_on_file": {"type": "boolean"}})))}}},
        },
    })
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn an_openapi_document_at_the_services_own_origin_shows_what_only_writes_show() {
    let document = openapi();
    let scripted = Scripted::start(move |request| match request.path.split('?').next() {
        Some("/openapi.json") => Reply::json(200, &document),
        Some("/partner-api/v1/") => Reply::json(
            200,
            &json!({"name": "x", "version": "1", "server_time": "2026-12-01T19:00:00Z"}),
        ),
        Some("/partner-api/v1/sessions") => Reply::json(200, &json!({"sessions": []})),
        _ => Reply::json(200, &json!({"venues": []})),
    });
    let home = Home::new()
        .configured(&format!(
            "[profiles.foreign]\nbase_url = \"{}/partner-api\"\n",
            scripted.base_url()
        ))
        .with("BOOKCTL_API_KEY", FOREIGN_KEY);
    let url = format!("{}/openapi.json", scripted.base_url());
    let learned = learn(&home, &["--yes", "--openapi", &url]).exits(0).json();
    let lines = lines(&learned);
    for line in [
        "auth_query = api_key",
        "dialect.otp_field = sms_code",
        "write.payment = {psp_response: (.psp_response | tojson)}",
        "write.abort = {psp_abort: \"give_up\"}",
        "write.action = {answers: .}",
        "read.card = {has_card: .card_on_file}",
        "read.error = . + {error: .message, error_code: .code}",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:#?}");
    }
    let booking = lines
        .iter()
        .find(|it| it.starts_with("read.booking"))
        .unwrap();
    assert!(
        booking.contains("\"in_progress\":\"processing\"")
            && booking.contains("\"awaiting_guest\":\"requires_action\""),
        "{booking}"
    );
    let asked = learned["findings"].as_array().unwrap().iter();
    let mut asked = asked.filter(|it| it["certainty"] == "to be asked");
    assert!(
        asked.any(|it| text(it, "why").contains("`parked`")),
        "{learned}"
    );
    let writes = scripted.requests();
    let is_read = |path: &str| path.ends_with("/search") || !path.contains("/v1/bookings");
    assert!(
        writes
            .iter()
            .all(|it| it.method == "GET" || is_read(&it.path)),
        "{writes:?}"
    );
    assert!(writes.len() <= 25);

    // The key goes to no other origin, and nothing is asked there.
    let elsewhere = Scripted::start(|_| Reply::json(200, &json!({})));
    let url = format!("{}/openapi.json", elsewhere.base_url());
    learn(&home, &["--yes", "--openapi", &url])
        .exits(2)
        .says("download it, and give the file");
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn a_dry_run_shows_the_path_with_that_of_the_base_url() {
    let home = Home::new()
        .configured("[profiles.x]\nbase_url = \"https://a.example/partner-api\"\n")
        .with("BOOKCTL_API_KEY", FOREIGN_KEY);
    let shown = home
        .run([
            "cancel",
            "bk_1",
            "--yes",
            "--dry-run",
            "--json",
            "--profile",
            "x",
        ])
        .exits(0)
        .json();
    assert_eq!(shown["path"], "/partner-api/v1/bookings/bk_1/cancel");
}

#[test]
fn a_refused_name_names_its_setting_and_a_wrong_value_is_no_wrong_name() {
    let booking = json!({
        "id": "bk_1", "object": "booking", "status": "requires_action", "provider": "provider_a",
        "next_action": {"type": "provide_details", "message": "More, please"},
        "datetime": "2030-12-01T19:30:00Z", "party_size": 2,
    });
    let scripted = Scripted::start(move |request| match request.path.as_str() {
        "/v1/bookings/bk_1/continue" => Reply::json(400, &json!({"error": "validation failed"})),
        "/v1/bookings/bk_1/modify" if request.body.contains("party_size") => Reply::json(
            400,
            &json!({"error": "validation failed", "fields": {"party_size": "unknown field"}}),
        ),
        "/v1/bookings/bk_1/modify" => Reply::json(
            400,
            &json!({"error": "validation failed", "fields": {"datetime": "must be in the future"}}),
        ),
        _ => Reply::json(200, &booking),
    });
    let home = Home::new()
        .configured(&format!(
            "[profiles.foreign]\nbase_url = \"{}\"\n",
            scripted.base_url()
        ))
        .with("BOOKCTL_API_KEY", FOREIGN_KEY)
        .with("BOOKCTL_PROFILE", "foreign");
    home.run(["continue", "bk_1", "-F", "dietary_notes=none"])
        .exits(12)
        .says("bookctl profile set foreign 'write.action={answers: .}'")
        .says("dietary_notes");
    home.run(["modify", "bk_1", "--party", "4"])
        .exits(12)
        .says("dialect.modify_party_size_field=NAME");
    let refused = home
        .run(["modify", "bk_1", "--at", "2031-12-01T20:30:00Z"])
        .exits(12);
    assert!(!refused.stderr.contains("profile set"), "{refused}");
}

/// A service whose names differ, as a person has corrected them.
fn renamed() -> Scripted {
    Scripted::start(|request| {
        let answer = match request.path.as_str() {
            "/v1/" => json!({"name": "S", "version": "v1", "endpoints": []}),
            "/v1/venues/search" => json!({"result": {"hits": [
                {"venue_id": 7, "displayName": "Caf\u{e9}", "loc": {"tz": "Europe/Paris"}, "provider": "p"}
            ]}}),
            "/v1/availability/search" => json!({"times": [
                {"availability_id": 1, "datetime": "2030-01-01T19:00:00Z", "party_size": 2, "cancellation": "Free."}
            ]}),
            _ => json!({"sessions": []}),
        };
        Reply::json(200, &answer)
    })
}

#[test]
fn the_probe_is_content_once_the_profile_is_corrected_and_names_it_before() {
    let service = renamed();
    let home = Home::new()
        .configured(&format!(
            "default_profile = 'my service'\n[profiles.'my service']\nbase_url = '{}'\n",
            service.base_url()
        ))
        .with("BOOKCTL_API_KEY", FOREIGN_KEY);
    let before = home.run(["doctor", "--probe"]).exits(3);
    before
        .prints("displayName")
        .prints("bookctl profile learn 'my service'");
    let set = [
        "profile",
        "set",
        "my service",
        "read.venues=.result.hits[] |= (.name = .displayName | del(.displayName))",
        "read.slots=.times[] |= (.cancellation_terms = .cancellation | del(.cancellation))",
    ];
    home.run(set).exits(0);
    // The zone is there, under another name: that name is said.
    let half = home.run(["doctor", "--probe", "--json"]).exits(3).json();
    assert!(
        half["other_names"].to_string().contains(".loc.tz"),
        "{half}"
    );
    assert_eq!(half["without_a_field"].get("slots"), None, "{half}");
    let venues = "read.venues=.result.hits[] |= (.name = .displayName | .timezone = .loc.tz | del(.displayName, .loc))";
    home.run(["profile", "set", "my service", venues]).exits(0);
    let after = home.run(["doctor", "--probe", "--json"]).exits(0).json();
    assert_eq!(after["other_names"], json!([]), "{after}");
    assert_eq!(after["without_a_field"], json!({}), "{after}");
}

#[test]
#[ignore = "needs Python for the foreign service"]
fn what_a_recorded_request_has_and_nothing_explains_is_open_and_a_recorded_booking_is_asked_for_no_more()
 {
    let service = renamed();
    let home = Home::new()
        .configured(&format!(
            "[profiles.foreign]\nbase_url = '{}'\n",
            service.base_url()
        ))
        .with("BOOKCTL_API_KEY", FOREIGN_KEY);
    let booking = r#"{"id": "b1", "object": "booking", "status": "PARKED", "provider": "p", "datetime": "2030-01-01T19:00:00Z"}"#;
    let request = r#"{"newTime": "2026-12-01T20:30:00+01:00", "covers": 3, "tableType": "booth"}"#;
    let har = json!({"log": {"entries": [{
        "request": {"method": "POST", "url": "https://x.example/v1/bookings/b1/modify", "postData": {"text": request}},
        "response": {"status": 200, "content": {"text": booking}},
    }]}});
    let example = home.path().join("modify.json");
    std::fs::write(&example, request).unwrap();
    let file = home.path().join("calls.har");
    std::fs::write(&file, har.to_string()).unwrap();
    for source in [
        ["--har".to_owned(), file.display().to_string()],
        [
            "--example".to_owned(),
            format!("modify={}", example.display()),
        ],
    ] {
        let arguments = [
            "--yes".to_owned(),
            "--out".to_owned(),
            home.path().join("out").display().to_string(),
        ];
        let all: Vec<&str> = arguments
            .iter()
            .chain(&source)
            .map(String::as_str)
            .collect();
        let learned = learn(&home, &all).exits(0).json();
        let open: Vec<String> = learned["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["certainty"] == "open")
            .map(|it| text(it, "why"))
            .collect();
        let said = open.join("\n");
        for name in [
            "`newTime`",
            "`tableType`",
            "dialect.modify_datetime_field",
            "dialect.modify_seating_field",
        ] {
            assert!(said.contains(name), "{name}: {said}");
        }
        assert!(
            !said.contains("covers") && !said.contains("booth"),
            "{said}"
        );
        let is_recorded = source[0] == "--har";
        assert_eq!(
            said.contains("give recorded answers"),
            !is_recorded,
            "{said}"
        );
        if is_recorded {
            // The expression for a status that only a person knows can be pasted.
            let findings = learned["findings"].as_array().unwrap();
            let asked = findings
                .iter()
                .find(|it| it["certainty"] == "to be asked" && it["key"] == "read.booking");
            let value = text(asked.unwrap(), "value").replace("STATUS", "processing");
            home.run([
                "profile",
                "set",
                "foreign",
                &format!("read.booking={value}"),
            ])
            .exits(0);
        }
    }
}
