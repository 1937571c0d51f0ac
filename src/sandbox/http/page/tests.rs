use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::*;
use crate::sandbox::http::control;
use crate::sandbox::http::endpoints::ENDPOINTS;
use crate::sandbox::rules::rate_limit::EndpointLimit;
use crate::sandbox::rules::state::BookingErrorCode;

fn service() -> Value {
    serde_json::from_str(SERVICE).unwrap()
}

fn controls_document() -> Value {
    serde_json::from_str(CONTROLS).unwrap()
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn schemas(document: &Value) -> &Map<String, Value> {
    object(&document["components"]["schemas"])
}

/// Every operation: `GET /v1/`, and what the document says of it.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = object(&document["paths"]).iter();
    paths
        .flat_map(|(path, calls)| {
            let calls = object(calls).iter();
            calls.map(move |(method, it)| (format!("{} {path}", method.to_uppercase()), it))
        })
        .collect()
}

/// The value, or the one that its `$ref` leads to.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let target = value["$ref"].as_str();
    target.map_or(value, |it| document.pointer(&it[1..]).unwrap())
}

fn walk(value: &Value, at: &str, visit: &mut impl FnMut(&str, &Value)) {
    visit(at, value);
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, it)| walk(it, &format!("{at}/{name}"), visit))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, it)| walk(it, &format!("{at}/{index}"), visit)),
        _ => {}
    }
}

#[test]
fn it_tells_scope_and_limit_of_every_endpoint() {
    let document = service();
    for endpoint in ENDPOINTS {
        let operation = &document["paths"][endpoint.path][endpoint.method.to_lowercase()];
        assert!(operation.is_object(), "{} {}", endpoint.method, endpoint.path);
        assert_eq!(operation["summary"], endpoint.summary);
        assert_eq!(operation["x-required-scope"].as_str(), endpoint.scope);
        let limit = endpoint.rate_limit.map(|EndpointLimit(_, it)| u64::from(it));
        assert_eq!(operation["x-rate-limit"].as_u64(), limit);
    }
    assert_eq!(operations(&document).len(), ENDPOINTS.len());
}

#[test]
fn every_control_is_described_and_nothing_else() {
    let document = controls_document();
    let described: BTreeSet<String> = operations(&document).into_iter().map(|it| it.0).collect();
    let served = control::CONTROLS.iter();
    let served: BTreeSet<String> = served.map(|it| format!("{} {}", it.method, it.path)).collect();
    let missing: Vec<_> = served.difference(&described).collect();
    assert!(missing.is_empty(), "not in docs/sandbox-openapi.json: {missing:?}");
    let unknown: Vec<_> = described.difference(&served).collect();
    assert!(unknown.is_empty(), "described, but no control: {unknown:?}");
}

#[test]
fn it_lists_every_error_code_of_a_booking() {
    let document = service();
    let codes = &schemas(&document)["BookingErrorCode"]["examples"];
    let codes: Vec<_> = codes.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(codes.into_iter().eq(BookingErrorCode::TABLE.iter().map(|it| it.0.name())));
}

/// What docs/spec.md marks with ◦ is the sandbox's choice: a client must not rely on it.
#[test]
fn a_field_that_the_specification_leaves_open_is_never_required() {
    let document = service();
    let page = include_str!("../../../../docs/spec.md");
    let mut checked = 0;
    let mut heading = "";
    for line in page.lines() {
        heading = line.strip_prefix("### ").map_or(heading, |it| it.rsplit(' ').next().unwrap());
        let name = if heading == "booking" { "Booking" } else { heading };
        let Some(schema) = schemas(&document).get(name) else { continue };
        let first = line.trim_start_matches('|').split('|').next().unwrap_or_default();
        for open in first.split(',').filter(|it| it.contains('◦')) {
            let field = open.trim().trim_matches(['`', '◦', ' ']);
            let required = schema["required"].as_array().into_iter().flatten();
            assert!(required.into_iter().all(|it| it != field), "{name}.{field}");
            checked += usize::from(schema["properties"].get(field).is_some());
        }
    }
    assert!(checked > 15, "{checked}");
    for name in ["BookingStatus", "BookingErrorCode", "Provider", "BookingEventType", "NextAction"]
    {
        let schema = &schemas(&document)[name];
        assert!(schema.get("enum").or(schema.get("oneOf")).is_none(), "{name} is closed");
    }
    let mut links = object(&document["components"]["links"]).values();
    assert!(links.all(|it| it.get("requestBody").is_none_or(Value::is_string)));
}

