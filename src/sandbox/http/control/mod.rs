//! The sandbox's own surface, beside the service's: `/sandbox` and the interface's description. It
//! needs no key.

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

use super::call::Call;
use super::reply::{self, Outcome};
use super::{Service, door, openapi};
use crate::sandbox::store::Ledger;

/// A control.
pub(crate) struct Control {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    writes: bool,
    answer: fn(&Ledger<'_>, &Call) -> Outcome,
}

impl Control {
    const fn read(path: &'static str, answer: fn(&Ledger<'_>, &Call) -> Outcome) -> Self {
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
        answer: fn(&Ledger<'_>, &Call) -> Outcome,
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
        door::filter(control.method),
        move |State(service): State<Arc<Service>>, request: Request| async move {
            serve(&service, control, request).await
        },
    )
}

async fn serve(service: &Service, control: &'static Control, request: Request) -> Response {
    let call = match Call::of(request).await {
        Ok(call) => call,
        Err(refusal) => return reply::refuse(&refusal),
    };
    let answer = move |ledger: &Ledger<'_>| (control.answer)(ledger, &call);
    reply::respond(if control.writes {
        service.store.write(answer).await
    } else {
        service.store.read(answer).await
    })
}
