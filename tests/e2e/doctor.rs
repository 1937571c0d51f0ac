//! The doctor: what it says where all is well, and where each thing is wrong.

use std::process::Command;

use serde_json::Value;

use crate::full_disk::Disk;
use crate::harness::{Home, Reply, Scripted, Served, has, text, words};

/// State and fix of a check.
fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("{name} was not looked at: {report}"))
}

fn examine(home: &Home, exit: i32) -> Value {
    home.run(["doctor", "--json"]).exits(exit).json()
}

#[test]
fn without_any_configuration_nothing_is_a_problem() {
    let home = Home::new();
    let report = examine(&home, 0);
    for name in "config reachability tls clock key limits journal".split(' ') {
        assert_eq!(check(&report, name)["state"], "ok", "{report}");
    }
    // There is no keyring here, and the sandbox needs none.
    let keyring = check(&report, "keyring");
    assert_eq!(keyring["state"], "ok", "{report}");
    let lines = home.ok(["doctor"]).stdout;
    assert_eq!(lines.lines().count(), 8, "{lines}");
}

#[test]
fn a_service_that_takes_the_key_is_well_and_one_that_refuses_it_is_the_keys_problem() {
    let served = Served::start();
    let report = examine(&served.home(), 0);
    assert!(
        text(check(&report, "key"), "detail").contains("environment"),
        "{report}"
    );
    let report = examine(&served.home_with("sk_live_nobody"), 4);
    assert_eq!(check(&report, "reachability")["state"], "ok");
    assert_eq!(check(&report, "key")["state"], "problem");
    let report = examine(&Home::new().with("BOOKCTL_BASE_URL", served.base_url()), 4);
    assert_eq!(check(&report, "key")["state"], "problem");
}

#[test]
fn an_exhausted_rate_limit_is_a_warning() {
    let served = Served::start();
    let home = served.home();
    for _ in 0..10 {
        home.booked("ven_confirms", &[], 0);
    }
    let report = examine(&home, 0);
    let limits = check(&report, "limits");
    assert_eq!(limits["state"], "warning", "{report}");
    let detail = text(limits, "detail");
    assert!(
        detail.starts_with("no POST /v1/bookings is left; "),
        "{report}"
    );
}

#[test]
fn a_key_with_a_line_end_is_the_keys_problem() {
    let served = Served::start();
    let home = served.home_with("sk_live_sandbox\r");
    let error = home.refuses("show bk_1", 4, "no_key");
    has(&error, "message", "line end");
    let report = examine(&home, 4);
    assert_eq!(check(&report, "key")["state"], "problem", "{report}");
}

/// A key in the environment or in the file needs no keyring; a profile without a key may have it there.
#[test]
fn a_keyring_that_does_not_answer_is_a_warning_only_where_the_key_may_be_in_it() {
    let served = Served::start();
    let keyring = |home: &Home, exit| check(&examine(home, exit), "keyring").clone();
    assert_eq!(keyring(&served.home(), 0)["state"], "ok");
    let profile = format!(
        "default_profile = 't'\n[profiles.t]\nbase_url = '{}'\n",
        served.base_url()
    );
    let home = Home::new().configured(&profile);
    let warned = keyring(&home, 4);
    assert_eq!(warned["state"], "warning", "{warned}");
    assert!(
        text(&warned, "fix").starts_with("bookctl auth login"),
        "{warned}"
    );
    let login = words("auth login --profile t --key-stdin --storage file");
    home.feed(&login, "sk_live_sandbox").exits(0);
    assert_eq!(keyring(&home, 0)["state"], "ok");
}

#[test]
fn a_dead_address_and_one_where_something_else_answers_are_network_problems() {
    let report = examine(&Home::pointing_to("http://127.0.0.1:9", "sk_live_x"), 15);
    assert_eq!(check(&report, "reachability")["state"], "problem");
    assert!(
        check(&report, "reachability")["fix"].is_string(),
        "{report}"
    );
    let page = Scripted::start(|_| Reply::html());
    examine(&Home::pointing_to(page.base_url(), "sk_live_x"), 15);
    let silent = Scripted::start(|_| Reply::Silence);
    examine(&Home::pointing_to(silent.base_url(), "sk_live_x"), 15);
}

