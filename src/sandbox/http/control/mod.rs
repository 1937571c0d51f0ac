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

use self::About::{All, Main, Nothing, Page};
use self::Work::{Read, Stream, Write};
use super::page;
use super::reply::{AnsweredAt, HandlerResult};
use super::request::Request;
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
    Nothing,
    /// A page, which takes any parameter.
    Page,
}

#[derive(Clone, Copy)]
enum Work {
    Read(Handler),
    /// With a change of the store, and what followers learn of it beside the rows that the store
    /// sees changing: it does not see rows without a number, nor the deletion of a whole table.
    Write(Handler, Option<ChangeTopic>),
    Stream,
}

type Handler = fn(&Tx<'_>, &Request) -> HandlerResult;

const ORGANIZATION: Option<ChangeTopic> = Some(ChangeTopic::Organization);
const EVERYTHING: Option<ChangeTopic> = Some(ChangeTopic::Everything);

const fn control(method: &'static str, path: &'static str, about: About, work: Work) -> Control {
    Control { method, path, about, work }
}

#[rustfmt::skip]
pub(crate) const CONTROLS: &[Control] = &[
    control("GET", "/", Page, Read(page::index)),
    control("GET", "/openapi.json", Page, Read(|_, _| page::document(page::SERVICE))),
    control("GET", "/sandbox/openapi.json", Nothing, Read(|_, _| page::document(page::CONTROLS))),
    control("POST", "/sandbox/reset", All, Write(records::reset, EVERYTHING)),
    control("POST", "/sandbox/fixtures", Main, Write(fixtures::load, EVERYTHING)),
    control("GET", "/sandbox/clock", All, Read(clock::show)),
    control("POST", "/sandbox/clock", All, Write(clock::change, None)),
    control("GET", "/sandbox/keys", All, Read(organization::keys)),
    control("GET", "/sandbox/organization", Main, Read(organization::show)),
    control("PUT", "/sandbox/organization", Main, Write(organization::merge, ORGANIZATION)),
    control("GET", "/sandbox/organizations", All, Read(organization::list)),
    control("POST", "/sandbox/organizations", All, Write(organization::add, ORGANIZATION)),
    control("DELETE", "/sandbox/organizations/{id}", All, Write(organization::remove, EVERYTHING)),
    control("GET", "/sandbox/bookings", All, Read(records::bookings)),
    control("PUT", "/sandbox/bookings/{booking_id}", All, Write(records::set, None)),
    control("GET", "/sandbox/bookings/{booking_id}/events", All, Read(records::events)),
    control("GET", "/sandbox/scenarios", Main, Read(records::scenarios)),
    control("GET", "/sandbox/inbox", All, Read(records::inbox)),
    control("GET", "/sandbox/faults", All, Read(faults::list)),
    control("POST", "/sandbox/faults", All, Write(faults::add, None)),
    control("DELETE", "/sandbox/faults", All, Write(faults::clear, Some(ChangeTopic::Fault))),
    control("DELETE", "/sandbox/faults/{id}", All, Write(faults::remove, Some(ChangeTopic::Fault))),
    control("GET", "/sandbox/stream", All, Stream),
    control("GET", "/sandbox/requests", All, Read(records::requests)),
    control("GET", "/sandbox/requests/{id}", All, Read(records::request)),
    control("GET", "/sandbox/report", All, Read(records::report)),
    control("GET", "/sandbox/deliveries", All, Read(records::deliveries)),
    control("GET", "/sandbox/deliveries/{event_id}", All, Read(records::delivery)),
    control("POST", "/sandbox/deliveries/{event_id}/resend", All, Write(records::resend, None)),
];

impl Control {
    fn parameters(&self) -> &'static [&'static str] {
        match self.path {
            _ if self.about == Nothing => &[],
            "/sandbox/requests" => {
                &["organization", "limit", "status", "method", "path", "booking", "after"]
            }
            _ => &["organization"],
        }
    }

    /// The request's organization. Fails on any parameter that would be ignored.
    fn organization(&self, request: &Request) -> Result<Option<String>> {
        let main = (self.about == Main).then(|| Organization::MAIN.to_owned());
        if self.about == Page {
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

pub(super) async fn answer(control: &'static Control, mut request: Request) -> Response {
    let owner = match control.organization(&request) {
        Ok(owner) => owner,
        Err(refusal) => return refusal.into_response(),
    };
    request.organization.clone_from(&owner);
    let service = Arc::clone(&request.service);
    let store = &service.store;
    let mut response = match control.work {
        Read(work) => store.read(owner.clone(), checked(work, request)).await.into_response(),
        Write(work, topic) => {
            let outcome = store.write(owner.clone(), checked(work, request)).await;
            if outcome.is_ok()
                && let Some(topic) = topic
            {
                store.changes.add(topic, 0);
            }
            outcome.into_response()
        }
        Stream => {
            let known = store.look(|tx| known(tx, &request));
            known.and_then(|()| stream::answer(&request)).into_response()
        }
    };
    if let Ok(now) = store.now(owner.as_deref()) {
        response.extensions_mut().insert(AnsweredAt(now));
    }
    response
}

fn checked(work: Handler, request: Request) -> impl FnOnce(&Tx<'_>) -> HandlerResult {
    move |tx| known(tx, &request).and_then(|()| work(tx, &request))
}

/// Fails if the request is about an organization that does not exist.
fn known(tx: &Tx<'_>, request: &Request) -> Result<()> {
    request.organization.as_deref().map_or(Ok(()), |it| organization::named(tx, it).map(drop))
}
