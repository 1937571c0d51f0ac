//! Webhook deliveries as a consumer sees them: their signature, and what may be wrong with it.

mod app;
mod body;
pub(crate) mod drill;
mod event;
mod foreign;
mod forwarder;
mod json_style;
mod layers;
mod line;
mod listener;
mod notice;
mod passing;
mod post;
mod receiver;
mod request;
mod schedule;
mod signature;
mod slate;
mod specimen;
mod store;
mod suspicion;

pub(crate) use app::{App, Signing};
pub(crate) use body::{Source, each_piece};
pub(crate) use event::{Event, Names};
pub(crate) use foreign::{owner_of_header, owner_of_value};
pub(crate) use listener::{Listener, Listening, Mode};
pub(crate) use notice::{Notice, Sum, What};
pub(crate) use post::{DEADLINE, Endpoint, NoReply, Poster, Reaction};
pub(crate) use request::{RequestError, SavedRequest};
pub(crate) use schedule::Schedule;
pub(crate) use signature::{
    DEFAULT_TOLERANCE, Header, Malformed, Signer, Unverified, Verified, Verifier, sign, verify,
};
pub(crate) use specimen::{KINDS, Specimen, status_of, summary_of};
pub(crate) use store::{
    Answer, AttemptRow, EventRow, HeaderLine, Query, Registration, State, Store, StoreError,
    Webhooks,
};
pub(crate) use suspicion::{Suspicion, suspect, torn};
