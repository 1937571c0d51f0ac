//! "A secret seen: keys, OTPs, payment answers, webhook secrets: not in argv, logs, errors, the journal, panics."
//! (design, What must never happen)
//!
//! One secret of each kind goes through every command; afterwards everything that was written is searched for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{GUEST, Home, Output, Reply, Request, Scripted};

const KEY: &str = "sk_live_canary0815yellow";
const WEBHOOK_SECRET: &str = "whsec_canary0815red";
const CODE: &str = "918273";
const PAYMENT: &str = r#"{"approval_id": "apr_1", "status": "approved", "card": {"token": "tok_canary0815"}, "check": 64738291}"#;

/// What must not be found, in any part of it.
const CANARIES: [&str; 5] = [
    "canary0815yellow",
    "canary0815red",
    CODE,
    "tok_canary0815",
    "64738291",
];
const TIME: &str = "2031-12-01T19:30:00Z";

/// How the service behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    /// As it should.
    Good,
    /// It refuses, and repeats in its refusal whatever it was sent.
    Parrot,
    /// It breaks off.
    Gone,
}

fn answer(service: Service, request: &Request) -> Reply {
    let sent = format!(
        "{} {}",
        request.header("authorization").unwrap_or_default(),
        request.body
    );
    match service {
        Service::Parrot => {
            let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
            Reply::json(
                422,
                &json!({"error": format!("not with {sent}"), "error_code": "odd", "detail": sent, "sent": body}),
            )
        }
        Service::Gone => Reply::Bytes("HTTP/1.1 2".to_owned()),
        Service::Good => Reply::json(200, &document(&request.path)),
    }
}

fn document(path: &str) -> Value {
    let booking =
        json!({"id": "bk_1", "object": "booking", "status": "confirmed", "venue_id": "ven_1"});
    match path.split('?').next().unwrap_or_default() {
        "/v1/venues/search" => json!({"venues": [{"venue_id": "ven_1", "name": "One"}]}),
        "/v1/availability/search" => {
            json!({"slots": [{"availability_id": "slot_1", "datetime": TIME}], "provider": "provider_b"})
        }
        "/v1/sessions" => {
            json!({"id": "ses_1", "object": "session", "state": "pending", "sessions": []})
        }
        path if path.starts_with("/v1/sessions") => {
            json!({"id": "ses_1", "object": "session", "state": "active", "has_card": true})
        }
        "/v1/" => json!({"name": "x", "version": "v1"}),
        _ => booking,
    }
}

