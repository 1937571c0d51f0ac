//! The endpoints of the service: what each requires, and the function that answers it.

use serde_json::{Value, json};

use super::reply::{Outcome, Reply};
use super::request::Context;
use super::{bookings, sessions, venues};
use crate::sandbox::rules::api_error::Scope;
use crate::sandbox::rules::rate_limit::RateLimit;

pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// What the key must be allowed, and what the organization must have paid for with it.
    pub(crate) scope: Option<Scope>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) answer: fn(&Context<'_>) -> Outcome,
}

const fn endpoint(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    scope: Option<Scope>,
    rate_limit: Option<RateLimit>,
    answer: fn(&Context<'_>) -> Outcome,
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
    endpoint("POST", "/v1/venues/search", "Search venues of a vertical", Some(Scope::VenuesRead), Some(RateLimit::VENUE_SEARCH), venues::search),
    endpoint("POST", "/v1/availability/search", "Read the bookable slots of a venue", Some(Scope::VenuesRead), Some(RateLimit::AVAILABILITY_SEARCH), venues::slots),
    endpoint("POST", "/v1/bookings", "Create a booking", Some(Scope::BookingsCreate), Some(RateLimit::BOOKING_CREATE), bookings::create),
    endpoint("GET", "/v1/bookings/{booking_id}", "Read a booking", Some(Scope::BookingsRead), Some(RateLimit::BOOKING_READ), bookings::read),
    endpoint("POST", "/v1/bookings/{booking_id}/continue", "Answer what a booking waits for", Some(Scope::BookingsWrite), Some(RateLimit::BOOKING_CONTINUE), bookings::continue_),
    endpoint("POST", "/v1/bookings/{booking_id}/modify", "Change a confirmed booking", Some(Scope::BookingsWrite), Some(RateLimit::BOOKING_MODIFY), bookings::modify),
    endpoint("POST", "/v1/bookings/{booking_id}/cancel", "Cancel a booking", Some(Scope::BookingsWrite), Some(RateLimit::BOOKING_CANCEL), bookings::cancel),
    endpoint("POST", "/v1/sessions", "Connect a person's provider account", Some(Scope::SessionsWrite), Some(RateLimit::SESSION), sessions::connect),
    endpoint("POST", "/v1/sessions/{id}/verify", "Give the code that the person received", Some(Scope::SessionsWrite), Some(RateLimit::SESSION), sessions::verify),
    endpoint("GET", "/v1/sessions", "List sessions", Some(Scope::SessionsRead), None, sessions::list),
    endpoint("GET", "/v1/sessions/{id}", "Read a session", Some(Scope::SessionsRead), None, sessions::read),
    endpoint("DELETE", "/v1/sessions/{id}", "Disconnect a session", Some(Scope::SessionsWrite), None, sessions::disconnect),
    endpoint("GET", "/v1/sessions/{id}/card", "Whether the session's account has a card", Some(Scope::SessionsRead), Some(RateLimit::CARD), sessions::card),
    endpoint("GET", "/v1/sessions/card", "Whether a person's account has a card", Some(Scope::SessionsRead), Some(RateLimit::CARD), sessions::card_of_person),
];

/// `GET /v1/`: name, version, server time and this table.
fn index(context: &Context<'_>) -> Outcome {
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
