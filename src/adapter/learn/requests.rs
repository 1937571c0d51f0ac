//! What requests are made of: the availability search, from what its refusals name, and recorded requests.

use serde_json::Value;

use super::paths::{is_word, jq_path, paths};
use super::refused::Named;
use super::words::{
    DAY_WORDS, END_WORDS, PARTY_WORDS, PROVIDER_WORDS, SEATING_WORDS, TIME_WORDS, VENUE_WORDS,
};
use super::{Certainty, Finding};
use crate::adapter::kind::WriteKind;
use crate::adapter::names::same_words;

/// A form of the time in an availability search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// RFC 3339 with an offset, as the contract has it.
    Offset,
    /// The venue's own clock, without an offset.
    Local,
    /// A day alone.
    Day,
    /// The instant in UTC.
    Utc,
    Seconds,
    Milliseconds,
}

impl Time {
    /// All of them, in the order in which they are tried.
    pub(crate) const ALL: [Time; 6] = [
        Time::Offset,
        Time::Local,
        Time::Day,
        Time::Milliseconds,
        Time::Seconds,
        Time::Utc,
    ];

    /// The time of the contract's request in this form, as jq writes it.
    fn expression(self) -> &'static str {
        match self {
            Time::Offset => ".datetime",
            Time::Local => ".datetime[:16]",
            Time::Day => ".datetime[:10]",
            Time::Utc => "(.datetime | fromdateiso8601 | todateiso8601)",
            Time::Seconds => "(.datetime | fromdateiso8601)",
            Time::Milliseconds => "((.datetime | fromdateiso8601) * 1000)",
        }
    }

    fn says(self) -> &'static str {
        match self {
            Time::Offset => "RFC 3339",
            Time::Local => "a time without an offset",
            Time::Day => "a day alone",
            Time::Utc => "a time in UTC",
            Time::Seconds => "seconds since 1970",
            Time::Milliseconds => "milliseconds since 1970",
        }
    }
}

/// The availability search as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotsRequest {
    venue: Option<Vec<String>>,
    day: Option<Vec<String>>,
    time: Option<Vec<String>>,
    end: Option<Vec<String>>,
    party: Option<Vec<String>>,
    provider: Option<Vec<String>>,
    /// The form of the time where it is not the contract's.
    pub(crate) form: Option<Time>,
    /// Required fields that the contract does not have.
    asked: Vec<Named>,
}

impl SlotsRequest {
    /// Takes in what a refusal names. Returns whether that is more than was known.
    pub(crate) fn learn(&mut self, named: &[Named]) -> bool {
        let before = self.clone();
        for it in named.iter().filter(|it| !it.is_unknown()) {
            let path = &it.path;
            let is = |words: &str| {
                let last = path.last().map(std::slice::from_ref).unwrap_or_default();
                is_word(path, words).is_some() || is_word(last, words).is_some()
            };
            let own = |place: &mut Option<Vec<String>>| {
                place.get_or_insert_with(|| path.clone());
            };
            if is(VENUE_WORDS) {
                own(&mut self.venue);
            } else if is(END_WORDS) {
                own(&mut self.end);
            } else if is(DAY_WORDS) {
                own(&mut self.day);
            } else if is(TIME_WORDS) {
                own(&mut self.time);
            } else if is(PARTY_WORDS) {
                own(&mut self.party);
            } else if is(PROVIDER_WORDS) {
                own(&mut self.provider);
            } else if it.is_required() && !self.asked.contains(it) {
                self.asked.push(it.clone());
            }
        }
        *self != before
    }