/// Every command that a secret goes through or past; what is fed to its standard input.
fn commands(home: &Home) -> Vec<(Vec<&'static str>, &'static str)> {
    let payment = home.folder().join("answer.json");
    fs::write(payment, PAYMENT).unwrap();
    let code_line = "918273\n";
    vec![
        (vec!["search", "dining", "--near", "x", "--at", TIME], ""),
        (vec!["slots", "ven_1", "--at", TIME], ""),
        (
            ["book", "ven_1", "--slot", "slot_1", "--at", TIME]
                .into_iter()
                .chain(GUEST[2..].iter().copied())
                .collect(),
            "",
        ),
        (
            vec![
                "book",
                "ven_1",
                "--slot",
                "slot_1",
                "--at",
                TIME,
                "--party",
                "2",
                "--name",
                "Ada Lovelace",
                "--dry-run",
            ],
            "",
        ),
        (vec!["show", "bk_1"], ""),
        (vec!["show", "bk_1", "--jq", ".id.nope"], ""),
        (vec!["watch", "bk_1", "--timeout", "0.1s"], ""),
        (vec!["continue", "bk_1", "--otp", CODE], ""),
        (vec!["continue", "bk_1", "--otp-stdin"], code_line),
        (vec!["continue", "bk_1", "--psp-response", PAYMENT], ""),
        (vec!["continue", "bk_1", "--psp-response", "-"], PAYMENT),
        (
            vec!["continue", "bk_1", "--psp-response", "@answer.json"],
            "",
        ),
        (vec!["continue", "bk_1", "-F", "otp=918273"], ""),
        (vec!["modify", "bk_1", "--party", "3"], ""),
        (vec!["cancel", "bk_1", "--yes"], ""),
        (vec!["attempts"], ""),
        (
            vec![
                "session",
                "connect",
                "--end-user",
                "u",
                "--phone",
                "+44 20 7946 0018",
            ],
            "",
        ),
        (vec!["session", "verify", "ses_1", "--code", CODE], ""),
        (
            vec!["session", "verify", "ses_1", "--code-stdin"],
            code_line,
        ),
        (vec!["session", "list"], ""),
        (vec!["session", "show", "ses_1"], ""),
        (vec!["session", "disconnect", "ses_1", "--yes"], ""),
        (vec!["card", "ses_1"], ""),
        (vec!["api", "GET", "/v1/", "-i"], ""),
        (
            vec![
                "api",
                "POST",
                "/v1/bookings/bk_1/continue",
                "-f",
                "otp=918273",
            ],
            "",
        ),
        (
            vec!["api", "POST", "/v1/bookings/bk_1/continue", "--input", "-"],
            r#"{"otp": "918273"}"#,
        ),
        (
            vec!["api", "GET", "/v1/", "-H", "X-Other: tok_canary0815"],
            "",
        ),
        (
            vec![
                "api",
                "GET",
                "/v1/",
                "-H",
                "Authorization: Bearer sk_live_canary0815yellow",
            ],
            "",
        ),
        (vec!["status"], ""),
        (vec!["doctor"], ""),
        (vec!["auth", "status"], ""),
        (vec!["profile", "list"], ""),
        (vec!["explain", "odd"], ""),
        // What does not fit is repeated, but not what is a secret.
        (vec!["continue", "bk_1", "--otp-stdin=918273"], ""),
        (vec!["continue", "bk_1", "918273"], ""),
        (vec!["continue", "bk_1", "--otp", CODE, "--psp-abort"], ""),
        (
            vec![
                "continue",
                "bk_1",
                "--psp-response",
                "{\"token\": \"tok_canary0815\"",
            ],
            "",
        ),
        (
            vec!["session", "verify", "ses_1", "--code", CODE, "--cod", CODE],
            "",
        ),
        (vec!["session", "verify", "ses_1", CODE], ""),
        (vec!["show", "bk_1", "--key", KEY], ""),
        (vec!["show", "bk_1", "--key=sk_live_canary0815yellow"], ""),
        (vec!["auth", "login", KEY], ""),
        (
            vec!["auth", "login", "--key-stdin=sk_live_canary0815yellow"],
            "",
        ),
        (vec![KEY], ""),
        (vec!["show", KEY], ""),
        (vec!["explain", KEY], ""),
        (vec!["show", "bk_1", "--profile", KEY], ""),
    ]
}

#[track_caller]
fn holds_no_canary(what: &str, text: &str) {
    for canary in CANARIES {
        let place = text.find(canary);
        let around = place.map(|at| text[..at].chars().rev().take(60).collect::<String>());
        let around = around.map(|before| before.chars().rev().collect::<String>());
        assert_eq!(around, None, "{canary} is in {what}");
    }
}

#[track_caller]
fn is_silent(output: &Output, whole: &str) {
    holds_no_canary(&format!("stderr of {whole}"), &output.stderr);
    holds_no_canary(&format!("stdout of {whole}"), &output.stdout);
    assert!(!output.stderr.contains("panicked"), "{output}");
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path => found.push(path),
        }
    }
}

/// Every file under the home, but the one that was chosen.
#[track_caller]
fn files_hold_no_canary(home: &Home) {
    let mut found = Vec::new();
    files(&home.path(), &mut found);
    for file in found {
        if file.file_name().is_some_and(|name| name == "secrets.toml") {
            continue;
        }
        let text = fs::read(&file).unwrap_or_default();
        holds_no_canary(&file.display().to_string(), &String::from_utf8_lossy(&text));
    }
}

