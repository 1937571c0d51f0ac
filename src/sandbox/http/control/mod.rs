//! The sandbox's own endpoints: `/`, `/sandbox` and `/openapi.json`. They need no key.

mod clock;
mod faults;
mod fixtures;
mod organization;
mod records;
mod stream;

use std::collections::HashSet;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};

use super::reply::{AnsweredAt, HandlerResult};
use super::request::Request;
use super::{SandboxService, page};
use crate::sandbox::rules::api_error::Result;
use crate::sandbox::rules::fields::FieldErrors;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::store::{ChangeTopic, Tx};

pub(crate) use fixtures::load_into;

pub(crate) struct Control {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    about: About,
    work: Work,
}

/// What a control is about without `?organization=`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    All,
    /// The main organization.
    Main,
    /// No organization: it takes no parameter.
    None,
    /// A page, which takes any parameter.
    Page,
}

#[derive(Clone, Copy)]
enum Work {
    Read(fn(&Tx<'_>, &Request) -> HandlerResult),
    /// With a change of the store, and what followers learn of it beside the rows that the store
    /// sees changing: it does not see rows without a number, nor the deletion of a whole table.
    Write(fn(&Tx<'_>, &Request) -> HandlerResult, Option<ChangeTopic>),
    /// From what this process keeps.
    Process(fn(&Arc<SandboxService>, &Request) -> Result<Response>),
}

const RESET_PATH: &str = "/sandbox/reset";
const ORGANIZATION_PATH: &str = "/sandbox/organizations/{id}";
const ORGANIZATION: Option<ChangeTopic> = Some(ChangeTopic::Organization);
const EVERYTHING: Option<ChangeTopic> = Some(ChangeTopic::Everything);

#[rustfmt::skip]
pub(crate) const CONTROLS: &[Control] = &[
    Control { method: "GET", path: "/", about: About::Page, work: Work::Read(page::index) },
    Control { method: "GET", path: "/openapi.json", about: About::Page, work: Work::Read(|_, _| page::document(page::SERVICE)) },
    Control { method: "GET", path: "/sandbox/openapi.json", about: About::None, work: Work::Read(|_, _| page::document(page::CONTROLS)) },
    Control { method: "POST", path: RESET_PATH, about: About::All, work: Work::Write(records::reset, EVERYTHING) },
    Control { method: "POST", path: "/sandbox/fixtures", about: About::Main, work: Work::Write(fixtures::load, EVERYTHING) },
    Control { method: "GET", path: "/sandbox/clock", about: About::All, work: Work::Read(clock::show) },
    Control { method: "POST", path: "/sandbox/clock", about: About::All, work: Work::Write(clock::change, None) },
    Control { method: "GET", path: "/sandbox/keys", about: About::All, work: Work::Read(organization::keys) },
    Control { method: "GET", path: "/sandbox/organization", about: About::Main, work: Work::Read(organization::show) },
    Control { method: "PUT", path: "/sandbox/organization", about: About::Main, work: Work::Write(organization::merge, ORGANIZATION) },
    Control { method: "GET", path: "/sandbox/organizations", about: About::All, work: Work::Read(organization::list) },
    Control { method: "POST", path: "/sandbox/organizations", about: About::All, work: Work::Write(organization::add, ORGANIZATION) },
    Control { method: "DELETE", path: ORGANIZATION_PATH, about: About::All, work: Work::Write(organization::remove, EVERYTHING) },
    Control { method: "GET", path: "/sandbox/bookings", about: About::All, work: Work::Read(records::bookings) },
    Control { method: "PUT", path: "/sandbox/bookings/{booking_id}", about: About::All, work: Work::Write(records::set, None) },
    Control { method: "GET", path: "/sandbox/bookings/{booking_id}/events", about: About::All, work: Work::Read(records::events) },
    Control { method: "GET", path: "/sandbox/scenarios", about: About::Main, work: Work::Read(records::scenarios) },
    Control { method: "GET", path: "/sandbox/inbox", about: About::All, work: Work::Read(records::inbox) },
    Control { method: "GET", path: "/sandbox/faults", about: About::All, work: Work::Read(faults::list) },
    Control { method: "POST", path: "/sandbox/faults", about: About::All, work: Work::Write(faults::add, None) },
    Control { method: "DELETE", path: "/sandbox/faults", about: About::All, work: Work::Write(faults::clear, Some(ChangeTopic::Fault)) },
    Control { method: "DELETE", path: "/sandbox/faults/{id}", about: About::All, work: Work::Write(faults::remove, Some(ChangeTopic::Fault)) },
    Control { method: "GET", path: "/sandbox/stream", about: About::All, work: Work::Process(stream::answer) },
    Control { method: "GET", path: "/sandbox/requests", about: About::All, work: Work::Process(records::requests) },
    Control { method: "GET", path: "/sandbox/requests/{id}", about: About::All, work: Work::Process(records::request) },
    Control { method: "GET", path: "/sandbox/report", about: About::All, work: Work::Process(records::report) },
    Control { method: "GET", path: "/sandbox/deliveries", about: About::All, work: Work::Read(records::deliveries) },
    Control { method: "GET", path: "/sandbox/deliveries/{event_id}", about: About::All, work: Work::Read(records::delivery) },
    Control { method: "POST", path: "/sandbox/deliveries/{event_id}/resend", about: About::All, work: Work::Write(records::resend, None) },
];

impl Control {
    fn parameters(&self) -> &'static [&'static str] {
        match self.path {
            _ if self.about == About::None => &[],
            "/sandbox/requests" => {
                &["organization", "limit", "status", "method", "path", "booking", "after"]
            }
            _ => &["organization"],
        }
    }

    /// The request's organization. Fails on any parameter that would be ignored.
    fn organization(&self, request: &Request) -> Result<Option<String>> {
        let main = (self.about == About::Main).then(|| Organization::MAIN.to_owned());
        if self.about == About::Page {
            return Ok(main);
        }
        let known = self.parameters();
        let mut errors = FieldErrors::default();
        let mut seen = HashSet::new();
        for (name, _) in request.queries() {
            if known.is_empty() {
                errors.add(&name, "is not a parameter: this call takes none");
            } else if !known.contains(&name.as_str()) {
                let wording =
                    format!("is not a parameter of this call, which takes {}", known.join(", "));
                errors.add(&name, wording);
            } else if !seen.insert(name.clone()) {
                errors.add(&name, "came twice");
            }
        }
        errors.finish()?;
        Ok(request.query("organization").map(|it| Organization::id_of(&it)).or(main))
    }
}

pub(super) async fn answer(
    service: &Arc<SandboxService>,
    control: &'static Control,
    mut request: Request,
) -> Response {
    let owner = match control.organization(&request) {
        Ok(owner) => owner,
        Err(refusal) => return refusal.into_response(),
    };
    request.organization.clone_from(&owner);
    let store = &service.store;
    let mut response = match control.work {
        Work::Read(work) => {
            let work = move |tx: &Tx<'_>| known(tx, &request).and_then(|()| work(tx, &request));
            store.read(owner.clone(), work).await.into_response()
        }
        Work::Write(work, topic) => {
            let judging = Arc::clone(service);
            let work = move |tx: &Tx<'_>| {
                known(tx, &request)?;
                let leaving = match control.path {
                    RESET_PATH => request.organization.clone(),
                    ORGANIZATION_PATH => Some(organization::named(tx, &request.id)?.id),
                    _ => return work(tx, &request),
                };
                // What the report reads is judged before it is deleted.
                let deliveries = tx.sent_deliveries(leaving.as_deref())?;
                let reply = work(tx, &request)?;
                if let Some(log) = &judging.exchanges {
                    let removed = leaving.filter(|_| control.path == ORGANIZATION_PATH);
                    log.forget(removed.as_deref(), &deliveries);
                }
                Ok(reply)
            };
            let outcome = store.write(owner.clone(), work).await;
            if outcome.is_ok()
                && let Some(topic) = topic
            {
                store.changes.add(topic, 0);
            }
            outcome.into_response()
        }
        Work::Process(work) => {
            let known = store.look(|tx| known(tx, &request));
            known.and_then(|()| work(service, &request)).into_response()
        }
    };
    if let Ok(now) = store.now(owner.as_deref()) {
        response.extensions_mut().insert(AnsweredAt(now));
    }
    response
}

/// Fails if the request is about an organization that does not exist.
fn known(tx: &Tx<'_>, request: &Request) -> Result<()> {
    request.organization.as_deref().map_or(Ok(()), |it| organization::named(tx, it).map(drop))
}
