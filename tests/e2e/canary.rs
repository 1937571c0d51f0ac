//! "A secret seen: keys, OTPs, payment answers, webhook secrets: not in argv, logs, errors, the
//! journal, panics." (design, What must never happen)
//!
//! One secret of each kind goes through every command; afterwards everything that was written is
//! searched for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Home, Output, Reply, Request, Scripted, words};

const KEY: &str = "sk_live_canary0815yellow";
const WEBHOOK_SECRET: &str = "whsec_canary0815red";
// Long numbers: six digits in a row are found in some time or digest by chance.
const CODE: &str = "918273645500";
const PAYMENT: &str = r#"{"approval_id": "apr_1", "status": "approved", "card": {"token": "tok_canary0815"}, "check": 6473829155001928}"#;

/// What must not be found, in any part of it.
const CANARIES: [&str; 5] =
    ["canary0815yellow", "canary0815red", CODE, "tok_canary0815", "6473829155001928"];
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
    let sent = format!("{} {}", request.header("authorization").unwrap_or_default(), request.body);
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

/// Every command that a secret goes through or past. A `~` is a blank, and words in capitals are
/// secrets and times.
const COMMANDS: &str = "
    search dining --near x --at TIME
    slots ven_1 --at TIME
    book ven_1 --slot slot_1 --at TIME --party 2 --name Ada~Lovelace --phone +44~20~7946~0018
    book ven_1 --slot slot_1 --at TIME --party 2 --name Ada~Lovelace --dry-run
    show bk_1
    show bk_1 --jq .id.nope
    watch bk_1 --timeout 0.1s
    continue bk_1 --otp CODE
    continue bk_1 --otp-stdin < CODE
    continue bk_1 --psp-response PAYMENT
    continue bk_1 --psp-response - < PAYMENT
    continue bk_1 --psp-response @answer.json
    continue bk_1 -F otp=CODE
    modify bk_1 --party 3
    cancel bk_1 --yes
    attempts
    session connect --end-user u --phone +44~20~7946~0018
    session verify ses_1 --code CODE
    session verify ses_1 --code-stdin < CODE
    session list
    session show ses_1
    session disconnect ses_1 --yes
    card ses_1
    api GET /v1/ -i
    api POST /v1/bookings/bk_1/continue -f otp=CODE
    api POST /v1/bookings/bk_1/continue --input - < {\"otp\":~\"CODE\"}
    api GET /v1/ -H X-Other:~tok_canary0815
    api GET /v1/ -H Authorization:~Bearer~KEY
    status
    doctor
    auth status
    profile list
    explain odd
    continue bk_1 --otp-stdin=CODE
    continue bk_1 CODE
    continue bk_1 --otp CODE --psp-abort
    continue bk_1 --psp-response {\"token\":~\"tok_canary0815\"
    session verify ses_1 --code CODE --cod CODE
    session verify ses_1 CODE
    show bk_1 --key KEY
    show bk_1 --key=KEY
    auth login KEY
    auth login --key-stdin=KEY
    KEY
    show KEY
    explain KEY
    show bk_1 --profile KEY";

/// Their words, and what is fed to their standard input.
fn commands(home: &Home) -> Vec<(Vec<String>, String)> {
    fs::write(home.folder().join("answer.json"), PAYMENT).unwrap();
    let spelled = |word: &str| {
        let word = word.replace('~', " ").replace("TIME", TIME);
        let word = word.replace("CODE", CODE).replace("KEY", KEY);
        word.replace("PAYMENT", PAYMENT)
    };
    let lines = COMMANDS.lines().filter(|line| !line.trim().is_empty());
    let command = |line: &str| {
        let (command, input) = line.split_once(" < ").unwrap_or((line, ""));
        let words = command.split_whitespace().map(spelled);
        (words.collect(), spelled(input.trim()))
    };
    lines.map(command).collect()
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
    std::thread::scope(|scope| {
        for service in [Service::Good, Service::Parrot, Service::Gone] {
            scope.spawn(move || no_command_writes_a_secret_at(service));
        }
    });
}

fn no_command_writes_a_secret_at(service: Service) {
    let server = Scripted::start(move |request| answer(service, request));
    let home =
        Home::pointing_to(server.base_url(), KEY).with("BOOKCTL_WEBHOOK_SECRET", WEBHOOK_SECRET);
    for (arguments, input) in commands(&home) {
        // With `-v`, everything that is said without it is said as well.
        for form in ["--json", "-v"] {
            let words = arguments.iter().map(String::as_str);
            let output = home.feed(words.chain([form]), &input);
            is_silent(&output, &format!("{service:?} {arguments:?} {form}"));
        }
    }
    files_hold_no_canary(&home);
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
        let login = words(format!(
            "auth login --profile t --base-url {} --key-stdin --webhook-secret-stdin --storage file -v",
            server.base_url()
        ));
        let output = home.feed(login, &format!("{KEY}\n{WEBHOOK_SECRET}\n"));
        is_silent(&output.exits(0), "auth login");
        let kept = fs::read_to_string(home.path().join("secrets.toml")).unwrap();
        assert!(kept.contains(KEY) && kept.contains(WEBHOOK_SECRET));
        for (arguments, input) in commands(&home) {
            if arguments.iter().any(|word| word == "--profile") {
                continue;
            }
            let named = arguments.iter().map(String::as_str).chain(["--profile", "t"]);
            let output = home.feed(named, &input);
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
    let login = words(format!(
        "auth login --profile t --base-url {} --key-stdin --storage file",
        server.base_url()
    ));
    home.feed(&login, KEY).exits(0);
    let mut command = home.command(["continue", "bk_1", "--otp-stdin", "--profile", "t"]);
    let code = home.folder().join("code");
    fs::write(&code, CODE).unwrap();
    command.stdin(fs::File::open(code).unwrap());
    let running = crate::harness::Running::start(command);
    let deadline = Instant::now() + crate::harness::HANG;
    while !server.requests().iter().any(|request| request.method == "POST") {
        assert!(Instant::now() < deadline, "nothing was sent");
        std::thread::sleep(Duration::from_millis(5));
    }
    holds_no_canary("the process", &seen_by_others(running.id()));
    running.signal("-INT");
    is_silent(&running.ends(130), "an interrupted answer");
}