#[test]
fn no_secret_is_found_in_what_any_command_writes() {
    for service in [Service::Good, Service::Parrot, Service::Gone] {
        let server = Scripted::start(move |request| answer(service, request));
        let home = Home::pointing_to(server.base_url(), KEY)
            .with("BOOKCTL_WEBHOOK_SECRET", WEBHOOK_SECRET);
        for (arguments, input) in commands(&home) {
            for form in [None, Some("--json"), Some("-v")] {
                let output = home.feed(arguments.iter().copied().chain(form), input);
                is_silent(&output, &format!("{service:?} {arguments:?} {form:?}"));
            }
        }
        files_hold_no_canary(&home);
    }
}

/// Stored by choice in a file of its own, and nowhere else.
#[test]
fn a_stored_secret_is_in_its_file_alone() {
    for service in [Service::Good, Service::Parrot] {
        let server = Scripted::start(move |request| match request.path.as_str() {
            // The login itself is let in.
            "/v1/" => answer(Service::Good, request),
            _ => answer(service, request),
        });
        let home = Home::new();
        let login = [
            "auth",
            "login",
            "--profile",
            "t",
            "--base-url",
            server.base_url(),
            "--key-stdin",
            "--webhook-secret-stdin",
            "--storage",
            "file",
            "-v",
        ];
        let output = home.feed(login, &format!("{KEY}\n{WEBHOOK_SECRET}\n"));
        is_silent(&output.exits(0), "auth login");
        let kept = fs::read_to_string(home.path().join("secrets.toml")).unwrap();
        assert!(kept.contains(KEY) && kept.contains(WEBHOOK_SECRET));
        for (arguments, input) in commands(&home) {
            if arguments.contains(&"--profile") {
                continue;
            }
            let named = arguments.iter().copied().chain(["--profile", "t"]);
            let output = home.feed(named, input);
            is_silent(&output, &format!("{service:?} {arguments:?}"));
        }
        files_hold_no_canary(&home);
        let output = home.run(["auth", "logout", "--profile", "t", "-v"]);
        is_silent(&output, "auth logout");
    }
}

/// What other users of the machine can see of a process.
fn seen_by_others(id: u32) -> String {
    let read = |what: &str| fs::read(format!("/proc/{id}/{what}")).unwrap_or_default();
    let mut seen = String::from_utf8_lossy(&read("cmdline")).into_owned();
    seen.push_str(&String::from_utf8_lossy(&read("environ")));
    seen
}

/// What is given on standard input or stored is in no argument and no environment.
#[cfg(target_os = "linux")]
#[test]
fn no_process_shows_a_secret_that_it_was_not_given_openly() {
    let server = Scripted::start(|request| match request.method.as_str() {
        "GET" => answer(Service::Good, request),
        _ => Reply::Silence,
    });
    let home = Home::new();
    let login = [
        "auth",
        "login",
        "--profile",
        "t",
        "--base-url",
        server.base_url(),
        "--key-stdin",
        "--storage",
        "file",
    ];
    home.feed(login, KEY).exits(0);
    let mut command = home.command(["continue", "bk_1", "--otp-stdin", "--profile", "t"]);
    let code = home.folder().join("code");
    fs::write(&code, CODE).unwrap();
    command.stdin(fs::File::open(code).unwrap());
    let running = crate::harness::Running::start(command);
    let deadline = Instant::now() + crate::harness::HANG;
    while !server
        .requests()
        .iter()
        .any(|request| request.method == "POST")
    {
        assert!(Instant::now() < deadline, "nothing was sent");
        std::thread::sleep(Duration::from_millis(5));
    }
    holds_no_canary("the process", &seen_by_others(running.id()));
    running.signal("-INT");
    is_silent(&running.end().exits(130), "an interrupted answer");
}
