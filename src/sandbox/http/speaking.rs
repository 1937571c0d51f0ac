//! Requests and answers of a service that speaks otherwise than the contract.

use axum::body::{Bytes, to_bytes};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::endpoints::Endpoint;
use super::exchanges::Refusal;
use super::parsed_request::{Heard, ParsedRequest};
use super::reply;
use super::service::Service;
use crate::sandbox::interpreter;
use crate::sandbox::rules::access;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::fields::parse_body;
use crate::sandbox::rules::no_key::NoKey;
use crate::sandbox::rules::state::Ask;
use crate::sandbox::seed::{self, Venue, Vertical, near_place, near_point, resolve_place};
use crate::sandbox::speak::{AnswerKind, Page, PageQuery, RequestKind, Speech, WrongField};
use crate::sandbox::wire::id::IdKind;

/// Translates one request and its answer.
pub(super) struct Speaker<'a> {
    service: &'a Service,
    speech: &'a Speech,
    endpoint: &'static Endpoint,
    /// The address as it came, for links.
    uri: Uri,
    host: String,
    asked: Option<RequestKind>,
    page: Page,
    /// What is wrong with a request that has no body to refuse.
    refused: Option<ApiError>,
}

impl From<WrongField> for ApiError {
    fn from(WrongField { field, detail }: WrongField) -> Self {
        Self::wrong_type(field, detail)
    }
}

impl<'a> Speaker<'a> {
    pub(super) fn new(
        service: &'a Service,
        speech: &'a Speech,
        endpoint: &'static Endpoint,
        uri: Uri,
    ) -> Self {
        Self {
            service,
            speech,
            endpoint,
            uri,
            host: String::new(),
            asked: RequestKind::of(endpoint.method, endpoint.path),
            page: Page::default(),
            refused: None,
        }
    }

    /// Gives the request the contract's shape. What is wrong with its body is left for the handler to say, whose other
    /// checks come first.
    pub(super) async fn hear(&mut self, request: &mut ParsedRequest) {
        let speech = self.speech;
        request
            .header("host")
            .unwrap_or_default()
            .clone_into(&mut self.host);
        let came = request.header(speech.auth_header());
        let authorization = came
            .and_then(|value| speech.key(value))
            .map(|key| format!("Bearer {key}"))
            .ok_or_else(|| NoKey::Spoken {
                is_missing: came.is_none(),
                header: speech.auth_header().to_owned(),
                scheme: speech.auth_scheme().to_owned(),
            });
        let id = self.id(request.id()).await;
        let mut query = request.queries();
        let mut wanted = PageQuery {
            cursor: query.remove("cursor"),
            page: query.remove("page"),
        };
        if let Some(provider) = query.get_mut("provider") {
            *provider = speech.provider_called(provider);
        }
        if let Some(state) = query.get_mut("state") {
            state.make_ascii_lowercase();
        }
        let booking = self.booking(authorization.as_deref().ok(), &id).await;
        let mut fields = self.fields(request.body(), booking).await;
        if let Ok(fields) = &mut fields
            && let Some(Value::String(cursor)) = fields.remove("cursor")
        {
            wanted.cursor = Some(cursor);
        }
        match speech.page(&wanted) {
            Ok(page) => self.page = page,
            Err((field, detail)) if self.asked.is_some() => {
                fields = Err(ApiError::invalid(field, detail));
            }
            Err((field, detail)) => self.refused = Some(ApiError::invalid(field, detail)),
        }
        let path = request.path();
        let path = path.strip_prefix(speech.base_path()).unwrap_or(path);
        request.hear(Heard {
            path: path.to_owned(),
            id: Some(id),
            query,
            authorization,
            fields,
        });
    }

    /// The id that the path names.
    async fn id(&self, came: &str) -> String {
        let number = came.parse().ok().filter(|_| self.speech.numbers_ids());
        let ids = interpreter::ids(&self.service.store, number.into_iter().collect()).await;
        let id = number.and_then(|number: i64| ids.get(&number).cloned());
        id.unwrap_or_else(|| came.to_owned())
    }

