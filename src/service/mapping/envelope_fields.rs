//! What a document has beside the objects that were read from it.

use serde_json::{Map, Value};

use crate::json::plain;

/// How many values are listed. A document that has more is better read as JSON.
const MOST: usize = 40;

/// The values of a document outside `read`, as paths and texts, without empty ones.
pub(crate) fn envelope_fields(
    document: &Value,
    read: &[&Map<String, Value>],
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(document, String::new(), read, &mut found);
    found
}

pub(crate) fn scalars(value: &Value) -> Vec<(String, String)> {
    envelope_fields(value, &[])
}

fn collect(
    value: &Value,
    path: String,
    read: &[&Map<String, Value>],
    found: &mut Vec<(String, String)>,
) {
    if found.len() >= MOST {
        return;
    }
    match value {
        Value::Object(object) if read.iter().any(|it| std::ptr::eq(*it, object)) => {}
        Value::Object(object) => {
            for (key, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                collect(value, format!("{path}{dot}{key}"), read, found);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(element, format!("{path}[{index}]"), read, found);
            }
        }
        scalar => {
            let text = plain(scalar);
            if !text.is_empty() {
                found.push((path, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everything_unread_is_listed_with_its_path() {
        let document = json!({"data": {"booking": {"id": 1}, "links": [{"href": "/x"}]}, "meta": {"id": "r1", "n": null}});
        let read = document["data"]["booking"].as_object().unwrap();
        let listed = envelope_fields(&document, &[read]);
        let listed: Vec<String> = listed.iter().map(|it| format!("{} {}", it.0, it.1)).collect();
        assert_eq!(listed, ["data.links[0].href /x", "meta.id r1"]);
    }
}
