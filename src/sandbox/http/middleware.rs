//! What every request passes through: the host check, the headers of every answer, and the log.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::service::{RequestLog, Service};
use super::speaking::Unspoken;
use super::{loopback, reply};

/// Says that this is a sandbox that speaks the contract, so that a client knows the unit of a whole amount. The real
/// service has no such header.
const CONTRACT: HeaderName = HeaderName::from_static("bookctl-contract");

pub(super) async fn run(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let log = service.on_request.as_ref().map(|on_request| {
        (
            on_request,
            request.method().to_string(),
            request.uri().path().to_owned(),
        )
    });
    let mut response = match loopback::check(&request, service.port, service.exposed) {
        Ok(()) => next.run(request).await,
        Err(error) => reply::error(&error),
    };
    date(&service, &mut response);
    if service.speech.is_none() {
        response
            .headers_mut()
            .insert(CONTRACT, HeaderValue::from_static("sandbox"));
    }
    if let Some((on_request, method, path)) = log {
        on_request(RequestLog {
            method,
            path,
            status: response.status().as_u16(),
            duration: started.elapsed(),
            failure: response.extensions_mut().remove().map(|Unspoken(why)| why),
        });
    }
    response
}

/// `Date` is the sandbox's clock, so that a client that compares clocks sees its own offset.
fn date(service: &Service, response: &mut Response) {
    let now = service.store.recent_now();
    let date = DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&now)
        .ok()
        .and_then(|it| HeaderValue::try_from(it).ok());
    if let Some(date) = date {
        response.headers_mut().insert(header::DATE, date);
    }
}
