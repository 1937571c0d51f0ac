//! The HTTP handler for deliveries: verifies, stores, and only then answers them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::event::{Event, Names};
use super::listener_event::{DeliveryOutcome, Reporter};
use super::signature::{DEFAULT_TOLERANCE, Malformed, Unverified, verify};
use super::store::{Content, HeaderLine, Receipt, ReceivedDelivery, State as StoreState, Store};
use crate::adapter::signing_service;
use crate::outcome::{Error, Result};
use crate::secrets::Secret;

/// The largest body, in bytes: the service's own limit ("Limits", 3).
const LARGEST_BODY: usize = 1024 * 1024;

/// How long the head of a request may take, and then its body: as long as the service waits for an answer.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The header that tells the listener's answer from an app's.
pub(crate) const LISTENER: &str = "bookctl-listener";
/// Its values: the event is new, or it was received before, and is not forwarded again.
const STORED: &str = "stored";
pub(crate) const DUPLICATE: &str = "duplicate";

pub(super) struct Receiver {
    pub(super) secrets: Vec<Secret>,
    pub(super) names: Names,
    /// Held while an event is read: an expression of the profile reads one at a time.
    pub(super) reading: tokio::sync::Mutex<()>,
    /// The kinds of events that are shown and forwarded; empty for all.
    pub(super) kinds: Vec<String>,
    pub(super) store: Store,
    pub(super) reporter: Arc<Reporter>,
    /// Told when an event was stored that is to be forwarded; `None` if none is.
    pub(super) forwarder: Option<Arc<Notify>>,
    /// Whether deliveries that are not forwarded are to be shown.
    pub(super) shows_deliveries: bool,
    /// The warnings that were given: once is enough.
    pub(super) given_warnings: Mutex<BTreeSet<String>>,
}

struct Rejection {
    status: StatusCode,
    why: String,
}

impl Rejection {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        let why = why.into();
        Rejection { status, why }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.why }))).into_response()
    }
}

pub(super) fn router(receiver: Arc<Receiver>) -> Router {
    Router::new().fallback(any(handle)).with_state(receiver)
}

async fn handle(State(receiver): State<Arc<Receiver>>, request: Request) -> Response {
    if request.method() != Method::POST {
        let allow = [(header::ALLOW, "POST")];
        let refusal = Rejection::new(StatusCode::METHOD_NOT_ALLOWED, "only POST is allowed");
        return (allow, refusal).into_response();
    }
    let (head, body) = request.into_parts();
    let declared = head.headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let body = match declared {
        Some(length) if length > LARGEST_BODY => None,
        _ => timeout(REQUEST_TIMEOUT, to_bytes(body, LARGEST_BODY))
            .await
            .ok()
            .and_then(Result::ok),
    };
    let task_receiver = receiver.clone();
    // A task of its own: if the sender hangs up, the delivery is stored and forwarded all the same.
    let answer = tokio::spawn(async move {
        match body {
            Some(body) => task_receiver.receive(&head.headers, body.into()).await,
            None => Err((None, too_large())),
        }
    });
    let answer = match answer.await {
        Ok(answer) => answer,
        Err(_) => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Err((None, Rejection::new(status, "the delivery was not stored")))
        }
    };
    answer.unwrap_or_else(|(event, refusal)| {
        let why = refusal.why.clone();
        receiver
            .reporter
            .report(event, DeliveryOutcome::Refused(why));
        refusal.into_response()
    })
}

fn too_large() -> Rejection {
    let why = "the body is too large or incomplete";
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, why)
}

