//! One function per endpoint: the request (spec, Endpoints), built in the contract's names and written by the adapter.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::answer::Answer;
use super::call::Call;
use super::failure::Failure;
use super::http_client::Client;
use super::request_body::{insert_page, insert_some, posted, with_fields, written};
use super::retry::{self, RetryDecision};
use super::written_names::WrittenNames;
use crate::adapter::{Adapter, Pause, WriteKind};
use crate::json::Document;
use crate::outcome::Result;
use crate::secrets::{register_secret, register_secrets_in};

#[derive(Clone, Debug)]
pub(crate) enum SearchLocation {
    Near(String),
    At { latitude: f64, longitude: f64 },
}

/// POST /v1/venues/search.
#[derive(Clone, Debug)]
pub(crate) struct VenueQuery {
    pub(crate) vertical: String,
    pub(crate) place: SearchLocation,
    pub(crate) datetime: String,
    pub(crate) party_size: Option<u32>,
    pub(crate) providers: Vec<String>,
    /// Further fields of the body (`-F`).
    pub(crate) fields: Map<String, Value>,
    /// The page, by a field of the request that the answer before it led to.
    pub(crate) page: Option<(String, Value)>,
}

impl VenueQuery {
    /// The call.
    ///
    /// # Errors
    ///
    /// `usage` (2) if `fields` repeats a field of the request; configuration (3) if an expression of the profile fails.
    pub(crate) fn call(&self, adapter: &Adapter) -> Result<Call> {
        let mut body = Map::new();
        body.insert("vertical".into(), json!(self.vertical));
        body.insert("datetime".into(), json!(self.datetime));
        match &self.place {
            SearchLocation::Near(location) => {
                body.insert("location".into(), json!(location));
            }
            SearchLocation::At {
                latitude,
                longitude,
            } => {
                body.insert("latitude".into(), json!(latitude));
                body.insert("longitude".into(), json!(longitude));
            }
        }
        insert_some(&mut body, "party_size", self.party_size);
        if !self.providers.is_empty() {
            body.insert("providers".into(), json!(self.providers));
        }
        let mut fields = self.fields.clone();
        insert_page(
            adapter,
            WriteKind::Search,
            &mut body,
            &mut fields,
            self.page.as_ref(),
        );
        posted(adapter, WriteKind::Search, "/v1/venues/search", body)?.with_fields(&fields)
    }
}

/// POST /v1/availability/search.
#[derive(Clone, Debug)]
pub(crate) struct SlotQuery {
    /// As the service wrote it, a text or a number.
    pub(crate) venue_id: Value,
    pub(crate) datetime: String,
    pub(crate) party_size: u32,
    pub(crate) provider: Option<String>,
    /// Further fields of the body (`-F`).
    pub(crate) fields: Map<String, Value>,
    /// The page, by a field of the request that the answer before it led to.
    pub(crate) page: Option<(String, Value)>,
}

impl SlotQuery {
    /// The call.
    ///
    /// # Errors
    ///
    /// `usage` (2) if `fields` repeats a field of the request; configuration (3) if an expression of the profile fails.
    pub(crate) fn call(&self, adapter: &Adapter) -> Result<Call> {
        let mut body = Map::new();
        body.insert("venue_id".into(), json!(self.venue_id));
        body.insert("datetime".into(), json!(self.datetime));
        body.insert("party_size".into(), json!(self.party_size));
        insert_some(&mut body, "provider", self.provider.as_deref());
        let mut fields = self.fields.clone();
        insert_page(
            adapter,
            WriteKind::Slots,
            &mut body,
            &mut fields,
            self.page.as_ref(),
        );
        posted(adapter, WriteKind::Slots, "/v1/availability/search", body)?.with_fields(&fields)
    }
}

/// POST /v1/bookings (spec, Booking: fields accepted when creating a booking).
#[derive(Clone, Debug, Default)]
pub(crate) struct NewBooking {
    /// As the service wrote it, a text or a number.
    pub(crate) venue_id: Value,
    pub(crate) provider: Option<String>,
    /// Exactly as the slot was offered, a text or a number.
    pub(crate) datetime: Value,
    /// As the service wrote it, a text or a number.
    pub(crate) availability_id: Option<Value>,
    pub(crate) party_size: u32,
    pub(crate) name: String,
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) end_user: Option<String>,
    pub(crate) webhook_url: Option<String>,
    pub(crate) vendor_payment: bool,
}

