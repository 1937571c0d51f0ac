//! What a lenient service swallows: fields and parameters that it ignores, and what is likely to be meant otherwise.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimeParser;
use serde_json::{Map, Value};

use super::exchange::Exchange;
use crate::sandbox::http::endpoints::Endpoint;
use crate::sandbox::http::page;
use crate::sandbox::rules::fields::nearest;
use crate::sandbox::seed;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(page::SERVICE).unwrap_or_default());

impl Exchange {
    pub(crate) fn notes(&self) -> Vec<String> {
        // A request without a key of the sandbox's was not looked at.
        let repeated = self.is_create().then(|| self.repeated());
        let unknown = self.unknown().into_iter();
        let notes = repeated.flatten().into_iter().chain(unknown);
        notes.chain(self.other_zone()).collect()
    }

    /// The fields and parameters that are ignored.
    pub(in super::super) fn unknown(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(endpoint) = self.endpoint {
            if let Ok(Value::Object(fields)) = serde_json::from_slice(&self.request.body) {
                unknown(&fields, body_of(endpoint), "", &mut notes);
            }
            self.unused_parameters(endpoint, &mut notes);
        }
        notes
    }

    /// An idempotency key that is missing or was used before.
    fn repeated(&self) -> Option<String> {
        let Some(key) = self.idempotency_key() else {
            let note =
                "Idempotency-Key is missing: a booking request that is sent again books again";
            return Some(note.to_owned());
        };
        // A fresh booking is answered with 201.
        let is_booking = self.status == 200 && !self.service_answer().is_empty();
        is_booking.then(|| {
            format!("Idempotency-Key {key} was used before: the response is that booking; no new one was made")
        })
    }

    fn unused_parameters(&self, endpoint: &Endpoint, notes: &mut Vec<String>) {
        let query = self.query().unwrap_or_default();
        if query.is_empty() {
            return;
        }
        let parameters = operation(endpoint)["parameters"].as_array();
        let parameters = parameters.into_iter().flatten().map(resolved);
        let known: Vec<&str> = parameters
            .filter(|it| it["in"] == "query")
            .filter_map(|it| it["name"].as_str())
            .collect();
        for pair in query.split('&').filter(|it| !it.is_empty()) {
            let name = pair.split('=').next().unwrap_or(pair);
            if !known.contains(&name) {
                notes.push(ignored("query parameter", "", name, &known));
            }
        }
    }

    /// A time that was written in another zone than the venue's.
    fn other_zone(&self) -> Option<String> {
        let fields: Value = serde_json::from_slice(&self.request.body).ok()?;
        let datetime = fields["datetime"].as_str()?;
        let booking: Value = serde_json::from_slice(self.service_answer()).unwrap_or_default();
        // That of the booking that is changed, if the request names none.
        let venue_id = fields.get("venue_id").unwrap_or(&booking["venue_id"]);
        let venue = seed::venue(venue_id.as_str()?)?;
        let at: Timestamp = datetime.parse().ok()?;
        let pieces = DateTimeParser::new().parse_pieces(datetime).ok()?;
        let local = at.to_zoned(venue.timezone.clone());
        let is_other = local.offset() != pieces.to_numeric_offset()?;
        is_other.then(|| {
            let local = local.strftime("%Y-%m-%dT%H:%M:%S%:z");
            format!("datetime {datetime} is in another zone than the venue's: there it is {local}")
        })
    }
}

fn operation(endpoint: &Endpoint) -> &'static Value {
    &DOCUMENT["paths"][endpoint.path][endpoint.method.to_lowercase()]
}

fn body_of(endpoint: &Endpoint) -> &'static Value {
    &operation(endpoint)["requestBody"]["content"]["application/json"]["schema"]
}

fn resolved(value: &'static Value) -> &'static Value {
    let target = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| DOCUMENT.pointer(it)).unwrap_or(value)
}

/// The fields of a schema, with those of its parts. `None` if it takes any field.
fn properties(schema: &'static Value) -> Option<Vec<(&'static str, &'static Value)>> {
    let schema = resolved(schema);
    let others = schema.get("additionalProperties");
    if others.is_some_and(|it| *it != false) {
        return None;
    }
    let own = schema["properties"].as_object().into_iter().flatten();
    let mut found: Vec<_> = own.map(|(name, it)| (name.as_str(), it)).collect();
    for part in ["allOf", "anyOf", "oneOf"] {
        for part in schema[part].as_array().into_iter().flatten() {
            found.extend(properties(part)?);
        }
    }
    Some(found)
}

/// Notes the fields that a schema does not have, also those inside objects.
fn unknown(
    fields: &Map<String, Value>,
    schema: &'static Value,
    within: &str,
    notes: &mut Vec<String>,
) {
    let Some(known) = properties(schema).filter(|it| !it.is_empty()) else {
        return;
    };
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    for (name, value) in fields {
        let schema = known.iter().find(|(known, _)| known == name);
        match (schema, value) {
            (None, _) => notes.push(ignored("field", within, name, &names)),
            (Some((_, schema)), Value::Object(fields)) => {
                unknown(fields, schema, &format!("{within}{name}."), notes);
            }
            _ => {}
        }
    }
}

/// `unknown field paymentCollection is ignored; did you mean payment_collection?`
fn ignored(what: &str, within: &str, name: &str, known: &[&str]) -> String {
    let note = format!("unknown {what} {within}{name} is ignored");
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("{note}; did you mean {within}{meant}?"),
        None => note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::http::endpoints::ENDPOINTS;

    #[test]
    fn a_name_that_is_nearly_known_is_recognized() {
        let known = ["payment_collection", "party_size", "end_user"];
        for (within, name, meant) in [
            (
                "",
                "paymentCollection",
                "; did you mean payment_collection?",
            ),
            ("customer.", "end_usr", "; did you mean customer.end_user?"),
            ("", "color", ""),
        ] {
            let note = format!("unknown field {within}{name} is ignored{meant}");
            assert_eq!(ignored("field", within, name, &known), note);
        }
    }

    #[test]
    fn every_endpoint_with_a_body_has_fields_that_are_known() {
        for endpoint in ENDPOINTS.iter().filter(|it| it.method == "POST") {
            assert!(body_of(endpoint).is_object(), "{}", endpoint.path);
        }
    }
}
