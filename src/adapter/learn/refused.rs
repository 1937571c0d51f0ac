//! The fields that a refusal names.

use serde_json::Value;

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
    for name in LISTS {
        match value.get(name) {
            Some(Value::Array(elements)) => found.extend(elements.iter().filter_map(element)),
            Some(inner @ Value::Object(members)) => {
                if LISTS.iter().any(|name| inner.get(name).is_some()) {
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
