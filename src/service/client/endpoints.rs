//! One function per endpoint: the request (spec, Endpoints), built in the contract's names and
//! written by the mapping.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::call::{Call, fields_of, with_fields, written};
use super::draft::Draft;
use crate::outcome::Result;
use crate::secrets::{register_secret, register_secrets_in};
use crate::service::mapping::{Mapping, Pause, WriteKind, is_one_of};

#[derive(Clone, Debug, Serialize)]
pub(crate) enum SearchLocation {
    #[serde(rename = "location")]
    Near(String),
    #[serde(untagged)]
    At { latitude: f64, longitude: f64 },
}

/// What a search of venues asks for.
#[derive(Debug, Serialize)]
pub(crate) struct VenueWish {
    pub(crate) vertical: String,
    pub(crate) datetime: String,
    #[serde(flatten)]
    pub(crate) place: SearchLocation,
    pub(crate) party_size: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) providers: Vec<String>,
}

/// A search of venues or slots, with unnamed fields.
pub(crate) struct SearchQuery {
    kind: WriteKind,
    body: Map<String, Value>,
    fields: Map<String, Value>,
}

impl SearchQuery {
    pub(crate) fn new(kind: WriteKind, body: &impl Serialize, fields: Map<String, Value>) -> Self {
        SearchQuery { kind, body: fields_of(body), fields }
    }

    pub(crate) fn call(&self, mapping: &Mapping) -> Result<Call> {
        let place = if self.kind == WriteKind::Search { "venues" } else { "availability" };
        let path = format!("/v1/{place}/search");
        Call::written(mapping, self.kind, path, self.body.clone())?.with_fields(&self.fields)
    }

    /// The page that an answer led to, under its own name, or for an expression with `.cursor` or
    /// `.page`. It replaces a field of that name in the first page's request.
    pub(crate) fn page(&self, mapping: &Mapping, name: &str, value: &Value) -> Result<Call> {
        let (mut body, mut fields) = (self.body.clone(), self.fields.clone());
        let own = if is_one_of("page page_number", name) { "page" } else { "cursor" };
        if mapping.write.get(&self.kind).is_some_and(|it| it.mentions(own)) {
            body.insert(own.to_owned(), value.clone());
        } else {
            fields.insert(name.to_owned(), value.clone());
        }
        SearchQuery { kind: self.kind, body, fields }.call(mapping)
    }
}

fn one(name: &str, value: impl Serialize) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), json!(value))])
}

pub(crate) const VENDOR_PAYMENT: &str = "vendor_external";

/// A `Wish` as it is sent, in the service's names or shape.
#[derive(Clone, Debug)]
pub(crate) struct BookingRequest {
    pub(crate) requested: Value,
    pub(crate) body: Value,
    /// `None` where it was sent before.
    draft: Option<Draft>,
    pub(crate) is_row: bool,
}

impl BookingRequest {
    /// A request in our shape, as the service wants it, with unnamed fields.
    pub(crate) fn new(
        mapping: &Mapping,
        requested: Map<String, Value>,
        fields: &Map<String, Value>,
    ) -> Result<Self> {
        let body = written(mapping, WriteKind::Create, requested.clone())?;
        Ok(BookingRequest {
            draft: Some(Draft::new(mapping, WriteKind::Create, |_| true)),
            requested: with_fields(Value::Object(requested), fields)?,
            body: with_fields(body, fields)?,
            is_row: false,
        })
    }

    /// A request that is sent again unchanged, whatever the profile is now.
    pub(crate) fn sent_before(body: Value, requested: Value) -> Self {
        BookingRequest { requested, body, draft: None, is_row: false }
    }

    /// The request of a batch's row, whose fields have no flags.
    pub(crate) fn of_row(mut self) -> Self {
        self.is_row = true;
        if let Some(draft) = &mut self.draft {
            draft.is_row = true;
        }
        self
    }

    pub(crate) fn call(self, idempotency_key: &str) -> Call {
        let mut call = create_call(self.body, idempotency_key);
        call.draft = self.draft;
        call
    }
}

pub(crate) fn create_call(body: Value, idempotency_key: &str) -> Call {
    let mut call = Call::post("/v1/bookings", body);
    call.idempotency_key = Some(idempotency_key.to_owned());
    call
}

#[derive(Clone, Debug)]
pub(crate) enum Continuation {
    /// A code, and fields beside it.
    Otp(String, Map<String, Value>),
    PspResponse(Value),
    PspAbort,
    Fields(Map<String, Value>),
}

