//! What an OpenAPI document says: requests and answers are made from its schemas and examples.

use serde_json::{Map, Value, json};

use super::answers::{UNTYPED, of_answer};
use super::recorded::{Recorded, auth, kinds_of};
use super::requests::of_request;
use super::{Certainty, Finding};
use crate::adapter::kind::{ReadKind, WriteKind};

/// How deep schemas are followed: they may contain themselves.
const DEEPEST: usize = 8;
/// How many alternatives and listed words of a schema are looked at.
const ALTERNATIVES: usize = 12;

/// Reads an OpenAPI document. `None` where it has no paths.
pub(crate) fn of_openapi(document: &Value) -> Option<Recorded> {
    let paths = document.get("paths")?.as_object()?;
    let mut recorded = Recorded::default();
    recorded.add(security(document));
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().into_iter().flatten() {
            // The names of path parameters are no part of what a call is.
            let Some((written, read)) = kinds_of(method, path) else {
                continue;
            };
            let operation = resolved(document, operation);
            let is_continue = path.trim_end_matches('/').ends_with("/continue");
            for body in operation
                .get("requestBody")
                .map(|it| samples(document, resolved(document, it)))
                .unwrap_or_default()
            {
                match written {
                    Some(WriteKind::Create) => {}
                    Some(kind) => recorded.add(of_request(kind, &body)),
                    None if is_continue => recorded.add(of_answer(&body)),
                    None => {}
                }
            }
            let answers = operation
                .get("responses")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            for (status, answer) in answers {
                let kind = match status.chars().next() {
                    Some('2') => read,
                    Some('4') => Some(ReadKind::Error),
                    _ => None,
                };
                let Some(kind) = kind else { continue };
                // Words and alternatives matter in bookings and refusals.
                let most = match kind {
                    ReadKind::Booking | ReadKind::Error => ALTERNATIVES,
                    _ => 1,
                };
                let bodies = samples(document, resolved(document, answer));
                for body in bodies.into_iter().take(most) {
                    if !recorded.documents.contains(&(kind, body.clone())) {
                        recorded.documents.push((kind, body));
                    }
                }
            }
        }
    }
    for finding in &mut recorded.findings {
        finding.why = finding
            .why
            .replace("a recorded request", "the OpenAPI document");
    }
    Some(recorded)
}

/// How the key is sent.
fn security(document: &Value) -> Vec<Finding> {
    let schemes = document
        .get("components")
        .and_then(|it| it.get("securitySchemes"))
        .and_then(Value::as_object);
    let Some((_, scheme)) = schemes.and_then(|it| it.iter().next()) else {
        return Vec::new();
    };
    let scheme = resolved(document, scheme);
    let text = |name: &str| scheme.get(name).and_then(Value::as_str).unwrap_or_default();
    match (
        text("type"),
        text("in"),
        text("scheme").to_lowercase().as_str(),
    ) {
        ("apiKey", "header", _) => auth(text("name"), "", "the OpenAPI document"),
        ("apiKey", "query", _) => vec![Finding::new(
            Certainty::Certain,
            "auth_query",
            text("name"),
            "the OpenAPI document sends the key in the query",
        )],
        ("apiKey", place, _) => vec![Finding::new(
            Certainty::Open,
            "",
            "",
            format!(
                "the OpenAPI document sends the key in the {place}, which a profile cannot say"
            ),
        )],
        ("http", _, "basic") => auth("Authorization", "Basic", "the OpenAPI document"),
        ("http", _, "bearer" | "") | ("", ..) => Vec::new(),
        ("http", _, _) => auth("Authorization", text("scheme"), "the OpenAPI document"),
        _ => Vec::new(),
    }
}

/// A part of the document, through its references.
fn resolved<'a>(document: &'a Value, mut value: &'a Value) -> &'a Value {
    for _ in 0..DEEPEST {
        let target = value
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|it| it.strip_prefix('#'));
        match target.and_then(|pointer| document.pointer(pointer)) {
            Some(found) => value = found,
            None => return value,
        }
    }
    value
}

/// Bodies with the names of a request's or an answer's JSON content: its example, and one for each alternative and
/// each word that its schema lists.
fn samples(document: &Value, holder: &Value) -> Vec<Value> {
    let content = holder.get("content").and_then(Value::as_object);
    let json = content
        .into_iter()
        .flatten()
        .find(|(kind, _)| kind.contains("json"))
        .map(|(_, it)| it);
    let Some(json) = json else {
        return Vec::new();
    };
    let mut bodies: Vec<Value> = example(document, json).into_iter().collect();
    if let Some(schema) = json.get("schema") {
        // An example shows one of the words, and the schema all of them.
        let picks = if bodies.is_empty() { 0 } else { 1 };
        for pick in picks..ALTERNATIVES {
            let body = of_schema(document, schema, 0, pick);
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        }
    }
    bodies
}

