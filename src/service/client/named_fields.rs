//! The one reader of refusals: which fields they name, in whatever form.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::json::plain;
use crate::service::mapping::{is_one_of, scalars};

/// Members of a refusal that name fields: as texts, in lists, as the names of an object, or in
/// objects about one each.
const NAMING: &str = "missing fields errors invalid details problems by_field violations validation_errors \
    invalid_params field_errors field_violations";
/// Members of an object about one field that name it.
const ONE: &str = "field name param parameter pointer path property";
/// What is reported of a field, after its name; then of an unknown one.
const SAID: &str = "is required|is missing|is unknown|unknown|is not |must ";
const UNKNOWN: &str = "additional|not a field|not a known|not allowed|not expected|not permitted|not supported|unexpected|\
    unknown|unrecogni|unsupported";

/// A field of a request, as a refusal names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    /// With dots between the names of nested objects.
    pub(crate) name: String,
    pub(crate) why: String,
    /// An expression over a request in our shape; `None` where nothing shows what it holds.
    pub(crate) value: Option<String>,
    /// Whether bookctl sends it by itself.
    pub(crate) is_own: bool,
}

impl Field {
    /// A field, if this can be the name of one.
    fn new(name: &str, why: String) -> Option<Self> {
        let name = name.trim_start_matches(['#', '/']).replace('/', ".");
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains(char::is_whitespace);
        is_name.then_some(Field { name, why, ..Field::default() })
    }

    /// `partySize is required`, `unknown field partySize`, or a name alone.
    fn of_sentence(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut nouns = [" field ", " parameter ", " property "].into_iter();
        let after = nouns.find_map(|noun| text.split_once(noun));
        let (why, name) = match after.filter(|(_, name)| !name.contains(' ')) {
            Some(after) => after,
            None => {
                let (name, why) = text.split_once(' ').unwrap_or((text, ""));
                let is_said = SAID.split('|').any(|wording| why.starts_with(wording));
                (is_said || why.is_empty()).then_some((why, name))?
            }
        };
        Field::new(name.trim_matches(['`', '"', '\'', ':']), why.to_owned())
    }

    pub(crate) fn is_unknown(&self) -> bool {
        let why = self.why.to_lowercase();
        UNKNOWN.split('|').any(|word| why.contains(word))
    }
}

/// The fields that a refusal's body names, once each; else those of its sentence.
pub(crate) fn named(body: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    collect(body, false, &mut found);
    if found.is_empty() {
        let sentences = texts(body, &["error", "message", "detail", "title"]);
        let parts = sentences.flat_map(|text| text.split([':', ';', ',']));
        found.extend(parts.filter(|part| part.trim().contains(' ')).filter_map(Field::of_sentence));
    }
    let texts = scalars(body);
    let is_end = |c: char| !c.is_alphanumeric() && !"_-.".contains(c);
    let words = texts.iter().flat_map(|(_, text)| text.split(is_end));
    let is_path = |word: &&str| word.split('.').all(|part| !part.is_empty());
    let paths: Vec<&str> = words.filter(is_path).collect();
    for Field { name, .. } in &mut found {
        let (first, last) = (format!("{name}."), format!(".{name}"));
        let longer = paths.iter().filter(|it| it.starts_with(&first) || it.ends_with(&last));
        if let Some(path) = longer.max_by_key(|it| it.len()) {
            *name = (*path).to_owned();
        }
    }
    let mut names = HashSet::new();
    found.retain(|it| names.insert(it.name.clone()));
    found
}

/// The texts of a refusal under these names, then those of the object in its `error`.
pub(crate) fn texts<'a>(wording: &'a Value, fields: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let documents = [Some(wording), wording.get("error")].into_iter().flatten();
    documents.flat_map(|it| fields.iter().filter_map(|field| it.get(*field)?.as_str()))
}

/// Finds the fields that a refusal names, or that a member of it holds which names fields.
fn collect(value: &Value, is_naming: bool, found: &mut Vec<Field>) {
    match value {
        Value::String(text) if is_naming => found.extend(Field::of_sentence(text)),
        Value::Array(elements) if is_naming => elements.iter().for_each(|element| {
            // In a list, an object without a field is about something else.
            let is_other = element.as_object().is_some_and(|it| one_field(it).is_none());
            collect(element, !is_other, found);
        }),
        Value::Object(object) => match one_field(object).filter(|_| is_naming) {
            Some(named) => found.push(named),
            None => object.iter().for_each(|(key, inner)| match key.as_str() {
                _ if is_one_of(NAMING, key) && (!is_naming || inner.is_object()) => {
                    collect(inner, true, found);
                }
                _ if is_naming => found.extend(Field::new(key, joined(inner))),
                "error" | "detail" => collect(inner, false, found),
                "field" | "param" | "parameter" => {
                    let why = texts(value, &["detail", "message"]).next().unwrap_or_default();
                    found.extend(inner.as_str().and_then(|it| Field::new(it, why.to_owned())));
                }
                _ => {}
            }),
        },
        _ => {}
    }
}

fn one_field(object: &Map<String, Value>) -> Option<Field> {
    let name_in = |object: &Map<String, Value>| {
        ONE.split(' ').find_map(|key| match object.get(key)? {
            Value::String(name) => Some(name.clone()),
            Value::Array(path) => Some(path.iter().map(plain).collect::<Vec<_>>().join(".")),
            _ => None,
        })
    };
    let name = name_in(object).or_else(|| name_in(object.get("source")?.as_object()?))?;
    let mut others = object.clone();
    others.retain(|key, _| key != "source" && !ONE.split(' ').any(|one| one == key));
    Field::new(&name, joined(&others.into()))
}

fn joined(value: &Value) -> String {
    scalars(value).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
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
            json!({"error": {"details": [{"@type": "x", "fieldViolations": [{"field": "when.start", "description": "is required"}]}]}}),
            json!({"error": "when.start can't be blank", "errors": {"start": ["can't be blank"]}}),
            json!({"errors": {"when": ["when.start can't be blank"]}}),
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
        for why in ["unknown field", "is not a known field", "is not supported"] {
            let unknown = json!({"error": "x", "field": "party_size", "detail": why});
            assert!(named(&unknown)[0].is_unknown(), "{why}");
        }
    }
}