impl Continuation {
    pub(crate) fn pause(&self) -> Pause {
        match self {
            Continuation::Otp(..) => Pause::Otp,
            Continuation::PspResponse(_) | Continuation::PspAbort => Pause::Payment,
            Continuation::Fields(_) => Pause::Other,
        }
    }

    pub(crate) fn kind(&self) -> WriteKind {
        match self {
            Continuation::Otp(..) => WriteKind::Otp,
            Continuation::PspResponse(_) => WriteKind::Payment,
            Continuation::PspAbort => WriteKind::Abort,
            Continuation::Fields(_) => WriteKind::Action,
        }
    }

    /// What is secret in the answer is masked from now on, in whatever shape it is sent. `action`
    /// is what the booking waits for, where an expression needs it.
    pub(crate) fn call(
        &self,
        booking_id: &str,
        action: Option<&Value>,
        mapping: &Mapping,
    ) -> Result<Call> {
        let mut beside = &Map::new();
        let mut body = match self {
            Continuation::Otp(code, fields) => {
                beside = fields;
                register_secret(code);
                one("otp", code)
            }
            Continuation::PspResponse(answer) => {
                register_secrets_in(answer);
                one("psp_response", answer)
            }
            Continuation::PspAbort => one("psp_abort", true),
            Continuation::Fields(fields) => fields.clone(),
        };
        if let Some(action) = action {
            body.insert("next_action".to_owned(), action.clone());
        }
        let path = format!("{}/continue", booking_path(booking_id));
        Call::written(mapping, self.kind(), path, body)?.with_fields(beside)
    }
}

/// The changes to a confirmed booking; each field is independent (spec, Endpoints: modify).
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Changes {
    pub(crate) datetime: Option<Value>,
    pub(crate) party_size: Option<u32>,
    #[serde(rename = "seating_preference")]
    pub(crate) seating: Option<String>,
}

impl Changes {
    pub(crate) fn body(&self) -> Map<String, Value> {
        fields_of(self)
    }

    pub(crate) fn call(&self, booking_id: &str, mapping: &Mapping) -> Result<Call> {
        let path = format!("{}/modify", booking_path(booking_id));
        Call::written(mapping, WriteKind::Modify, path, self.body())
    }
}

pub(crate) fn cancel_call(
    booking_id: &str,
    reason: Option<&str>,
    mapping: &Mapping,
) -> Result<Call> {
    let body = reason.map_or_else(Map::new, |reason| one("reason", reason));
    Call::written(mapping, WriteKind::Cancel, format!("{}/cancel", booking_path(booking_id)), body)
}

pub(crate) mod session {
    use super::*;

    pub(crate) fn connect(
        end_user: &str,
        provider: Option<&str>,
        phone: Option<&str>,
        mapping: &Mapping,
    ) -> Result<Call> {
        let body = json!({"end_user": end_user, "provider": provider, "phone": phone});
        Call::written(mapping, WriteKind::Connect, "/v1/sessions", fields_of(&body))
    }

    pub(crate) fn verify(id: &str, code: &str, mapping: &Mapping) -> Result<Call> {
        register_secret(code);
        Call::written(mapping, WriteKind::Verify, format!("{}/verify", path(id)), one("code", code))
    }

    pub(crate) fn list(filters: &[(&str, Option<&str>)]) -> Call {
        Call::get(Call::query("/v1/sessions", filters))
    }

    pub(crate) fn card(id: &str) -> Call {
        Call::get(format!("{}/card", path(id)))
    }

    pub(crate) fn card_of_person(end_user: &str, provider: Option<&str>) -> Call {
        let filters = [("end_user", Some(end_user)), ("provider", provider)];
        Call::get(Call::query("/v1/sessions/card", &filters))
    }

    pub(crate) fn path(id: &str) -> String {
        format!("/v1/sessions/{}", Call::segment(id))
    }
}

pub(crate) fn show_call(booking_id: &str) -> Call {
    Call::get(booking_path(booking_id))
}

fn booking_path(booking_id: &str) -> String {
    format!("/v1/bookings/{}", Call::segment(booking_id))
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
            assert!(url.path().starts_with("/v1/bookings/"), "{climbing}: {path}");
        }
    }

    #[test]
    fn a_slots_datetime_is_sent_byte_for_byte() {
        let slot = json!({"datetime": "2026-12-01T19:30:00.000+01:00", "availability_id": null});
        let body = fields_of(&slot);
        assert_eq!(body["datetime"], "2026-12-01T19:30:00.000+01:00");
        assert!(!body.contains_key("availability_id"));
    }
}