impl NewBooking {
    /// The request in the contract's shape.
    pub(crate) fn body(&self) -> Map<String, Value> {
        let mut customer = Map::new();
        customer.insert("name".into(), json!(self.name));
        insert_some(&mut customer, "email", self.email.as_deref());
        insert_some(&mut customer, "phone", self.phone.as_deref());
        let mut body = Map::new();
        body.insert("venue_id".into(), json!(self.venue_id));
        insert_some(&mut body, "provider", self.provider.as_deref());
        body.insert("datetime".into(), json!(self.datetime));
        insert_some(&mut body, "availability_id", self.availability_id.as_ref());
        body.insert("party_size".into(), json!(self.party_size));
        body.insert("customer".into(), Value::Object(customer));
        insert_some(&mut body, "end_user", self.end_user.as_deref());
        insert_some(&mut body, "webhook_url", self.webhook_url.as_deref());
        insert_some(
            &mut body,
            "payment_collection",
            self.vendor_payment.then_some("vendor_external"),
        );
        body
    }
}

/// A booking request in both shapes.
#[derive(Clone, Debug)]
pub(crate) struct BookingRequest {
    /// What is asked for, in the contract's shape.
    pub(crate) asked: Value,
    /// What is sent, in the service's shape.
    pub(crate) body: Value,
    /// The names with which the body was written; `None` where it was sent before.
    names: Option<WrittenNames>,
}

impl BookingRequest {
    /// A request in the contract's shape, as the service wants it, with fields that have no name here.
    pub(crate) fn new(
        adapter: &Adapter,
        asked: Map<String, Value>,
        fields: &Map<String, Value>,
    ) -> Result<Self> {
        let names = WrittenNames::new(adapter, WriteKind::Create, &asked);
        let body = written(adapter, WriteKind::Create, asked.clone())?;
        Ok(BookingRequest {
            names: Some(names),
            asked: with_fields(Value::Object(asked), fields)?,
            body: with_fields(body, fields)?,
        })
    }

    /// A request that was sent before, and is to be sent again as it was, whatever the profile says now.
    pub(crate) fn sent_before(body: Value, asked: Value) -> Self {
        BookingRequest {
            asked,
            body,
            names: None,
        }
    }

    /// POST /v1/bookings with this request under its idempotency key.
    pub(crate) fn call(self, idempotency_key: &str) -> Call {
        let mut call = create_call(self.body, idempotency_key);
        call.written = self.names;
        call
    }
}

pub(crate) fn create_call(body: Value, idempotency_key: &str) -> Call {
    let mut call = Call::post("/v1/bookings", body);
    call.idempotency_key = Some(idempotency_key.to_owned());
    call
}

/// An answer to a paused booking.
#[derive(Clone, Debug)]
pub(crate) enum Continuation {
    Otp(String),
    PspResponse(Value),
    PspAbort,
    Fields(Map<String, Value>),
}

impl Continuation {
    /// Masks what is secret in the answer wherever it is shown from now on, in whatever shape it is sent.
    fn register_secrets(&self) {
        match self {
            Continuation::Otp(code) => register_secret(code),
            Continuation::PspResponse(answer) => register_secrets_in(answer),
            Continuation::PspAbort | Continuation::Fields(_) => {}
        }
    }

    pub(crate) fn pause(&self) -> Pause {
        match self {
            Continuation::Otp(_) => Pause::Otp,
            Continuation::PspResponse(_) | Continuation::PspAbort => Pause::Payment,
            Continuation::Fields(_) => Pause::Other,
        }
    }

    /// POST /v1/bookings/{booking_id}/continue with this answer.
    pub(crate) fn call(&self, booking_id: &str, adapter: &Adapter) -> Result<Call> {
        let one = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
        self.register_secrets();
        let (kind, body) = match self {
            Continuation::Otp(code) => (WriteKind::Otp, one("otp", json!(code))),
            Continuation::PspResponse(answer) => {
                (WriteKind::Payment, one("psp_response", answer.clone()))
            }
            Continuation::PspAbort => (WriteKind::Abort, one("psp_abort", json!(true))),
            Continuation::Fields(fields) => (WriteKind::Action, fields.clone()),
        };
        let path = format!("{}/continue", booking_path(booking_id));
        posted(adapter, kind, path, body)
    }
}