impl Receiver {
    async fn receive(
        &self,
        headers: &HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, (Option<Event>, Rejection)> {
        let received_at = Timestamp::now();
        let signature = self.names.signature_header();
        if let Err(unverified) = self.verify(&signature, headers, &body, received_at) {
            if unverified.is_none() {
                self.warn_of_other_signatures(headers, &body, received_at);
            }
            // Unverified: nothing in the body can be trusted.
            let why = in_words(unverified, &signature);
            return Err((None, Rejection::new(StatusCode::BAD_REQUEST, why)));
        }
        let event = self.read(headers, body.clone()).await?;
        let delivery = ReceivedDelivery {
            event: event.clone(),
            headers: lines(headers),
            body,
            received_at,
        };
        let accepted = self.accept(delivery).await;
        accepted.map_err(|error| (Some(event), not_stored(&error)))
    }

    /// Reads an event on a thread of its own, because an expression of the profile may take seconds.
    async fn read(
        &self,
        headers: &HeaderMap,
        body: Vec<u8>,
    ) -> Result<Event, (Option<Event>, Rejection)> {
        let (names, headers) = (self.names.clone(), headers.clone());
        let header = move |name: &str| {
            let value = headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let _one_at_a_time = self.reading.lock().await;
        let read = spawn_blocking(move || Event::read(&body, &names, header)).await;
        read.map_err(|_| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            (None, Rejection::new(status, "the delivery was not read"))
        })
    }

    /// Stores and forwards a delivery that verified; returns the answer for the service.
    async fn accept(&self, delivery: ReceivedDelivery) -> Result<Response> {
        let is_wanted = self.kinds.is_empty() || self.kinds.contains(&delivery.event.kind);
        let queue = self.forwarder.as_ref().filter(|_| is_wanted);
        let state = match queue {
            Some(_) => StoreState::Waiting,
            None => StoreState::Kept,
        };
        let shown = (self.shows_deliveries && queue.is_none()).then(|| {
            let headers = delivery.headers.iter();
            let headers = headers.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            Content::new(headers.collect(), &delivery.body, delivery.body.len())
        });
        let (event, receipt) = self.store.receive(delivery, state).await?;
        self.warn_of(&event);
        let Receipt::New { held_up } = receipt else {
            self.reporter.count_duplicate();
            if is_wanted {
                self.reporter
                    .report(Some(event), DeliveryOutcome::Duplicate);
            }
            return Ok(taken(DUPLICATE));
        };
        self.reporter.count_received();
        match queue {
            Some(_) if held_up => self.reporter.report(Some(event), DeliveryOutcome::HeldUp),
            Some(arrived) => arrived.notify_one(),
            None if is_wanted => self
                .reporter
                .report(Some(event), DeliveryOutcome::Kept(shown)),
            _ => {}
        }
        Ok(taken(STORED))
    }

    fn warn_of(&self, event: &Event) {
        if let Some(warning) = self.names.warning(event) {
            self.warn(warning);
        }
    }

    /// Warns of a signature in a header of another name.
    fn warn_of_other_signatures(&self, headers: &HeaderMap, body: &[u8], now: Timestamp) {
        let mut others = headers.keys().filter_map(|name| {
            let service = signing_service(name.as_str())?;
            let verifies = self.verify(name.as_str(), headers, body, now).is_ok();
            Some(verifies.then_some(service))
        });
        if let Some(first) = others.next() {
            let verified = first.or_else(|| others.flatten().next());
            self.warn(self.names.other_signature(verified));
        }
    }

    /// Gives a warning once.
    fn warn(&self, warning: String) {
        let mut given = self
            .given_warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if given.insert(warning.clone()) {
            self.reporter
                .report(None, DeliveryOutcome::Doubtful(warning));
        }
    }

    /// Checks the signature in a header; `Err(None)` if the header is missing.
    fn verify(
        &self,
        name: &str,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), Option<Unverified>> {
        let mut signatures = headers.get_all(name).iter();
        let signature = match (signatures.next(), signatures.next()) {
            (Some(signature), None) => signature,
            (None, _) => return Err(None),
            // With two headers it is unclear which one counts, so neither is accepted.
            (Some(_), Some(_)) => {
                return Err(Some(Unverified::Malformed(Malformed::SeveralHeaders)));
            }
        };
        let tolerance = Some(DEFAULT_TOLERANCE);
        verify(
            &self.secrets,
            signature.as_bytes(),
            body,
            now.as_second(),
            tolerance,
        )
        .map(drop)
        .map_err(Some)
    }
}

/// The answer to a delivery that is on the disk.
fn taken(how: &'static str) -> Response {
    ([(LISTENER, how)], Json(json!({ "received": true }))).into_response()
}

fn not_stored(error: &Error) -> Rejection {
    let why = format!("cannot be stored: {}", error.message);
    Rejection::new(StatusCode::SERVICE_UNAVAILABLE, why)
}

fn lines(headers: &HeaderMap) -> Vec<HeaderLine> {
    let lines = headers.iter().map(|(name, value)| {
        let value = value.as_bytes().iter().copied().map(char::from);
        (name.as_str().to_owned(), value.collect())
    });
    lines.collect()
}

fn in_words(unverified: Option<Unverified>, header: &str) -> String {
    match unverified {
        None => format!("no {header} header"),
        Some(Unverified::Malformed(malformed)) => {
            format!("malformed signature: {}", malformed.as_str())
        }
        Some(Unverified::Mismatch) => {
            "the signature does not match the body and the secret".to_owned()
        }
        Some(Unverified::Stale(seconds)) => format!("signed {seconds} s ago"),
        Some(Unverified::Future(seconds)) => {
            format!("signed {seconds} s in the future")
        }
    }
}
