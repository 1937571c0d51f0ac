//! The endpoints of the service: what each requires, and the function that answers it.

use serde_json::{Value, json};

use super::reply::{HandlerResult, Reply};
use super::request::RequestContext;
use super::{bookings, sessions, venues};
use crate::sandbox::rules::access::BOOKINGS_CREATE;
use crate::sandbox::rules::rate_limit::EndpointLimit;

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
