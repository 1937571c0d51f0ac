//! What a lenient service swallows: fields and parameters that it ignores, and what is likely to be meant otherwise.

use std::sync::LazyLock;

use axum::http::Uri;
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimeParser;
use serde_json::{Map, Value};

use super::super::endpoints::{ENDPOINTS, Endpoint};
use super::super::openapi;
use super::exchange::Exchange;
use crate::sandbox::rules::fault::covers;
use crate::sandbox::rules::fields::nearest;
use crate::sandbox::seed;
use crate::sandbox::speak::RequestKind;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(openapi::DOCUMENT).unwrap_or_default());

impl Exchange {
    /// One sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let path = self.service_path();
        let endpoint = ENDPOINTS
            .iter()
            // A path without parameters comes first, as in the router.
            .filter(|it| it.method == self.method.as_str() && covers(it.path, path))
            .min_by_key(|it| it.path.contains('{'));
        let Some(endpoint) = endpoint else {
            return notes;
        };
        if endpoint.replays && self.request_header("idempotency-key").is_none() {
            notes.push(
                "Idempotency-Key is missing: a booking request that is sent again books again"
                    .to_owned(),
            );
        }
        let body = serde_json::from_slice(&self.request.body);
        if let (Ok(Value::Object(fields)), Some(renamed)) = (&body, self.renamed(endpoint)) {
            let schema =
                operation(endpoint).pointer("/requestBody/content/application~1json/schema");
            unknown(fields, schema, ("", &renamed), &mut notes);
        }
        // Pages, times and providers of another service are not the contract's.
        if self.spoken().is_none() {
            if let Ok(Value::Object(fields)) = &body {
                self.other_zone(fields, &mut notes);
            }
            self.unused_parameters(endpoint, &mut notes);
        }
        notes
    }

    /// The contract's names that the service has others for. `None` if what it takes is not known.
    fn renamed(&self, endpoint: &Endpoint) -> Option<Vec<(&'static str, &str)>> {
        let Some(speech) = self.spoken() else {
            return Some(Vec::new());
        };
        speech.request_names(RequestKind::of(endpoint.method, endpoint.path)?)
    }

    fn unused_parameters(&self, endpoint: &Endpoint, notes: &mut Vec<String>) {
        let parameters = operation(endpoint)["parameters"].as_array();
        let known: Vec<&str> = parameters
            .into_iter()
            .flatten()
            .map(resolved)
            .filter(|it| it["in"] == "query")
            .filter_map(|it| it["name"].as_str())
            .collect();
        let uri: Option<Uri> = self.target.parse().ok();
        let query = uri.as_ref().and_then(Uri::query).unwrap_or_default();
        for pair in query.split('&').filter(|it| !it.is_empty()) {
            let name = pair.split('=').next().unwrap_or(pair);
            if !known.contains(&name) {
                notes.push(ignored("query parameter", name, known.iter().copied()));
            }
        }
    }

    /// A time that was written in another zone than the venue's.
    fn other_zone(&self, fields: &Map<String, Value>, notes: &mut Vec<String>) {
        let Some(datetime) = fields.get("datetime").and_then(Value::as_str) else {
            return;
        };
        let answer = || serde_json::from_slice::<Value>(&self.response.body).ok();
        let venue_id = match fields.get("venue_id") {
            Some(id) => id.as_str().map(str::to_owned),
            // That of the booking that is changed.
            None => answer().and_then(|it| Some(it["venue_id"].as_str()?.to_owned())),
        };
        let Some(venue) = venue_id.and_then(|it| seed::venue(&it)) else {
            return;
        };
        let pieces = DateTimeParser::new().parse_pieces(datetime);
        let (Ok(at), Some(offset)) = (
            datetime.parse::<Timestamp>(),
            pieces.ok().and_then(|it| it.to_numeric_offset()),
        ) else {
            return;
        };
        let local = at.to_zoned(venue.timezone());
        if local.offset() != offset {
            notes.push(format!(
                "datetime {datetime} is in another zone than the venue's: there it is {}",
                local.strftime("%Y-%m-%dT%H:%M:%S%:z")
            ));
        }
    }
}

