//! The endpoints of the service: what each requires, and how a request to it is answered: faults,
//! the specification's checks, then the endpoint.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::reply::{AnsweredAt, HandlerResult, Reply};
use super::request::{Request, RequestContext};
use super::{SandboxService, bookings, faults, sessions, venues};
use crate::sandbox::rules::access::{self, ApiKey, BOOKINGS_CREATE, KeyKind, TEST_ALLOWANCE};
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::rate_limit::{EndpointLimit, RateLimitStatus};
use crate::sandbox::store::Tx;

pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// What the key must be allowed, and what the organization must have paid for with it.
    pub(crate) scope: Option<&'static str>,
    pub(crate) rate_limit: Option<EndpointLimit>,
    pub(crate) answer: fn(&RequestContext<'_>) -> HandlerResult,
}

/// Every endpoint, in the order of the specification. Those with the same limit share it.
#[rustfmt::skip]
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint { method: "GET", path: "/v1/", summary: "Name, version, server time and the endpoints", scope: None, rate_limit: None, answer: index },
    Endpoint { method: "POST", path: "/v1/venues/search", summary: "Search venues of a vertical", scope: Some("venues:read"), rate_limit: Some(EndpointLimit("venue_search", 25)), answer: venues::search },
    Endpoint { method: "POST", path: "/v1/availability/search", summary: "Read the bookable slots of a venue", scope: Some("venues:read"), rate_limit: Some(EndpointLimit("availability_search", 60)), answer: venues::slots },
    Endpoint { method: "POST", path: "/v1/bookings", summary: "Create a booking", scope: Some(BOOKINGS_CREATE), rate_limit: Some(EndpointLimit("booking_create", 10)), answer: bookings::create },
    Endpoint { method: "GET", path: "/v1/bookings/{booking_id}", summary: "Read a booking", scope: Some("bookings:read"), rate_limit: Some(EndpointLimit("booking_read", 300)), answer: bookings::read },
    Endpoint { method: "POST", path: "/v1/bookings/{booking_id}/continue", summary: "Answer what a booking waits for", scope: Some("bookings:write"), rate_limit: Some(EndpointLimit("booking_continue", 20)), answer: bookings::continue_ },
    Endpoint { method: "POST", path: "/v1/bookings/{booking_id}/modify", summary: "Change a confirmed booking", scope: Some("bookings:write"), rate_limit: Some(EndpointLimit("booking_modify", 20)), answer: bookings::modify },
    Endpoint { method: "POST", path: "/v1/bookings/{booking_id}/cancel", summary: "Cancel a booking", scope: Some("bookings:write"), rate_limit: Some(EndpointLimit("booking_cancel", 30)), answer: bookings::cancel },
    Endpoint { method: "POST", path: "/v1/sessions", summary: "Connect a guest's provider account", scope: Some("sessions:write"), rate_limit: Some(EndpointLimit("session", 20)), answer: sessions::connect },
    Endpoint { method: "POST", path: "/v1/sessions/{id}/verify", summary: "Send the code that the guest received", scope: Some("sessions:write"), rate_limit: Some(EndpointLimit("session", 20)), answer: sessions::verify },
    Endpoint { method: "GET", path: "/v1/sessions", summary: "List sessions", scope: Some("sessions:read"), rate_limit: None, answer: sessions::list },
    Endpoint { method: "GET", path: "/v1/sessions/{id}", summary: "Read a session", scope: Some("sessions:read"), rate_limit: None, answer: sessions::read },
    Endpoint { method: "DELETE", path: "/v1/sessions/{id}", summary: "Disconnect a session", scope: Some("sessions:write"), rate_limit: None, answer: sessions::disconnect },
    Endpoint { method: "GET", path: "/v1/sessions/{id}/card", summary: "Whether the session's account has a card", scope: Some("sessions:read"), rate_limit: Some(EndpointLimit("card", 30)), answer: sessions::card },
    Endpoint { method: "GET", path: "/v1/sessions/card", summary: "Whether a guest's account has a card", scope: Some("sessions:read"), rate_limit: Some(EndpointLimit("card", 30)), answer: sessions::card_of_person },
];

