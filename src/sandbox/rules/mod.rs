//! The rules of the service, as pure functions: no HTTP, no store; the time is a parameter.

pub(crate) mod access;
pub(crate) mod api_error;
pub(crate) mod booking;
pub(crate) mod delivery;
pub(crate) mod fault;
pub(crate) mod fields;
pub(crate) mod fixtures;
pub(crate) mod organization;
pub(crate) mod provider_response;
pub(crate) mod rate_limit;
pub(crate) mod requests;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod transition;
