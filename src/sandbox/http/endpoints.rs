//! The endpoints of the service: what each requires, and the function that answers it.

use serde_json::{Value, json};

use super::parsed_request::RequestContext;
use super::reply::{Outcome, Reply};
use super::{availability, bookings, sessions, venues};
use crate::sandbox::rules::no_key::Scope;
use crate::sandbox::rules::rate_limit::RateLimit;

pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) scope: Option<Scope>,
    pub(crate) needs: Needs,
    pub(crate) rate_limit: Option<RateLimit>,
    /// Whether a request with a known idempotency key gets the first booking back.
    pub(crate) replays: bool,
    /// Whether it changes the store.
    pub(crate) writes: bool,
    pub(crate) live_only: bool,
    pub(crate) answer: fn(&RequestContext<'_, '_>) -> Outcome,
}

/// What the organization must have paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Billing,
    /// Billing, and the entitlement of the plan or the test allowance.
    Entitlement,
}

/// The values that an entry of the table takes unless it names others.
const DEFAULT: Endpoint = Endpoint {
    method: "GET",
    path: "",
    summary: "",
    scope: None,
    needs: Needs::Billing,
    rate_limit: None,
    replays: false,
    writes: false,
    live_only: false,
    answer: index,
};

/// Every endpoint, in the order of the specification.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/v1/",
        summary: "Name, version, server time and the endpoints",
        needs: Needs::Nothing,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/venues/search",
        summary: "Search venues of a vertical",
        scope: Some(Scope::VenuesRead),
        needs: Needs::Entitlement,
        rate_limit: Some(RateLimit::VenueSearch),
        writes: true,
        answer: venues::search,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/availability/search",
        summary: "Read the bookable slots of a venue",
        scope: Some(Scope::VenuesRead),
        needs: Needs::Entitlement,
        rate_limit: Some(RateLimit::AvailabilitySearch),
        answer: availability::search,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/bookings",
        summary: "Create a booking",
        scope: Some(Scope::BookingsCreate),
        needs: Needs::Entitlement,
        rate_limit: Some(RateLimit::BookingCreate),
        replays: true,
        writes: true,
        answer: bookings::create,
        ..DEFAULT
    },
    Endpoint {
        path: "/v1/bookings/{booking_id}",
        summary: "Read a booking",
        scope: Some(Scope::BookingsRead),
        rate_limit: Some(RateLimit::BookingRead),
        answer: bookings::read,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/bookings/{booking_id}/continue",
        summary: "Answer what a booking waits for",
        scope: Some(Scope::BookingsWrite),
        rate_limit: Some(RateLimit::BookingContinue),
        writes: true,
        answer: bookings::continue_,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/bookings/{booking_id}/modify",
        summary: "Change a confirmed booking",
        scope: Some(Scope::BookingsWrite),
        rate_limit: Some(RateLimit::BookingModify),
        writes: true,
        answer: bookings::modify,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/bookings/{booking_id}/cancel",
        summary: "Cancel a booking",
        scope: Some(Scope::BookingsWrite),
        rate_limit: Some(RateLimit::BookingCancel),
        writes: true,
        answer: bookings::cancel,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/sessions",
        summary: "Connect a person's provider account",
        scope: Some(Scope::SessionsWrite),
        rate_limit: Some(RateLimit::Session),
        writes: true,
        live_only: true,
        answer: sessions::connect,
        ..DEFAULT
    },
    Endpoint {
        method: "POST",
        path: "/v1/sessions/{id}/verify",
        summary: "Give the code that the person received",
        scope: Some(Scope::SessionsWrite),
        rate_limit: Some(RateLimit::Session),
        writes: true,
        live_only: true,
        answer: sessions::verify,
        ..DEFAULT
    },
    Endpoint {
        path: "/v1/sessions",
        summary: "List sessions",
        scope: Some(Scope::SessionsRead),
        live_only: true,
        answer: sessions::list,
        ..DEFAULT
    },
    Endpoint {
        path: "/v1/sessions/{id}",
        summary: "Read a session",
        scope: Some(Scope::SessionsRead),
        live_only: true,
        answer: sessions::read,
        ..DEFAULT
    },
    Endpoint {
        method: "DELETE",
        path: "/v1/sessions/{id}",
        summary: "Disconnect a session",
        scope: Some(Scope::SessionsWrite),
        writes: true,
        live_only: true,
        answer: sessions::disconnect,
        ..DEFAULT
    },
    Endpoint {
        path: "/v1/sessions/{id}/card",
        summary: "Whether the session's account has a card",
        scope: Some(Scope::SessionsRead),
        rate_limit: Some(RateLimit::Card),
        live_only: true,
        answer: sessions::card,
        ..DEFAULT
    },
    Endpoint {
        path: "/v1/sessions/card",
        summary: "Whether a person's account has a card",
        scope: Some(Scope::SessionsRead),
        rate_limit: Some(RateLimit::Card),
        live_only: true,
        answer: sessions::card_of_person,
        ..DEFAULT
    },
];

/// `GET /v1/`: name, version, server time and this table.
fn index(context: &RequestContext<'_, '_>) -> Outcome {
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
