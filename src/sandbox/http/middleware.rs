//! What every request passes through: the host check, the headers of every answer, and the log.

use std::cell::Cell;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::Service;
use super::exchanges::Opening;
use super::{loopback, page, reply};
use crate::sandbox::store::Topic;

/// Says that this is a sandbox that speaks the contract, so that a client knows the unit of a whole amount. The real
/// service has no such header.
const CONTRACT: HeaderName = HeaderName::from_static("bookctl-contract");

thread_local! {
    /// The last `Date` of this thread, and its second.
    static DATE: Cell<Option<(i64, HeaderValue)>> = const { Cell::new(None) };
}

pub(super) async fn run(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let opening = service.opens(&request);
    let own = loopback::Own {
        port: service.port,
        hosts: &service.hosts,
        exposed: service.exposed,
    };
    let mut response = match loopback::check(&request, &own) {
        Ok(()) if page::is_wanted(&request) => page::answer(),
        Ok(()) => next.run(request).await,
        Err(error) => reply::error(&error),
    };
    let now = service.store.recent_now();
    if let Some(date) = date(now) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
        .headers_mut()
        .insert(CONTRACT, HeaderValue::from_static("sandbox"));
    match opening {
        None => response,
        Some(opening) => service.keep(opening, response, now).await,
    }
}

impl Service {
    /// The request to be kept or shown. Calls of the sandbox's own surface are not kept.
    fn opens(&self, request: &Request) -> Option<Opening> {
        let path = request.uri().path();
        let is_service = !path.starts_with("/sandbox") && !["/", "/openapi.json"].contains(&path);
        let is_wanted = self.on_request.is_some() || is_service && self.exchanges.is_some();
        is_wanted.then(|| Opening::of(request, is_service))
    }

    /// Keeps and shows a request with its answer, given at this time of the sandbox.
    async fn keep(&self, opening: Opening, response: Response, at: Timestamp) -> Response {
        let (exchange, response) = opening.close(response, at).await;
        let exchange = match &self.exchanges {
            Some(log) if exchange.is_service => {
                let exchange = log.keep(exchange);
                self.store.changes().add(Topic::Request, exchange.number);
                exchange
            }
            _ => Arc::new(exchange),
        };
        if let Some(on_request) = &self.on_request {
            on_request(&exchange);
        }
        response
    }
}

/// `Date` is the sandbox's clock, so that a client that compares clocks sees its own offset.
fn date(now: Timestamp) -> Option<HeaderValue> {
    let second = now.as_second();
    if let Some((_, date)) = DATE.take().filter(|(of, _)| *of == second) {
        DATE.set(Some((second, date.clone())));
        return Some(date);
    }
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&now);
    let date = date.ok().and_then(|it| HeaderValue::try_from(it).ok())?;
    DATE.set(Some((second, date.clone())));
    Some(date)
}
