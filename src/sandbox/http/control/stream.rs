//! `GET /sandbox/stream`: what changes, as server-sent events. Each carries the new state of what changed.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use super::super::Service;
use super::super::parsed_request::ParsedRequest;
use super::{clock, faults, organization, records};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::store::{Change, Tip, Topic, Tx};

/// How often it is looked whether time has moved a booking, or another process has written to the file.
const CHECK: Duration = Duration::from_secs(1);
/// How many checks may pass without an event before a comment keeps the connection open.
const QUIET_CHECKS: u32 = 15;

/// The stream, from the event after `Last-Event-ID`, else from now on.
pub(super) fn answer(
    service: &Arc<Service>,
    request: &ParsedRequest,
) -> rusqlite::Result<Response> {
    let (sender, receiver) = mpsc::channel(1);
    let tip = service.store.follow()?;
    let now = tip.borrow().last;
    let last = request.header("last-event-id");
    let place = last.map_or(now, |it| it.parse().unwrap_or(i64::MIN));
    let feed = Feed {
        service: Arc::clone(service),
        place,
        quiet: 0,
        sender,
    };
    tokio::spawn(feed.run(tip));
    let mut response = Response::new(Body::new(Chunks(receiver)));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    let never = HeaderValue::from_static("no-store");
    headers.insert(header::CACHE_CONTROL, never);
    Ok(response)
}

/// The body of the response: it ends when the feed does.
struct Chunks(mpsc::Receiver<Bytes>);

impl HttpBody for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = self.0.poll_recv(context);
        chunk.map(|it| it.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// What one client is sent. It reads a change only when the client has taken the one before.
struct Feed {
    service: Arc<Service>,
    /// The place of the last change that was sent.
    place: i64,
    /// Checks since something was sent.
    quiet: u32,
    sender: mpsc::Sender<Bytes>,
}

impl Feed {
    /// Runs until the client has gone or the server stops.
    async fn run(mut self, mut tip: watch::Receiver<Tip>) {
        let mut stopping = tip.clone();
        let stopped = async move {
            let _ = stopping.wait_for(|tip| tip.is_stopped).await;
        };
        let closed = self.sender.clone();
        let work = async move {
            let mut checks = interval(CHECK);
            checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let first = format!("retry: 1000\nid: {}\n\n", self.place);
            if self.sender.send(first.into()).await.is_err() {
                return;
            }
            loop {
                tip.mark_unchanged();
                if !self.send_changes().await {
                    return;
                }
                tokio::select! {
                    _ = tip.changed() => {}
                    _ = checks.tick() => if !self.check().await {
                        return;
                    },
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = stopped => {}
            () = closed.closed() => {}
        }
    }

    /// Sends what has changed; returns false if the client has gone.
    async fn send_changes(&mut self) -> bool {
        let (changes, last) = self.service.store.changes().since(self.place);
        if last == self.place {
            return true;
        }
        let is_all = |changes: &Vec<Change>| changes.iter().all(|it| it.topic != Topic::Everything);
        let events = match changes.filter(is_all) {
            Some(changes) => self.events(changes).await,
            None => vec![("reset", json!({}))],
        };
        let text = text(&events, self.place, last);
        self.place = last;
        self.quiet = 0;
        self.sender.send(text.into()).await.is_ok()
    }

    /// Names and states of what changed. A state that cannot be read is left out; the next request says why.
    async fn events(&self, changes: Vec<Change>) -> Vec<(&'static str, Value)> {
        let exchanges = self.service.exchanges.as_ref();
        let is_request = |it: &&Change| it.topic == Topic::Request;
        let requests = changes.iter().filter(is_request);
        let requests = requests.filter_map(|it| exchanges?.numbered(it.number));
        let mut events: Vec<_> = requests
            .map(|it| ("request", json!(it.document())))
            .collect();
        let states = self.service.store.read(move |tx| {
            let states = changes.iter().map(|it| state(tx, *it));
            states.collect::<Result<Vec<_>, _>>()
        });
        events.extend(states.await.unwrap_or_default().into_iter().flatten());
        events
    }

    /// Lets due bookings change, and notices what other processes wrote. Returns false if the client has gone.
    async fn check(&mut self) -> bool {
        let store = &self.service.store;
        if let Ok(version) = store.read(|tx| Ok(tx.data_version()?)).await {
            store.changes().see_version(version);
        }
        self.quiet += 1;
        if self.quiet < QUIET_CHECKS {
            return true;
        }
        self.quiet = 0;
        self.sender.send(":\n\n".into()).await.is_ok()
    }
}

/// The event's name and the new state; `None` for what was deleted.
fn state(tx: &Tx<'_>, change: Change) -> Result<Option<(&'static str, Value)>, ApiError> {
    let number = change.number;
    let (name, state) = match change.topic {
        Topic::Request | Topic::Everything => return Ok(None),
        Topic::Booking => ("booking", records::booking(tx, number)?),
        Topic::Message => ("message", tx.messages(Some(number), None)?.pop()),
        Topic::Delivery => ("delivery", tx.deliveries(Some(number), None)?.pop()),
        Topic::Clock => ("clock", Some(clock::state(tx)?)),
        Topic::Fault => ("fault", Some(faults::state(tx)?)),
        Topic::Organization => ("organization", Some(organization::state(tx)?)),
    };
    Ok(state.map(|it| (name, it)))
}

/// The events as they are sent. All but the last have the id of the place before them: a client that was cut off in
/// between gets all of them again. JSON has no line breaks, so the data is one line.
fn text(events: &[(&str, Value)], before: i64, last: i64) -> String {
    let Some(((name, state), others)) = events.split_last() else {
        return format!("id: {last}\n\n");
    };
    let event =
        |name: &str, state: &Value, id| format!("id: {id}\nevent: {name}\ndata: {state}\n\n");
    let mut text: String = others
        .iter()
        .map(|(name, state)| event(name, state, before))
        .collect();
    text.push_str(&event(name, state, last));
    text
}
