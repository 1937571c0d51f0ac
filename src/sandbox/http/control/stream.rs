//! `GET /sandbox/stream`: changes as server-sent events, each with the new state.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::{clock, faults, organization, records};
use crate::sandbox::http::SandboxService;
use crate::sandbox::http::request::Request;
use crate::sandbox::rules::api_error::Result;
use crate::sandbox::store::{ChangeTopic, ChangedRow, Tip, Tx};

/// How often to check whether time moved a booking, or another process wrote to the file.
const CHECK: Duration = Duration::from_secs(1);

/// The stream, from the event after `Last-Event-ID`, else from now on.
pub(super) fn answer(request: &Request) -> Result<Response> {
    let tip = request.service.store.follow()?;
    let now = tip.borrow().last;
    let place = request.header("last-event-id").map_or(now, |it| it.parse().unwrap_or(0));
    let first = Event::default().retry(Duration::from_secs(1));
    // The first check is at once: what another process writes from now on is a change.
    let mut checks = interval(CHECK);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let feed = Feed {
        service: Arc::clone(&request.service),
        organization: request.organization.clone(),
        tip,
        checks,
        place,
        waiting: VecDeque::from([first.id(place.to_string())]),
    };
    let events = stream::unfold(feed, Feed::next).map(Ok::<_, Infallible>);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

/// What one client is sent. A change is read only when the client has taken the one before.
struct Feed {
    service: Arc<SandboxService>,
    /// The only one whose changes are sent.
    organization: Option<String>,
    tip: watch::Receiver<Tip>,
    checks: Interval,
    place: i64,
    waiting: VecDeque<Event>,
}

impl Feed {
    /// The next event; `None` when the server stops.
    async fn next(mut self) -> Option<(Event, Self)> {
        loop {
            if self.tip.borrow_and_update().is_stopped {
                return None;
            }
            if let Some(event) = self.waiting.pop_front() {
                return Some((event, self));
            }
            let (changes, last) = self.service.store.changes.since(self.place);
            if last != self.place {
                let events = self.events(changes).await;
                self.waiting = placed(&events, self.place, last);
                self.place = last;
                continue;
            }
            tokio::select! {
                _ = self.tip.changed() => {}
                // Lets due bookings change, and notices what other processes wrote.
                _ = self.checks.tick() => {
                    let store = &self.service.store;
                    if let Ok(version) = store.read(None, |tx| Ok(tx.data_version()?)).await {
                        store.changes.see_version(version);
                    }
                }
            }
        }
    }

    /// Names and states of what changed, except unreadable ones, which the next request explains.
    async fn events(&self, changes: Option<Vec<ChangedRow>>) -> Vec<(&'static str, Value)> {
        let is_all = |changes: &Vec<ChangedRow>| {
            changes.iter().all(|it| it.topic != ChangeTopic::Everything)
        };
        let Some(changes) = changes.filter(is_all) else {
            return vec![("reset", json!({}))];
        };
        let (owner, service) = (self.organization.clone(), Arc::clone(&self.service));
        let states = self.service.store.read(owner.clone(), move |tx| {
            let state = |it: &ChangedRow| state(tx, &service, *it, owner.as_deref());
            changes.iter().map(state).collect::<Result<Vec<_>, _>>()
        });
        states.await.unwrap_or_default().into_iter().flatten().collect()
    }
}

fn state(
    tx: &Tx<'_>,
    service: &SandboxService,
    change: ChangedRow,
    owner: Option<&str>,
) -> Result<Option<(&'static str, Value)>> {
    let number = change.number;
    let (name, state) = match change.topic {
        ChangeTopic::Everything => return Ok(None),
        ChangeTopic::Request => {
            let names = tx.organization_names()?;
            let found = service.exchanges.as_ref().and_then(|it| it.numbered(number));
            ("request", found.map(|it| it.document(&names, None)))
        }
        ChangeTopic::Booking => ("booking", records::booking(tx, number)?),
        ChangeTopic::Message => ("message", tx.messages(Some(number), owner)?.pop()),
        ChangeTopic::Delivery => ("delivery", tx.deliveries(Some(number), owner)?.pop()),
        ChangeTopic::Clock => ("clock", Some(clock::state(tx)?)),
        ChangeTopic::Fault => ("fault", Some(faults::state(tx, owner)?)),
        ChangeTopic::Organization => ("organization", Some(organization::state(tx, owner)?)),
    };
    let has_owner = matches!(change.topic, ChangeTopic::Request | ChangeTopic::Booking);
    let is_its = |it: &Value| !has_owner || owner.is_none_or(|id| it["organization"] == id);
    Ok(state.filter(is_its).map(|it| (name, it)))
}

/// The events as they are sent. All but the last have the id of the place before them: a client
/// that was cut off in between gets all of them again.
fn placed(events: &[(&str, Value)], before: i64, last: i64) -> VecDeque<Event> {
    let mut placed: VecDeque<_> = events
        .iter()
        .enumerate()
        .map(|(index, (name, state))| {
            let is_last = index + 1 == events.len();
            let id = if is_last { last } else { before };
            Event::default().id(id.to_string()).event(name).data(state.to_string())
        })
        .collect();
    if placed.is_empty() {
        placed.push_back(Event::default().id(last.to_string()));
    }
    placed
}
