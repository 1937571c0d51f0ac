//! What a booking's and a slot's fields mean: times apart, words of the status, the kind of a pause, the text of terms.

use serde_json::{Map, Value};

use super::paths::{at, has, is_word, jq_path, letters, paths};
use super::words::{
    DAY_WORDS, OTP_PARTS, PAYMENT_PARTS, STATUS_WORDS, TEXT_OF_TERMS, TIME_WORDS, fields,
};
use super::{Certainty, Finding};
use crate::adapter::kind::ReadKind;
use crate::adapter::names::{member, same_words};
use crate::model::booking::Status;

/// A day and a time of day that stand apart.
pub(super) fn date_and_time(
    objects: &[&Map<String, Value>],
    moved: &mut Vec<Vec<String>>,
) -> Option<String> {
    let is_missing = !objects.iter().any(|it| has(it, "datetime"))
        && !moved
            .iter()
            .any(|it| is_word(it, "datetime start starts_at start_time").is_some());
    let object = objects.first().filter(|_| is_missing)?;
    let pick = |words: &str, fits: fn(&str) -> bool| {
        let all = paths(object);
        let mut fitting = all.into_iter().filter(|(path, value)| {
            is_word(path, words).is_some() && value.as_str().is_some_and(fits)
        });
        fitting.next().map(|(path, _)| path)
    };
    let day = pick(DAY_WORDS, |text| {
        text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10
    })?;
    let time = pick(TIME_WORDS, |text| {
        text.len() <= 8 && text.parse::<jiff::civil::Time>().is_ok()
    })?;
    let (d, t) = (jq_path(&day), jq_path(&time));
    moved.extend([day, time]);
    Some(format!(
        "if {d} != null and {t} != null then ({d} + \"T\" + {t}) as $at | del({d}, {t}) | .datetime = $at else . end"
    ))
}

/// Statuses under other words than the specification's.
pub(super) struct StatusWords {
    /// The step that maps those whose meaning is known.
    pub(super) known: Option<String>,
    /// The words that nobody but a person can map.
    pub(super) names: Vec<String>,
    /// The step that maps them, with `STATUS` for each.
    pub(super) unknown: Option<String>,
}

/// Reads the words of the bookings' statuses.
pub(super) fn words_of_status(objects: &[&Map<String, Value>]) -> StatusWords {
    let (mut words, mut unknown) = (Map::new(), Map::new());
    for object in objects {
        let Some(word) = member(object, "status").and_then(Value::as_str) else {
            continue;
        };
        let Status::Other(word) = Status::parse(word) else {
            continue;
        };
        let known = STATUS_WORDS.iter().find(|(_, others)| {
            others
                .split_whitespace()
                .any(|other| same_words(other, &word))
        });
        match known {
            Some((status, _)) => {
                words.insert(word, Value::from(*status));
            }
            None => {
                unknown.insert(word, Value::from("STATUS"));
            }
        }
    }
    let step = |words: Map<String, Value>| {
        (!words.is_empty()).then(|| format!(".status |= ({}[.] // .)", Value::Object(words)))
    };
    StatusWords {
        known: step(words),
        names: unknown.keys().map(|word| format!("`{word}`")).collect(),
        unknown: step(unknown),
    }
}

/// The names and words of what a booking waits for.
pub(super) fn next_action(objects: &[&Map<String, Value>], findings: &mut Vec<Finding>) {
    for object in objects {
        let Some(action) = member(object, "next_action") else {
            continue;
        };
        let candidates: Vec<(Vec<String>, &str)> = match action {
            Value::String(word) => vec![(Vec::new(), word.as_str())],
            Value::Object(inner) => {
                let all = paths(inner).into_iter();
                all.filter_map(|(path, value)| Some((path, value.as_str()?)))
                    .filter(|(path, _)| {
                        let last = path.last().map(String::as_str).unwrap_or_default();
                        ["type", "kind", "code", "action_type", "do", "name"]
                            .iter()
                            .any(|it| same_words(it, last))
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        for (path, word) in candidates {
            let parts = letters(word);
            let is_one = |words: &str| words.split_whitespace().any(|part| parts.contains(part));
            let (key, default) = match (is_one(OTP_PARTS), is_one(PAYMENT_PARTS)) {
                (true, false) => ("otp_action", "otp"),
                (false, true) => ("payment_action", "payment_approval"),
                _ => continue,
            };
            let mut add = |key: &str, value: &str, why: String| {
                let finding = Finding::new(Certainty::Likely, format!("dialect.{key}"), value, why);
                if !findings.contains(&finding) {
                    findings.push(finding);
                }
            };
            let at = path.join(".");
            if !path.is_empty() && at != "type" {
                add(
                    "next_action_type_field",
                    &at,
                    format!("`next_action.{at}` names what is waited for"),
                );
            }
            if !same_words(word, default) {
                add(key, word, format!("`{word}` names what is waited for"));
            }
        }
    }
}

/// Terms whose text has another name, or that are a text under another name. A text at their own place is read as it is.
pub(super) fn text_of_terms(objects: &[&Map<String, Value>], moved: &[Vec<String>]) -> Vec<String> {
    let mut steps = Vec::new();
    for (name, words) in [("card_terms", 0), ("cancellation_terms", 1)] {
        let words = fields(ReadKind::Slots)
            .iter()
            .filter(|it| it.name.ends_with("_terms"))
            .nth(words);
        let from = moved
            .iter()
            .find(|path| words.is_some_and(|field| is_word(path, field.words).is_some()));
        let values = objects.iter().filter_map(|object| match from {
            Some(path) => at(object, path),
            None => member(object, name),
        });
        for terms in values {
            let step = match terms {
                Value::String(_) if from.is_some() => format!(
                    "if (.{name} | type) == \"string\" then .{name} |= {{text: .}} else . end"
                ),
                Value::Object(inner) if !has(inner, "text") => {
                    let all = paths(inner);
                    let text = all.iter().find(|(path, value)| {
                        value.is_string() && is_word(path, TEXT_OF_TERMS).is_some()
                    });
                    let Some((path, _)) = text else { continue };
                    format!(
                        "if (.{name} | type) == \"object\" then .{name} |= move({}; \"text\") else . end",
                        jq_path(path)
                    )
                }
                _ => continue,
            };
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
    steps
}