fn operation(endpoint: &Endpoint) -> &'static Value {
    &DOCUMENT["paths"][endpoint.path][endpoint.method.to_lowercase()]
}

/// The value that a `$ref` leads to, or the value itself.
fn resolved(value: &'static Value) -> &'static Value {
    let target = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| DOCUMENT.pointer(it)).unwrap_or(value)
}

/// The fields of a schema, with those of its parts. `None` if it takes any field.
fn properties(schema: &'static Value) -> Option<Vec<(&'static str, &'static Value)>> {
    let schema = resolved(schema);
    if schema
        .get("additionalProperties")
        .is_some_and(|it| *it != false)
    {
        return None;
    }
    let own = schema["properties"].as_object();
    let mut found: Vec<_> = own
        .into_iter()
        .flatten()
        .map(|(name, it)| (name.as_str(), it))
        .collect();
    for part in ["allOf", "anyOf", "oneOf"] {
        for part in schema[part].as_array().into_iter().flatten() {
            found.extend(properties(part)?);
        }
    }
    Some(found)
}

/// Notes the fields that a schema does not have, also those inside objects. `renamed` are those that have another name
/// here, which may be a path.
fn unknown(
    fields: &Map<String, Value>,
    schema: Option<&'static Value>,
    (within, renamed): (&str, &[(&'static str, &str)]),
    notes: &mut Vec<String>,
) {
    let Some(known) = schema.and_then(properties).filter(|it| !it.is_empty()) else {
        return;
    };
    let spoken = |known: &'static str| {
        let other = renamed.iter().find(|(contract, _)| *contract == known);
        other.map_or(known, |(_, name)| *name)
    };
    let known: Vec<(&str, &Value)> = known
        .into_iter()
        .map(|(it, schema)| (spoken(it), schema))
        .collect();
    for (name, value) in fields {
        let leads_on = |path: &str| path.split_once('.').is_some_and(|(first, _)| first == name);
        if renamed.iter().any(|(_, path)| leads_on(path)) {
            continue;
        }
        match known.iter().find(|(known, _)| known == name) {
            None => notes.push(ignored(
                "field",
                &format!("{within}{name}"),
                known.iter().map(|(known, _)| *known),
            )),
            Some((_, schema)) => {
                if let Value::Object(fields) = value {
                    let within = format!("{within}{name}.");
                    unknown(fields, Some(schema), (&within, &[]), notes);
                }
            }
        }
    }
}

/// `unknown field paymentCollection is ignored; did you mean payment_collection?`
fn ignored<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let note = format!("unknown {what} {name} is ignored");
    let (within, last) = name
        .rsplit_once('.')
        .map_or(("", name), |(within, last)| (within, last));
    let dot = if within.is_empty() { "" } else { "." };
    match nearest(last, known) {
        Some(meant) => format!("{note}; did you mean {within}{dot}{meant}?"),
        None => note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_known_is_recognized() {
        let known = ["payment_collection", "party_size", "end_user"];
        let note = |name| ignored("field", name, known.into_iter());
        assert_eq!(
            note("paymentCollection"),
            "unknown field paymentCollection is ignored; did you mean payment_collection?"
        );
        assert_eq!(
            note("partysize"),
            "unknown field partysize is ignored; did you mean party_size?"
        );
        assert_eq!(note("colour"), "unknown field colour is ignored");
        assert_eq!(
            note("customer.end_usr"),
            "unknown field customer.end_usr is ignored; did you mean customer.end_user?"
        );
    }

    #[test]
    fn every_endpoint_with_a_body_has_fields_that_are_known() {
        for endpoint in ENDPOINTS.iter().filter(|it| it.method == "POST") {
            let schema =
                operation(endpoint).pointer("/requestBody/content/application~1json/schema");
            assert!(schema.is_some(), "{}", endpoint.path);
        }
    }
}
