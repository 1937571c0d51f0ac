//! Storing deliveries and the attempts to forward them, and reading both.

use clap::ValueEnum;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Params, Row, params};
use serde::Serialize;

use super::{EventState, Webhooks, event, moment};
use crate::outcome::Result;
use crate::service::time::text::serialize_time;
use crate::webhook::event::Event;
use crate::webhook::handler::{HandlerResponse, HandlerVerdict, HeaderLine};
use crate::webhook::reporter::ForwardAttempt;

/// The error of an attempt until its response is recorded: if the listener is killed before, the
/// app may have the event.
const UNKNOWN: &str = "no response was recorded";

#[derive(Clone, Debug)]
pub(crate) struct ReceivedDelivery {
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    /// The raw bytes that were signed.
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
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

    /// Records an attempt before it is sent: with its number, from 1, and how many have failed before,
    /// without one that the end of its listener cut off. `None` if the event waits no more, except
    /// to replay.
    pub(crate) async fn begin_attempt(
        &self,
        number: i64,
        url: String,
        replay: bool,
    ) -> Result<Option<(ReceivedDelivery, u32, u32)>> {
        self.write(move |connection, _| {
            let sql = "SELECT *, (SELECT count(*) FROM attempts WHERE event = e.number) AS attempts, \
                       (SELECT count(*) FROM attempts WHERE event = e.number AND replay = 0 \
                        AND latency_ms IS NOT NULL) AS failures \
                       FROM events e WHERE number = ? AND (? OR state = 'waiting')";
            let delivery = connection.query_row(sql, (number, replay), |row| {
                Ok((delivery(row)?, row.get::<_, u32>("attempts")? + 1, row.get("failures")?))
            }).optional()?;
            if let Some((_, attempt, _)) = &delivery {
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

    /// `event` is its new state with the time of its retry; `None` leaves it as it is.
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

#[derive(Clone, Debug, Serialize)]
pub(crate) struct EventRow {
    #[serde(skip)]
    pub(crate) number: i64,
    #[serde(flatten)]
    pub(crate) event: Event,
    #[serde(serialize_with = "serialize_time")]
    pub(crate) received_at: Timestamp,
    pub(crate) duplicates: u32,
    pub(crate) state: EventState,
    /// `None` unless it waits for another attempt.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "serialize_time")]
    pub(crate) next_attempt_at: Option<Timestamp>,
    pub(crate) attempts: u32,
    #[serde(skip)]
    pub(crate) last_result: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct AttemptRow {
    #[serde(flatten)]
    pub(crate) attempt: ForwardAttempt,
    pub(crate) replay: bool,
    pub(crate) url: String,
    #[serde(rename = "at", serialize_with = "serialize_time")]
    pub(crate) begun_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) response: Option<HandlerResponse>,
}

/// Which events to list; `None` does not filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQuery {
    pub(crate) booking: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) state: Option<EventState>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) limit: Option<u32>,
}

const ROW: &str = "SELECT e.*, \
    (SELECT count(*) FROM attempts a WHERE a.event = e.number) AS attempts, \
    (SELECT iif(a.replay, 'replay: ', '') || coalesce(a.status, a.error) FROM attempts a \
        WHERE a.event = e.number ORDER BY a.number DESC LIMIT 1) AS last_result \
    FROM events e WHERE e.origin = ?1";

fn delivery(row: &Row<'_>) -> rusqlite::Result<ReceivedDelivery> {
    let headers: String = row.get("headers")?;
    Ok(ReceivedDelivery {
        event: event(row)?,
        headers: serde_json::from_str(&headers).unwrap_or_default(),
        body: row.get("body")?,
        received_at: moment(row.get("received_at")?),
    })
}

fn event_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let state: String = row.get("state")?;
    Ok(EventRow {
        number: row.get("number")?,
        event: event(row)?,
        received_at: moment(row.get("received_at")?),
        duplicates: row.get("duplicates")?,
        state: EventState::from_str(&state, false).unwrap_or(EventState::Kept),
        next_attempt_at: row.get::<_, Option<i64>>("next_attempt_at")?.map(moment),
        attempts: row.get("attempts")?,
        last_result: row.get("last_result")?,
    })
}

impl Webhooks {
    /// The events of this service, newest first.
    pub(crate) fn events(&self, query: &EventQuery) -> Result<Vec<EventRow>> {
        let sql = format!(
            "{ROW} AND (?2 IS NULL OR e.booking = ?2) AND (?3 IS NULL OR e.kind = ?3) \
             AND (?4 IS NULL OR e.state = ?4) AND e.received_at >= ?5 ORDER BY e.number DESC LIMIT ?6"
        );
        let values = params![
            self.origin,
            query.booking,
            query.kind,
            query.state.map(EventState::as_str),
            query.since.map_or(i64::MIN, Timestamp::as_millisecond),
            query.limit.map_or(-1, i64::from),
        ];
        self.rows(&sql, values, event_row)
    }

