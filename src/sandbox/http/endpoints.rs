//! The endpoints of the service: what each requires, and the function that answers it.

use serde_json::{Value, json};

use super::reply::{HandlerResult, Reply};
use super::request::RequestContext;
use super::{bookings, sessions, venues};
use crate::sandbox::rules::api_error::AccessScope;
use crate::sandbox::rules::rate_limit::EndpointLimit;

pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// What the key must be allowed, and what the organization must have paid for with it.
    pub(crate) scope: Option<AccessScope>,
    pub(crate) rate_limit: Option<EndpointLimit>,
    pub(crate) answer: fn(&RequestContext<'_>) -> HandlerResult,
}

const fn endpoint(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    scope: Option<AccessScope>,
    rate_limit: Option<EndpointLimit>,
    answer: fn(&RequestContext<'_>) -> HandlerResult,
) -> Endpoint {
    Endpoint {
        method,
        path,
        summary,
        scope,
        rate_limit,
        answer,
    }
}

/// Every endpoint, in the order of the specification.
#[rustfmt::skip]
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    endpoint("GET", "/v1/", "Name, version, server time and the endpoints", None, None, index),
    endpoint("POST", "/v1/venues/search", "Search venues of a vertical", Some(AccessScope::VenuesRead), Some(EndpointLimit::VENUE_SEARCH), venues::search),
    endpoint("POST", "/v1/availability/search", "Read the bookable slots of a venue", Some(AccessScope::VenuesRead), Some(EndpointLimit::AVAILABILITY_SEARCH), venues::slots),
    endpoint("POST", "/v1/bookings", "Create a booking", Some(AccessScope::BookingsCreate), Some(EndpointLimit::BOOKING_CREATE), bookings::create),
    endpoint("GET", "/v1/bookings/{booking_id}", "Read a booking", Some(AccessScope::BookingsRead), Some(EndpointLimit::BOOKING_READ), bookings::read),
    endpoint("POST", "/v1/bookings/{booking_id}/continue", "Answer what a booking waits for", Some(AccessScope::BookingsWrite), Some(EndpointLimit::BOOKING_CONTINUE), bookings::continue_),
    endpoint("POST", "/v1/bookings/{booking_id}/modify", "Change a confirmed booking", Some(AccessScope::BookingsWrite), Some(EndpointLimit::BOOKING_MODIFY), bookings::modify),
    endpoint("POST", "/v1/bookings/{booking_id}/cancel", "Cancel a booking", Some(AccessScope::BookingsWrite), Some(EndpointLimit::BOOKING_CANCEL), bookings::cancel),
    endpoint("POST", "/v1/sessions", "Connect a guest's provider account", Some(AccessScope::SessionsWrite), Some(EndpointLimit::SESSION), sessions::connect),
    endpoint("POST", "/v1/sessions/{id}/verify", "Send the code that the guest received", Some(AccessScope::SessionsWrite), Some(EndpointLimit::SESSION), sessions::verify),
    endpoint("GET", "/v1/sessions", "List sessions", Some(AccessScope::SessionsRead), None, sessions::list),
    endpoint("GET", "/v1/sessions/{id}", "Read a session", Some(AccessScope::SessionsRead), None, sessions::read),
    endpoint("DELETE", "/v1/sessions/{id}", "Disconnect a session", Some(AccessScope::SessionsWrite), None, sessions::disconnect),
    endpoint("GET", "/v1/sessions/{id}/card", "Whether the session's account has a card", Some(AccessScope::SessionsRead), Some(EndpointLimit::CARD), sessions::card),
    endpoint("GET", "/v1/sessions/card", "Whether a guest's account has a card", Some(AccessScope::SessionsRead), Some(EndpointLimit::CARD), sessions::card_of_person),
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
