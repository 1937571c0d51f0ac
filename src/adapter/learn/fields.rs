//! What the documents of a kind show: open fields under other names, and the expression that moves them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::meaning::{date_and_time, next_action, text_of_terms, words_of_status};
use super::paths::{at, has, is_word, jq_path, paths};
use super::small::{card, error};
use super::terms::unknown_terms;
use super::words::{Field, Holds, fields, shape};
use super::{Certainty, Finding};
use crate::adapter::find::{Search, shallowest};
use crate::adapter::kind::ReadKind;
use crate::adapter::names::{member, same_words};
use crate::model::document_time::DocumentTime;
use crate::model::zone;

/// The definitions that an expression begins with: a field is moved where it is there, and nothing is said where it is not.
const MOVE: &str = "def move(f; $a): if (try f catch null) == null then . else f as $v | del(f) | .[$a] = $v end; ";
const MOVE_IN: &str = "def move(f; $a; $b): if (try f catch null) == null then . else f as $v | del(f) | \
                       .[$a] = (((.[$a] | objects) // {}) + {($b): $v}) end; ";

/// What documents of one kind show.
pub(crate) fn of_documents(kind: ReadKind, documents: &[Value]) -> Vec<Finding> {
    match kind {
        ReadKind::Card => return documents.iter().find_map(card).into_iter().collect(),
        ReadKind::Error => return documents.iter().find_map(error).into_iter().collect(),
        _ => {}
    }
    let mut findings = Vec::new();
    let mut steps = Vec::new();
    let mut moved = Vec::new();
    let mut unknown_words = None;
    let places: Vec<Place> = documents.iter().filter_map(|it| place(kind, it)).collect();
    let Some(first) = places.first() else {
        return findings;
    };
    let objects: Vec<&Map<String, Value>> =
        places.iter().flat_map(|it| it.objects.iter()).collect();
    for field in fields(kind) {
        if let Some(found) = found(field, &objects, &moved) {
            steps.push(step(field, &found, &objects));
            moved.push(found);
        }
    }
    if kind == ReadKind::Booking {
        steps.extend(date_and_time(&objects, &mut moved));
        let words = words_of_status(&objects);
        steps.extend(words.known);
        unknown_words = words.unknown.map(|step| (words.names, step));
        next_action(&objects, &mut findings);
    }
    if kind == ReadKind::Slots || kind == ReadKind::Booking {
        steps.extend(text_of_terms(&objects, &moved));
    }
    if kind == ReadKind::Slots {
        findings.extend(unknown_terms(&objects, &moved));
    }
    if matches!(kind, ReadKind::Slots | ReadKind::Booking) && has_local_times(&objects) {
        findings.push(Finding::new(
            Certainty::Certain,
            "local_times",
            "true",
            format!("the times of {} came without an offset", kind.as_str()),
        ));
    }
    if let Some((words, step)) = unknown_words {
        // Before what is sure of the same key, and with it, because one expression says all.
        let all: Vec<String> = steps.iter().cloned().chain([step]).collect();
        findings.push(Finding::new(
            Certainty::ToBeAsked,
            "read.booking",
            expression(first, &all),
            format!(
                "the status {} is not one of the specification's; put the one that it means for STATUS",
                words.join(", ")
            ),
        ));
    }
    if !steps.is_empty() {
        let names: Vec<String> = moved
            .iter()
            .map(|it| format!("`{}`", it.join(".")))
            .collect();
        let why = match names.is_empty() {
            true => format!("what {} hold has another form", kind.as_str()),
            false => format!("{} have other names than bookctl's own", names.join(", ")),
        };
        findings.push(Finding::new(
            Certainty::Likely,
            format!("read.{}", kind.as_str()),
            expression(first, &steps),
            why,
        ));
    }
    findings
}

/// The members of a document's objects that no field of the contract is named like, as paths.
pub(crate) fn unnamed(kind: ReadKind, document: &Value) -> Vec<String> {
    let (Some(shape), Some(place)) = (shape(kind), place(kind, document)) else {
        return Vec::new();
    };
    let mut names = BTreeSet::new();
    for (path, value) in place.objects.iter().flat_map(paths) {
        let is_known = |name: &String| shape.fields().iter().any(|known| same_words(known, name));
        if !value.is_object() && !value.is_null() && !path.iter().any(is_known) {
            names.insert(path.join("."));
        }
    }
    names.into_iter().collect()
}

/// Where the objects of a document stand.
struct Place {
    /// As jq writes it: `.data.results[]`.
    path: String,
    is_list: bool,
    /// Whether the fields stand in `attributes`, beside the id.
    in_attributes: bool,
    objects: Vec<Map<String, Value>>,
}

fn place(kind: ReadKind, document: &Value) -> Option<Place> {
    let Some(shape) = shape(kind) else {
        let object = document.as_object()?.clone();
        return (kind == ReadKind::Index).then(|| Place {
            path: ".".to_owned(),
            is_list: true,
            in_attributes: false,
            objects: vec![object],
        });
    };
    let flat;
    let (value, in_attributes) = match shallowest(document, shape) {
        Search::Found(_) => (document, false),
        _ => {
            flat = crate::adapter::resource::flattened(&document.clone().into())?;
            (&flat, true)
        }
    };
    let Search::Found(found) = shallowest(value, shape) else {
        return None;
    };
    Some(Place {
        path: jq_place(&found.place),
        is_list: !matches!(kind, ReadKind::Booking | ReadKind::Session | ReadKind::Card),
        in_attributes,
        objects: found.objects.into_iter().cloned().collect(),
    })
}

