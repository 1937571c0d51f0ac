//! What every request passes through: the host check, the headers of every answer, and the log.

use std::cell::Cell;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::exchanges::{ExchangeLog, Opening};
use super::service::Service;
use super::{loopback, page, reply};
use crate::sandbox::speak::Speech;
use crate::sandbox::store::Topic;

/// Says that this is a sandbox that speaks the contract, so that a client knows the unit of a whole amount. The real
/// service has no such header.
///
/// A request with this header is taken and answered in the contract's own shape, however the sandbox speaks: so that the
/// page and scripts can answer a booking.
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
    let is_spoken = service.speech_for(request.headers()).is_some();
    let own = loopback::Own {
        port: service.port,
        hosts: &service.hosts,
        exposed: service.exposed,
    };
    let mut response = match loopback::check(&request, &own) {
        Ok(()) if page::is_wanted(&request) => page::answer(service.base_path()),
        Ok(()) => next.run(request).await,
        Err(error) => reply::error(&error),
    };
    let now = service.store.recent_now();
    if let Some(date) = date(now) {
        response.headers_mut().insert(header::DATE, date);
    }
    if !is_spoken {
        response
            .headers_mut()
            .insert(CONTRACT, HeaderValue::from_static("sandbox"));
    }
    match opening {
        None => response,
        Some(opening) => service.keep(opening, response, now, is_spoken).await,
    }
}

impl Service {
    /// How the service speaks to who sends these headers; `None` for the contract itself.
    pub(super) fn speech_for(&self, headers: &HeaderMap) -> Option<&Arc<Speech>> {
        let speech = self.speech.as_ref();
        speech.filter(|_| !headers.contains_key(CONTRACT))
    }

    /// What stands before `/v1`.
    pub(super) fn base_path(&self) -> &str {
        self.speech.as_ref().map_or("", |it| it.base_path())
    }

    /// The request to be kept or shown. Calls of the sandbox's own surface are not kept.
    fn opens(&self, request: &Request) -> Option<Opening> {
        let path = request.uri().path();
        let is_own =
            |path: &str| path.starts_with("/sandbox") || ["/", "/openapi.json"].contains(&path);
        let below = path.strip_prefix(self.base_path());
        let is_service = !is_own(path) && !below.is_some_and(is_own);
        let is_wanted = self.on_request.is_some() || is_service && self.exchanges.is_some();
        let memory = || self.exchanges.as_ref().map(ExchangeLog::memory);
        is_wanted.then(|| Opening::of(request, is_service, memory().unwrap_or_default()))
    }

    /// Keeps and shows a request with its answer, given at this time of the sandbox.
    async fn keep(
        &self,
        opening: Opening,
        response: Response,
        at: Timestamp,
        is_spoken: bool,
    ) -> Response {
        let is_service = opening.is_service();
        let speech = self.speech.as_ref().map(|it| (Arc::clone(it), is_spoken));
        let (mut exchange, response) = opening.close(response, at, speech).await;
        let kept = self.exchanges.as_ref().filter(|_| is_service);
        if let Some(kept) = kept {
            kept.keep(&mut exchange);
            let changes = self.store.changes();
            changes.add(Topic::Request, exchange.number());
        }
        if let Some(on_request) = &self.on_request {
            on_request(&exchange);
        }
        if let Some(kept) = kept {
            kept.reuse(exchange);
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
