//! The one reader of refusals: which fields they name, in whatever form.

use serde_json::{Map, Value};

use crate::json::plain;
use crate::service::mapping::{is_one_of, scalars};

/// Members of a refusal that name fields: as texts, in lists, as the names of an object, or in objects about one each.
const NAMING: &str = "missing fields errors invalid details problems by_field violations validation_errors \
    invalid_params field_errors";

/// Members of an object about one field that name it.
const ONE: &str = "field name param parameter pointer path property";

/// What is said of a field that the service does not know.
const UNKNOWN: &str = "additional,not a field,not allowed,not expected,not permitted,unexpected,unknown,unrecogni,unsupported";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// With dots between the names of nested objects.
    pub(crate) name: String,
    pub(crate) why: String,
}

impl Named {
    /// A field, if this can be the name of one.
    fn new(name: &str, why: String) -> Option<Self> {
        let name = name.trim_start_matches('#').trim_start_matches('/');
        let name = name.replace('/', ".");
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains(char::is_whitespace);
        is_name.then_some(Named { name, why })
    }

    /// `partySize is required`, `unknown field partySize`, or a name alone.
    fn of_sentence(text: &str) -> Option<Self> {
        let text = text.trim();
        let noun = [" field ", " parameter ", " property "];
        let split = noun.iter().find_map(|noun| text.split_once(noun));
        let split = split.filter(|(_, name)| !name.contains(' '));
        let Some((name, why)) = split.map(|it| (it.1, it.0)).or(text.split_once(' ')) else {
            return Named::new(text, String::new());
        };
        let says = [
            "is required",
            "is missing",
            "is unknown",
            "unknown",
            "is not ",
            "must ",
        ];
        let is_said = split.is_some() || says.iter().any(|says| why.starts_with(says));
        let name = name.trim_matches(['`', '"', '\'', ':']);
        Named::new(name, why.to_owned()).filter(|_| is_said)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        let why = self.why.to_lowercase();
        UNKNOWN.split(',').any(|word| why.contains(word))
    }
}

/// The fields that the body of a refusal names, once each. Its sentence is read where nothing else names one.
pub(crate) fn named(body: &Value) -> Vec<Named> {
    let mut found = Vec::new();
    in_document(body, &mut found);
    if found.is_empty() {
        let parts = sentences(body).flat_map(|text| text.split([':', ';', ',']));
        let parts = parts.filter(|part| part.trim().contains(' '));
        found.extend(parts.filter_map(Named::of_sentence));
    }
    let mut once: Vec<Named> = Vec::new();
    for named in found {
        if !once.iter().any(|other| other.name == named.name) {
            once.push(named);
        }
    }
    once
}

fn sentences(body: &Value) -> impl Iterator<Item = &str> {
    texts(body, &["error", "message", "detail", "title"])
}

/// The texts of a refusal under these names, then those of the object in its `error`.
pub(crate) fn texts<'a>(said: &'a Value, fields: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let documents = [Some(said), said.get("error")].into_iter().flatten();
    documents.flat_map(|it| fields.iter().filter_map(|field| it.get(*field)?.as_str()))
}

fn in_document(body: &Value, found: &mut Vec<Named>) {
    for (key, value) in body.as_object().into_iter().flatten() {
        if is_one_of(NAMING, key) {
            collect(value, found, 0);
        } else if matches!(key.as_str(), "error" | "detail") && value.is_object() {
            in_document(value, found);
        } else if let ("field" | "param" | "parameter", Some(name)) = (key.as_str(), value.as_str())
        {
            let text = |it| body.get(it)?.as_str();
            let why = ["detail", "message"].into_iter().find_map(text);
            found.extend(Named::new(name, why.unwrap_or_default().to_owned()));
        }
    }
}

fn collect(value: &Value, found: &mut Vec<Named>, depth: usize) {
    match value {
        Value::String(text) => found.extend(Named::of_sentence(text)),
        Value::Array(elements) if depth < 4 => {
            for element in elements {
                match element {
                    // In a list, an object without a field is about something else.
                    Value::Object(object) => found.extend(one_field(object)),
                    element => collect(element, found, depth + 1),
                }
            }
        }
        Value::Object(object) => {
            if let Some(named) = one_field(object) {
                found.push(named);
                return;
            }
            for (name, why) in object {
                if why.is_object() && is_one_of(NAMING, name) && depth < 4 {
                    collect(why, found, depth + 1);
                } else {
                    found.extend(Named::new(name, joined(why)));
                }
            }
        }
        _ => {}
    }
}

fn one_field(object: &Map<String, Value>) -> Option<Named> {
    let name_in = |object: &Map<String, Value>| {
        ONE.split(' ').find_map(|key| match object.get(key)? {
            Value::String(name) => Some(name.clone()),
            Value::Array(path) => Some(path.iter().map(plain).collect::<Vec<_>>().join(".")),
            _ => None,
        })
    };
    let name = name_in(object).or_else(|| name_in(object.get("source")?.as_object()?))?;
    let is_other = |key: &str| !ONE.split(' ').any(|it| it == key) && key != "source";
    let others = object.iter().filter(|(key, _)| is_other(key));
    let why: Vec<String> = others.map(|(_, value)| joined(value)).collect();
    Named::new(&name, why.join(" "))
}

fn joined(value: &Value) -> String {
    let texts = scalars(value).into_iter().map(|(_, text)| text);
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_fields_of_a_refusal_are_found_in_every_form() {
        for body in [
            json!({"error": "missing", "missing": ["when.start"]}),
            json!({"error": "x", "field": "when.start", "detail": "is required"}),
            json!({"error": "x", "fields": {"when.start": "is required"}}),
            json!({"error": "x", "errors": [{"field": "when.start", "message": "is required"}]}),
            json!({"error": "x", "errors": [{"source": {"pointer": "/when/start"}, "detail": "is required"}]}),
            json!({"error": "x", "details": ["when.start is required"]}),
            json!({"error": "x", "invalid": ["when.start"]}),
            json!({"error": "x", "fieldErrors": [{"path": "when.start", "reason": "is required"}]}),
            json!({"error": "x", "problems": {"by_field": {"when.start": ["is required"]}}}),
            json!({"error": "validation failed: when.start is required"}),
            json!({"error": {"code": "bad", "message": "when.start is required"}}),
        ] {
            let named = named(&body);
            assert_eq!(named.len(), 1, "{body}: {named:?}");
            assert_eq!(named[0].name, "when.start", "{body}");
            assert!(!named[0].is_unknown(), "{body}");
        }
        for body in [
            json!({"error": "booking not found"}),
            json!({"error": "x", "errors": [{"status": "422", "title": "Too many", "code": "party_too_large"}]}),
            json!({"error": "x", "details": ["the venue is closed"]}),
        ] {
            assert_eq!(named(&body), [], "{body}");
        }
        let unknown = json!({"error": "x", "field": "party_size", "detail": "unknown field"});
        assert!(named(&unknown)[0].is_unknown());
    }
}
