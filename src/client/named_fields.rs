//! Which names of a request a refusal is about, and which settings of a profile gave them.

use serde_json::{Map, Value};

use super::call::Call;
use super::refusal::Refusal;
use crate::adapter::scalars;
use crate::json::plain;

/// Members of a refusal that name fields: as texts, in lists, as the names of an object, or in objects about one each.
const NAMING: &[&str] = &[
    "missing",
    "field",
    "fields",
    "param",
    "parameter",
    "errors",
    "invalid",
    "details",
    "problems",
    "by_field",
    "violations",
];

/// Members of an object about one field that name it.
const ONE: &[&str] = &[
    "field",
    "name",
    "param",
    "parameter",
    "pointer",
    "path",
    "property",
];

/// Words of a sentence about the name of a field, not about its value.
const ABOUT_NAMES: &[&str] = &[
    "accepted",
    "additional",
    "allowed",
    "expected",
    "extra",
    "field",
    "fields",
    "missing",
    "parameter",
    "permitted",
    "property",
    "required",
    "unexpected",
    "unknown",
    "unrecognised",
    "unrecognized",
    "unsupported",
];

/// A field that a refusal names.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    /// With dots between the names of nested objects.
    name: String,
    /// What is said about it, where something is.
    why: String,
}

impl Named {
    /// Whether this is the field that was sent as `path`, as far as the ends of both say.
    fn is(&self, path: &str) -> bool {
        let ends_with = |whole: &str, end: &str| {
            whole == end
                || whole
                    .strip_suffix(end)
                    .is_some_and(|rest| rest.ends_with('.'))
        };
        ends_with(&self.name, path) || ends_with(path, &self.name)
    }

    /// Whether it is said to be missing or unknown, and not to have a wrong value.
    fn is_about_the_name(&self) -> bool {
        self.why.is_empty() || is_about_names(&self.why)
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'))
        .map(|word| word.trim_matches('.').to_lowercase())
}

fn is_about_names(text: &str) -> bool {
    words(text).any(|word| ABOUT_NAMES.contains(&word.as_str()))
}

/// The fields that the body of a refusal names.
fn named(body: &Value) -> Vec<Named> {
    let mut found = Vec::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        if NAMING.contains(&key.as_str()) {
            collect(value, &mut found, 0);
        } else if matches!(key.as_str(), "error" | "detail") && value.is_object() {
            found.extend(named(value));
        }
    }
    found
}

fn collect(value: &Value, found: &mut Vec<Named>, depth: usize) {
    let mut add = |name: &str, why: String| {
        let name = name
            .trim_start_matches('#')
            .trim_start_matches('/')
            .replace('/', ".");
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains(char::is_whitespace);
        if is_name {
            found.push(Named { name, why });
        }
    };
    match value {
        Value::String(name) => add(name, String::new()),
        Value::Array(elements) if depth < 4 => {
            for element in elements {
                collect(element, found, depth + 1);
            }
        }
        Value::Object(object) => match one_field(object) {
            Some((name, why)) => add(&name, why),
            None => {
                for (name, why) in object {
                    match why {
                        Value::Object(_) if NAMING.contains(&name.as_str()) && depth < 4 => {
                            collect(why, found, depth + 1);
                        }
                        why => found.push(Named {
                            name: name.clone(),
                            why: texts(why),
                        }),
                    }
                }
            }
        },
        _ => {}
    }
}

/// The field that an object of a list is about, and what it says.
fn one_field(object: &Map<String, Value>) -> Option<(String, String)> {
    let source = object.get("source").and_then(Value::as_object);
    let name = [Some(object), source]
        .into_iter()
        .flatten()
        .find_map(|object| {
            ONE.iter().find_map(|key| match object.get(*key)? {
                Value::String(name) => Some(name.clone()),
                Value::Array(path) => Some(path.iter().map(plain).collect::<Vec<_>>().join(".")),
                _ => None,
            })
        })?;
    let others = object
        .iter()
        .filter(|(key, _)| !ONE.contains(&key.as_str()) && *key != "source");
    let why: Vec<String> = others.map(|(_, value)| texts(value)).collect();
    Some((name, why.join(" ")))
}

fn texts(value: &Value) -> String {
    let texts = scalars(value).into_iter().map(|(_, text)| text);
    texts.collect::<Vec<_>>().join(" ")
}

