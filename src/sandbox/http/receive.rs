//! What every request passes through: the host check, the headers of every answer, and the log.

use std::sync::Arc;

use axum::body::{HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jiff::fmt::rfc2822::DateTimePrinter;

use super::exchanges::Exchange;
use super::reply::AnsweredAt;
use super::{SandboxService, faults, loopback, page, request, routes};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::store::ChangeTopic;

/// Says that this is a sandbox that speaks the contract, so that a client knows the unit of a whole
/// amount. The real service has no such header.
const CONTRACT: HeaderName = HeaderName::from_static("bookctl-contract");

pub(super) async fn receive(service: Arc<SandboxService>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let mut exchange = Exchange::from_request(&parts);
    let own = loopback::Own::from_service(&service);
    let allowed = loopback::check(&parts, &own);
    let announced = body.size_hint().lower();
    let is_kept = allowed.is_ok() && announced <= request::BODY_LIMIT as u64;
    // The body is taken in whatever is answered, so that the connection can be used again.
    let received = request::read(body, is_kept).await;
    if let Ok((body, length)) = &received {
        exchange.request.keep(body, *length);
    }
    let response = match (allowed, received) {
        (Err(error), _) | (_, Err(error)) => error.into_response(),
        _ if page::is_wanted(&parts) => page::answer(),
        (Ok(()), Ok((body, length))) => {
            if length > request::BODY_LIMIT {
                ApiError::BODY_TOO_LARGE.into_response()
            } else {
                routes::answer(Arc::clone(&service), parts, body).await
            }
        }
    };
    service.send(exchange, response).await
}

impl SandboxService {
    async fn send(&self, mut exchange: Exchange, response: Response) -> Response {
        let (mut head, mut body) = response.into_parts();
        exchange.at = match head.extensions.get() {
            Some(AnsweredAt(at)) => *at,
            None => self.store.now(exchange.organization.as_deref()).unwrap_or_default(),
        };
        // `Date` is the sandbox's clock, so that a client that compares clocks sees its own offset.
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&exchange.at);
        if let Some(date) = date.ok().and_then(|it| HeaderValue::try_from(it).ok()) {
            head.headers.insert(header::DATE, date);
        }
        head.headers.insert(CONTRACT, HeaderValue::from_static("sandbox"));
        // A stream of the controls has no end that could be waited for.
        if exchange.is_service {
            let answer = to_bytes(body, usize::MAX).await.unwrap_or_default();
            body = faults::cut(&mut head, answer.clone());
            exchange.response.keep(&answer, answer.len());
        }
        exchange.answered(&mut head);
        let exchange = match &self.exchanges {
            Some(log) if exchange.is_service => {
                let exchange = log.keep(exchange);
                self.store.changes.add(ChangeTopic::Request, exchange.number);
                exchange
            }
            Some(log) if exchange.method != "GET" => {
                log.note(&exchange);
                Arc::new(exchange)
            }
            _ => Arc::new(exchange),
        };
        if let Some(on_request) = &self.on_request {
            on_request(&exchange, &|id| self.store.look(|tx| tx.organization(id)).ok()??.name);
        }
        if !exchange.delay().is_zero() {
            tokio::time::sleep(exchange.delay()).await;
        }
        Response::from_parts(head, body)
    }
}
