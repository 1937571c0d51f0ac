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

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(openapi::DOCUMENT).unwrap_or_default());

impl Exchange {
    /// One sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let path = self.path();
        let endpoint = ENDPOINTS
            .iter()
            // A path without parameters comes first, as in the router.
            .filter(|it| it.method == self.method && covers(it.path, path))
            .min_by_key(|it| it.path.contains('{'));
        let Some(endpoint) = endpoint else {
            notes.extend(self.other_path());
            return notes;
        };
        let body = serde_json::from_slice(&self.request.body);
        // A request without a key of the sandbox's was not looked at.
        if endpoint.replays && self.status != 401 {
            notes.extend(self.repeated(body.as_ref().ok()));
        }
        notes.extend(self.failed());
        if body.is_err() {
            notes.extend(self.other_type());
        }
        if let Ok(Value::Object(fields)) = &body {
            let schema =
                operation(endpoint).pointer("/requestBody/content/application~1json/schema");
            unknown(fields, schema, "", &mut notes);
            self.other_zone(fields, &mut notes);
        }
        self.unused_parameters(endpoint, &mut notes);
        notes
    }

    /// The path of the service that is likely to be meant by an unknown one.
    fn other_path(&self) -> Option<String> {
        let path = self.path();
        let is_served = |path: &str| ENDPOINTS.iter().any(|it| covers(it.path, path));
        let more = format!("/v1{path}");
        let meant = [more.as_str(), path.strip_prefix("/v1").unwrap_or_default()];
        let meant = meant.into_iter().find(|it| is_served(it))?;
        Some(format!("unknown path {path}; did you mean {meant}?"))
    }

    /// A body that is no JSON, and says so.
    fn other_type(&self) -> Option<String> {
        let kind = self.request_header("content-type")?;
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let is_other = !self.request.body.is_empty() && !kind.contains("json");
        is_other.then(|| format!("Content-Type is {kind}; the service reads JSON alone"))
    }

    /// An idempotency key that is missing or was used before, which is worst with another request.
    fn repeated(&self, body: Option<&Value>) -> Option<String> {
        let key = self.request_header("idempotency-key");
        let Some(key) = key.filter(|it| !it.trim().is_empty()) else {
            let note =
                "Idempotency-Key is missing: a booking request that is sent again books again";
            return Some(note.to_owned());
        };
        // A fresh booking is answered with 201.
        if self.status != 200 {
            return None;
        }
        let booking: Value = serde_json::from_slice(self.service_answer()).ok()?;
        let others = body.map_or_else(Vec::new, |it| differences(it, &booking));
        let with = match others.as_slice() {
            [] => String::new(),
            names => format!(" with another {}", names.join(" and ")),
        };
        Some(format!(
            "Idempotency-Key {key} was used before{with}: the response is the booking that was made then, and no new one"
        ))
    }

    /// A booking that failed in a normal response, which a client that looks at the HTTP status alone takes for a success.
    fn failed(&self) -> Option<String> {
        let is_write = self.method == "POST" && (200..300).contains(&self.status);
        if !is_write {
            return None;
        }
        #[derive(serde::Deserialize)]
        struct Booking {
            status: String,
            error_code: String,
        }
        let booking: Booking = serde_json::from_slice(self.service_answer()).ok()?;
        let code = booking.error_code;
        (booking.status == "failed").then(|| {
            format!("the booking failed ({code}), and that is no HTTP error: read status in the response")
        })
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
        let answer = || serde_json::from_slice::<Value>(self.service_answer()).ok();
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

/// The fields in which a booking request differs from the booking that its idempotency key made.
fn differences(request: &Value, booking: &Value) -> Vec<&'static str> {
    let is_modified = booking.get("last_modification").is_some();
    let names = ["venue_id", "provider", "end_user", "customer"];
    let changeable = ["datetime", "party_size"].into_iter();
    let names = names.into_iter().chain(changeable.filter(|_| !is_modified));
    let differs = |name: &&str| {
        let (asked, has) = (&request[name], &booking[name]);
        let moment = |it: &Value| it.as_str()?.parse::<Timestamp>().ok();
        match asked {
            Value::Null => false,
            Value::Object(asked) => asked.iter().any(|(part, it)| *it != has[part]),
            Value::Number(asked) => asked.as_f64() != has.as_f64(),
            asked => asked != has && (moment(asked).is_none() || moment(asked) != moment(has)),
        }
    };
    names.filter(differs).collect()
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

/// Notes the fields that a schema does not have, also those inside objects.
fn unknown(
    fields: &Map<String, Value>,
    schema: Option<&'static Value>,
    within: &str,
    notes: &mut Vec<String>,
) {
    let Some(known) = schema.and_then(properties).filter(|it| !it.is_empty()) else {
        return;
    };
    for (name, value) in fields {
        match known.iter().find(|(known, _)| known == name) {
            None => notes.push(ignored(
                "field",
                &format!("{within}{name}"),
                known.iter().map(|(known, _)| *known),
            )),
            Some((_, schema)) => {
                if let Value::Object(fields) = value {
                    let within = format!("{within}{name}.");
                    unknown(fields, Some(schema), &within, notes);
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
    let known: Vec<&str> = known.collect();
    let meant = nearest(last, known.iter().copied()).or_else(|| same_meaning(last, &known));
    match meant {
        Some(meant) => format!("{note}; did you mean {within}{dot}{meant}?"),
        None => note,
    }
}

/// Other words for the fields of a request, each after the field and, where that is in an object, the object.
const SAME_MEANING: [(&str, &str, &[&str]); 6] = [
    (
        "datetime",
        "datetime",
        &["time", "date", "when", "at", "start"],
    ),
    (
        "party_size",
        "party_size",
        &["guests", "people", "persons", "covers", "size", "pax"],
    ),
    ("location", "location", &["near", "where", "place", "city"]),
    (
        "customer",
        "customer.name",
        &["name", "guest", "guest_name"],
    ),
    ("customer", "customer.email", &["email", "mail"]),
    ("customer", "customer.phone", &["phone", "mobile"]),
];

/// The known field that has the meaning of an unknown one.
fn same_meaning(name: &str, known: &[&str]) -> Option<&'static str> {
    let mut all = SAME_MEANING.iter();
    let found = all.find(|(field, _, words)| known.contains(field) && words.contains(&name));
    found.map(|(_, meant, _)| *meant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            note("guests"),
            "unknown field guests is ignored; did you mean party_size?"
        );
        // The service that is asked has no such field.
        assert_eq!(note("time"), "unknown field time is ignored");
        assert_eq!(
            note("customer.end_usr"),
            "unknown field customer.end_usr is ignored; did you mean customer.end_user?"
        );
    }

    #[test]
    fn a_request_differs_from_the_booking_of_its_key_in_what_it_asks_for_otherwise() {
        let booking = json!({
            "venue_id": "ven_otp", "datetime": "2026-12-01T19:30:00+00:00", "party_size": 2,
            "provider": "provider_a", "customer": {"name": "Ada Lovelace", "phone": "+1"},
        });
        let same = json!({
            "venue_id": "ven_otp", "datetime": "2026-12-01T20:30:00+01:00", "party_size": 2.0,
            "customer": {"name": "Ada Lovelace"}, "webhook_url": "http://127.0.0.1",
        });
        assert_eq!(differences(&same, &booking), Vec::<&str>::new());
        let other = json!({
            "venue_id": "ven_confirms", "datetime": "2026-12-01T20:30:00Z", "party_size": 3,
            "customer": {"name": "Grace Hopper"}, "end_user": "u1",
        });
        let all = ["venue_id", "end_user", "customer", "datetime", "party_size"];
        assert_eq!(differences(&other, &booking), all);
        let mut modified = booking;
        modified["last_modification"] = json!({"changes": {}});
        assert_eq!(differences(&other, &modified), &all[..3]);
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
