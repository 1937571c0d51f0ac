//! The sandbox's own endpoints: `/sandbox` and `/openapi.json`. They need no key.

mod bookings;
mod clock;
mod deliveries;
mod faults;
mod inbox;
mod keys;
mod organization;
mod reset;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, on};

use super::parsed_request::ParsedRequest;
use super::reply::{self, Outcome};
use super::service::Service;
use super::{openapi, pipeline};
use crate::sandbox::store::Tx;

/// An endpoint that inspects or changes the sandbox itself.
pub(crate) struct Control {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    writes: bool,
    answer: fn(&Tx<'_>, &ParsedRequest) -> Outcome,
}

impl Control {
    const fn read(path: &'static str, answer: fn(&Tx<'_>, &ParsedRequest) -> Outcome) -> Self {
        Self {
            method: "GET",
            path,
            writes: false,
            answer,
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
            writes: true,
            answer,
        }
    }
}

/// Every control.
pub(crate) const CONTROLS: &[Control] = &[
    Control::write("POST", "/sandbox/reset", reset::reset),
    Control::read("/openapi.json", openapi::document),
    Control::read("/sandbox/clock", clock::show),
    Control::write("POST", "/sandbox/clock", clock::advance),
    Control::read("/sandbox/keys", keys::list),
    Control::read("/sandbox/organization", organization::show),
    Control::write("PUT", "/sandbox/organization", organization::merge),
    Control::read("/sandbox/bookings", bookings::list),
    Control::read("/sandbox/inbox", inbox::list),
    Control::read("/sandbox/faults", faults::list),
    Control::write("POST", "/sandbox/faults", faults::add),
    Control::write("DELETE", "/sandbox/faults", faults::clear),
    Control::read("/sandbox/deliveries", deliveries::list),
    Control::write(
        "POST",
        "/sandbox/deliveries/{event_id}/resend",
        deliveries::resend,
    ),
];

/// The route of a control.
pub(super) fn route(control: &'static Control) -> MethodRouter<Arc<Service>> {
    on(
        pipeline::filter(control.method),
        move |State(service): State<Arc<Service>>, request: Request| async move {
            serve(&service, control, request).await
        },
    )
}

async fn serve(service: &Service, control: &'static Control, request: Request) -> Response {
    let request = match ParsedRequest::of(request).await {
        Ok(request) => request,
        Err(error) => return reply::error(&error),
    };
    let answer = move |tx: &Tx<'_>| (control.answer)(tx, &request);
    reply::respond(if control.writes {
        service.store.write(answer).await
    } else {
        service.store.read(answer).await
    })
}
