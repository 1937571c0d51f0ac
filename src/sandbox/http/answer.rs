//! Responds to a request under `/v1`: faults, the specification's checks, then the endpoint.

use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::endpoints::Endpoint;
use super::reply::{AnsweredAt, HandlerResult};
use super::request::{Request, RequestContext};
use super::{bookings, faults};
use crate::sandbox::rules::access::{self, ApiKey, BOOKINGS_CREATE, KeyKind, TEST_ALLOWANCE};
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::rate_limit::RateWindow;
use crate::sandbox::store::Tx;

pub(super) async fn answer(endpoint: &'static Endpoint, request: Request) -> Response {
    let request = Arc::new(request);
    let mut response = match serve(endpoint, &request, false).await {
        Some(response) => response,
        None => {
            let served = async { serve(endpoint, &request, true).await.unwrap_or_default() };
            match faults::take(endpoint, &request).await {
                Some(fault) => faults::meet(fault, served).await,
                None => served.await,
            }
        }
    };
    // For the log of requests.
    response.extensions_mut().insert(endpoint);
    response
}

/// Does what is asked for. `None` if there are faults and none of them was taken yet: nothing was
/// done then.
async fn serve(
    endpoint: &'static Endpoint,
    request: &Arc<Request>,
    is_past_faults: bool,
) -> Option<Response> {
    let service = &request.service;
    let limits = service.options.limits;
    let writes = endpoint.method != "GET" || limits && endpoint.rate_limit.is_some();
    let key = request.key();
    // Without a key, the main organization's clock counts.
    let owner = key.as_ref().map_or(Organization::MAIN, |it| &it.organization).to_owned();
    let shared = Arc::clone(request);
    let work = move |tx: &Tx<'_>| {
        if tx.has_faults && !is_past_faults {
            return Ok(None);
        }
        let mut rate_limit = None;
        match check_and_run(tx, endpoint, &shared, key, limits, &mut rate_limit) {
            Err(broken @ ApiError::Broken(_)) => Err(broken),
            // What a refused request has counted or used up is committed.
            outcome => Ok(Some((outcome, rate_limit, tx.now))),
        }
    };
    let store = &service.store;
    let answered = match writes {
        true => store.write(Some(owner), work).await,
        false => store.read(Some(owner), work).await,
    };
    let (outcome, rate_limit, now) = match answered {
        Ok(answered) => answered?,
        Err(broken) => return Some(broken.into_response()),
    };
    let mut response = outcome.into_response();
    response.extensions_mut().insert(AnsweredAt(now));
    if let Some(status) = rate_limit {
        let headers = response.headers_mut();
        headers.insert("ratelimit-limit", status.limit.into());
        headers.insert("ratelimit-remaining", (status.limit - status.used).into());
        headers.insert("ratelimit-reset", status.reset.into());
        if status.is_over {
            headers.insert(header::RETRY_AFTER, status.reset.into());
        }
    }
    Some(response)
}

/// Checks key, environment, suspension, scope, rate limit, idempotency, billing and allowance, then
/// runs the endpoint. `counted` is set once the request was counted against a rate limit.
fn check_and_run(
    tx: &Tx<'_>,
    endpoint: &Endpoint,
    request: &Request,
    key: Result<ApiKey>,
    limits: bool,
    counted: &mut Option<RateWindow>,
) -> HandlerResult {
    let key = key?;
    let organization = tx.organization(&key.organization)?;
    // The organization of a key that is not built in may have been removed, or may never have been.
    let organization = organization.ok_or_else(|| access::unknown(&key.secret))?;
    let context = RequestContext { tx, request, key, organization };
    access::admit(&context.key, &context.organization, endpoint.scope)?;
    let is_of_sessions = endpoint.scope.is_some_and(|it| it.starts_with("sessions:"));
    if is_of_sessions && context.key.kind != KeyKind::Live {
        return Err(ApiError::LIVE_KEY_REQUIRED);
    }
    if limits && let Some(rate_limit) = endpoint.rate_limit {
        let status = counted.insert(tx.count_request(&context.organization.id, rate_limit)?);
        if status.is_over {
            return Err(ApiError::rate_limited(status.limit, status.reset));
        }
    }
    if endpoint.scope == Some(BOOKINGS_CREATE)
        && let Some(reply) = bookings::replay(&context)?
    {
        return Ok(reply);
    }
    access::check_plan(&context.key, &context.organization, endpoint.scope, || {
        if limits {
            Ok(tx.used_allowance(&context.organization.id, TEST_ALLOWANCE)?)
        } else {
            Ok(0)
        }
    })?;
    (endpoint.answer)(&context)
}
