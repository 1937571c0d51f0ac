//! One function an endpoint: what the call is made of (spec, Endpoints), in the dialect's names.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::answer::Answer;
use super::call::Call;
use super::failure::Failure;
use super::http_client::Client;
use super::retry::{self, Next};
use crate::adapter::Dialect;
use crate::outcome::{Error, Result};

/// Where venues are looked for.
#[derive(Clone, Debug)]
pub(crate) enum Where {
    Near(String),
    At { latitude: f64, longitude: f64 },
}

/// POST /v1/venues/search.
#[derive(Clone, Debug)]
pub(crate) struct VenueQuery {
    pub(crate) vertical: String,
    pub(crate) place: Where,
    pub(crate) datetime: String,
    pub(crate) party_size: Option<u32>,
    pub(crate) providers: Vec<String>,
    /// Fields that have no name here.
    pub(crate) fields: Map<String, Value>,
}

impl VenueQuery {
    pub(crate) fn call(&self, dialect: &Dialect) -> Result<Call> {
        let mut body = Map::new();
        body.insert("vertical".into(), json!(self.vertical));
        body.insert("datetime".into(), json!(self.datetime));
        match &self.place {
            Where::Near(location) => {
                body.insert("location".into(), json!(location));
            }
            Where::At {
                latitude,
                longitude,
            } => {
                body.insert("latitude".into(), json!(latitude));
                body.insert("longitude".into(), json!(longitude));
            }
        }
        insert_some(&mut body, "party_size", self.party_size);
        if !self.providers.is_empty() {
            body.insert(dialect.providers_field.clone(), json!(self.providers));
        }
        Call::post("/v1/venues/search", Value::Object(body)).with_fields(&self.fields)
    }
}

/// POST /v1/availability/search.
#[derive(Clone, Debug)]
pub(crate) struct SlotQuery {
    pub(crate) venue_id: String,
    pub(crate) datetime: String,
    pub(crate) party_size: u32,
    pub(crate) provider: Option<String>,
    /// Fields that have no name here.
    pub(crate) fields: Map<String, Value>,
}

impl SlotQuery {
    pub(crate) fn call(&self, dialect: &Dialect) -> Result<Call> {
        let mut body = Map::new();
        body.insert(dialect.slots_venue_field.clone(), json!(self.venue_id));
        body.insert(dialect.slots_datetime_field.clone(), json!(self.datetime));
        body.insert(
            dialect.slots_party_size_field.clone(),
            json!(self.party_size),
        );
        insert_some(&mut body, "provider", self.provider.as_deref());
        Call::post("/v1/availability/search", Value::Object(body)).with_fields(&self.fields)
    }
}

/// POST /v1/bookings (spec, Booking: fields accepted when creating a booking).
#[derive(Clone, Debug, Default)]
pub(crate) struct NewBooking {
    pub(crate) venue_id: String,
    pub(crate) provider: Option<String>,
    /// Exactly as the slot was offered.
    pub(crate) datetime: String,
    pub(crate) availability_id: Option<String>,
    pub(crate) party_size: u32,
    pub(crate) name: String,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) end_user: Option<String>,
    pub(crate) webhook_url: Option<String>,
    pub(crate) vendor_payment: bool,
}

impl NewBooking {
    pub(crate) fn body(&self) -> Value {
        let mut customer = Map::new();
        customer.insert("name".into(), json!(self.name));
        insert_some(&mut customer, "email", self.email.as_deref());
        insert_some(&mut customer, "phone", self.phone.as_deref());
        let mut body = Map::new();
        body.insert("venue_id".into(), json!(self.venue_id));
        insert_some(&mut body, "provider", self.provider.as_deref());
        body.insert("datetime".into(), json!(self.datetime));
        insert_some(
            &mut body,
            "availability_id",
            self.availability_id.as_deref(),
        );
        body.insert("party_size".into(), json!(self.party_size));
        body.insert("customer".into(), Value::Object(customer));
        insert_some(&mut body, "end_user", self.end_user.as_deref());
        insert_some(&mut body, "webhook_url", self.webhook_url.as_deref());
        insert_some(
            &mut body,
            "payment_collection",
            self.vendor_payment.then_some("vendor_external"),
        );
        Value::Object(body)
    }
}