#[test]
fn a_service_that_fails_or_refuses_is_no_problem_of_the_key() {
    let page = |status, body: &'static str| {
        Scripted::start(move |_| Reply::Whole(status, "text/html", body.to_owned()))
    };
    #[rustfmt::skip]
    let cases = [
        (503, "<h1>Maintenance</h1>", 14, "service"),
        (404, "<h1>Not Found</h1>", 6, "service"),
        (400, "{\"error\": \"no tenant\"}", 12, "service"),
        (403, "{\"message\": \"Missing Authentication Token\"}", 5, "key"),
        (401, "{\"error\": \"who?\"}", 4, "key"),
    ];
    for (status, body, exit, line) in cases {
        let server = page(status, body);
        let report = examine(&Home::pointing_to(server.base_url(), "sk_live_x"), exit);
        assert_eq!(check(&report, line)["state"], "problem", "{report}");
        if line == "service" {
            assert_eq!(check(&report, "key")["state"], "warning", "{report}");
        }
    }
    // The help says which exit codes there are.
    let help = Home::new().ok(["doctor", "--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("the code that every command ends with there, such as 14"),
        "{help}"
    );
}

#[test]
fn a_broken_configuration_is_told_and_the_rest_is_looked_at_all_the_same() {
    for config in [
        "default_profile = [",
        "default_profile = 'gone'",
        "[profiles.sandbox]\n",
    ] {
        let home = Home::new().configured(config);
        let report = examine(&home, 3);
        assert_eq!(check(&report, "config")["state"], "problem");
        assert!(check(&report, "config")["fix"].is_string(), "{report}");
        assert_eq!(check(&report, "journal")["state"], "ok");
    }
    let report = examine(&Home::new().with("BOOKCTL_API_KEY", "sk_live_x"), 3);
    assert_eq!(check(&report, "config")["state"], "problem");
}

/// Root may write whatever its mode; only the file system itself says no to root.
#[test]
fn a_home_where_nothing_can_be_booked_is_a_problem() {
    let served = Served::start();
    for used in [false, true] {
        let home = served.home();
        let Some(disk) = Disk::mount(&home) else {
            return;
        };
        if used {
            home.ok(["attempts"]);
        }
        examine(&home, 0);
        disk.forbid_writing();
        home.book("ven_confirms", &[]).refused(3, "journal");
        let report = examine(&home, 3);
        let journal = check(&report, "journal");
        assert_eq!(journal["state"], "problem", "{report}");
        has(journal, "detail", "read-only");
        has(journal, "fix", "BOOKCTL_HOME");
    }
}

#[test]
fn a_clock_that_is_off_is_a_warning_and_an_unsettled_attempt_too() {
    let service = Scripted::start(|request| match request.method.as_str() {
        "GET" => Reply::json(
            200,
            &serde_json::json!({"name": "it", "server_time": "2020-01-01T00:00:00Z"}),
        ),
        _ => Reply::Close,
    });
    let home = Home::pointing_to(service.base_url(), "sk_live_x");
    let at = [
        "book",
        "ven_1",
        "--slot",
        "slot_1",
        "--at",
        "2030-01-01T19:30:00Z",
    ];
    let guest = ["--party", "2", "--name", "Ada Lovelace"];
    home.run(at.iter().chain(&guest)).exits(16);
    let report = examine(&home, 0);
    assert_eq!(check(&report, "clock")["state"], "warning", "{report}");
    let away = text(check(&report, "clock"), "detail");
    let days = away.split_once(" d ").map(|(days, _)| days.parse::<u32>());
    assert!(matches!(days, Some(Ok(1..))), "{away}");
    assert_eq!(
        check(&report, "journal")["fix"],
        "bookctl attempts",
        "{report}"
    );
}

/// macOS keeps the configuration in `~/Library/Application Support`.
#[test]
fn the_fix_of_a_configuration_is_a_command_also_where_a_blank_is_in_its_path() {
    let home = Home::new();
    let folder = home.folder().join("Application Support");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "default_profile = [").unwrap();
    let home = home.with("BOOKCTL_HOME", folder.to_str().unwrap());
    let report = examine(&home, 3);
    let fix = text(check(&report, "config"), "fix");
    let mut command = Command::new("sh");
    let edited = command.args(["-c", &fix]).env("EDITOR", "cat").output();
    assert_eq!(edited.unwrap().stdout, b"default_profile = [", "{fix}");
}
