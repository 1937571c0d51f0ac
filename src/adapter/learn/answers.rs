//! What a continue answers: a code, a payment, its end, or other questions; and what its fields are called.

use serde_json::{Map, Value};

use super::paths::{is_word, letters, paths};
use super::requests::of_request;
use super::words::OTP_PARTS;
use super::written::{put, written};
use super::{Certainty, Finding};
use crate::adapter::kind::WriteKind;
use crate::adapter::names::same_words;

/// What stands for a value of which a schema says nothing.
pub(super) const UNTYPED: &str = "any";

/// Words for the object or the list that holds the answers to questions.
const ANSWERS: &str = "answers fields details responses action_fields values data inputs";

/// The settings that a schema of a continue's body shows. Each member may be an answer of its own.
pub(super) fn of_answer(body: &Value) -> Vec<Finding> {
    let members = body.as_object().into_iter().flatten();
    let mut findings = Vec::new();
    for (name, value) in members.filter(|(_, value)| !value.is_null()) {
        let body = Map::from_iter([(name.clone(), value.clone())]);
        findings.extend(of_member(&body));
    }
    findings
}

fn of_member(body: &Map<String, Value>) -> Vec<Finding> {
    let all = paths(body);
    let called = |word: &str| {
        let is = |path: &[String]| path.last().is_some_and(|name| same_words(name, word));
        let found = all.iter().find(|(path, _)| is(path));
        found.map(|(path, value)| (path.clone(), *value))
    };
    let found = |certainty, key: &str, expression: String, path: &[String]| {
        let why = format!("a recorded request has `{}`", path.join("."));
        vec![Finding::new(certainty, key, expression, why)]
    };
    if let Some((path, value)) = called("psp_response") {
        let (given, is_own) = match value {
            Value::String(text) if text != UNTYPED => ("(.psp_response | tojson)", false),
            _ => (".psp_response", path == ["psp_response"]),
        };
        return match is_own {
            true => Vec::new(),
            false => found(
                Certainty::Certain,
                "write.payment",
                object(&path, given),
                &path,
            ),
        };
    }
    if let Some((path, value)) = called("psp_abort") {
        return match value {
            Value::Bool(_) if path == ["psp_abort"] => Vec::new(),
            Value::String(text) if text == UNTYPED => Vec::new(),
            // A text that no schema lists is only a sample.
            Value::String(text) if text == "text" => {
                let why = format!(
                    "only the service's documentation says what `{}` has to be",
                    path.join(".")
                );
                vec![Finding::new(Certainty::ToBeAsked, "", "", why)]
            }
            Value::Object(inner) if inner.is_empty() => Vec::new(),
            Value::Bool(_) => found(
                Certainty::Certain,
                "write.abort",
                object(&path, "true"),
                &path,
            ),
            other => found(
                Certainty::Certain,
                "write.abort",
                object(&path, &other.to_string()),
                &path,
            ),
        };
    }
    let leaves = all.iter().filter(|(_, value)| !value.is_object());
    let leaves: Vec<_> = leaves.collect();
    if let [(path, Value::String(_) | Value::Number(_))] = leaves.as_slice() {
        let name = letters(path.last().map(String::as_str).unwrap_or_default());
        let parts = format!("{OTP_PARTS} pin");
        return match parts.split_whitespace().any(|part| name.contains(part)) {
            true => of_request(WriteKind::Otp, &Value::Object(body.clone())),
            false => Vec::new(),
        };
    }
    let Some((name, value)) = body.iter().next() else {
        return Vec::new();
    };
    let path = [name.clone()];
    if is_word(&path, ANSWERS).is_none() {
        return Vec::new();
    }
    match value {
        Value::Object(_) => found(Certainty::Likely, "write.action", object(&path, "."), &path),
        Value::Array(elements) => match elements.first().and_then(pair) {
            Some((key, value)) => {
                let each = format!("[to_entries[] | {{{key}: .key, {value}: .value}}]");
                found(
                    Certainty::Likely,
                    "write.action",
                    object(&path, &each),
                    &path,
                )
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The members of a list's element that name a question and answer it.
fn pair(element: &Value) -> Option<(String, String)> {
    let object = element.as_object()?;
    let named = |words: &str| {
        let mut names = object.keys();
        let found = names.find(|name| is_word(std::slice::from_ref(*name), words).is_some());
        found.map(|name| Value::from(name.as_str()).to_string())
    };
    Some((
        named("name field key id question")?,
        named("value answer text response")?,
    ))
}

fn object(path: &[String], expression: &str) -> String {
    let mut tree = Value::Object(Map::new());
    put(&mut tree, path, expression);
    written(&tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_answer_of_a_schema_becomes_the_expression_that_writes_it() {
        for (body, key, value) in [
            (
                json!({"psp_response": "text"}),
                "write.payment",
                "{psp_response: (.psp_response | tojson)}",
            ),
            (
                json!({"payment": {"pspResponse": {}}}),
                "write.payment",
                "{payment: {pspResponse: .psp_response}}",
            ),
            (
                json!({"psp_abort": "give_up"}),
                "write.abort",
                "{psp_abort: \"give_up\"}",
            ),
            (json!({"pspAbort": true}), "write.abort", "{pspAbort: true}"),
            (json!({"answers": {}}), "write.action", "{answers: .}"),
            (
                json!({"actionFields": [{"name": "text", "value": "text"}]}),
                "write.action",
                "{actionFields: [to_entries[] | {\"name\": .key, \"value\": .value}]}",
            ),
            (json!({"smsCode": "text"}), "dialect.otp_field", "smsCode"),
        ] {
            let found = of_answer(&body);
            assert_eq!(found.len(), 1, "{body}: {found:?}");
            assert_eq!(
                (found[0].key.as_str(), found[0].value.as_str()),
                (key, value),
                "{body}"
            );
            assert!(
                !key.starts_with("write") || crate::adapter::Expression::compile(value).is_ok()
            );
        }
        for own in [
            json!({"otp": "123456"}),
            json!({"psp_response": {}}),
            json!({"psp_abort": true}),
            json!({"dietary_notes": "text"}),
        ] {
            assert_eq!(of_answer(&own), [], "{own}");
        }
    }
}