/// A request's body with fields that have no name here; objects are joined.
///
/// # Errors
/// `usage` (2) where the request has the field already: what was asked, looked up and shown would not be what is sent.
pub(crate) fn with_fields(body: Value, fields: &Map<String, Value>) -> Result<Value> {
    let Value::Object(mut body) = body else {
        return Ok(body);
    };
    for (name, field) in fields {
        let joined = match (body.get_mut(name).map(Value::take), field) {
            (Some(held @ Value::Object(_)), Value::Object(fields)) => with_fields(held, fields)?,
            (Some(_), _) => {
                return Err(Error::usage(format!(
                    "-F sets {}, which the request already has",
                    name.escape_debug()
                ))
                .hint("use its flag or argument instead"));
            }
            (None, field) => field.clone(),
        };
        body.insert(name.clone(), joined);
    }
    Ok(Value::Object(body))
}

impl Call {
    /// The call with these fields in its body, as [`with_fields`] has it.
    pub(crate) fn with_fields(mut self, fields: &Map<String, Value>) -> Result<Self> {
        self.body = match self.body {
            Some(body) => Some(with_fields(body, fields)?),
            None => None,
        };
        Ok(self)
    }
}

/// POST /v1/bookings with its idempotency key.
pub(crate) fn create_call(body: Value, idempotency_key: &str) -> Call {
    let mut call = Call::post("/v1/bookings", body);
    call.idempotency_key = Some(idempotency_key.to_owned());
    call
}

/// What a paused booking is answered with.
#[derive(Clone, Debug)]
pub(crate) enum Continuation {
    Otp(String),
    PspResponse(Value),
    PspAbort,
    Fields(Map<String, Value>),
}

impl Continuation {
    pub(crate) fn call(&self, booking_id: &str, dialect: &Dialect) -> Call {
        let body = match self {
            Continuation::Otp(code) => json!({ dialect.otp_field.as_str(): code }),
            Continuation::PspResponse(answer) => json!({ "psp_response": answer }),
            Continuation::PspAbort => json!({ "psp_abort": true }),
            Continuation::Fields(fields) => Value::Object(fields.clone()),
        };
        Call::post(format!("{}/continue", booking_path(booking_id)), body)
    }
}

/// What a confirmed booking is changed to; the fields are independent (spec, Endpoints: modify).
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) datetime: Option<String>,
    pub(crate) party_size: Option<u32>,
    pub(crate) seating: Option<String>,
}

impl Changes {
    pub(crate) fn call(&self, booking_id: &str, dialect: &Dialect) -> Call {
        let mut body = Map::new();
        insert_some(
            &mut body,
            &dialect.modify_datetime_field,
            self.datetime.as_deref(),
        );
        insert_some(&mut body, &dialect.modify_party_size_field, self.party_size);
        insert_some(
            &mut body,
            &dialect.modify_seating_field,
            self.seating.as_deref(),
        );
        let path = format!("{}/modify", booking_path(booking_id));
        Call::post(path, Value::Object(body))
    }
}

/// POST /v1/bookings/{booking_id}/cancel.
pub(crate) fn cancel_call(booking_id: &str, reason: Option<&str>, dialect: &Dialect) -> Call {
    let mut body = Map::new();
    insert_some(&mut body, &dialect.cancel_reason_field, reason);
    let path = format!("{}/cancel", booking_path(booking_id));
    Call::post(path, Value::Object(body))
}

/// The calls of a person's connected provider account (spec, Endpoints: Sessions).
pub(crate) mod session {
    use super::*;

    /// POST /v1/sessions: texts the person a code.
    pub(crate) fn connect(
        end_user: &str,
        provider: &str,
        phone: Option<&str>,
        dialect: &Dialect,
    ) -> Call {
        let mut body = Map::new();
        body.insert("end_user".into(), json!(end_user));
        body.insert("provider".into(), json!(provider));
        insert_some(&mut body, &dialect.session_phone_field, phone);
        Call::post("/v1/sessions", Value::Object(body))
    }

    /// POST /v1/sessions/{id}/verify: the code that was received.
    pub(crate) fn verify(id: &str, code: &str, dialect: &Dialect) -> Call {
        let body = json!({ dialect.session_code_field.as_str(): code });
        Call::post(format!("{}/verify", path(id)), body)
    }

    /// GET /v1/sessions with its filters.
    pub(crate) fn list(filters: &[(&str, Option<&str>)]) -> Call {
        Call::get(with_query("/v1/sessions", filters))
    }

