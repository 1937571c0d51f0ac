//! Applies a configured fault to a request and its response.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};

use super::endpoints::Endpoint;
use super::reply::{Reply, Situations};
use super::request::Request;
use crate::sandbox::rules::api_error::Result;
use crate::sandbox::rules::fault::{Fault, FaultKind};
use crate::sandbox::store::Tx;

/// Takes the oldest fault that matches the request, which then has one use less.
pub(super) fn take(
    tx: &Tx<'_>,
    endpoint: &Endpoint,
    request: &Request,
    organization: Option<&str>,
) -> Result<Option<Fault>> {
    let limit = endpoint.rate_limit.filter(|_| request.service.options.limits);
    let is_over = match organization.zip(limit) {
        Some((organization, limit)) => tx.rate_limit(organization, limit)?.is_over,
        None => false,
    };
    // A request over its rate limit is not handled, so there is nothing to drop after that.
    let meets = |it: &Fault| {
        it.meets_request(endpoint.method, request.uri.path())
            && !(is_over && it.commits())
            && it.meets_body(&request.body)
    };
    Ok(tx.take_fault(organization, meets)?)
}

/// The response to a request with a fault. The fault goes with it, for [`cut`] and for the log.
pub(super) fn meet(mut fault: Fault, mut answered: Response) -> Response {
    let mut extensions = std::mem::take(answered.extensions_mut());
    let page = "<!doctype html><title>Welcome</title><p>This is not the answer you look for.";
    let mut response = match fault.kind {
        FaultKind::Status => replacement(&mut fault),
        FaultKind::Garbage => (answered.status(), Html(page)).into_response(),
        _ => answered,
    };
    extensions.extend(std::mem::take(response.extensions_mut()));
    *response.extensions_mut() = extensions;
    for (name, value) in &fault.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            response.headers_mut().insert(name, value);
        }
    }
    response.extensions_mut().insert(fault);
    response
}

fn replacement(fault: &mut Fault) -> Response {
    let status = fault.status.unwrap_or_default();
    let usual = || {
        let wording =
            format!("a fault responds with {status}; `bookctl sandbox faults clear` removes it");
        match status {
            429 => {
                json!({"error": "rate_limited", "message": wording, "limit": 10, "retry_after_seconds": 30})
            }
            500 => json!({"error": "internal error", "detail": wording}),
            _ => json!({ "error": wording }),
        }
    };
    let body = fault.body.take().unwrap_or_else(usual);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let situation = body.get("error_code").or(body.get("error")).and_then(Value::as_str);
    let situations = situation.map(str::to_owned).into_iter().collect();
    let mut response = match &body {
        // They have no body (RFC 9110, 6.4.1).
        _ if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) => {
            status.into_response()
        }
        // Such as the error page of a proxy.
        Value::String(page) if page.trim_start().starts_with('<') => {
            (status, Html(page.clone())).into_response()
        }
        Value::String(text) => (status, text.clone()).into_response(),
        json => Reply::new(status, json.to_string().into_bytes()).into_response(),
    };
    response.extensions_mut().insert(Situations(situations));
    // As the service's own refusal has it.
    if let Some(seconds) = body["retry_after_seconds"].as_u64() {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
        if status == StatusCode::TOO_MANY_REQUESTS {
            let limit = body["limit"].as_u64().unwrap_or(10);
            headers.insert("ratelimit-limit", limit.into());
            headers.insert("ratelimit-remaining", 0.into());
            headers.insert("ratelimit-reset", seconds.into());
        }
    }
    response
}

/// The body as it is sent: a fault may end the connection before or within it.
pub(super) fn cut(head: &mut Parts, body: Bytes) -> Body {
    let failed = || Err(io::Error::from(io::ErrorKind::ConnectionAborted));
    let Some(fault) = head.extensions.get::<Fault>() else {
        return body.into();
    };
    if matches!(fault.kind, FaultKind::DropBefore | FaultKind::DropAfter) {
        // The head waits for the first part of the body, so that it is not sent either.
        return Body::from_stream(stream::iter([failed() as io::Result<Bytes>]));
    }
    let Some(after) = fault.cuts(body.len()) else {
        return body.into();
    };
    head.headers.insert(header::CONTENT_LENGTH, body.len().into());
    let first = stream::iter([Ok(body.slice(..after))]);
    let end = stream::once(async move {
        // What came before is sent meanwhile.
        tokio::task::yield_now().await;
        failed()
    });
    Body::from_stream(first.chain(end))
}
