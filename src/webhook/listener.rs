//! The listener: it verifies deliveries, stores them, and only then answers them. Receiver and
//! forwarder are on a thread of their own, so that neither a blocked terminal nor a sandbox in the
//! same process delays a delivery.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::event::Event;
use super::forwarder::{App, Forwarder, Schedule};
use super::handler::{HeaderLine, Trace, trace_delivery};
use super::reporter::{ForwardOutcome, ListenerEvent};
use super::signature::{DEFAULT_TOLERANCE, Unverified, verify};
use super::store::{EventState as StoreState, ReceivedDelivery, Webhooks};
use crate::outcome::{Error, Result};
use crate::platform::{http1, shell};
use crate::secrets::Secret;
use crate::service::mapping::{Mapping, signing_service};

/// The largest body, in bytes: the service's own limit ("Limits", 3).
const LARGEST_BODY: usize = 1024 * 1024;

/// How long the head of a request may take, and then its body: as long as the service waits.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct Listening {
    pub(crate) secrets: Vec<Secret>,
    pub(crate) mapping: Mapping,
    /// The kinds of events that are shown and forwarded; empty for all.
    pub(crate) kinds: Vec<String>,
    /// Shows what is stored, and the address it came to. The handler's client shows the rest.
    pub(crate) trace: Option<(Trace, String)>,
}

struct Receiver {
    listening: Listening,
    /// Held while an event is read: an expression of the profile reads one at a time.
    reading: tokio::sync::Mutex<()>,
    store: Webhooks,
    reporter: UnboundedSender<ListenerEvent>,
    /// Told when an event was stored that is to be forwarded; `None` if none is.
    forwarder: Option<Arc<Notify>>,
}

type DeliveryRejection = (StatusCode, String);

async fn answer(receiver: Arc<Receiver>, request: Request) -> Response {
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response();
    }
    let (head, body) = request.into_parts();
    let read = timeout(REQUEST_TIMEOUT, to_bytes(body, LARGEST_BODY)).await;
    // A task of its own: if the sender hangs up, the delivery is stored and forwarded all the same.
    let receiving = receiver.clone();
    let answer = tokio::spawn(async move {
        let Ok(Ok(body)) = read else {
            let too_large = "the body is too large or incomplete";
            return Err((StatusCode::PAYLOAD_TOO_LARGE, too_large.to_owned()));
        };
        receiving.receive(&head.headers, body.into()).await
    });
    let unstored = "the delivery was not stored".to_owned();
    let unstored = Err((StatusCode::INTERNAL_SERVER_ERROR, unstored));
    match answer.await.unwrap_or(unstored) {
        // It is on the disk.
        Ok(()) => Json(json!({ "received": true })).into_response(),
        Err((status, why)) => {
            let error = Json(json!({ "error": &why }));
            let _ = receiver.reporter.send(ListenerEvent::because(ForwardOutcome::Refused, why));
            (status, error).into_response()
        }
    }
}

impl Receiver {
    async fn receive(&self, headers: &HeaderMap, body: Vec<u8>) -> Result<(), DeliveryRejection> {
        let received_at = Timestamp::now();
        let name = self.listening.mapping.dialect.signature_header();
        if let Err(why) = self.verify(&name, headers, &body, received_at) {
            if !headers.contains_key(&name) {
                self.warn_of_another_header(&name, headers, &body, received_at);
            }
            // Unverified: nothing in the body can be trusted.
            return Err((StatusCode::BAD_REQUEST, why));
        }
        let delivery = ReceivedDelivery {
            event: self.read(headers, body.clone()).await?,
            headers: lines(headers),
            body,
            received_at,
        };
        self.accept(delivery).await.map_err(|error| {
            (StatusCode::SERVICE_UNAVAILABLE, format!("cannot be stored: {}", error.message))
        })
    }

    /// Checks the signature in a header; the error says in words why it does not verify.
    fn verify(
        &self,
        name: &str,
        headers: &HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), String> {
        let mut signatures = headers.get_all(name).iter();
        let Some(signature) = signatures.next() else {
            return Err(format!("no {name} header"));
        };
        let (secrets, tolerance) = (&self.listening.secrets, Some(DEFAULT_TOLERANCE));
        let verified = if signatures.next().is_some() {
            // It is unclear which one counts, so neither is accepted.
            Err(Unverified::Malformed("there is more than one such header"))
        } else {
            verify(secrets, signature.as_bytes(), body, now.as_second(), tolerance)
        };
        verified.map(drop).map_err(|why| why.to_string())
    }