    /// The booking that the path names, if a request's body depends on it.
    async fn booking(&self, authorization: Option<&str>, id: &str) -> Option<Booking> {
        if !matches!(self.asked, Some(RequestKind::Action | RequestKind::Modify)) {
            return None;
        }
        let organization = access::identify(authorization).ok()?.organization;
        let number = IdKind::Booking.number(id)?;
        let found = self
            .service
            .store
            .read(move |tx| Ok(tx.booking(&organization, number)?));
        found.await.ok()?
    }

    /// The fields of the body in the contract's shape.
    async fn fields(
        &mut self,
        body: &[u8],
        booking: Option<Booking>,
    ) -> Result<Map<String, Value>, ApiError> {
        let Some(kind) = self.asked else {
            return Ok(Map::new());
        };
        let Ok(came) = serde_json::from_slice::<Value>(body) else {
            // Nothing, or no JSON.
            return parse_body(body);
        };
        let kind = match kind {
            RequestKind::Action => self.answer_kind(&came, booking.as_ref()),
            kind => kind,
        };
        self.asked = Some(kind);
        let mut fields = self.speech.read(kind, came).await?;
        if self.speech.numbers_ids() {
            let numbers = self.speech.numbers(&fields)?;
            let ids = interpreter::ids(&self.service.store, numbers).await;
            Speech::put_ids(&mut fields, |number| ids.get(&number).cloned());
        }
        let venue = fields.get("venue_id").and_then(Value::as_str);
        let venue = venue.or(booking.as_ref().map(|it| it.venue_id.as_str()));
        let known = venue.and_then(seed::venue).or_else(|| near(&fields));
        let zone = match (known, venue) {
            (None, Some(id)) => self.own_timezone(id.to_owned()).await,
            (known, _) => known.map(Venue::timezone),
        };
        self.speech
            .read_scalars(&mut fields, || zone.unwrap_or(TimeZone::UTC))?;
        Ok(fields)
    }

    /// The zone of a fixture's venue.
    async fn own_timezone(&self, id: String) -> Option<TimeZone> {
        let own = self.service.store.read(|tx| Ok(tx.own_venues(None)?));
        let own = own.await.unwrap_or_default();
        own.iter().find(|it| it.id == id).map(Venue::timezone)
    }

    /// What a body answers: what it says itself, else what its booking waits for.
    fn answer_kind(&self, body: &Value, booking: Option<&Booking>) -> RequestKind {
        let pause = booking.and_then(|it| it.state.pause()).map(|it| &it.ask);
        match pause {
            _ if body.get("psp_abort").is_some() => RequestKind::Abort,
            _ if body.get("psp_response").is_some() => RequestKind::Payment,
            _ if self.speech.answers_otp(body) => RequestKind::Otp,
            Some(Ask::Otp { .. }) => RequestKind::Otp,
            Some(Ask::Payment { .. }) => RequestKind::Payment,
            Some(Ask::Details { .. }) | None => RequestKind::Action,
        }
    }

    /// Gives the answer the service's shape; returns it with the body in the contract's.
    pub(super) async fn speak(&self, response: Response) -> (Response, Bytes) {
        let response = match &self.refused {
            // Reading changed nothing.
            Some(error) if self.endpoint.method == "GET" && response.status().is_success() => {
                reply::error(error)
            }
            _ => response,
        };
        let kind = answer_kind(self.endpoint);
        let asked = (self.asked, self.page);
        let (mut response, next, contract) =
            speak(self.service, self.speech, kind, asked, response).await;
        if let Some(link) = next.and_then(|page| self.link(page)) {
            response.headers_mut().insert(header::LINK, link);
        }
        (response, contract)
    }