    /// GET /v1/sessions/{id}.
    pub(crate) fn show(id: &str) -> Call {
        Call::get(path(id))
    }

    /// DELETE /v1/sessions/{id}: the saved sign-in is destroyed.
    pub(crate) fn disconnect(id: &str) -> Call {
        Call::delete(path(id))
    }

    /// GET /v1/sessions/{id}/card.
    pub(crate) fn card(id: &str) -> Call {
        Call::get(format!("{}/card", path(id)))
    }

    /// GET /v1/sessions/card.
    pub(crate) fn card_of_person(end_user: &str, provider: Option<&str>) -> Call {
        let filters = [("end_user", Some(end_user)), ("provider", provider)];
        Call::get(with_query("/v1/sessions/card", &filters))
    }

    fn path(id: &str) -> String {
        format!("/v1/sessions/{}", Call::segment(id))
    }

    fn with_query(path: &str, filters: &[(&str, Option<&str>)]) -> String {
        let filters = filters
            .iter()
            .filter_map(|(key, value)| Some((key, (*value)?)));
        let query: Vec<String> = filters
            .map(|(key, value)| format!("{key}={}", Call::query_value(value)))
            .collect();
        match query.is_empty() {
            true => path.to_owned(),
            false => format!("{path}?{}", query.join("&")),
        }
    }
}

/// GET /v1/bookings/{booking_id}.
pub(crate) fn show_call(booking_id: &str) -> Call {
    Call::get(booking_path(booking_id))
}

fn booking_path(booking_id: &str) -> String {
    format!("/v1/bookings/{}", Call::segment(booking_id))
}

fn insert_some<T: serde::Serialize>(object: &mut Map<String, Value>, key: &str, value: Option<T>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), json!(value));
    }
}

impl Client {
    /// Sends a read, at most three times.
    pub(crate) async fn read(&self, call: &Call) -> Result<Answer, Failure> {
        let mut tried = 0;
        loop {
            tried += 1;
            let failure = match self.send(call).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            // The random end of a fresh id is random enough.
            let jitter = f64::from(Uuid::now_v7().as_fields().3[7]) / 255.0;
            match retry::after_read(&failure, tried, jitter) {
                Next::Again(pause) => tokio::time::sleep(pause).await,
                Next::GiveUp => return Err(failure),
            }
        }
    }

    /// Sends a booking request: at most three tries, all with the call's one key.
    ///
    /// Returns what the last try was told, and whether any try that failed leaves open whether a booking was made: what
    /// a later try is told proves nothing about an earlier one.
    pub(crate) async fn create(&self, call: &Call) -> (Result<Answer, Failure>, bool) {
        let mut in_doubt = false;
        let mut tried = 0;
        loop {
            tried += 1;
            let failure = match self.send(call).await {
                Ok(answer) => return (Ok(answer), in_doubt),
                Err(failure) => failure,
            };
            in_doubt |= failure.leaves_a_write_open();
            match retry::after_create(&failure, tried) {
                Next::Again(pause) => tokio::time::sleep(pause).await,
                Next::GiveUp => return (Err(failure), in_doubt),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::Url;

    #[test]
    fn an_id_is_one_path_segment_whatever_is_in_it() {
        for (id, path) in [
            ("bk_1", "/v1/bookings/bk_1"),
            ("../venues", "/v1/bookings/..%2Fvenues"),
            ("a?b#c", "/v1/bookings/a%3Fb%23c"),
            ("a b/ü", "/v1/bookings/a%20b%2F%C3%BC"),
        ] {
            assert_eq!(booking_path(id), path);
        }
        for climbing in ["..", ".", "%2e%2e", ""] {
            let path = booking_path(climbing);
            let url = Url::parse(&format!("http://x{path}")).unwrap();
            assert!(
                url.path().starts_with("/v1/bookings/"),
                "{climbing}: {path}"
            );
        }
    }

    #[test]
    fn a_slots_datetime_is_sent_byte_for_byte() {
        let booking = NewBooking {
            datetime: "2026-12-01T19:30:00.000+01:00".into(),
            ..NewBooking::default()
        };
        assert_eq!(booking.body()["datetime"], "2026-12-01T19:30:00.000+01:00");
        assert!(booking.body().get("availability_id").is_none());
    }
}
