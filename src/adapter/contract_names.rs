//! The contract's names for fields that a service writes in another style.

use serde_json::{Map, Value};

use super::names::{key_of, same_words};
use super::shape::Shape;

/// Objects whose keys are chosen by others, and are kept as they are.
const FREE_FORM: &[&str] = &["psp_request", "fields"];

/// Whether an object has the contract's names wherever it has their words.
pub(super) fn has_contract_names(object: &Map<String, Value>, shape: Shape) -> bool {
    object.iter().all(|(key, value)| {
        contract_name(object, key, shape).is_none()
            && match value {
                Value::Object(inner) if !FREE_FORM.contains(&key.as_str()) => {
                    has_contract_names(inner, shape)
                }
                _ => true,
            }
    })
}

/// An object with the contract's names where it has them in another style.
pub(super) fn with_contract_names(object: &Map<String, Value>, shape: Shape) -> Value {
    let renamed = object.iter().map(|(key, value)| {
        let key = contract_name(object, key, shape).unwrap_or(key);
        let value = match value {
            Value::Object(inner) if !FREE_FORM.contains(&key) => with_contract_names(inner, shape),
            other => other.clone(),
        };
        (key.to_owned(), value)
    });
    Value::Object(renamed.collect())
}

/// The contract's name for a key that has the same words in another style, and no rival beside it.
fn contract_name(object: &Map<String, Value>, key: &str, shape: Shape) -> Option<&'static str> {
    if shape.fields().contains(&key) {
        return None;
    }
    let name = shape.fields().iter().find(|name| same_words(name, key))?;
    (key_of(object, name) == Some(key)).then_some(*name)
}
