//! The one reader of refusals: which fields they name, in whatever form.

use std::collections::HashSet;

use serde_json::Value;

use crate::outcome::Error;
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
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// With dots between the names of nested objects.
    pub(crate) name: String,
    pub(crate) why: String,
}

impl Field {
    /// A field, if this can be the name of one.
    fn new(name: &str, why: String) -> Option<Self> {
        let name = name.trim_start_matches(['#', '/']).replace('/', ".");
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains(char::is_whitespace);
        is_name.then_some(Field { name, why })
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

/// The fields that the refusal behind an error names.
pub(crate) fn named_in(error: &Error) -> Vec<Field> {
    error.body.as_ref().map(|it| named(it.value())).unwrap_or_default()
}

/// The fields that a refusal's body names, once each; else those of its sentence.
pub(crate) fn named(body: &Value) -> Vec<Field> {
    // JSON:API names the field in an object of its own.
    let texts = scalars(body).into_iter().map(|(path, text)| (path.replace("source.", ""), text));
    let texts: Vec<_> = texts.collect();
    let mut found: Vec<_> =
        texts.iter().filter_map(|(path, text)| field_at(path, text, &texts)).collect();
    if found.is_empty() {
        let sentences = self::texts(body, &["error", "message", "detail", "title"]);
        let parts = sentences.flat_map(|text| text.split([':', ';', ',']));
        found.extend(parts.filter(|part| part.trim().contains(' ')).filter_map(Field::of_sentence));
    }
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

/// The field that a text of a refusal names, or that it says something of.
fn field_at(path: &str, text: &str, texts: &[(String, String)]) -> Option<Field> {
    let parts: Vec<&str> = path.split('.').collect();
    let key = |part: &&str| part.split('[').next().unwrap_or_default().to_owned();
    let naming = parts.iter().rposition(|part| is_one_of(NAMING, &key(part)));
    let inner = &parts[naming.map_or(parts.len() - 1, |at| at + 1)..];
    let (object, last) = path.split_at(path.rfind('.').map_or(0, |at| at + 1));
    let beside =
        texts.iter().filter_map(|(path, text)| Some((path.strip_prefix(object)?, text.as_str())));
    let beside: Vec<_> = beside.filter(|it| !it.0.contains('.')).collect();
    let names = if naming.is_some() { ONE } else { "field param parameter" };
    let mut ones = beside.iter().filter(|it| is_one_of(names, it.0) && !it.1.contains(' '));
    if let ([_], Some((one, name))) = (inner, ones.next()) {
        let is_why = |key: &str| !is_one_of(ONE, key) && (naming.is_some() || key != "error");
        let why: Vec<_> = beside.iter().filter(|it| is_why(it.0)).map(|it| it.1).collect();
        return Field::new(name, why.join(" ")).filter(|_| last == *one);
    }
    let is_listed = naming.is_none_or(|at| parts[at].ends_with(']'));
    match inner {
        [] => Field::of_sentence(text).filter(|_| is_listed || text.contains(' ')),
        // In a list, an object without a field is about something else.
        _ if is_listed => None,
        names => Field::new(&names.iter().map(key).collect::<Vec<_>>().join("."), text.to_owned()),
    }
}

/// The texts of a refusal under these names, then those of the object in its `error`.
pub(crate) fn texts<'a>(wording: &'a Value, fields: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let documents = [Some(wording), wording.get("error")].into_iter().flatten();
    documents.flat_map(|it| fields.iter().filter_map(|field| it.get(*field)?.as_str()))
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
