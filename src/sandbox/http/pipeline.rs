//! What every request under `/v1` passes through: faults, then the checks in the order of the contract.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::endpoints::{Endpoint, Needs};
use super::exchanges::Received;
use super::fault_injection::InjectedFault;
use super::parsed_request::{ParsedRequest, RequestContext};
use super::reply::{self, Outcome};
use super::{Service, bookings};
use crate::sandbox::rules::access::{self, KeyKind, TEST_ALLOWANCE};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::no_key::{NoKey, masked};
use crate::sandbox::rules::rate_limit::RateLimitStatus;
use crate::sandbox::store::Tx;

pub(super) fn route(endpoint: &'static Endpoint) -> MethodRouter<Arc<Service>> {
    on(
        filter(endpoint.method),
        move |State(service): State<Arc<Service>>, request: Request| async move {
            serve(&service, endpoint, request).await
        },
    )
}

pub(super) fn filter(method: &str) -> MethodFilter {
    Method::from_bytes(method.as_bytes())
        .ok()
        .and_then(|it| MethodFilter::try_from(it).ok())
        .unwrap_or(MethodFilter::GET)
}

async fn serve(service: &Service, endpoint: &'static Endpoint, request: Request) -> Response {
    let (received, mut response) = match ParsedRequest::of(request).await {
        Ok(request) => {
            let mut received = Received::new(request.body().clone(), true);
            let response = respond(service, endpoint, request, &mut received).await;
            (received, response)
        }
        Err((error, first)) => (Received::new(first, false), reply::error(&error)),
    };
    if service.shows_requests() && !received.is_empty() {
        response.extensions_mut().insert(received);
    }
    response
}

/// Answers a request, with the fault that waits for it.
async fn respond(
    service: &Service,
    endpoint: &'static Endpoint,
    request: ParsedRequest,
    received: &mut Received,
) -> Response {
    let injected = InjectedFault::take(service, endpoint.method, &request).await;
    received.met(injected.fault());
    if let Some(response) = injected.before_request().await {
        return response;
    }
    let response = answer(service, endpoint, request).await;
    injected.after_response(response)
}

async fn answer(
    service: &Service,
    endpoint: &'static Endpoint,
    request: ParsedRequest,
) -> Response {
    let limits = service.limits;
    let writes = endpoint.writes || limits && endpoint.rate_limit.is_some();
    let work = move |tx: &Tx<'_>| {
        let mut rate_limit = None;
        match check_and_run(tx, endpoint, &request, limits, &mut rate_limit) {
            Err(broken @ ApiError::Broken(_)) => Err(broken),
            outcome => Ok((outcome, rate_limit)),
        }
    };
    let answered = if writes {
        service.store.write(work).await
    } else {
        service.store.read(work).await
    };
    match answered {
        Ok((outcome, rate_limit)) => reply::with_rate_limit(outcome, rate_limit),
        Err(broken) => reply::error(&broken),
    }
}

/// Checks key, environment, suspension, scope, rate limit, idempotency, billing and allowance, then
/// runs the endpoint. `counted` is set once the request was counted against a rate limit.
fn check_and_run(
    tx: &Tx<'_>,
    endpoint: &Endpoint,
    request: &ParsedRequest,
    limits: bool,
    counted: &mut Option<RateLimitStatus>,
) -> Outcome {
    let key = request.key()?;
    let organization = tx.organization(&key.organization)?;
    // The organization of a key that is not built in may have been removed, or may never have been.
    let unknown = || ApiError::Unauthorized(NoKey::Unknown(masked(&key.secret)));
    let organization = organization.ok_or_else(unknown)?;
    let context = RequestContext {
        tx,
        request,
        key,
        organization,
    };
    access::admit(&context.key, &context.organization, endpoint.scope)?;
    if endpoint.live_only && context.key.kind != KeyKind::Live {
        return Err(ApiError::LiveKeyRequired);
    }
    if limits && let Some(rate_limit) = endpoint.rate_limit {
        counted
            .insert(tx.count_request(&context.organization.id, rate_limit)?)
            .check()?;
    }
    if endpoint.replays
        && let Some(reply) = bookings::replay(&context)?
    {
        return Ok(reply);
    }
    context.check_plan(endpoint.needs, limits)?;
    (endpoint.answer)(&context)
}

impl RequestContext<'_, '_> {
    /// Checks billing and the entitlement as far as the endpoint needs them.
    fn check_plan(&self, needs: Needs, limits: bool) -> Result<(), ApiError> {
        if needs == Needs::Nothing {
            return Ok(());
        }
        access::check_billing(&self.key, &self.organization)?;
        if needs == Needs::Billing {
            return Ok(());
        }
        let used = if limits && self.key.kind == KeyKind::Test {
            self.tx
                .used_allowance(&self.organization.id, TEST_ALLOWANCE)?
        } else {
            0
        };
        access::check_entitlement(&self.key, &self.organization, used)
    }
}