    /// The `Link` header that leads to a page.
    fn link(&self, page: usize) -> Option<HeaderValue> {
        let others = self.uri.query().into_iter().flat_map(|it| it.split('&'));
        let mut query: Vec<&str> = others.filter(|it| !it.starts_with("page=")).collect();
        let page = format!("page={page}");
        query.push(&page);
        let (host, path, query) = (&self.host, self.uri.path(), query.join("&"));
        HeaderValue::try_from(format!("<http://{host}{path}?{query}>; rel=\"next\"")).ok()
    }
}

/// The venue whose clock a search means.
fn near(fields: &Map<String, Value>) -> Option<&'static Venue> {
    let vertical = Vertical::parse(fields.get("vertical")?.as_str()?)?;
    let degrees = |name: &str| fields.get(name).and_then(Value::as_f64);
    match degrees("latitude").zip(degrees("longitude")) {
        Some((latitude, longitude)) => {
            let nearest = near_point(latitude, longitude, vertical).into_iter().next();
            nearest.map(|(venue, _)| venue)
        }
        None => {
            let place = resolve_place(fields.get("location")?.as_str()?)?;
            near_place(&place, vertical).into_iter().next()
        }
    }
}

/// A refusal of a path or a method, as the service sends it.
pub(super) async fn refusal(service: &Service, error: &ApiError) -> Response {
    let response = reply::error(error);
    match &service.speech {
        None => response,
        Some(speech) => {
            let asked = (None, Page::default());
            speak(service, speech, AnswerKind::Error, asked, response)
                .await
                .0
        }
    }
}

/// A response as the service sends it, with the number of the next page if a link leads there, and the contract's body.
async fn speak(
    service: &Service,
    speech: &Speech,
    kind: AnswerKind,
    (asked, page): (Option<RequestKind>, Page),
    response: Response,
) -> (Response, Option<usize>, Bytes) {
    let (mut parts, body) = response.into_parts();
    let kind = match parts.status.as_u16() {
        200..=299 => kind,
        _ => AnswerKind::Error,
    };
    // The body is in memory, and JSON.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let document = serde_json::from_slice(&body).unwrap_or_default();
    let store = &service.store;
    match interpreter::write(store, speech, kind, asked, document, page).await {
        Ok(spoken) => {
            parts.status =
                StatusCode::from_u16(speech.status(parts.status.as_u16())).unwrap_or(parts.status);
            let spoken_response = Response::from_parts(parts, spoken.document.to_string().into());
            (spoken_response, spoken.next_page, body)
        }
        Err(why) => {
            parts.status = StatusCode::INTERNAL_SERVER_ERROR;
            let error = format!("the sandbox cannot write this answer: {why}");
            let refusal = json!({"error": error}).to_string();
            parts.extensions.insert(Refusal(error));
            (Response::from_parts(parts, refusal.into()), None, body)
        }
    }
}

/// What an endpoint answers.
fn answer_kind(endpoint: &Endpoint) -> AnswerKind {
    match (endpoint.method, endpoint.path) {
        ("POST", "/v1/venues/search") => AnswerKind::Venues,
        ("POST", "/v1/availability/search") => AnswerKind::Slots,
        ("GET", "/v1/sessions") => AnswerKind::Sessions,
        (_, "/v1/sessions/card" | "/v1/sessions/{id}/card") => AnswerKind::Card,
        (_, path) if path.starts_with("/v1/bookings") => AnswerKind::Booking,
        (_, path) if path.starts_with("/v1/sessions") => AnswerKind::Session,
        _ => AnswerKind::Index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::http::endpoints::ENDPOINTS;

    #[test]
    fn every_endpoint_that_takes_a_body_has_a_kind_of_request() {
        for endpoint in ENDPOINTS {
            let is_post = endpoint.method == "POST";
            assert_eq!(
                RequestKind::of(endpoint.method, endpoint.path).is_some(),
                is_post,
                "{}",
                endpoint.path
            );
            let is_index = answer_kind(endpoint) == AnswerKind::Index;
            assert_eq!(is_index, endpoint.path == "/v1/", "{}", endpoint.path);
        }
    }
}