/// `GET /v1/`: name, version, server time and this table.
fn index(context: &RequestContext<'_>) -> HandlerResult {
    let endpoints: Vec<Value> = ENDPOINTS
        .iter()
        .map(|it| json!({"method": it.method, "path": it.path, "summary": it.summary}))
        .collect();
    Reply::ok(&json!({
        "object": "api",
        "name": "bookctl sandbox",
        "version": "v1",
        "server_time": context.tx.now,
        "endpoints": endpoints,
        "sandbox": true,
    }))
}

pub(super) async fn answer(
    service: &SandboxService,
    endpoint: &'static Endpoint,
    request: Request,
) -> Response {
    let mut response = match faults::take(service, endpoint, &request).await {
        Some(fault) => faults::meet(fault, serve(service, endpoint, request)).await,
        None => serve(service, endpoint, request).await,
    };
    // For the log of requests.
    response.extensions_mut().insert(endpoint);
    response
}

async fn serve(
    service: &SandboxService,
    endpoint: &'static Endpoint,
    request: Request,
) -> Response {
    let limits = service.options.limits;
    let writes = endpoint.method != "GET" || limits && endpoint.rate_limit.is_some();
    let key = request.key();
    // Without a key, the main organization's clock counts.
    let owner = key.as_ref().map_or(Organization::MAIN, |it| &it.organization).to_owned();
    let work = move |tx: &Tx<'_>| {
        let mut rate_limit = None;
        match check_and_run(tx, endpoint, &request, key, limits, &mut rate_limit) {
            Err(broken @ ApiError::Broken(_)) => Err(broken),
            // What a refused request has counted or used up is committed.
            outcome => Ok((outcome, rate_limit, tx.now)),
        }
    };
    let store = &service.store;
    let answered = match writes {
        true => store.write(Some(owner), work).await,
        false => store.read(Some(owner), work).await,
    };
    let (outcome, rate_limit, now) = match answered {
        Ok(answered) => answered,
        Err(broken) => return broken.into_response(),
    };
    let mut response = outcome.into_response();
    response.extensions_mut().insert(AnsweredAt(now));
    if let Some(status) = rate_limit {
        let headers = response.headers_mut();
        headers.insert("ratelimit-limit", status.limit.into());
        headers.insert("ratelimit-remaining", status.remaining.into());
        headers.insert("ratelimit-reset", status.reset.into());
        if status.is_over {
            headers.insert(header::RETRY_AFTER, status.reset.into());
        }
    }
    response
}

/// Checks key, environment, suspension, scope, rate limit, idempotency, billing and allowance, then
/// runs the endpoint. `counted` is set once the request was counted against a rate limit.
fn check_and_run(
    tx: &Tx<'_>,
    endpoint: &Endpoint,
    request: &Request,
    key: Result<ApiKey>,
    limits: bool,
    counted: &mut Option<RateLimitStatus>,
) -> HandlerResult {
    let key = key?;
    let organization = tx.organization(&key.organization)?;
    // The organization of a key that is not built in may have been removed, or may never have been.
    let organization = organization.ok_or_else(|| access::unknown(&key.secret))?;
    let context = RequestContext { tx, request, key, organization };
    access::admit(&context.key, &context.organization, endpoint.scope)?;
    let is_of_sessions = endpoint.scope.is_some_and(|it| it.starts_with("sessions:"));
    if is_of_sessions && context.key.kind != KeyKind::Live {
        return Err(ApiError::LIVE_KEY_REQUIRED);
    }
    if limits && let Some(rate_limit) = endpoint.rate_limit {
        let status = counted.insert(tx.count_request(&context.organization.id, rate_limit)?);
        if status.is_over {
            return Err(ApiError::rate_limited(status.limit, status.reset));
        }
    }
    if endpoint.scope == Some(BOOKINGS_CREATE)
        && let Some(reply) = bookings::replay(&context)?
    {
        return Ok(reply);
    }
    access::check_plan(&context.key, &context.organization, endpoint.scope, || {
        if limits {
            Ok(tx.used_allowance(&context.organization.id, TEST_ALLOWANCE)?)
        } else {
            Ok(0)
        }
    })?;
    (endpoint.answer)(&context)
}
