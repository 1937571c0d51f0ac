//! The way into the service: the checks of every call, in the contract's order.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::call::Call;
use super::endpoints::{Endpoint, Needs};
use super::reply::{self, Outcome};
use super::{Service, bookings};
use crate::sandbox::rules::access::{self, Key, KeyKind, TEST_ALLOWANCE};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::store::Ledger;

/// A call that was let in.
pub(crate) struct Visit<'a, 'l> {
    pub(crate) ledger: &'a Ledger<'l>,
    pub(crate) call: &'a Call,
    pub(crate) key: &'static Key,
    pub(crate) organization: Organization,
}

/// The route of an endpoint.
pub(super) fn route(endpoint: &'static Endpoint) -> MethodRouter<Arc<Service>> {
    on(
        filter(endpoint.method),
        move |State(service): State<Arc<Service>>, request: Request| async move {
            serve(&service, endpoint, request).await
        },
    )
}

/// The filter of a method's name.
pub(super) fn filter(method: &str) -> MethodFilter {
    Method::from_bytes(method.as_bytes())
        .ok()
        .and_then(|it| MethodFilter::try_from(it).ok())
        .unwrap_or(MethodFilter::GET)
}

async fn serve(service: &Service, endpoint: &'static Endpoint, request: Request) -> Response {
    let call = match Call::of(request).await {
        Ok(call) => call,
        Err(refusal) => return reply::refuse(&refusal),
    };
    let limits = service.limits;
    let answer = move |ledger: &Ledger<'_>| enter(ledger, endpoint, &call, limits);
    let outcome = if endpoint.writes {
        service.store.write(answer).await
    } else {
        service.store.read(answer).await
    };
    reply::respond(outcome)
}

/// Key, environment, suspension, scope, idempotency, billing, allowance; then the endpoint itself.
fn enter(ledger: &Ledger<'_>, endpoint: &Endpoint, call: &Call, limits: bool) -> Outcome {
    let key = access::identify(call.authorization())?;
    let visit = Visit {
        ledger,
        call,
        key,
        organization: ledger.organization(key.organization)?,
    };
    access::admit(key, &visit.organization, endpoint.scope)?;
    if endpoint.replays
        && let Some(reply) = bookings::replay(&visit)?
    {
        return Ok(reply);
    }
    visit.check_plan(endpoint.needs, limits)?;
    (endpoint.answer)(&visit)
}

impl Visit<'_, '_> {
    fn check_plan(&self, needs: Needs, limits: bool) -> Result<(), Refusal> {
        if needs == Needs::Nothing {
            return Ok(());
        }
        access::check_billing(self.key, &self.organization)?;
        if needs == Needs::Billing {
            return Ok(());
        }
        let used = if limits && self.key.kind == KeyKind::Test {
            self.ledger
                .used_allowance(&self.organization.id, TEST_ALLOWANCE)?
        } else {
            0
        };
        access::check_entitlement(self.key, &self.organization, used)
    }
}
