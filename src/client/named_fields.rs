//! Which fields a refusal names, in whatever form, and which settings of a profile gave them.

use serde_json::{Map, Value};

use super::call::Call;
use super::refusal::Refusal;
use crate::adapter::{same_words, scalars};
use crate::json::plain;
use crate::model::time_text::human;

/// Members of a refusal that name fields: as texts, in lists, as the names of an object, or in objects about one each.
const NAMING: &[&str] = &[
    "missing",
    "fields",
    "errors",
    "invalid",
    "details",
    "problems",
    "by_field",
    "violations",
    "validation_errors",
    "invalid_params",
    "field_errors",
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

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// With dots between the names of nested objects.
    pub(crate) name: String,
    /// What is said about it, where something is.
    pub(crate) why: String,
}

impl Named {
    /// A field, if this can be the name of one.
    fn new(name: &str, why: String) -> Option<Self> {
        let name = name
            .trim_start_matches('#')
            .trim_start_matches('/')
            .replace('/', ".");
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains(char::is_whitespace);
        is_name.then_some(Named { name, why })
    }

    /// `partySize is required`, or a name alone.
    fn of_sentence(text: &str) -> Option<Self> {
        let Some((name, why)) = text.trim().split_once(' ') else {
            return Named::new(text.trim(), String::new());
        };
        let says_so = [
            "is required",
            "is missing",
            "is unknown",
            "is not ",
            "must ",
        ];
        let named = Named::new(name.trim_matches(['`', '"', '\'', ':']), why.to_owned());
        named.filter(|it| says_so.iter().any(|says| it.why.starts_with(says)))
    }

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

    /// Whether the service does not know the field.
    pub(crate) fn is_unknown(&self) -> bool {
        let refused = [
            "additional",
            "not allowed",
            "not expected",
            "not permitted",
            "unexpected",
            "unknown",
            "unrecogni",
            "unsupported",
        ];
        let why = self.why.to_lowercase();
        refused.iter().any(|it| why.contains(it))
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'))
        .map(|word| word.trim_matches('.').to_lowercase())
}

fn is_about_names(text: &str) -> bool {
    words(text).any(|word| ABOUT_NAMES.contains(&word.as_str()))
}

/// The fields that the body of a refusal names, once each. Its sentence is read where nothing else names one.
pub(crate) fn named(body: &Value) -> Vec<Named> {
    let mut found = Vec::new();
    in_document(body, &mut found, 0);
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
    let documents = [Some(body), body.get("error")].into_iter().flatten();
    documents.flat_map(|document| {
        let texts = ["error", "message", "detail", "title"];
        texts
            .into_iter()
            .filter_map(|key| document.get(key)?.as_str())
    })
}

fn in_document(body: &Value, found: &mut Vec<Named>, depth: usize) {
    for (key, value) in body.as_object().into_iter().flatten() {
        if NAMING.iter().any(|it| same_words(it, key)) {
            collect(value, found, depth);
        } else if matches!(key.as_str(), "error" | "detail") && value.is_object() {
            in_document(value, found, depth);
        } else if matches!(key.as_str(), "field" | "param" | "parameter") {
            let why = ["detail", "message"]
                .iter()
                .find_map(|it| body.get(it)?.as_str());
            let name = value.as_str().unwrap_or_default();
            found.extend(Named::new(name, why.unwrap_or_default().to_owned()));
        }
    }
}

fn collect(value: &Value, found: &mut Vec<Named>, depth: usize) {
    match value {
        Value::String(text) => found.extend(Named::of_sentence(text)),
        Value::Array(elements) if depth < 4 => {
            for element in elements {
                match element.as_object() {
                    // In a list, an object without a field is about something else.
                    Some(object) => found.extend(one_field(object)),
                    None => collect(element, found, depth + 1),
                }
            }
        }
        Value::Object(object) => {
            if let Some(named) = one_field(object) {
                found.push(named);
                return;
            }
            for (name, why) in object {
                match why {
                    Value::Object(_)
                        if depth < 4 && NAMING.iter().any(|it| same_words(it, name)) =>
                    {
                        collect(why, found, depth + 1);
                    }
                    why => found.extend(Named::new(name, texts(why))),
                }
            }
        }
        _ => {}
    }
}

fn one_field(object: &Map<String, Value>) -> Option<Named> {
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
    Named::new(&name, why.join(" "))
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
    let sentences: Vec<&str> = sentences(body)
        .filter(|text| is_about_names(text))
        .collect();
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
        sent.is_none_or(|body| body.pointer(&pointer).is_none()) && !has_flag(&field.name)
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

/// The flags of the fields that a request can have.
const FLAGS: &[(&str, &str)] = &[
    ("datetime", "--at"),
    ("party_size", "--party"),
    ("customer.name", "--name"),
    ("customer.email", "--email"),
    ("customer.phone", "--phone"),
    ("phone", "--phone"),
    ("availability_id", "--slot"),
    ("location", "--near"),
    ("provider", "--provider"),
    ("end_user", "--end-user"),
];

fn has_flag(name: &str) -> bool {
    FLAGS.iter().any(|(field, _)| *field == name)
}

/// Which values to correct, if the refusal names fields that have flags: `check the value of --party`.
pub(super) fn values_to_correct(refusal: &Refusal) -> Option<String> {
    let flag = |field: &Named| {
        let known = FLAGS.iter().find(|it| it.0 == field.name);
        known.filter(|_| !field.why.is_empty()).map(|it| it.1)
    };
    let fields = named(refusal.said().value());
    let flags: Vec<&str> = fields.iter().map(flag).collect::<Option<_>>()?;
    let values = if flags.len() == 1 { "value" } else { "values" };
    let time = refusal.other_time.filter(|_| flags.contains(&"--at"));
    let time = time.map_or(String::new(), |time| {
        let time = human(&time.strftime("%FT%TZ").to_string());
        format!("; by the service's clock it is {time}")
    });
    (!flags.is_empty()).then(|| format!("check the {values} of {}{time}", flags.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::{Adapter, WriteKind};
    use crate::client::written_names::WrittenNames;
    use reqwest::header::HeaderMap;
    use serde_json::json;

    fn hint(body: Value) -> Option<String> {
        let mut adapter = Adapter {
            profile: Some("acme".to_owned()),
            ..Adapter::default()
        };
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
            assert!(
                named[0].is_about_the_name() && !named[0].is_unknown(),
                "{body}"
            );
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
