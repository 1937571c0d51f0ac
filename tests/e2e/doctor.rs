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

/// Asserts the states of some checks: `key problem, limits ok`.
#[track_caller]
fn finds(report: &Value, states: &str) {
    for state in states.split(", ") {
        let (name, state) = state.split_once(' ').unwrap();
        assert_eq!(check(report, name)["state"], state, "{report}");
    }
}

#[test]
fn without_any_configuration_nothing_is_a_problem() {
    let home = Home::new();
    let report = examine(&home, 0);
    finds(&report, "config ok, reachability ok, tls ok, clock ok, key ok, limits ok, journal ok");
    // There is no keyring here, and the sandbox needs none.
    finds(&report, "keyring ok");
}

#[test]
fn service_that_takes_key_is_well() {
    let served = Served::start();
    let report = examine(&served.home(), 0);
    has(check(&report, "key"), "detail", "environment");
    let report = examine(&served.home_with("sk_live_nobody"), 4);
    finds(&report, "reachability ok, key problem");
    let keyless = Home::new().with("BOOKCTL_BASE_URL", served.base_url());
    finds(&examine(&keyless, 4), "key problem");
}

#[test]
fn an_exhausted_rate_limit_is_a_warning() {
    let (_served, home) = Served::with_home();
    for _ in 0..10 {
        home.booked("ven_confirms", &[], 0);
    }
    let report = examine(&home, 0);
    finds(&report, "limits warning");
    let said = "no POST /v1/bookings is left; ";
    has(check(&report, "limits"), "detail", said);
}

#[test]
fn a_key_that_no_header_holds_is_the_keys_problem() {
    let served = Served::start();
    let home = served.home_with("sk_live\rsandbox");
    let error = home.refuses("show bk_1", 4, "no_key");
    has(&error, "message", "U+000D");
    finds(&examine(&home, 4), "config problem");
}

/// A key in the environment or in the file needs no keyring; a profile without a key may have it
/// there.
#[test]
fn keyring_that_does_not_answer_is_warning() {
    let served = Served::start();
    finds(&examine(&served.home(), 0), "keyring ok");
    let profile =
        format!("default_profile = 't'\n[profiles.t]\nbase_url = '{}'\n", served.base_url());
    let home = Home::new().configured(&profile);
    let warned = examine(&home, 4);
    finds(&warned, "keyring warning");
    has(check(&warned, "keyring"), "fix", "bookctl auth login");
    let login = words("auth login --profile t --key-stdin --storage file");
    home.feed(&login, "sk_live_sandbox").exits(0);
    finds(&examine(&home, 0), "keyring ok");
}

#[test]
fn doctor_reports_dead_and_wrong_addresses_as_network_problems() {
    let report = examine(&Home::pointing_to("http://127.0.0.1:9", "sk_live_x"), 15);
    finds(&report, "reachability problem");
    text(check(&report, "reachability"), "fix");
    for reply in [Reply::html(), Reply::Silence] {
        let server = Scripted::start(move |_| reply.clone());
        examine(&Home::pointing_to(server.base_url(), "sk_live_x"), 15);
    }
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
        finds(&report, &format!("{line} problem"));
        if line == "service" {
            finds(&report, "key warning");
        }
    }
}

#[test]
fn broken_configuration_is_told_and_rest_is_looked_at_all_same() {
    for config in ["default_profile = [", "default_profile = 'gone'", "[profiles.sandbox]\n"] {
        let home = Home::new().configured(config);
        let report = examine(&home, 3);
        finds(&report, "config problem, journal ok");
        text(check(&report, "config"), "fix");
    }
    let keyed = Home::new().with("BOOKCTL_API_KEY", "sk_live_x");
    finds(&examine(&keyed, 3), "config problem");
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
        finds(&report, "journal problem");
        let journal = check(&report, "journal");
        has(journal, "detail", "read-only");
        has(journal, "fix", "BOOKCTL_HOME");
    }
}

#[test]
fn clock_that_is_off_is_warning_and_unsettled_attempt_too() {
    let (_service, home) = Scripted::with_home(|request| match request.method.as_str() {
        "GET" => Reply::json(
            200,
            &serde_json::json!({"name": "it", "server_time": "2020-01-01T00:00:00Z"}),
        ),
        _ => Reply::Close,
    });
    let slot = "--slot slot_1 --at 2030-01-01T19:30:00Z --party 2";
    let book = words(format!("book ven_1 {slot} --name 'Ada Lovelace'"));
    home.run(book).exits(16);
    let report = examine(&home, 0);
    finds(&report, "clock warning");
    let away = text(check(&report, "clock"), "detail");
    let days = away.split_once(" d ").map(|(days, _)| days.parse::<u32>());
    assert!(matches!(days, Some(Ok(1..))), "{away}");
    has(check(&report, "journal"), "fix", "bookctl attempts");
}

/// macOS keeps the configuration in `~/Library/Application Support`.
#[test]
fn fix_of_configuration_is_command_also() {
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
