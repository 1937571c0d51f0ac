//! Webhooks as their receiver sees them: verifying, receiving, storing, forwarding and replaying deliveries, explaining
//! signatures that do not verify, and testing consumers.

mod app;
mod diagnose;
pub(crate) mod drill;
mod event;
mod forwarder;
mod listener;
mod listener_event;
mod post;
mod receiver;
mod request;
mod sample_event;
mod schedule;
mod signature;
mod store;

pub(crate) use app::{App, Signing};
pub(crate) use diagnose::{Diagnosis, diagnose};
pub(crate) use event::{Event, Names};
pub(crate) use listener::{Listener, Listening};
pub(crate) use listener_event::{DeliveryOutcome, ListenerEvent, Totals};
pub(crate) use post::{DEADLINE, Endpoint, NoReply, Poster, Reaction};
pub(crate) use receiver::{DUPLICATE, LISTENER};
pub(crate) use request::SavedRequest;
pub(crate) use sample_event::{KINDS, SampleEvent, status_of, summary_of};
pub(crate) use schedule::Schedule;
pub(crate) use signature::{DEFAULT_TOLERANCE, Header, Unverified, sign, verify};
pub(crate) use store::{
    AppAnswer, AttemptRow, Content, EventRow, HeaderLine, Query, Registration, State, Store,
    Webhooks,
};