/// A place as jq writes it.
fn jq_place(place: &str) -> String {
    let mut path = String::new();
    for part in place.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches("[]");
        let depth = (part.len() - name.len()) / 2;
        match name {
            "" => path.push('.'),
            "*" => path.push_str("[]"),
            name => path.push_str(&jq_path(&[name.to_owned()])),
        }
        path.push_str(&"[]".repeat(depth));
    }
    match path.is_empty() {
        true => ".".to_owned(),
        false => path,
    }
}

fn expression(place: &Place, steps: &[String]) -> String {
    let mut all = Vec::new();
    if place.in_attributes {
        all.push(". + (.attributes // {}) | del(.attributes)".to_owned());
    }
    all.extend(steps.iter().cloned());
    let steps = all.join(" | ");
    let mut text = String::new();
    if steps.contains("move(") && has_arity(&steps, 1) {
        text.push_str(MOVE);
    }
    if has_arity(&steps, 2) {
        text.push_str(MOVE_IN);
    }
    match (place.path.as_str(), place.is_list) {
        (".", _) => text.push_str(&steps),
        (path, true) => text.push_str(&format!("{path} |= ({steps})")),
        (path, false) => text.push_str(&format!("{path} | {steps}")),
    }
    text
}

/// Whether a step moves a field to a place of so many names.
fn has_arity(steps: &str, names: usize) -> bool {
    let mut calls = steps.split("move(").skip(1);
    calls.any(|call| {
        call.split(')')
            .next()
            .is_some_and(|it| it.matches("; ").count() == names)
    })
}

/// Where an open field stands in these objects, if it is not where the contract has it.
fn found(
    field: &Field,
    objects: &[&Map<String, Value>],
    taken: &[Vec<String>],
) -> Option<Vec<String>> {
    let is_there = |object: &&Map<String, Value>| {
        has(object, field.name) && field.holds.fits(member_at(object, field.name))
            || field.name == "provider" && has(object, "providers") && {
                field.holds.fits(member(object, "providers"))
            }
    };
    if objects.iter().any(is_there) {
        return None;
    }
    let mut best: Option<(usize, Vec<String>)> = None;
    let all: BTreeSet<Vec<String>> = objects
        .iter()
        .flat_map(|it| paths(it))
        .map(|(path, _)| path)
        .collect();
    for path in all {
        let Some(rank) = is_word(&path, field.words) else {
            continue;
        };
        let values = objects
            .iter()
            .filter_map(|object| at(object, &path))
            .filter(|it| !it.is_null());
        let values: Vec<&Value> = values.collect();
        let fits = !values.is_empty() && values.iter().all(|value| field.holds.fits(Some(value)));
        let is_free = !taken
            .iter()
            .any(|other| path.starts_with(other) || other.starts_with(&path));
        if fits && is_free && best.as_ref().is_none_or(|(other, _)| rank < *other) {
            best = Some((rank, path));
        }
    }
    best.map(|(_, path)| path)
}

fn member_at<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut parts = name.split('.');
    let first = member(object, parts.next()?)?;
    parts.try_fold(first, |value, part| member(value.as_object()?, part))
}

impl Holds {
    fn fits(self, value: Option<&Value>) -> bool {
        let Some(value) = value else {
            return false;
        };
        match self {
            Holds::Text => value.is_string(),
            Holds::Whole => value.is_u64() || value.as_str().is_some_and(is_digits),
            Holds::Time => DocumentTime::read(value).is_some(),
            Holds::Zone => value
                .as_str()
                .is_some_and(|name| zone::of_name(name).is_some()),
            Holds::Providers => match value {
                Value::Array(several) => several.iter().all(|it| it.is_string()),
                other => other.is_string(),
            },
            Holds::Minor => value.is_i64() || value.is_u64(),
            Holds::Any => !value.is_null(),
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() < 9 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The step that moves a field to the contract's place.
fn step(field: &Field, path: &[String], objects: &[&Map<String, Value>]) -> String {
    let is_any = |fits: fn(&Value) -> bool| objects.iter().filter_map(|it| at(it, path)).any(fits);
    let from = jq_path(path);
    let step = match field.name.split_once('.') {
        Some((outer, inner)) => format!("move({from}; \"{outer}\"; \"{inner}\")"),
        None => format!("move({from}; \"{}\")", field.name),
    };
    match field.holds {
        // A list is the contract's `providers`, one is its `provider`.
        Holds::Providers if is_any(Value::is_array) => format!(
            "{step} | if (.provider | type) == \"array\" then move(.provider; \"providers\") else . end"
        ),
        Holds::Whole if is_any(Value::is_string) => format!(
            "{step} | if .{0} == null then . else .{0} |= (tonumber? // .) end",
            field.name
        ),
        _ => step,
    }
}

fn has_local_times(objects: &[&Map<String, Value>]) -> bool {
    let times = objects.iter().filter_map(|it| member(it, "datetime"));
    let read: Vec<DocumentTime> = times.filter_map(DocumentTime::read).collect();
    !read.is_empty() && read.iter().all(|time| time.instant.is_none())
}

#[cfg(test)]
mod tests;
