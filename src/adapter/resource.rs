//! Objects that keep their fields in `attributes`, beside their `id`, as JSON:API writes them.

use serde_json::{Map, Value};

use crate::json::Document;

const INNER: &str = "attributes";

/// The document with the members of each `attributes` in the object around it; `None` where it has none.
pub(super) fn flattened(document: &Document) -> Option<Value> {
    // Most documents have none, and are not copied.
    if !document.text().contains(INNER) {
        return None;
    }
    let flat = flat(document.value());
    (flat != *document.value()).then_some(flat)
}

fn flat(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut merged = Map::new();
            for (key, value) in object {
                match value {
                    Value::Object(inner) if key == INNER && object.contains_key("id") => {
                        for (key, value) in inner {
                            merged.entry(key.clone()).or_insert_with(|| flat(value));
                        }
                    }
                    _ => {
                        merged.insert(key.clone(), flat(value));
                    }
                }
            }
            Value::Object(merged)
        }
        Value::Array(elements) => elements.iter().map(flat).collect(),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn attributes_join_the_object_that_has_the_id() {
        let flattened = |value: Value| flattened(&value.into());
        assert_eq!(
            flattened(
                json!({"data": [{"type": "b", "id": 7, "attributes": {"status": "x", "id": 8}}]})
            ),
            Some(json!({"data": [{"type": "b", "id": 7, "status": "x"}]}))
        );
        assert_eq!(flattened(json!({"attributes": {"a": 1}})), None);
        assert_eq!(flattened(json!({"id": 1, "attributes": ["a"]})), None);
    }
}
