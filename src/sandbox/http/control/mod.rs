//! The sandbox's own endpoints: `/`, `/sandbox` and `/openapi.json`. They need no key.

mod catalogue;
mod clock;
mod faults;
mod fixtures;
mod organization;
mod records;
mod stream;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, on};

use super::parsed_request::ParsedRequest;
use super::reply::{self, Outcome};
use super::{Service, openapi, pipeline};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::store::{Topic, Tx};

pub(crate) use fixtures::load_into;

/// An endpoint that inspects or changes the sandbox itself.
pub(crate) struct Control {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    answer: Answer,
}

#[derive(Clone, Copy)]
enum Answer {
    /// From the store.
    Read(fn(&Tx<'_>, &ParsedRequest) -> Outcome),
    /// With a change of the store.
    Write(fn(&Tx<'_>, &ParsedRequest) -> Outcome),
    /// From what this process keeps.
    Process(fn(&Service, &ParsedRequest) -> Outcome),
    /// With changes, for as long as the client listens.
    Stream,
}

impl Control {
    const fn read(path: &'static str, answer: fn(&Tx<'_>, &ParsedRequest) -> Outcome) -> Self {
        Self {
            method: "GET",
            path,
            answer: Answer::Read(answer),
        }
    }

    const fn write(
        method: &'static str,
        path: &'static str,
        answer: fn(&Tx<'_>, &ParsedRequest) -> Outcome,
    ) -> Self {
        Self {
            method,
            path,
            answer: Answer::Write(answer),
        }
    }

    const fn process(path: &'static str, answer: fn(&Service, &ParsedRequest) -> Outcome) -> Self {
        Self {
            method: "GET",
            path,
            answer: Answer::Process(answer),
        }
    }
}

pub(crate) const CONTROLS: &[Control] = &[
    Control::write("POST", "/sandbox/reset", records::reset),
    Control::write("POST", "/sandbox/fixtures", fixtures::load),
    Control::read("/", openapi::index),
    Control::read("/openapi.json", openapi::document),
    Control::read("/sandbox/openapi.json", openapi::controls),
    Control::read("/sandbox/clock", clock::show),
    Control::write("POST", "/sandbox/clock", clock::change),
    Control::read("/sandbox/keys", catalogue::keys),
    Control::read("/sandbox/organization", organization::show),
    Control::write("PUT", "/sandbox/organization", organization::merge),
    Control::read("/sandbox/organizations", organization::list),
    Control::write("POST", "/sandbox/organizations", organization::add),
    Control::write(
        "DELETE",
        "/sandbox/organizations/{id}",
        organization::remove,
    ),
    Control::read("/sandbox/bookings", records::bookings),
    Control::read("/sandbox/bookings/{booking_id}/events", records::events),
    Control::read("/sandbox/scenarios", catalogue::scenarios),
    Control::read("/sandbox/inbox", records::inbox),
    Control::read("/sandbox/faults", faults::list),
    Control::write("POST", "/sandbox/faults", faults::add),
    Control::write("DELETE", "/sandbox/faults", faults::clear),
    Control::write("DELETE", "/sandbox/faults/{id}", faults::remove),
    Control {
        method: "GET",
        path: "/sandbox/stream",
        answer: Answer::Stream,
    },
    Control::process("/sandbox/requests", records::requests),
    Control::process("/sandbox/requests/{id}", records::request),
    Control::read("/sandbox/deliveries", records::deliveries),
    Control::read("/sandbox/deliveries/{event_id}", records::delivery),
    Control::write(
        "POST",
        "/sandbox/deliveries/{event_id}/resend",
        records::resend,
    ),
];

pub(super) fn route(control: &'static Control) -> MethodRouter<Arc<Service>> {
    on(
        pipeline::filter(control.method),
        move |State(service): State<Arc<Service>>, request: Request| async move {
            serve(&service, control, request).await
        },
    )
}

fn organization_asked(tx: &Tx<'_>, request: &ParsedRequest) -> Result<Option<String>, ApiError> {
    let name = request.query("organization");
    name.map(|name| Ok(organization::named(tx, &name)?.id.clone()))
        .transpose()
}

async fn serve(service: &Arc<Service>, control: &'static Control, request: Request) -> Response {
    let request = match ParsedRequest::of(request).await {
        Ok(request) => request,
        Err((error, _)) => return reply::error(&error),
    };
    let store = &service.store;
    reply::respond(match control.answer {
        Answer::Read(answer) => store.read(move |tx| answer(tx, &request)).await,
        Answer::Write(answer) => {
            let outcome = store.write(move |tx| answer(tx, &request)).await;
            if outcome.is_ok()
                && let Some(topic) = changed_by(control)
            {
                store.changes().add(topic, 0);
            }
            outcome
        }
        Answer::Process(answer) => answer(service, &request),
        Answer::Stream => match stream::answer(service, &request) {
            Ok(stream) => return stream,
            Err(error) => Err(error.into()),
        },
    })
}

/// What a control changes beside the rows that the store sees changing: it does not see rows without a number, nor the
/// deletion of a whole table.
fn changed_by(control: &Control) -> Option<Topic> {
    match (control.method, control.path) {
        ("DELETE", "/sandbox/faults" | "/sandbox/faults/{id}") => Some(Topic::Fault),
        ("POST", "/sandbox/organizations") | (_, "/sandbox/organization") => {
            Some(Topic::Organization)
        }
        (_, "/sandbox/clock" | "/sandbox/faults" | "/sandbox/deliveries/{event_id}/resend") => None,
        _ => Some(Topic::Everything),
    }
}
