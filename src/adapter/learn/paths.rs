//! Fields of objects by their paths, and paths as words.

use serde_json::{Map, Value};

use super::words::NEUTRAL;
use crate::adapter::names::{member, same_words};

/// How deep the fields of an object are looked for.
const DEEPEST: usize = 4;

/// A path as jq writes it.
pub(super) fn jq_path(path: &[String]) -> String {
    let mut text = String::new();
    for name in path {
        let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match is_plain {
            true => text.push_str(&format!(".{name}")),
            false => text.push_str(&format!(".{}", Value::String(name.clone()))),
        }
    }
    text
}

/// The letters of a path, by which two names are one.
pub(super) fn letters(path: &str) -> String {
    path.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The rank of a path among names with blanks between them, if it is one of them.
pub(super) fn is_word(path: &[String], words: &str) -> Option<usize> {
    let mut rest = path;
    loop {
        let own = letters(&rest.join("."));
        if let Some(rank) = words
            .split_whitespace()
            .position(|word| letters(word) == own)
        {
            return Some(rank);
        }
        match rest.split_first() {
            Some((first, more))
                if !more.is_empty()
                    && NEUTRAL.split_whitespace().any(|it| same_words(it, first)) =>
            {
                rest = more
            }
            _ => return None,
        }
    }
}

/// Every path in an object, those of inner objects too.
pub(super) fn paths(object: &Map<String, Value>) -> Vec<(Vec<String>, &Value)> {
    let mut found = Vec::new();
    let mut open: Vec<(Vec<String>, &Map<String, Value>)> = vec![(Vec::new(), object)];
    while let Some((path, object)) = open.pop() {
        for (name, value) in object {
            let mut own = path.clone();
            own.push(name.clone());
            if let Value::Object(inner) = value
                && own.len() < DEEPEST
            {
                open.push((own.clone(), inner));
            }
            found.push((own, value));
        }
    }
    found
}

/// The same for any document; the elements of its lists are looked into as well.
pub(super) fn paths_of(document: &Value) -> Vec<(Vec<String>, &Value)> {
    match document {
        Value::Object(object) => paths(object),
        Value::Array(elements) => elements.iter().flat_map(paths_of).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn has(object: &Map<String, Value>, name: &str) -> bool {
    let mut value = None;
    let mut at = Some(object);
    for part in name.split('.') {
        value = at.and_then(|it| member(it, part));
        at = value.and_then(Value::as_object);
    }
    value.is_some_and(|it| !it.is_null())
}

pub(super) fn at<'a>(object: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(object.get(first)?, |value, name| value.get(name))
}
