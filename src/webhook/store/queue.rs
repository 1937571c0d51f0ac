//! Storing deliveries, and the attempts to forward them.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::{EventState, Webhooks, event, moment};
use crate::outcome::Result;
use crate::webhook::event::Event;
use crate::webhook::handler::{HandlerVerdict, HeaderLine};

/// The error of an attempt until its response is recorded: if the listener is killed before, the
/// app may have the event.
const UNKNOWN: &str = "no response was recorded";

#[derive(Debug)]
pub(crate) struct ReceivedDelivery {
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    /// The raw bytes that were signed.
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
}

#[derive(Clone, Debug)]
pub(crate) struct QueuedDelivery {
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
    pub(crate) attempt: u32,
    /// How many attempts have failed, without one that the end of its listener cut off.
    pub(crate) failures: u32,
}

impl Webhooks {
    /// Stores an event unless it was stored before, in this state; returns how it is stored, and
    /// whether it is new. An event with the id of another kind of event is another event. To take
    /// it for a duplicate would lose it.
    pub(crate) async fn receive(
        &self,
        mut delivery: ReceivedDelivery,
        state: EventState,
    ) -> Result<(Event, bool)> {
        self.write(move |connection, origin| {
            // Events that share an id stay in order.
            let ordering_key = delivery.event.ordering_key().to_owned();
            let headers = serde_json::to_string(&delivery.headers).unwrap_or_default();
            // How often the event was delivered before; `None` if another kind of event has its id.
            let insert = |event: &Event| {
                let sql = "INSERT INTO events (origin, id, kind, ordering_key, booking, status, headers, body, \
                           received_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
                           ON CONFLICT DO UPDATE SET duplicates = duplicates + 1 WHERE kind = excluded.kind \
                           RETURNING duplicates";
                let values = params![
                    origin,
                    event.id,
                    event.kind,
                    ordering_key,
                    event.booking,
                    event.status,
                    headers,
                    delivery.body,
                    delivery.received_at.as_millisecond(),
                    state.as_str(),
                ];
                connection.query_row(sql, values, |row| row.get::<_, u32>(0)).optional()
            };
            let mut duplicates = insert(&delivery.event)?;
            if duplicates.is_none() {
                delivery.event.name_by_body(&delivery.body);
                duplicates = insert(&delivery.event)?;
            }
            Ok((delivery.event, duplicates == Some(0)))
        })
        .await
    }

    /// The oldest waiting event of each booking, at most `limit`: its number, and when it is
    /// retried; `None` before its first attempt. Those that are due come first, the oldest of them
    /// first, then those that are due next.
    pub(crate) async fn next_events(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(i64, Option<Timestamp>)>> {
        self.write(move |connection, origin| {
            connection
                .prepare(
                    "SELECT min(number) AS number, next_attempt_at FROM events \
                     WHERE origin = ? AND state = 'waiting' GROUP BY ordering_key \
                     ORDER BY max(coalesce(next_attempt_at, 0), ?), number LIMIT ?",
                )?
                .query_map((origin, now.as_millisecond(), limit), |row| {
                    let next: Option<i64> = row.get("next_attempt_at")?;
                    Ok((row.get("number")?, next.map(moment)))
                })?
                .collect()
        })
        .await
    }

    /// Records an attempt before it is sent. `None` if the event waits no more, except to replay.
    pub(crate) async fn begin_attempt(
        &self,
        number: i64,
        url: String,
        replay: bool,
    ) -> Result<Option<QueuedDelivery>> {
        self.write(move |connection, _| {
            let sql = "SELECT *, (SELECT count(*) FROM attempts WHERE event = e.number) AS attempts, \
                       (SELECT count(*) FROM attempts WHERE event = e.number AND replay = 0 \
                        AND latency_ms IS NOT NULL) AS failures \
                       FROM events e WHERE number = ? AND (? OR state = 'waiting')";
            let delivery = connection.query_row(sql, (number, replay), |row| {
                let headers: String = row.get("headers")?;
                Ok(QueuedDelivery {
                    event: event(row)?,
                    headers: serde_json::from_str(&headers).unwrap_or_default(),
                    body: row.get("body")?,
                    received_at: moment(row.get("received_at")?),
                    attempt: row.get::<_, u32>("attempts")? + 1,
                    failures: row.get("failures")?,
                })
            }).optional()?;
            if let Some(QueuedDelivery { attempt, .. }) = &delivery {
                let begun_at = Timestamp::now().as_millisecond();
                connection.execute(
                    "INSERT INTO attempts (event, number, replay, url, begun_at, error) VALUES (?, ?, ?, ?, ?, ?)",
                    (number, attempt, replay, url, begun_at, UNKNOWN),
                )?;
            }
            Ok(delivery)
        })
        .await
    }

    /// Records an attempt's response. `event` is its new state with the time of its retry; `None`
    /// leaves it as it is.
    pub(crate) async fn end_attempt(
        &self,
        number: i64,
        attempt: u32,
        reaction: HandlerVerdict,
        event: Option<(EventState, Option<Timestamp>)>,
    ) -> Result<()> {
        self.write(move |connection, _| {
            let (error, response) = match &reaction.outcome {
                Ok(reply) => (None, serde_json::to_string(reply).ok()),
                Err(why) => (Some(why.to_string()), None),
            };
            let (status, latency) = (reaction.status(), reaction.latency_ms());
            connection.execute(
                "UPDATE attempts SET status = ?, error = ?, latency_ms = ?, response = ? WHERE event = ? AND number = ?",
                (status, error, latency, response, number, attempt),
            )?;
            if let Some((state, next)) = event {
                connection.execute(
                    "UPDATE events SET state = ?, next_attempt_at = ? WHERE number = ?",
                    (state.as_str(), next.map(Timestamp::as_millisecond), number),
                )?;
            }
            Ok(())
        })
        .await
    }
}
