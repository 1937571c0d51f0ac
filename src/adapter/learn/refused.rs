//! The fields that a refusal names.

use serde_json::Value;

use super::paths::paths_of;
use crate::adapter::names::same_words;

/// A field that a refusal names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The names from the outermost object on.
    pub(crate) path: Vec<String>,
    /// What the refusal says of it.
    pub(crate) why: String,
}

impl Named {
    fn new(name: &str, why: &str) -> Option<Self> {
        let pointer = name.strip_prefix('/');
        let parts = match pointer {
            Some(pointer) => pointer.split('/').collect::<Vec<_>>(),
            None => name.split('.').collect(),
        };
        let path: Vec<String> = parts
            .into_iter()
            .map(|part| part.trim().to_owned())
            .collect();
        let is_name = |part: &String| {
            !part.is_empty()
                && part.len() < 60
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        path.iter().all(is_name).then(|| Named {
            path,
            why: why.trim().to_owned(),
        })
    }

    /// The path with dots, as the dialect takes it.
    pub(crate) fn dotted(&self) -> String {
        self.path.join(".")
    }

    /// Whether the field is refused because the service does not know it.
    pub(crate) fn is_unknown(&self) -> bool {
        let why = self.why.to_lowercase();
        [
            "unknown",
            "not allowed",
            "unexpected",
            "not permitted",
            "additional",
        ]
        .iter()
        .any(|word| why.contains(word))
    }

    /// Whether the field is asked for.
    pub(crate) fn is_required(&self) -> bool {
        let why = self.why.to_lowercase();
        why.is_empty()
            || [
                "required",
                "missing",
                "blank",
                "must be present",
                "must not be empty",
            ]
            .iter()
            .any(|word| why.contains(word))
    }
}

/// The headers that a refusal names in its sentences, such as `X-Organization-Id`.
pub(crate) fn header_names(body: &Value) -> Vec<String> {
    words_of(body, |word| {
        let parts: Vec<&str> = word.split('-').collect();
        let is_part = |part: &&str| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        parts.len() > 1
            && (parts.iter().all(is_part) || word.starts_with("x-"))
            && !["content-type", "idempotency-key", "retry-after"]
                .contains(&word.to_ascii_lowercase().as_str())
    })
}

/// The names of keys that a refusal names where it speaks of the query.
pub(crate) fn parameter_names(body: &Value) -> Vec<String> {
    if !body.to_string().to_lowercase().contains("query") {
        return Vec::new();
    }
    words_of(body, |word| {
        let lower = word.to_ascii_lowercase();
        ["key", "token"].iter().any(|it| lower.ends_with(it))
            && word.contains(|c: char| c == '_' || c.is_ascii_uppercase())
            && !word.contains('-')
    })
}

/// How many names of one refusal are looked at.
const MOST_NAMES: usize = 4;

/// The words of all texts of a document that fit, once each.
fn words_of(body: &Value, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, value) in paths_of(body) {
        let text = value.as_str().unwrap_or_default();
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
            let is_new = !found.iter().any(|it| it.eq_ignore_ascii_case(word));
            if word.len() < 40 && is_new && fits(word) && found.len() < MOST_NAMES {
                found.push(word.to_owned());
            }
        }
    }
    found
}

/// Members that hold names of fields, in whatever form.
const LISTS: &[&str] = &[
    "missing",
    "fields",
    "errors",
    "details",
    "invalid",
    "problems",
    "by_field",
    "violations",
    "validation_errors",
    "invalid_params",
    "field_errors",
];

/// The fields that a refusal's body names, in their order.
pub(crate) fn named_in(body: &Value) -> Vec<Named> {
    let mut found = Vec::new();
    if let Some(name) = body.get("field").and_then(Value::as_str) {
        let why = body
            .get("detail")
            .or_else(|| body.get("message"))
            .and_then(Value::as_str);
        found.extend(Named::new(name, why.unwrap_or_default()));
    }
    lists(body, &mut found);
    if found.is_empty()
        && let Some(sentence) = body.get("error").and_then(Value::as_str)
        && let Some((_, listed)) = sentence.split_once(':')
    {
        found.extend(listed.split(';').filter_map(of_sentence));
    }
    let mut once: Vec<Named> = Vec::new();
    for named in found {
        if !once.iter().any(|other| other.path == named.path) {
            once.push(named);
        }
    }
    once
}

fn lists(value: &Value, found: &mut Vec<Named>) {
    let members = value.as_object().into_iter().flatten();
    let named = members.filter(|(name, _)| LISTS.iter().any(|list| same_words(list, name)));
    for (_, value) in named {
        match Some(value) {
            Some(Value::Array(elements)) => found.extend(elements.iter().filter_map(element)),
            Some(inner @ Value::Object(members)) => {
                let is_list = |name: &String| LISTS.iter().any(|list| same_words(list, name));
                if members.keys().any(is_list) {
                    lists(inner, found);
                    continue;
                }
                found.extend(
                    members
                        .iter()
                        .filter_map(|(name, why)| Named::new(name, &first_text(why))),
                );
            }
            _ => {}
        }
    }
}

fn first_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.first().map(first_text).unwrap_or_default(),
        _ => String::new(),
    }
}

fn element(value: &Value) -> Option<Named> {
    let Value::Object(_) = value else {
        return of_sentence(value.as_str()?);
    };
    let text = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| value.get(name)?.as_str())
            .map(str::to_owned)
    };
    let pointer = value
        .get("source")
        .and_then(|it| it.get("pointer"))
        .and_then(Value::as_str);
    let name = pointer
        .map(str::to_owned)
        .or_else(|| text(&["field", "name", "param", "path", "pointer", "property"]))?;
    Named::new(
        &name,
        &text(&["message", "detail", "why", "reason", "error"]).unwrap_or_default(),
    )
}

/// `partySize is required`, or a name alone.
fn of_sentence(text: &str) -> Option<Named> {
    let text = text.trim();
    match text.split_once(' ') {
        Some((name, why)) => Named::new(name.trim_matches(['`', '"', '\'', ':']), why),
        None => Named::new(text, ""),
    }
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
        ] {
            let named = named_in(&body);
            assert_eq!(named.len(), 1, "{body}");
            assert_eq!(named[0].dotted(), "when.start", "{body}");
            assert!(named[0].is_required(), "{body}");
        }
        assert_eq!(named_in(&json!({"error": "booking not found"})), []);
        let unknown =
            named_in(&json!({"error": "x", "field": "party_size", "detail": "unknown field"}));
        assert!(unknown[0].is_unknown() && !unknown[0].is_required());
    }
}