fn example(document: &Value, json: &Value) -> Option<Value> {
    if let Some(example) = json.get("example") {
        return Some(example.clone());
    }
    let named = json
        .get("examples")
        .and_then(Value::as_object)
        .and_then(|it| it.values().next());
    named
        .and_then(|it| resolved(document, it).get("value"))
        .cloned()
}

/// A value that fits a schema, with the alternative and the listed word at `pick`, counted around.
fn of_schema(document: &Value, schema: &Value, depth: usize, pick: usize) -> Value {
    let schema = resolved(document, schema);
    if depth > DEEPEST {
        return Value::Null;
    }
    let picked = |name: &str| {
        let several = schema.get(name)?.as_array()?;
        several.get(pick.checked_rem(several.len())?)
    };
    if pick > 0
        && let Some(word) = picked("enum")
    {
        return word.clone();
    }
    for name in ["example", "const", "default"] {
        if let Some(value) = schema.get(name).filter(|it| !it.is_null()) {
            return value.clone();
        }
    }
    if let Some(word) = picked("enum") {
        return word.clone();
    }
    for name in ["oneOf", "anyOf"] {
        if let Some(one) = picked(name) {
            return of_schema(document, one, depth + 1, pick);
        }
    }
    let mut members = Map::new();
    for part in schema
        .get("allOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Value::Object(inner) = of_schema(document, part, depth + 1, pick) {
            members.extend(inner);
        }
    }
    for (name, inner) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        members.insert(name.clone(), of_schema(document, inner, depth + 1, pick));
    }
    if !members.is_empty() {
        return Value::Object(members);
    }
    if let Some(items) = schema.get("items") {
        return json!([of_schema(document, items, depth + 1, pick)]);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(several)) => several.first().and_then(Value::as_str),
        other => other.and_then(Value::as_str),
    };
    match (kind, schema.get("format").and_then(Value::as_str)) {
        (_, Some("date-time")) => json!("2026-12-01T19:00:00Z"),
        (_, Some("date")) => json!("2026-12-01"),
        // A description says in which unit a time is.
        (Some("integer" | "number"), _) => match said(schema).as_str() {
            said if said.contains("millisecond") => json!(1_796_149_800_000_i64),
            said if said.contains("epoch") || said.contains("unix") || said.contains("1970") => {
                json!(1_796_149_800)
            }
            _ => json!(2),
        },
        (Some("boolean"), _) => json!(true),
        (Some("object"), _) => json!({}),
        (Some("array"), _) => json!([]),
        (None, None) => json!(UNTYPED),
        (Some("null"), _) => Value::Null,
        _ => json!("text"),
    }
}

/// What a schema says of its value, in lower case.
fn said(schema: &Value) -> String {
    let text = |name: &str| schema.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", text("format"), text("description")).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::learn::of_documents;

    #[test]
    fn names_are_read_from_schemas_references_and_security() {
        let document = json!({
            "components": {
                "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Partner-Key"}},
                "schemas": {"Venue": {"type": "object", "properties": {
                    "venue_id": {"type": "string"}, "title": {"type": "string"}, "children": {"$ref": "#/components/schemas/Venue"},
                }}},
            },
            "paths": {
                "/v1/venues/search": {"post": {"responses": {"200": {"content": {"application/json": {"schema": {
                    "type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/Venue"}}},
                }}}}}}},
                "/v1/sessions/{id}/verify": {"post": {"requestBody": {"content": {"application/json": {"schema": {
                    "properties": {"pin": {"type": "string"}},
                }}}}}},
            },
        });
        let recorded = of_openapi(&document).unwrap();
        let lines: Vec<_> = recorded
            .findings
            .iter()
            .map(|it| (it.key.as_str(), it.value.as_str()))
            .collect();
        assert_eq!(
            lines,
            [
                ("dialect.auth_header", "X-Partner-Key"),
                ("dialect.auth_scheme", ""),
                ("dialect.session_code_field", "pin"),
            ]
        );
        let (kind, body) = &recorded.documents[0];
        let findings = of_documents(*kind, std::slice::from_ref(body));
        assert!(
            findings[0]
                .value
                .contains(".items[] |= (move(.title; \"name\"))"),
            "{findings:?}"
        );
        assert!(of_openapi(&json!({})).is_none());
    }
}