    /// Warns of a header of another name whose signature verifies, and of no other.
    fn warn_of_another_header(&self, own: &str, headers: &HeaderMap, body: &[u8], now: Timestamp) {
        let verified = headers.keys().find_map(|name| {
            let service = signing_service(name.as_str())?;
            self.verify(name.as_str(), headers, body, now).ok()?;
            Some(service)
        });
        if let Some(service) = verified {
            let setting = shell::word(&format!("dialect.service_name={service}"));
            self.warn(format!(
                "a delivery was rejected: it has no {own} header, but {service}-signature, which verifies with the \
                 secret. To read that one: {}",
                self.listening.mapping.set_command(&setting)
            ));
        }
    }

    fn warn(&self, warning: String) {
        let _ = self.reporter.send(ListenerEvent::because(ForwardOutcome::Warning, warning));
    }

    /// Reads an event on its own thread: an expression of the profile may take seconds.
    async fn read(&self, headers: &HeaderMap, body: Vec<u8>) -> Result<Event, DeliveryRejection> {
        let (mapping, headers) = (self.listening.mapping.clone(), headers.clone());
        let header = move |name: &str| {
            Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
        };
        let _one_at_a_time = self.reading.lock().await;
        let read = spawn_blocking(move || Event::read(&body, &mapping, header)).await;
        let unread = "the delivery was not read".to_owned();
        read.map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, unread))
    }

    async fn accept(&self, delivery: ReceivedDelivery) -> Result<()> {
        let is_wanted =
            self.listening.kinds.is_empty() || self.listening.kinds.contains(&delivery.event.kind);
        let forwarder = self.forwarder.as_ref().filter(|_| is_wanted);
        let state = forwarder.map_or(StoreState::Kept, |_| StoreState::Waiting);
        if let (Some((trace, url)), None, true) = (&self.listening.trace, forwarder, is_wanted) {
            trace_delivery(*trace, url, &delivery.headers, &delivery.body);
        }
        let (event, is_new) = self.store.receive(delivery, state).await?;
        if let Some(warning) = event.warning(&self.listening.mapping) {
            self.warn(warning);
        }
        let outcome = if is_new { ForwardOutcome::Kept } else { ForwardOutcome::Duplicate };
        let forwarder = forwarder.filter(|_| is_new);
        let _ = self.reporter.send(ListenerEvent {
            // What is forwarded is shown when the app has answered.
            is_shown: is_wanted && forwarder.is_none(),
            ..ListenerEvent::new(Some(event), outcome)
        });
        if let Some(arrived) = forwarder {
            arrived.notify_one();
        }
        Ok(())
    }
}

fn lines(headers: &HeaderMap) -> Vec<HeaderLine> {
    let lines = headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), value.as_bytes().iter().copied().map(char::from).collect())
    });
    lines.collect()
}

/// How long requests in flight have to finish: Ctrl-C ends the process within 200 ms.
const GRACE: Duration = Duration::from_millis(100);

/// Starts a listener on a bound, non-blocking socket. It receives and forwards until the returned
/// sender says so or is gone, and reports to the returned receiver.
pub(crate) fn start(
    listening: Listening,
    app: Option<(App, Schedule)>,
    socket: std::net::TcpListener,
    store: Webhooks,
) -> Result<(watch::Sender<bool>, mpsc::UnboundedReceiver<ListenerEvent>)> {
    let failed = |error: std::io::Error| Error::io("cannot start the listener", error);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let socket = {
        let _inside = runtime.enter();
        TcpListener::from_std(socket).map_err(failed)?
    };
    let (reporter, events) = mpsc::unbounded_channel();
    let (stop, stopping) = watch::channel(false);
    let forwarder = app.map(|(app, schedule)| {
        Arc::new(Forwarder {
            app,
            store: store.clone(),
            schedule,
            reporter: reporter.clone(),
            arrived: Arc::default(),
        })
    });
    let receiver = Arc::new(Receiver {
        reading: tokio::sync::Mutex::default(),
        store,
        reporter,
        forwarder: forwarder.as_ref().map(|it| it.arrived.clone()),
        listening,
    });
    let stopped = move || {
        let mut stopping = stopping.clone();
        async move {
            let _ = stopping.wait_for(|stop| *stop).await;
        }
    };
    let served = async move {
        let answer = move |request| answer(Arc::clone(&receiver), request);
        let server = http1::serve(socket, REQUEST_TIMEOUT, answer, stopped());
        let forwarding = async {
            if let Some(forwarder) = forwarder {
                forwarder.run(stopped(), GRACE).await;
            }
        };
        let grace = async {
            stopped().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            _ = async { tokio::join!(server, forwarding) } => {}
            () = grace => {}
        }
    };
    std::thread::Builder::new()
        .name("listener".to_owned())
        .spawn(move || {
            runtime.block_on(served);
            runtime.shutdown_background();
        })
        .map_err(failed)?;
    Ok((stop, events))
}

pub(crate) async fn stop(stop: watch::Sender<bool>) {
    let _ = stop.send(true);
    let _ = timeout(2 * GRACE, stop.closed()).await;
}
