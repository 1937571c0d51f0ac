//! The endpoints of the service: what each needs, and who answers it.

use crate::sandbox::rules::access::Scope;

use super::door::Visit;
use super::reply::Outcome;
use super::{availability, bookings, index, venues};

/// An endpoint under `/v1`.
pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    /// The scope that its caller's key needs.
    pub(crate) scope: Option<Scope>,
    pub(crate) needs: Needs,
    /// Whether a known idempotency key answers it, whatever else it says.
    pub(crate) replays: bool,
    /// Whether it changes what the store holds.
    pub(crate) writes: bool,
    pub(crate) answer: fn(&Visit<'_, '_>) -> Outcome,
}

/// What has to be paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Billing,
    /// Billing, and what the plan or the test allowance entitles to.
    Entitlement,
}

/// Every endpoint, in the order of the specification.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "GET",
        path: "/v1/",
        summary: "Name, version, server time and the endpoints",
        scope: None,
        needs: Needs::Nothing,
        replays: false,
        writes: false,
        answer: index::index,
    },
    Endpoint {
        method: "POST",
        path: "/v1/venues/search",
        summary: "Search venues of a vertical",
        scope: Some(Scope::VenuesRead),
        needs: Needs::Entitlement,
        replays: false,
        writes: true,
        answer: venues::search,
    },
    Endpoint {
        method: "POST",
        path: "/v1/availability/search",
        summary: "Read the bookable slots of a venue",
        scope: Some(Scope::VenuesRead),
        needs: Needs::Entitlement,
        replays: false,
        writes: false,
        answer: availability::search,
    },
    Endpoint {
        method: "POST",
        path: "/v1/bookings",
        summary: "Create a booking",
        scope: Some(Scope::BookingsCreate),
        needs: Needs::Entitlement,
        replays: true,
        writes: true,
        answer: bookings::create,
    },
    Endpoint {
        method: "GET",
        path: "/v1/bookings/{booking_id}",
        summary: "Read a booking",
        scope: Some(Scope::BookingsRead),
        needs: Needs::Billing,
        replays: false,
        writes: false,
        answer: bookings::read,
    },
    Endpoint {
        method: "POST",
        path: "/v1/bookings/{booking_id}/continue",
        summary: "Answer what a booking waits for",
        scope: Some(Scope::BookingsWrite),
        needs: Needs::Billing,
        replays: false,
        writes: true,
        answer: bookings::resume,
    },
];