    /// The event with this id, or the newest.
    pub(crate) fn event(&self, id: Option<&str>) -> Result<Option<EventRow>> {
        let sql = format!("{ROW} AND (?2 IS NULL OR e.id = ?2) ORDER BY e.number DESC LIMIT 1");
        self.read(|connection| connection.query_row(&sql, (&self.origin, id), event_row).optional())
    }

    /// The number of the newest event, 0 without any.
    pub(crate) fn newest(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(number), 0) FROM events";
        self.read(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    /// A booking's events after the event of this number, oldest first: number, time, body.
    pub(crate) fn bodies(&self, after: i64, limit: u32) -> Result<Vec<(i64, Timestamp, Vec<u8>)>> {
        let sql = "SELECT number, received_at, body FROM events \
                   WHERE origin = ? AND number > ? AND booking IS NOT NULL ORDER BY number LIMIT ?";
        self.rows(sql, params![self.origin, after, limit], |row| {
            Ok((row.get("number")?, moment(row.get("received_at")?), row.get("body")?))
        })
    }

    /// The bodies of the earlier events, among as many, of the bookings that those are of.
    pub(crate) fn earlier_bodies(&self, after: i64, limit: u32) -> Result<Vec<Vec<u8>>> {
        let sql = "SELECT body FROM events WHERE origin = ?1 AND number BETWEEN ?2 - ?3 AND ?2 AND booking IN \
                   (SELECT booking FROM events WHERE origin = ?1 AND number > ?2 ORDER BY number LIMIT ?3)";
        self.rows(sql, params![self.origin, after, limit], |row| row.get("body"))
    }

    pub(crate) fn delivery(&self, number: i64) -> Result<ReceivedDelivery> {
        let sql = "SELECT * FROM events WHERE number = ?";
        self.read(|connection| connection.query_row(sql, [number], delivery))
    }

    /// An event's attempts, oldest first.
    pub(crate) fn attempts(&self, number: i64) -> Result<Vec<AttemptRow>> {
        let sql = "SELECT * FROM attempts WHERE event = ? ORDER BY number";
        self.rows(sql, [number], |row| {
            let response: Option<String> = row.get("response")?;
            Ok(AttemptRow {
                attempt: ForwardAttempt {
                    number: row.get("number")?,
                    status: row.get("status")?,
                    error: row.get("error")?,
                    latency_ms: row.get("latency_ms")?,
                },
                replay: row.get("replay")?,
                url: row.get("url")?,
                begun_at: moment(row.get("begun_at")?),
                response: response.and_then(|it| serde_json::from_str(&it).ok()),
            })
        })
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.read(|connection| connection.prepare(sql)?.query_map(values, row)?.collect())
    }

    pub(crate) fn waiting(&self) -> Result<u32> {
        let sql = "SELECT count(*) FROM events WHERE origin = ? AND state = 'waiting'";
        self.read(|connection| connection.query_row(sql, [&self.origin], |row| row.get(0)))
    }
}
