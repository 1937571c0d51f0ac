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
use crate::sandbox::rules::fault::Fault;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::rate_limit::RateWindow;
use crate::sandbox::store::Tx;

pub(super) async fn answer(endpoint: &'static Endpoint, request: Request) -> Response {
    let service = Arc::clone(&request.service);
    let (key, limits, store) = (request.key(), service.options.limits, &service.store);
    // Without a key, the main organization's clock counts.
    let owner = key.as_ref().map_or(Organization::MAIN, |it| &it.organization).to_owned();
    let work = move |tx: &Tx<'_>| handle(tx, endpoint, &request, key, limits);
    let mut response = match endpoint.method {
        "GET" if !limits || endpoint.rate_limit.is_none() => store.read(Some(owner), work).await,
        _ => store.write(Some(owner), work).await,
    }
    .into_response();
    // For the log of requests.
    response.extensions_mut().insert(endpoint);
    response
}

/// Does what is asked for, and what the fault makes of it that the request meets.
fn handle(
    tx: &Tx<'_>,
    endpoint: &Endpoint,
    request: &Request,
    key: Result<ApiKey>,
    limits: bool,
) -> Result<Response> {
    let organization = key.as_ref().ok().map(|it| it.organization.as_str());
    let fault = match tx.has_faults {
        true => faults::take(tx, endpoint, request, organization)?,
        false => None,
    };
    let (mut response, mut counted) = (Response::default(), None);
    if fault.as_ref().is_none_or(Fault::lets_handle) {
        response = match check_and_run(tx, endpoint, request, key, limits, &mut counted) {
            Err(broken @ ApiError::Broken(_)) => return Err(broken),
            // What a refused request has counted or used up is committed.
            outcome => outcome.into_response(),
        };
    }
    response.extensions_mut().insert(AnsweredAt(tx.now));
    if let Some(status) = counted {
        let headers = response.headers_mut();
        headers.insert("ratelimit-limit", status.limit.into());
        headers.insert("ratelimit-remaining", (status.limit - status.used).into());
        headers.insert("ratelimit-reset", status.reset.into());
        if status.is_over {
            headers.insert(header::RETRY_AFTER, status.reset.into());
        }
    }
    Ok(match fault {
        Some(fault) => faults::meet(fault, response),
        None => response,
    })
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
