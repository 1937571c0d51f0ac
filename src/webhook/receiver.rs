//! What takes deliveries: verified, kept, and only then answered.

use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::mpsc;

use super::event::{Event, Names};
use super::line::Heard;
use super::notice::{Reporter, What};
use super::passing::Passing;
use super::store::{Delivery, HeaderLine, Intent, Receipt, Store};
use super::{DEFAULT_TOLERANCE, Malformed, Unverified, verify};
use crate::secrets::Secret;

/// The largest body: the service's own limit ("Limits", 3).
const LARGEST_BODY: usize = 1024 * 1024;

pub(super) struct Receiver {
    pub(super) secrets: Vec<Secret>,
    pub(super) names: Names,
    /// The kinds that are shown and forwarded; all of them where none is named.
    pub(super) kinds: Vec<String>,
    pub(super) store: Store,
    pub(super) reporter: Arc<Reporter>,
    pub(super) outlet: Outlet,
}

/// Where events go from here.
pub(super) enum Outlet {
    Nowhere,
    /// The events whose turn it is.
    Forwarder(mpsc::UnboundedSender<i64>),
    Passing(Arc<Passing>),
}

/// Why a delivery is not taken.
struct Refusal {
    status: StatusCode,
    why: String,
}

impl Refusal {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        let why = why.into();
        Refusal { status, why }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.why }))).into_response()
    }
}

pub(super) fn router(receiver: Arc<Receiver>) -> Router {
    Router::new().fallback(any(take)).with_state(receiver)
}

async fn take(
    State(receiver): State<Arc<Receiver>>,
    ConnectInfo(heard): ConnectInfo<Heard>,
    request: Request,
) -> Response {
    if request.method() != Method::POST {
        let allow = [(header::ALLOW, "POST")];
        let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "deliveries are posted");
        return (allow, refusal).into_response();
    }
    let (head, body) = request.into_parts();
    let declared = head.headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let body = match declared {
        Some(length) if length > LARGEST_BODY => None,
        _ => to_bytes(body, LARGEST_BODY).await.ok(),
    };
    heard.hear();
    let taking = receiver.clone();
    // A sender that hangs up takes its own wait along, and no more: what is kept is forwarded, too.
    let taken = tokio::spawn(async move {
        match body {
            Some(body) => taking.receive(&head.headers, body.into()).await,
            None => Err((None, too_large())),
        }
    });
    let taken = match taken.await {
        Ok(taken) => taken,
        Err(_) => {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Err((None, Refusal::new(status, "it was not taken")))
        }
    };
    taken.unwrap_or_else(|(event, refusal)| {
        let why = refusal.why.clone();
        receiver.reporter.tell(event, What::Refused(why));
        refusal.into_response()
    })
}

fn too_large() -> Refusal {
    let why = "the body is too large, or did not come whole";
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
}

impl Receiver {
    async fn receive(
        &self,
        headers: &HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, (Option<Event>, Refusal)> {
        let received_at = Timestamp::now();
        if let Err(unverified) = self.verify(headers, &body, received_at) {
            // What it says of itself is nobody's word.
            let why = in_words(unverified, &self.names.signature_header());
            return Err((None, Refusal::new(StatusCode::BAD_REQUEST, why)));
        }
        let Some(event) = Event::read(&body, &self.names) else {
            let why = format!("the body is no event: it has no field {:?}", self.names.id);
            return Err((None, Refusal::new(StatusCode::BAD_REQUEST, why)));
        };
        let is_wanted = self.kinds.is_empty() || self.kinds.contains(&event.kind);
        let delivery = Delivery {
            event: event.clone(),
            headers: lines(headers),
            body,
            received_at,
        };
        match &self.outlet {
            Outlet::Passing(passing) if is_wanted => {
                let status = passing.pass(delivery).await;
                let status = status.map_err(|error| (Some(event), unwritten(&error)))?;
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
                Ok(status.into_response())
            }
            Outlet::Forwarder(turns) if is_wanted => {
                let receipt = self.store.receive(delivery, Intent::Forward).await;
                let receipt = receipt.map_err(|error| (Some(event.clone()), unwritten(&error)))?;
                match receipt {
                    Receipt::New {
                        number,
                        first: true,
                        ..
                    } => {
                        self.reporter.count_received();
                        // At the end nobody forwards any more: it is the next listener's.
                        let _ = turns.send(number);
                    }
                    Receipt::New { held_up, .. } => {
                        self.reporter.count_received();
                        if held_up {
                            self.reporter.tell(Some(event), What::HeldUp);
                        }
                    }
                    _ => self.reporter.tell(Some(event), What::Duplicate),
                }
                Ok(kept())
            }
            _ => {
                let receipt = self.store.receive(delivery, Intent::Keep).await;
                let receipt = receipt.map_err(|error| (Some(event.clone()), unwritten(&error)))?;
                match receipt {
                    Receipt::New { .. } => {
                        self.reporter.count_received();
                        if is_wanted {
                            self.reporter.tell(Some(event), What::Kept);
                        }
                    }
                    _ => self.reporter.tell(Some(event), What::Duplicate),
                }
                Ok(kept())
            }
        }
    }

    fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), Option<Unverified>> {
        let mut signatures = headers.get_all(self.names.signature_header()).iter();
        let signature = match (signatures.next(), signatures.next()) {
            (Some(signature), None) => signature,
            (None, _) => return Err(None),
            // Of two headers none is to be believed.
            (Some(_), Some(_)) => return Err(Some(Unverified::Malformed(Malformed::SeveralT))),
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

/// It is on the disk.
fn kept() -> Response {
    Json(json!({ "received": true })).into_response()
}

fn unwritten(error: &super::store::StoreError) -> Refusal {
    let why = format!("it cannot be kept: {error}");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why)
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
        None => format!("it carries no {header}"),
        Some(Unverified::Malformed(malformed)) => {
            format!("its signature is malformed: {}", malformed.as_str())
        }
        Some(Unverified::Mismatch) => {
            "its signature is not the body's under this secret".to_owned()
        }
        Some(Unverified::Stale(seconds)) => format!("it was signed {seconds} s ago"),
        Some(Unverified::Future(seconds)) => {
            format!("it was signed {seconds} s ahead of our clock")
        }
    }
}