/// The changes to a confirmed booking; each field is independent (spec, Endpoints: modify).
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// As the slot was offered, or as the service wants times.
    pub(crate) datetime: Option<Value>,
    pub(crate) party_size: Option<u32>,
    pub(crate) seating: Option<String>,
}

impl Changes {
    /// The changes in the contract's shape.
    pub(crate) fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        insert_some(&mut body, "datetime", self.datetime.as_ref());
        insert_some(&mut body, "party_size", self.party_size);
        insert_some(&mut body, "seating_preference", self.seating.as_deref());
        body
    }

    /// POST /v1/bookings/{booking_id}/modify with these changes.
    pub(crate) fn call(&self, booking_id: &str, adapter: &Adapter) -> Result<Call> {
        let body = self.body();
        let path = format!("{}/modify", booking_path(booking_id));
        posted(adapter, WriteKind::Modify, path, body)
    }
}

pub(crate) fn cancel_call(
    booking_id: &str,
    reason: Option<&str>,
    adapter: &Adapter,
) -> Result<Call> {
    let mut body = Map::new();
    insert_some(&mut body, "reason", reason);
    let path = format!("{}/cancel", booking_path(booking_id));
    posted(adapter, WriteKind::Cancel, path, body)
}

/// The calls for a person's connected provider account (spec, Endpoints: Sessions).
pub(crate) mod session {
    use super::*;

    /// POST /v1/sessions: texts the person a code.
    pub(crate) fn connect(
        end_user: &str,
        provider: &str,
        phone: Option<&str>,
        adapter: &Adapter,
    ) -> Result<Call> {
        let mut body = Map::new();
        body.insert("end_user".into(), json!(end_user));
        body.insert("provider".into(), json!(provider));
        insert_some(&mut body, "phone", phone);
        posted(adapter, WriteKind::Connect, "/v1/sessions", body)
    }

    /// POST /v1/sessions/{id}/verify with the code that the person received.
    pub(crate) fn verify(id: &str, code: &str, adapter: &Adapter) -> Result<Call> {
        register_secret(code);
        let body = Map::from_iter([("code".to_owned(), json!(code))]);
        let path = format!("{}/verify", path(id));
        posted(adapter, WriteKind::Verify, path, body)
    }

    pub(crate) fn list(filters: &[(&str, Option<&str>)]) -> Call {
        Call::get(with_query("/v1/sessions", filters))
    }

    pub(crate) fn show(id: &str) -> Call {
        Call::get(path(id))
    }

    /// DELETE /v1/sessions/{id}, which destroys the saved sign-in.
    pub(crate) fn disconnect(id: &str) -> Call {
        Call::delete(path(id))
    }

    pub(crate) fn card(id: &str) -> Call {
        Call::get(format!("{}/card", path(id)))
    }

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

pub(crate) fn show_call(booking_id: &str) -> Call {
    Call::get(booking_path(booking_id))
}

fn booking_path(booking_id: &str) -> String {
    format!("/v1/bookings/{}", Call::segment(booking_id))
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
            // The random bits of a fresh UUID are random enough.
            let jitter = f64::from(Uuid::now_v7().as_fields().3[7]) / 255.0;
            match retry::after_read(&failure, tried, jitter) {
                RetryDecision::Again(pause) => tokio::time::sleep(pause).await,
                RetryDecision::GiveUp => return Err(failure),
            }
        }
    }

    /// Sends a booking request, at most three times, always with the same key.
    ///
    /// Returns the result of the last try, and whether a failed try may have booked. The result of a later try proves
    /// nothing about an earlier one. `shows_it` is whether the body of a refusal shows the requested booking all the same.
    pub(crate) async fn create(
        &self,
        call: &Call,
        shows_it: &dyn Fn(&Document) -> bool,
    ) -> (Result<Answer, Failure>, bool) {
        let mut in_doubt = false;
        let mut tried = 0;
        loop {
            tried += 1;
            let mut failure = match self.send(call).await {
                Ok(answer) => return (Ok(answer), in_doubt),
                Err(failure) => failure,
            };
            if let Failure::Refused(refusal) = &mut failure {
                refusal.shows_the_booking = shows_it(&refusal.body);
            }
            in_doubt |= failure.leaves_a_write_open();
            match retry::after_create(&failure, tried) {
                RetryDecision::Again(pause) => tokio::time::sleep(pause).await,
                RetryDecision::GiveUp => return (Err(failure), in_doubt),
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
