//! Webhooks as their receiver sees them: verifying, receiving, storing, forwarding and replaying
//! deliveries, explaining signatures that do not verify, and testing handlers.

pub(crate) mod commands;
pub(crate) mod drill;
pub(crate) mod event;
pub(crate) mod forwarder;
pub(crate) mod handler;
pub(crate) mod listener;
pub(crate) mod reporter;
pub(crate) mod signature;
pub(crate) mod store;

pub(crate) use event::Event;
pub(crate) use listener::Listening;
pub(crate) use store::{AttemptRow, EventQuery, EventRow, EventState, Webhooks};
