//! Terms of slots whose form is not understood: they are shown to people as they came.

use serde_json::{Map, Value};

use super::paths::{at, has, is_word, paths};
use super::words::{TEXT_OF_TERMS, fields};
use super::{Certainty, Finding};
use crate::adapter::kind::ReadKind;
use crate::adapter::names::member;

/// The terms with what the contract has in them.
const TERMS: [(&str, &[&str]); 3] = [
    ("price", &["amount"]),
    ("card_terms", &["text", "required", "hold_amount"]),
    ("cancellation_terms", &["text", "free_until", "fee_amount"]),
];

/// The longest shape that is shown.
const LONGEST: usize = 300;

/// The terms of slots that are neither as the contract has them nor moved there.
pub(super) fn unknown_terms(
    objects: &[&Map<String, Value>],
    moved: &[Vec<String>],
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (name, known) in TERMS {
        let field = fields(ReadKind::Slots).iter().find(|it| it.name == name);
        let from = field.and_then(|field| {
            let is_it = |path: &&Vec<String>| is_word(path, field.words).is_some();
            moved.iter().find(is_it)
        });
        for object in objects {
            let (path, value) = match from {
                Some(path) => (path.join("."), at(object, path)),
                None => (name.to_owned(), member(object, name)),
            };
            let Some(value) = value.filter(|it| !is_understood(name, it, known)) else {
                continue;
            };
            let why = format!(
                "`{path}` of the slots has a form that bookctl shows as it came; read.slots can translate it"
            );
            let mut shape = shape_of(value);
            if shape.chars().count() > LONGEST {
                shape = shape.chars().take(LONGEST).chain(['…']).collect();
            }
            let finding = Finding::new(Certainty::ToBeAsked, "", shape, why);
            if !findings.iter().any(|it| it.why == finding.why) {
                findings.push(finding);
            }
        }
    }
    findings
}

fn is_understood(name: &str, value: &Value, known: &[&str]) -> bool {
    match value {
        Value::Null => true,
        Value::String(_) => name != "price",
        Value::Object(inner) => {
            let has_text = || {
                paths(inner).iter().any(|(path, value)| {
                    value.is_string() && is_word(path, TEXT_OF_TERMS).is_some()
                })
            };
            known.iter().any(|it| has(inner, it)) || name != "price" && has_text()
        }
        _ => false,
    }
}

/// The names in a value, and what kind of value each has: never a value.
fn shape_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Array(elements) => match elements.first() {
            Some(first) => format!("[{}, …]", shape_of(first)),
            None => "[]".to_owned(),
        },
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| format!("{name}: {}", shape_of(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn terms_in_an_unknown_form_are_named_with_their_shape_and_without_a_value() {
        let slot = json!({
            "price": "EUR 25.00", "card_terms": [{"kind": "hold", "cents": 2500}],
            "cancellation_terms": {"text": "Free until noon."},
        });
        let found = unknown_terms(&[slot.as_object().unwrap()], &[]);
        let shapes: Vec<_> = found.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(shapes, ["text", "[{kind: text, cents: number}, …]"]);
        assert!(!format!("{found:?}").contains("25"), "{found:?}");
        let known = json!({"price": {"amount": 1, "currency": "EUR"}, "card_terms": "A card.", "cancellation_terms": null});
        assert_eq!(unknown_terms(&[known.as_object().unwrap()], &[]), []);
    }
}
