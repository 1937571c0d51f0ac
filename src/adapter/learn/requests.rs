//! The names that recorded requests show.

use serde_json::Value;

use super::paths::{at, is_word, paths};
use super::search_request::SearchRequest;
use super::slots_request::SlotsRequest;
use super::time_form::Time;
use super::words::{PARTY_WORDS, SEATING_WORDS, TIME_WORDS, VENUE_WORDS};
use super::written::{put, written};
use super::{Certainty, Finding};
use crate::adapter::kind::WriteKind;
use crate::adapter::names::same_words;

/// The names that a recorded request shows: of one that the service took.
pub(crate) fn of_request(kind: WriteKind, body: &Value) -> Vec<Finding> {
    let Some(object) = body.as_object() else {
        return Vec::new();
    };
    let leaves: Vec<Vec<String>> = paths(object)
        .into_iter()
        .filter(|(_, value)| !value.is_object() && !value.is_null())
        .map(|(path, _)| path)
        .collect();
    let named = |words: &str| {
        let mut fitting = leaves.iter().filter(|path| {
            let last = path.last().map(std::slice::from_ref).unwrap_or_default();
            is_word(path, words).is_some() || is_word(last, words).is_some()
        });
        fitting.next().cloned()
    };
    let only = || match leaves.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    let form = named(TIME_WORDS)
        .and_then(|path| at(object, &path))
        .and_then(Time::of_number);
    if let Some(form) = form {
        let why = |mut finding: Finding| {
            finding.why = format!("a recorded request ({}) has {}", kind.as_str(), form.says());
            finding
        };
        let search = SearchRequest::recorded(form);
        let slots = SlotsRequest::recorded(
            named(VENUE_WORDS),
            named(TIME_WORDS),
            named(PARTY_WORDS),
            form,
        );
        match kind {
            WriteKind::Search => return search.finding().map(why).into_iter().collect(),
            WriteKind::Slots => {
                let findings = slots.findings(Certainty::Certain);
                return findings.into_iter().map(why).collect();
            }
            _ => {}
        }
    }
    let keys: Vec<(&str, &str, Option<Vec<String>>)> = match kind {
        WriteKind::Slots => vec![
            ("slots_venue_field", "venue_id", named(VENUE_WORDS)),
            ("slots_datetime_field", "datetime", named(TIME_WORDS)),
            ("slots_party_size_field", "party_size", named(PARTY_WORDS)),
        ],
        WriteKind::Search => vec![(
            "providers_field",
            "providers",
            named("providers provider_ids via sources"),
        )],
        WriteKind::Otp => vec![("otp_field", "otp", only())],
        WriteKind::Cancel => vec![("cancel_reason_field", "reason", only())],
        WriteKind::Verify => vec![("session_code_field", "code", only())],
        WriteKind::Connect => vec![(
            "session_phone_field",
            "phone",
            named("phone mobile phone_number telephone msisdn cell contact.phone"),
        )],
        WriteKind::Modify => vec![
            ("modify_datetime_field", "datetime", named(TIME_WORDS)),
            ("modify_party_size_field", "party_size", named(PARTY_WORDS)),
            (
                "modify_seating_field",
                "seating_preference",
                named(SEATING_WORDS),
            ),
        ],
        WriteKind::Create | WriteKind::Payment | WriteKind::Abort | WriteKind::Action => Vec::new(),
    };
    let unknown = unknown(kind, &keys, &leaves);
    let renamed = keys.into_iter().filter_map(|(key, own, path)| {
        let name = path?.join(".");
        let why = format!("a recorded request ({}) has `{name}`", kind.as_str());
        (name != own).then(|| Finding::new(Certainty::Certain, format!("dialect.{key}"), name, why))
    });
    let mut findings: Vec<Finding> = renamed.chain(unknown).collect();
    if kind == WriteKind::Create {
        findings.extend(customer(object));
    }
    findings
}

/// The fields of a request that no key has taken and the contract has no name for, and the keys that may be theirs.
fn unknown(
    kind: WriteKind,
    keys: &[(&str, &str, Option<Vec<String>>)],
    leaves: &[Vec<String>],
) -> Option<Finding> {
    let others = match kind {
        WriteKind::Search => {
            "vertical datetime location latitude longitude party_size provider providers"
        }
        WriteKind::Slots | WriteKind::Connect => "provider end_user",
        _ => "",
    };
    let is_known = |path: &Vec<String>| {
        keys.iter().any(|(_, own, taken)| {
            taken.as_ref() == Some(path) || path.iter().any(|name| same_words(name, own))
        }) || path
            .iter()
            .any(|name| others.split(' ').any(|other| same_words(name, other)))
    };
    let names: Vec<String> = leaves
        .iter()
        .filter(|path| !is_known(path))
        .map(|path| format!("`{}`", path.join(".")))
        .collect();
    let open: Vec<String> = keys
        .iter()
        .filter(|(_, _, taken)| taken.is_none())
        .map(|(key, ..)| format!("dialect.{key}"))
        .collect();
    let settings = match open.is_empty() {
        true => String::new(),
        false => format!("; if bookctl sends it, a key says so: {}", open.join(", ")),
    };
    // What no key names at all, an expression says.
    (!keys.is_empty() && !names.is_empty()).then(|| {
        let why = format!(
            "a recorded request ({}) has {}, and nothing shows what it is{settings}",
            kind.as_str(),
            names.join(", ")
        );
        Finding::new(Certainty::Open, "", "", why)
    })
}

/// Names inside `customer` of a booking request.
fn customer(object: &serde_json::Map<String, Value>) -> Option<Finding> {
    let customer = object.get("customer")?.as_object()?;
    let mut moves = Vec::new();
    for (own, words) in [
        ("email", "email_address mail e_mail contact.email"),
        (
            "phone",
            "mobile phone_number tel telephone cell contact.phone",
        ),
    ] {
        let found = paths(customer)
            .into_iter()
            .find(|(path, value)| value.is_string() && is_word(path, words).is_some());
        if let Some((path, _)) =
            found.filter(|(path, _)| !path.iter().any(|name| name == own) || path.len() > 1)
        {
            let mut tree = Value::Object(serde_json::Map::new());
            put(&mut tree, &path, &format!("$c.{own}"));
            moves.push(format!(
                "if $c.{own} then .customer |= (del(.{own}) * {}) else . end",
                written(&tree)
            ));
        }
    }
    let moves = (!moves.is_empty()).then(|| moves.join(" | "))?;
    let has_names: Vec<&str> = customer
        .keys()
        .map(String::as_str)
        .filter(|name| !same_words(name, "name"))
        .collect();
    Some(Finding::new(
        Certainty::Certain,
        "write.create",
        format!(".customer as $c | {moves}"),
        format!(
            "a recorded booking request has `{}` in `customer`",
            has_names.join("`, `")
        ),
    ))
}
