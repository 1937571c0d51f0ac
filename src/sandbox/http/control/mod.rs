//! The sandbox's own endpoints: `/`, `/sandbox` and `/openapi.json`. They need no key.

mod clock;
mod faults;
mod fixtures;
mod organization;
mod records;
mod set;
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

const RESET_PATH: &str = "/sandbox/reset";
const ORGANIZATION_PATH: &str = "/sandbox/organizations/{id}";
const ORGANIZATION: Option<ChangeTopic> = Some(ChangeTopic::Organization);
const EVERYTHING: Option<ChangeTopic> = Some(ChangeTopic::Everything);

#[rustfmt::skip]
pub(crate) const CONTROLS: &[Control] = &[
    Control { method: "GET", path: "/", work: Work::Read(page::index) },
    Control { method: "GET", path: "/openapi.json", work: Work::Read(page::service_document) },
    Control { method: "GET", path: "/sandbox/openapi.json", work: Work::Read(page::controls_document) },
    Control { method: "POST", path: RESET_PATH, work: Work::Write(records::reset, EVERYTHING) },
    Control { method: "POST", path: "/sandbox/fixtures", work: Work::Write(fixtures::load, EVERYTHING) },
    Control { method: "GET", path: "/sandbox/clock", work: Work::Read(clock::show) },
    Control { method: "POST", path: "/sandbox/clock", work: Work::Write(clock::change, None) },
    Control { method: "GET", path: "/sandbox/keys", work: Work::Read(organization::keys) },
    Control { method: "GET", path: "/sandbox/organization", work: Work::Read(organization::show) },
    Control { method: "PUT", path: "/sandbox/organization", work: Work::Write(organization::merge, ORGANIZATION) },
    Control { method: "GET", path: "/sandbox/organizations", work: Work::Read(organization::list) },
    Control { method: "POST", path: "/sandbox/organizations", work: Work::Write(organization::add, ORGANIZATION) },
    Control { method: "DELETE", path: ORGANIZATION_PATH, work: Work::Write(organization::remove, EVERYTHING) },
    Control { method: "GET", path: "/sandbox/bookings", work: Work::Read(records::bookings) },
    Control { method: "PUT", path: "/sandbox/bookings/{booking_id}", work: Work::Write(set::set, None) },
    Control { method: "GET", path: "/sandbox/bookings/{booking_id}/events", work: Work::Read(records::events) },
    Control { method: "GET", path: "/sandbox/scenarios", work: Work::Read(records::scenarios) },
    Control { method: "GET", path: "/sandbox/inbox", work: Work::Read(records::inbox) },
    Control { method: "GET", path: "/sandbox/faults", work: Work::Read(faults::list) },
    Control { method: "POST", path: "/sandbox/faults", work: Work::Write(faults::add, None) },
    Control { method: "DELETE", path: "/sandbox/faults", work: Work::Write(faults::clear, Some(ChangeTopic::Fault)) },
    Control { method: "DELETE", path: "/sandbox/faults/{id}", work: Work::Write(faults::remove, Some(ChangeTopic::Fault)) },
    Control { method: "GET", path: "/sandbox/stream", work: Work::Process(stream::answer) },
    Control { method: "GET", path: "/sandbox/requests", work: Work::Process(records::requests) },
    Control { method: "GET", path: "/sandbox/requests/{id}", work: Work::Process(records::request) },
    Control { method: "GET", path: "/sandbox/report", work: Work::Process(records::report) },
    Control { method: "GET", path: "/sandbox/deliveries", work: Work::Read(records::deliveries) },
    Control { method: "GET", path: "/sandbox/deliveries/{event_id}", work: Work::Read(records::delivery) },
    Control { method: "POST", path: "/sandbox/deliveries/{event_id}/resend", work: Work::Write(records::resend, None) },
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
            let judging = Arc::clone(service);
            let work = move |tx: &Tx<'_>| {
                let owner = match control.path {
                    RESET_PATH => None,
                    ORGANIZATION_PATH => Some(organization::named(tx, &request.id)?.id),
                    _ => return work(tx, &request),
                };
                // What the report reads is judged before it is deleted.
                let deliveries = tx.sent_deliveries(owner.as_deref())?;
                let reply = work(tx, &request)?;
                if let Some(log) = &judging.exchanges {
                    log.forget(owner.as_deref(), &deliveries);
                }
                Ok(reply)
            };
            let outcome = store.write(work).await;
            if outcome.is_ok()
                && let Some(topic) = topic
            {
                store.changes.add(topic, 0);
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
