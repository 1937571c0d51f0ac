//! What a lenient service ignores: fields and parameters, and likely mistakes in values.

use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimeParser;
use serde_json::Value;

use super::exchange::Exchange;
use crate::sandbox::http::endpoints::{ENDPOINTS, Endpoint};
use crate::sandbox::http::page;
use crate::sandbox::rules::fields::nearest;
use crate::sandbox::seed;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(page::SERVICE).unwrap_or_default());

/// The fields of each endpoint's body, by its summary, to compare each dropped request.
static BODIES: LazyLock<HashMap<&str, Fields>> = LazyLock::new(|| {
    let endpoints = ENDPOINTS.iter();
    let body = |it| {
        Fields::from_schema(&operation(it)["requestBody"]["content"]["application/json"]["schema"])
    };
    endpoints.map(|it| (it.summary, body(it))).collect()
});

/// The fields that an object may have, each with those of its own; empty if it takes any field.
#[derive(Default)]
struct Fields(Vec<(&'static str, Fields)>);

impl Exchange {
    pub(crate) fn notes(&self) -> Vec<String> {
        // A request without a key of the sandbox's was not looked at.
        let repeated = self.is_create().then(|| self.repeated());
        let body = self.request_json();
        let unknown = self.unknown(&body).into_iter();
        repeated.flatten().into_iter().chain(unknown).chain(self.other_zone(&body)).collect()
    }

    /// The fields of its body and the parameters that are ignored.
    pub(in super::super) fn unknown(&self, body: &Value) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(endpoint) = self.endpoint {
            if let Some(known) = BODIES.get(endpoint.summary) {
                known.note_others(body, "", &mut notes);
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
        if self.status != 200 || self.service_answer().is_empty() {
            return None;
        }
        let differing = self.differing().join(", ");
        let was_used = format!("Idempotency-Key {key} was used before");
        Some(if differing.is_empty() {
            format!("{was_used}: the response is that booking; no new one was made")
        } else {
            format!(
                "{was_used}, for another booking: the response is that one, and no new one was \
                 made; other values: {differing}"
            )
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
    fn other_zone(&self, fields: &Value) -> Option<String> {
        let datetime = fields["datetime"].as_str()?;
        let booking = self.answer_json();
        // That of the booking that is changed, if the request names none.
        let venue = seed::venue(fields.get("venue_id").unwrap_or(&booking["venue_id"]).as_str()?)?;
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

fn resolved(value: &'static Value) -> &'static Value {
    let target = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| DOCUMENT.pointer(it)).unwrap_or(value)
}

impl Fields {
    fn from_schema(schema: &'static Value) -> Self {
        Self::all_of(schema).unwrap_or_default()
    }

    /// With those of its parts. `None` if it takes any field.
    fn all_of(schema: &'static Value) -> Option<Self> {
        let schema = resolved(schema);
        if schema.get("additionalProperties").is_some_and(|it| *it != false) {
            return None;
        }
        let own = schema["properties"].as_object().into_iter().flatten();
        let mut found =
            Self(own.map(|(name, it)| (name.as_str(), Self::from_schema(it))).collect());
        for part in ["allOf", "anyOf", "oneOf"] {
            for part in schema[part].as_array().into_iter().flatten() {
                found.0.extend(Self::all_of(part)?.0);
            }
        }
        Some(found)
    }

    /// Notes what an object has besides them, also inside of its objects.
    fn note_others(&self, object: &Value, within: &str, notes: &mut Vec<String>) {
        let fields = object.as_object().filter(|_| !self.0.is_empty());
        for (name, value) in fields.into_iter().flatten() {
            match self.0.iter().find(|(known, _)| known == name) {
                Some((_, inner)) if value.is_object() => {
                    inner.note_others(value, &format!("{within}{name}."), notes);
                }
                Some(_) => {}
                None => {
                    let known: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
                    notes.push(ignored("field", within, name, &known));
                }
            }
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

    #[test]
    fn a_name_that_is_nearly_known_is_recognized() {
        let known = ["payment_collection", "party_size", "end_user"];
        for (within, name, meant) in [
            ("", "paymentCollection", "; did you mean payment_collection?"),
            ("customer.", "end_usr", "; did you mean customer.end_user?"),
            ("", "color", ""),
        ] {
            let note = format!("unknown field {within}{name} is ignored{meant}");
            assert_eq!(ignored("field", within, name, &known), note);
        }
    }

    #[test]
    fn every_endpoint_with_body_has_fields_known() {
        let endpoints = ENDPOINTS.iter().filter(|it| it.method == "POST");
        let takes_any = endpoints.filter(|it| BODIES[it.summary].0.is_empty());
        let takes_any: Vec<_> = takes_any.map(|it| it.path).collect();
        assert_eq!(takes_any, ["/v1/bookings/{booking_id}/continue"]);
    }
}