    /// Whether the request needs a field that only a person can fill.
    pub(crate) fn is_stuck(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Whether a refusal asked for the provider.
    pub(crate) fn wants_provider(&self) -> bool {
        self.provider.is_some()
    }

    /// Whether the time may be in another form: its field is known or is the contract's.
    pub(crate) fn has_one_time(&self) -> bool {
        self.end.is_none() && (self.day.is_none() || self.time.is_none())
    }

    fn is_renaming(&self) -> bool {
        self.end.is_none()
            && self.day.is_none()
            && self.form.is_none()
            && self.provider.is_none()
            && self.asked.is_empty()
    }

    /// What was learned; `certainty` is [`Certainty::Certain`] once a request was answered.
    pub(crate) fn findings(&self, certainty: Certainty) -> Vec<Finding> {
        let mut findings = Vec::new();
        if *self == SlotsRequest::default() {
            return findings;
        }
        if self.is_renaming() {
            for (key, path, own) in [
                ("slots_venue_field", &self.venue, "venue_id"),
                ("slots_datetime_field", &self.time, "datetime"),
                ("slots_party_size_field", &self.party, "party_size"),
            ] {
                if let Some(path) = path
                    && path.join(".") != own
                {
                    let name = path.join(".");
                    let why = format!("the availability search asks for `{name}`");
                    findings.push(Finding::new(certainty, format!("dialect.{key}"), name, why));
                }
            }
            return findings;
        }
        let mut why = "the availability search has other fields".to_owned();
        if let Some(form) = self.form {
            why = format!("{why}, and wants {}", form.says());
        }
        let certainty = if self.is_stuck() {
            Certainty::ToBeAsked
        } else {
            certainty
        };
        for asked in &self.asked {
            let name = asked.dotted();
            findings.push(Finding::new(
                Certainty::ToBeAsked,
                "",
                "",
                format!(
                    "the availability search requires `{name}` ({}); say its value in write.slots",
                    asked.why
                ),
            ));
        }
        findings.push(Finding::new(
            certainty,
            "write.slots",
            self.expression(),
            why,
        ));
        findings
    }

    /// The expression that writes the request.
    fn expression(&self) -> String {
        let form = self.form.unwrap_or(match (&self.day, &self.time) {
            (Some(_), None) => Time::Day,
            _ => Time::Offset,
        });
        let name = |path: &Option<Vec<String>>, own: &str| {
            path.clone().unwrap_or_else(|| vec![own.to_owned()])
        };
        let mut tree = Value::Object(serde_json::Map::new());
        put(&mut tree, &name(&self.venue, "venue_id"), ".venue_id");
        match (&self.day, &self.time, &self.end) {
            (_, Some(from), Some(to)) => {
                put(
                    &mut tree,
                    from,
                    "(.datetime[:11] + \"00:00:00\" + .datetime[19:])",
                );
                put(
                    &mut tree,
                    to,
                    "(.datetime[:11] + \"23:59:59\" + .datetime[19:])",
                );
            }
            (Some(day), Some(time), None) => {
                put(&mut tree, day, ".datetime[:10]");
                put(&mut tree, time, ".datetime[11:16]");
            }
            (Some(day), None, _) => put(&mut tree, day, form.expression()),
            (None, time, _) => put(&mut tree, &name(time, "datetime"), form.expression()),
        }
        put(&mut tree, &name(&self.party, "party_size"), ".party_size");
        for asked in &self.asked {
            put(&mut tree, &asked.path, "\"…\"");
        }
        let provider = name(&self.provider, "provider");
        let mut one = Value::Object(serde_json::Map::new());
        put(&mut one, &provider, ".provider");
        format!(
            "{} * (if .provider then {} else {{}} end)",
            written(&tree),
            written(&one)
        )
    }
}

fn put(tree: &mut Value, path: &[String], expression: &str) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let Some(object) = tree.as_object_mut() else {
        return;
    };
    match rest {
        [] => {
            object.insert(first.clone(), Value::from(expression));
        }
        rest => {
            let inner = object
                .entry(first.clone())
                .or_insert_with(|| Value::Object(serde_json::Map::new()));
            put(inner, rest, expression);
        }
    }
}

/// An object of expressions as jq writes it.
fn written(tree: &Value) -> String {
    match tree {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let path = jq_path(std::slice::from_ref(name));
                format!("{}: {}", path.trim_start_matches('.'), written(value))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

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
    let renamed = keys.into_iter().filter_map(|(key, own, path)| {
        let name = path?.join(".");
        let why = format!("a recorded request ({}) has `{name}`", kind.as_str());
        (name != own).then(|| Finding::new(Certainty::Certain, format!("dialect.{key}"), name, why))
    });
    let mut findings: Vec<Finding> = renamed.collect();
    if kind == WriteKind::Create {
        findings.extend(customer(object));
    }
    findings
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

#[cfg(test)]
mod tests;
