//! What the service decides, as functions over values: no HTTP, no store, no clock of their own.

pub(crate) mod access;
pub(crate) mod advance;
pub(crate) mod answer;
pub(crate) mod availability;
pub(crate) mod booking;
pub(crate) mod code;
pub(crate) mod create;
pub(crate) mod delivery;
pub(crate) mod fault;
pub(crate) mod fields;
pub(crate) mod guest;
pub(crate) mod limits;
pub(crate) mod modify;
pub(crate) mod organization;
pub(crate) mod placement;
pub(crate) mod refusal;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod transition;
