//! The way into the service: the checks of every call, in the contract's order.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::call::Call;
use super::endpoints::{Endpoint, Needs};
use super::mishap::Mishap;
use super::reply::{self, Outcome};
use super::{Service, bookings};
use crate::sandbox::rules::access::{self, Key, KeyKind, TEST_ALLOWANCE};
use crate::sandbox::rules::limits::Meter;
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
    let mishap = Mishap::awaiting(service, endpoint.method, &call).await;
    match mishap.before().await {
        Some(response) => response,
        None => mishap.after(answer(service, endpoint, call).await),
    }
}

async fn answer(service: &Service, endpoint: &'static Endpoint, call: Call) -> Response {
    let limits = service.limits;
    let writes = endpoint.writes || limits && endpoint.budget.is_some();
    let work = move |ledger: &Ledger<'_>| {
        let mut meter = None;
        match enter(ledger, endpoint, &call, limits, &mut meter) {
            Err(broken @ Refusal::Broken(_)) => Err(broken),
            outcome => Ok((outcome, meter)),
        }
    };
    let answered = if writes {
        service.store.write(work).await
    } else {
        service.store.read(work).await
    };
    match answered {
        Ok((outcome, meter)) => reply::metered(outcome, meter),
        Err(broken) => reply::refuse(&broken),
    }
}

/// Key, environment, suspension, scope, rate limit, idempotency, billing, allowance; then the
/// endpoint itself. `meter` tells what is left of the rate limit once that was counted.
fn enter(
    ledger: &Ledger<'_>,
    endpoint: &Endpoint,
    call: &Call,
    limits: bool,
    meter: &mut Option<Meter>,
) -> Outcome {
    let key = access::identify(call.authorization())?;
    let visit = Visit {
        ledger,
        call,
        key,
        organization: ledger.organization(key.organization)?,
    };
    access::admit(key, &visit.organization, endpoint.scope)?;
    if endpoint.live_only && key.kind != KeyKind::Live {
        return Err(Refusal::LiveKeyRequired);
    }
    if limits && let Some(budget) = endpoint.budget {
        let counted = meter.insert(ledger.meter(&visit.organization.id, budget)?);
        counted.check()?;
    }
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