/// What to do about a refusal (400 or 422) that a name can have caused: the settings that change the name, or how to add
/// a field that was not sent.
pub(super) fn name_hint(refusal: &Refusal, call: &Call) -> Option<String> {
    let written = call
        .written
        .as_ref()
        .filter(|_| matches!(refusal.status, 400 | 422))?;
    let body = refusal.said().value();
    let named = named(body);
    let documents = [Some(body), body.get("error")].into_iter().flatten();
    let sentences = documents.flat_map(|document| {
        let texts = ["error", "message", "detail", "title"];
        texts
            .into_iter()
            .filter_map(|key| document.get(key)?.as_str())
    });
    let sentences: Vec<&str> = sentences.filter(|text| is_about_names(text)).collect();
    let is_meant = |path: &str| {
        let last = path.rsplit('.').next().unwrap_or(path).to_lowercase();
        named
            .iter()
            .any(|field| field.is(path) && field.is_about_the_name())
            || sentences
                .iter()
                .any(|text| words(text).any(|word| word == path.to_lowercase() || word == last))
    };
    let command = written.command.trim_end();
    let kind = written.kind.as_str();
    if !written.has_expression {
        let meant: Vec<&(String, &str)> = written
            .keys
            .iter()
            .filter(|(name, _)| is_meant(name))
            .collect();
        if !meant.is_empty() {
            let names: Vec<String> = meant.iter().map(|(name, _)| format!("`{name}`")).collect();
            let keys: Vec<String> = meant
                .iter()
                .map(|(_, key)| format!("dialect.{key}=NAME"))
                .collect();
            return Some(format!(
                "if the service names {} otherwise: {command} {}",
                names.join(", "),
                keys.join(" ")
            ));
        }
    }
    let sent = call.body.as_ref();
    let unsent = named.iter().find(|field| {
        let pointer = format!("/{}", field.name.replace('.', "/"));
        sent.is_none_or(|body| body.pointer(&pointer).is_none())
            && !super::refusal::has_flag(&field.name)
    })?;
    let name = &unsent.name;
    let mut hint = match written.has_field_flag() {
        true => {
            format!("bookctl did not send `{name}`: add it with `-F {name}=VALUE`, or always with ")
        }
        false => format!("bookctl did not send `{name}`: add it with "),
    };
    hint.push_str(&format!("`{command} write.{kind}=EXPRESSION`"));
    let keys: Vec<&str> = written.keys.iter().map(|(_, key)| *key).collect();
    if !written.has_expression && !keys.is_empty() {
        hint.push_str(&format!(
            "; if it is the service's name for a field that was sent: {command} dialect.KEY={name}, with {} as the key",
            keys.join(" or ")
        ));
    }
    Some(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::{Adapter, WriteKind};
    use crate::client::written_names::WrittenNames;
    use reqwest::header::HeaderMap;
    use serde_json::json;

    fn hint(body: Value) -> Option<String> {
        let mut adapter = Adapter::default();
        adapter.profile = Some("acme".to_owned());
        adapter
            .dialect
            .rename("slots_party_size_field", "query.covers")
            .unwrap();
        let asked = json!({"venue_id": "v", "datetime": "2026-12-01", "party_size": 2});
        let asked = asked.as_object().unwrap();
        let sent = json!({"venue_id": "v", "datetime": "2026-12-01", "query": {"covers": 2}});
        let mut call = Call::post("/v1/availability/search", sent);
        call.written = Some(WrittenNames::new(&adapter, WriteKind::Slots, asked));
        name_hint(&Refusal::new(400, &HeaderMap::new(), body.into()), &call)
    }

    #[test]
    fn a_field_of_the_dialect_is_named_with_the_command_that_renames_it_in_each_shape() {
        let renames = |key: &str| format!("bookctl profile set acme dialect.{key}=NAME");
        for (body, key) in [
            (
                json!({"error": "no", "field": "datetime"}),
                "slots_datetime_field",
            ),
            (
                json!({"error": "no", "missing": ["covers"]}),
                "slots_party_size_field",
            ),
            (
                json!({"error": "no", "fields": {"venue_id": "is unknown"}}),
                "slots_venue_field",
            ),
            (
                json!({"error": "no", "fields": ["venue_id"]}),
                "slots_venue_field",
            ),
            (
                json!({"error": "no", "errors": [{"source": {"pointer": "/query/covers"}, "detail": "is not expected"}]}),
                "slots_party_size_field",
            ),
            (
                json!({"error": "no", "errors": [{"param": "datetime"}]}),
                "slots_datetime_field",
            ),
            (
                json!({"error": "no", "problems": {"by_field": {"datetime": ["is not allowed here"]}}}),
                "slots_datetime_field",
            ),
            (
                json!({"error": {"message": "no", "details": [{"field": "datetime"}]}}),
                "slots_datetime_field",
            ),
            (
                json!({"error": "unknown field datetime"}),
                "slots_datetime_field",
            ),
        ] {
            let said = hint(body.clone());
            assert!(
                said.as_ref()
                    .is_some_and(|said| said.contains(&renames(key))),
                "{body}: {said:?}"
            );
        }
    }

    #[test]
    fn a_field_that_was_not_sent_is_added_and_a_wrong_value_is_no_wrong_name() {
        let said = hint(json!({"error": "no", "missing": ["channel"]})).unwrap();
        assert!(said.contains("`-F channel=VALUE`"), "{said}");
        assert!(
            said.contains("bookctl profile set acme write.slots=EXPRESSION"),
            "{said}"
        );
        assert!(
            said.contains("dialect.KEY=channel, with slots_venue_field"),
            "{said}"
        );
        for body in [
            json!({"error": "no", "fields": {"datetime": "must be in the future"}}),
            json!({"error": "the datetime is in the past"}),
            json!({"error": "no"}),
        ] {
            assert_eq!(hint(body.clone()), None, "{body}");
        }
    }
}