#[test]
fn a_schema_that_both_documents_have_is_the_same_in_both() {
    let (service, controls) = (service(), controls_document());
    for (name, schema) in schemas(&controls) {
        if let Some(other) = schemas(&service).get(name) {
            assert_eq!(schema, other, "{name}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    for document in [service(), controls_document()] {
        let mut used = BTreeSet::new();
        walk(&document, "", &mut |at, value| {
            if let Some(target) = value.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(&target[1..]).is_some(), "{at}: {target}");
                used.insert(target.to_owned());
            }
        });
        for name in schemas(&document).keys() {
            let target = format!("#/components/schemas/{name}");
            assert!(used.contains(&target), "{name} is used nowhere");
        }
    }
}

/// A generator makes up a name for an object or an enumeration that has none, as
/// `CreateBookingResponse403Type0`.
#[test]
fn every_object_and_every_enumeration_has_a_name() {
    for document in [service(), controls_document()] {
        for name in schemas(&document).keys() {
            assert!(
                name.chars().all(|it| it.is_ascii_alphanumeric())
                    && name.starts_with(|it: char| it.is_ascii_uppercase()),
                "{name}"
            );
        }
        walk(&document, "", &mut |at, value| {
            let holder = at.rsplit_once('/').map_or("", |(holder, _)| holder);
            // The part that an error adds to its base has the error's name.
            let is_named = holder == "/components/schemas" || holder.ends_with("/allOf");
            let is_schema = value.get("type").is_some_and(Value::is_string)
                && !at.contains("/examples/")
                && !at.ends_with("/properties");
            let is_nameless = value.get("properties").is_some() || value.get("enum").is_some();
            assert!(!is_schema || !is_nameless || is_named, "{at} has no name");
        });
    }
}

#[test]
fn every_operation_has_name_for_method_sentence_and_examples() {
    for document in [service(), controls_document()] {
        let mut names = BTreeSet::new();
        for (call, operation) in operations(&document) {
            let name = operation["operationId"].as_str().unwrap();
            let is_camel = name.starts_with(|it: char| it.is_ascii_lowercase())
                && name.chars().all(|it| it.is_ascii_alphabetic());
            assert!(is_camel, "{call}: {name}");
            assert!(names.insert(name), "two operations are named {name}");
            let sentence = operation["description"].as_str().unwrap_or_default();
            assert!(sentence.ends_with('.'), "{call}: {sentence:?}");
            let parameters = operation["parameters"].as_array();
            for parameter in parameters.into_iter().flatten() {
                let sentence = parameter["description"].as_str().unwrap_or_default();
                assert!(sentence.ends_with('.'), "{call}: {parameter}");
                assert!(parameter.get("example").is_some(), "{call}: {parameter}");
            }
            let contents =
                object(&operation["responses"]).values().chain(operation.get("requestBody"));
            for content in contents {
                let content = &resolved(&document, content)["content"];
                let schema = &object(content).values().next().unwrap()["schema"];
                let of_parts = schema.get("anyOf").or_else(|| schema.get("oneOf"));
                let schemas = match of_parts {
                    Some(parts) => parts.as_array().unwrap().iter().collect(),
                    None => vec![schema],
                };
                for schema in schemas {
                    let example = &resolved(&document, schema)["examples"][0];
                    assert!(!example.is_null(), "{call}: {schema} has no example");
                }
            }
        }
    }
}

#[test]
fn every_field_has_a_sentence_and_an_example() {
    for document in [service(), controls_document()] {
        walk(&document["components"]["schemas"], "", &mut |at, value| {
            let is_schema = at.matches('/').count() == 1 || at.contains("/allOf/");
            let Some(fields) = value.get("properties").filter(|_| is_schema) else {
                return;
            };
            for (name, field) in object(fields) {
                let referred = resolved(&document, field);
                let of = |key: &str| field.get(key).or_else(|| referred.get(key));
                let sentence = of("description").and_then(Value::as_str).unwrap_or_default();
                assert!(sentence.ends_with('.'), "{at}.{name}: {sentence:?}");
                let items =
                    field.get("items").and_then(|it| resolved(&document, it).get("examples"));
                let has_example = of("examples").or_else(|| of("const")).or(items);
                assert!(has_example.is_some(), "{at}.{name} has no example");
            }
        });
    }
}

/// The hashes are those of the whole content of the elements.
#[test]
fn elements_contain_script_and_style_and_nothing_else() {
    let style = format!("<style>{STYLE}</style>");
    let script = format!("<script type=\"module\">{SCRIPT}</script>");
    assert!(PAGE.contains(&style) && PAGE.contains(&script));
    assert_eq!(PAGE.matches("<script").count(), 1);
    assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
}

#[test]
fn text_becomes_page_by_text_content_alone() {
    for name in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style="]
    {
        assert!(!PAGE.contains(name), "{name}");
    }
    let elsewhere = ["src=", "@import", " url(", "https://"];
    assert!(elsewhere.iter().all(|it| !PAGE.contains(it)));
}
