//! What people see of an independent service (`tests/foreign`), without any configuration.
//!
//! Each variant's documents of a whole life cycle are put before each command that shows them.
//! Every value must be seen, under whichever name and in whichever shape it came.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::harness::{Home, Reply, Scripted, installed, skipped};

/// What shows each kind of document.
#[rustfmt::skip]
const COMMANDS: &[(&str, &[&str])] = &[
    ("index", &["status"]),
    ("venues", &["search", "dining", "--near", "Tokyo", "--at", "2030-01-01T19:30:00Z"]),
    ("slots", &["slots", "ven_1", "--at", "2030-01-01T19:30:00Z"]),
    ("booking", &["show", "bk_1"]),
    ("session", &["session", "show", "ses_1"]),
    ("sessions", &["session", "list"]),
    ("card", &["card", "ses_1"]),
];

/// Fields of the contract that a view leaves out or words on purpose.
const WORDED: &[&str] = &[
    "object",
    "status",
    "vertical",
    "latitude",
    "longitude",
    "timezone",
    "city",
    "country",
    "price_level",
    "distance_km",
    "venues.providers_failed",
    "party_size",
    "next_action.type",
    "cancellation_terms.free_until",
];

/// The letters and digits of a text in lower case: how it is punctuated makes no difference.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn scalars(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                scalars(value, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                scalars(element, path, found);
            }
        }
        Value::Null | Value::Bool(_) => {}
        scalar => found.push((path.to_owned(), scalar.clone())),
    }
}

/// The hours and minutes of a value that is a time.
fn clock(value: &Value) -> Option<String> {
    let instant = match value {
        Value::Number(number) => match number.as_i64()? {
            seconds @ 1_000_000_000..100_000_000_000 => seconds,
            milliseconds @ 100_000_000_000.. => milliseconds / 1000,
            _ => return None,
        },
        Value::String(text) => {
            let is_time = text.len() >= 16
                && text.as_bytes()[4] == b'-'
                && matches!(text.as_bytes()[10], b'T' | b' ')
                && text.as_bytes()[13] == b':';
            return is_time.then(|| text[11..16].to_owned());
        }
        _ => return None,
    };
    let minutes = instant / 60;
    Some(format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60))
}

fn is_shown(path: &str, value: &Value, seen: &str) -> bool {
    // A name is the same in any style: `timeZone`, `time-zone`.
    let styled = |path: &str| path.split('.').map(letters).collect::<Vec<_>>().join(".");
    let path = styled(path);
    let is_worded = WORDED.iter().any(|name| path.ends_with(&format!(".{}", styled(name))));
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    is_worded
        || letters(seen).contains(&letters(&text))
        || clock(value).is_some_and(|clock| seen.contains(&clock))
}

/// The documents that a variant sends in the course of a whole life cycle, by kind.
fn documents(variant: &str) -> Option<Value> {
    if !installed("python3") {
        skipped("python3 is missing, so the foreign service cannot be started");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    let mut command = Command::new("python3");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.arg(folder.join("documents.py")).arg(variant).output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{variant}: {why}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn shows_everything(variant: &str) {
    let Some(documents) = documents(variant) else {
        return;
    };
    let current = Arc::new(Mutex::new(Value::Null));
    let sent = current.clone();
    let server = Scripted::start(move |_| Reply::json(200, &sent.lock().unwrap()));
    let home = Home::pointing_to(server.base_url(), "sk_live_foreign");
    let mut wrong = Vec::new();
    for (kind, arguments) in COMMANDS {
        for document in documents[kind].as_array().unwrap() {
            *current.lock().unwrap() = document.clone();
            let output = home.run(*arguments);
            let seen = format!("{}{}", output.stdout, output.stderr);
            // The documents have ids of their own, whatever was asked for.
            let is_another = output.code == Some(15) && output.stderr.contains(" instead of ");
            if output.code != Some(0) && !is_another {
                wrong.push(format!("{kind}: {output} of {document}"));
                continue;
            }
            let mut values = Vec::new();
            scalars(document, "", &mut values);
            for (path, value) in values {
                if !is_shown(&path, &value, &seen) {
                    wrong.push(format!("{kind}: {path} = {value} is not in\n{seen}"));
                }
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(12);
    assert!(wrong.is_empty(), "{variant}: {count} wrong\n{}", wrong.join("\n"));
}

macro_rules! variants {
    ($($name:ident = $variant:literal;)*) => {
        $(#[test]
        #[ignore = "needs Python for the foreign service"]
        fn $name() {
            shows_everything($variant);
        })*
    };
}

variants! {
    all_that_the_reference_sends_is_seen = "assumed";
    all_that_comes_in_envelopes_is_seen = "enveloped";
    all_that_comes_in_camel_case_is_seen = "camel";
    all_that_comes_as_plain_texts_is_seen = "plain";
    all_that_comes_nested_is_seen = "nested";
    all_that_comes_in_upper_case_is_seen = "shouting";
    all_that_comes_as_resources_is_seen = "jsonapi";
    all_that_comes_in_a_ledgers_words_is_seen = "ledger";
    all_that_comes_with_links_is_seen = "hal";
    all_that_comes_in_a_restaurants_words_is_seen = "reservations";
}

/// Prints the table of `docs/dev/foreign-services.md`, and runs the commands of `docs/connect.md`.
#[test]
#[ignore = "needs Python for the foreign service"]
fn nothing_is_wrong_at_services_of_strangers() {
    if !installed("python3") {
        return skipped("python3 is missing, so the services cannot be started");
    }
    let trial = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/trial.py");
    let mut command = Command::new("python3");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let trial = command.arg(trial).arg(env!("CARGO_BIN_EXE_bookctl"));
    let output = trial.output().unwrap();
    // The table and what was wrong come last; what was said before it is long.
    let printed = String::from_utf8_lossy(&output.stdout);
    let table = printed.find("\n            ").map_or(&*printed, |at| &printed[at..]);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{table}\n{why}");
}

/// A service that answers every request with this.
fn answering(document: Value) -> (Scripted, Home) {
    let server = Scripted::start(move |_| Reply::json(200, &document));
    let home = Home::pointing_to(server.base_url(), "sk_live_foreign");
    (server, home)
}

#[test]
fn booking_of_another_provider_can_be_changed() {
    let mut booking =
        serde_json::json!({"id": "bk_1", "status": "confirmed", "provider": "elsewhere"});
    let (_server, home) = answering(booking.clone());
    let shown = home.ok(["show", "bk_1"]).stdout;
    assert!(shown.contains("bookctl cancel bk_1"), "{shown}");
    assert!(!shown.contains("note\t"), "{shown}");
    booking["error_code"] = "cancellation_unsupported".into();
    let (_server, home) = answering(booking);
    let shown = home.ok(["show", "bk_1"]).stdout;
    assert!(shown.contains("note\telsewhere can neither"), "{shown}");
    assert!(!shown.contains("bookctl cancel"), "{shown}");
}

#[test]
fn an_answer_that_cannot_be_read_is_never_an_empty_list() {
    let document = serde_json::json!({"results": [{"place": 1}, {"place": 2}]});
    let (_server, home) = answering(document.clone());
    for (kind, arguments) in COMMANDS.iter().filter(|(kind, _)| *kind != "index") {
        let output = home.run(*arguments).exits(15);
        assert!(!output.stderr.contains("found"), "{kind}: {}", output.stderr);
        let output = home.run(arguments.iter().chain(&["--json"])).exits(15);
        assert_eq!(output.error()["body"], document, "{kind}");
    }
}
