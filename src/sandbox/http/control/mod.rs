//! The sandbox's own endpoints: `/`, `/sandbox` and `/openapi.json`. They need no key.

mod clock;
mod faults;
mod fixtures;
mod organization;
mod records;
mod stream;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};

use super::reply::HandlerResult;
use super::request::Request;
use super::{SandboxService, page};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::store::{ChangeTopic, Tx};

pub(crate) use fixtures::load_into;

pub(crate) struct Control {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    work: Work,
}

#[derive(Clone, Copy)]
enum Work {
    Read(fn(&Tx<'_>, &Request) -> HandlerResult),
    /// With a change of the store, and what followers learn of it beside the rows that the store sees changing: it does
    /// not see rows without a number, nor the deletion of a whole table.
    Write(fn(&Tx<'_>, &Request) -> HandlerResult, Option<ChangeTopic>),
    /// From what this process keeps.
    Process(fn(&Arc<SandboxService>, &Request) -> Result<Response, ApiError>),
}

const fn control(method: &'static str, path: &'static str, work: Work) -> Control {
    Control { method, path, work }
}

const ORGANIZATION: Option<ChangeTopic> = Some(ChangeTopic::Organization);
const EVERYTHING: Option<ChangeTopic> = Some(ChangeTopic::Everything);

#[rustfmt::skip]
pub(crate) const CONTROLS: &[Control] = &[
    control("GET", "/", Work::Read(page::index)),
    control("GET", "/openapi.json", Work::Read(page::service_document)),
    control("GET", "/sandbox/openapi.json", Work::Read(page::controls_document)),
    control("POST", "/sandbox/reset", Work::Write(records::reset, EVERYTHING)),
    control("POST", "/sandbox/fixtures", Work::Write(fixtures::load, EVERYTHING)),
    control("GET", "/sandbox/clock", Work::Read(clock::show)),
    control("POST", "/sandbox/clock", Work::Write(clock::change, None)),
    control("GET", "/sandbox/keys", Work::Read(organization::keys)),
    control("GET", "/sandbox/organization", Work::Read(organization::show)),
    control("PUT", "/sandbox/organization", Work::Write(organization::merge, ORGANIZATION)),
    control("GET", "/sandbox/organizations", Work::Read(organization::list)),
    control("POST", "/sandbox/organizations", Work::Write(organization::add, ORGANIZATION)),
    control("DELETE", "/sandbox/organizations/{id}", Work::Write(organization::remove, EVERYTHING)),
    control("GET", "/sandbox/bookings", Work::Read(records::bookings)),
    control("GET", "/sandbox/bookings/{booking_id}/events", Work::Read(records::events)),
    control("GET", "/sandbox/scenarios", Work::Read(records::scenarios)),
    control("GET", "/sandbox/inbox", Work::Read(records::inbox)),
    control("GET", "/sandbox/faults", Work::Read(faults::list)),
    control("POST", "/sandbox/faults", Work::Write(faults::add, None)),
    control("DELETE", "/sandbox/faults", Work::Write(faults::clear, Some(ChangeTopic::Fault))),
    control("DELETE", "/sandbox/faults/{id}", Work::Write(faults::remove, Some(ChangeTopic::Fault))),
    control("GET", "/sandbox/stream", Work::Process(stream::answer)),
    control("GET", "/sandbox/requests", Work::Process(records::requests)),
    control("GET", "/sandbox/requests/{id}", Work::Process(records::request)),
    control("GET", "/sandbox/report", Work::Process(records::report)),
    control("GET", "/sandbox/deliveries", Work::Read(records::deliveries)),
    control("GET", "/sandbox/deliveries/{event_id}", Work::Read(records::delivery)),
    control("POST", "/sandbox/deliveries/{event_id}/resend", Work::Write(records::resend, None)),
];

pub(super) async fn answer(
    service: &Arc<SandboxService>,
    control: &'static Control,
    request: Request,
) -> Response {
    let store = &service.store;
    match control.work {
        Work::Read(work) => {
            let outcome = store.read(move |tx| work(tx, &request)).await;
            outcome.into_response()
        }
        Work::Write(work, topic) => {
            let outcome = store.write(move |tx| work(tx, &request)).await;
            if outcome.is_ok()
                && let Some(topic) = topic
            {
                store.changes().add(topic, 0);
            }
            outcome.into_response()
        }
        Work::Process(work) => work(service, &request).into_response(),
    }
}

fn organization_asked(tx: &Tx<'_>, request: &Request) -> Result<Option<String>, ApiError> {
    match request.query("organization") {
        Some(name) => Ok(Some(organization::named(tx, &name)?.id)),
        None => Ok(None),
    }
}
