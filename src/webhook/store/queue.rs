//! Storing deliveries, and the attempts to forward them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{State, Webhooks, event, moment};
use crate::outcome::Result;
use crate::webhook::event::Event;
use crate::webhook::handler::{HeaderLine, Reaction};

/// The error of an attempt until its response is recorded. It stays if the listener is killed before: the app may have
/// received the event.
const UNKNOWN: &str = "no response was recorded";

/// A delivery whose signature verified.
#[derive(Debug)]
pub(crate) struct ReceivedDelivery {
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    /// The raw bytes that were signed.
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
}

/// An event with everything needed to post it to the app.
#[derive(Clone, Debug)]
pub(crate) struct QueuedDelivery {
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
    /// The attempt's number, from 1.
    pub(crate) attempt: u32,
    /// How many attempts have failed. One that was cut off by the end of its listener is no failure of the app.
    pub(crate) failures: u32,
}

impl Webhooks {
    /// Stores an event unless it was stored before, in this state; returns it as it is stored, and whether it is new. It
    /// is on the disk when this returns.
    ///
    /// An event with the id of another kind of event is another event. To take it for a duplicate would lose it.
    pub(crate) async fn receive(
        &self,
        mut delivery: ReceivedDelivery,
        state: State,
    ) -> Result<(Event, bool)> {
        self.write(move |connection, origin| {
            let is_new = receive(connection, origin, &mut delivery, state)?;
            Ok((delivery.event, is_new))
        })
        .await
    }

    /// The oldest waiting event of each booking, at most `limit`: its number, and when it is retried; `None` before its
    /// first attempt. Those that are due come first, the oldest of them first, then those that are due next.
    pub(crate) async fn turns(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(i64, Option<Timestamp>)>> {
        self.write(move |connection, origin| {
            connection
                .prepare_cached(
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

    /// Records an attempt before it is sent. A replay is sent whatever the event's state, other attempts only while it is
    /// waiting: `None` if it is not.
    pub(crate) async fn begin_attempt(
        &self,
        number: i64,
        url: String,
        replay: bool,
    ) -> Result<Option<QueuedDelivery>> {
        self.write(move |connection, _| {
            let Some(delivery) = queued(connection, number, replay)? else {
                return Ok(None);
            };
            let begun_at = Timestamp::now().as_millisecond();
            connection
                .prepare_cached(
                    "INSERT INTO attempts (event, number, replay, url, begun_at, error) \
                     VALUES (?, ?, ?, ?, ?, ?)",
                )?
                .execute((number, delivery.attempt, replay, url, begun_at, UNKNOWN))?;
            Ok(Some(delivery))
        })
        .await
    }

    /// Records an attempt's response, and the event's new state with the time of its retry; `None` leaves the event as it
    /// is.
    pub(crate) async fn end_attempt(
        &self,
        number: i64,
        attempt: u32,
        reaction: Reaction,
        event: Option<(State, Option<Timestamp>)>,
    ) -> Result<()> {
        self.write(move |connection, _| {
            let (error, response) = match &reaction.outcome {
                Ok(reply) => (None, serde_json::to_string(reply).ok()),
                Err(why) => (Some(why.to_string()), None),
            };
            connection
                .prepare_cached(
                    "UPDATE attempts SET status = ?, error = ?, latency_ms = ?, response = ? \
                     WHERE event = ? AND number = ?",
                )?
                .execute(params![
                    reaction.status(),
                    error,
                    reaction.latency_ms(),
                    response,
                    number,
                    attempt
                ])?;
            if let Some((state, next)) = event {
                connection
                    .prepare_cached(
                        "UPDATE events SET state = ?, next_attempt_at = ? WHERE number = ?",
                    )?
                    .execute((state.as_str(), next.map(Timestamp::as_millisecond), number))?;
            }
            Ok(())
        })
        .await
    }
}

fn receive(
    connection: &Connection,
    origin: &str,
    delivery: &mut ReceivedDelivery,
    state: State,
) -> rusqlite::Result<bool> {
    // Events that share an id stay in order.
    let ordering_key = delivery.event.ordering_key().to_owned();
    // Number and kind of the event that is stored under an id.
    let find = |event: &Event| {
        connection
            .prepare_cached("SELECT number, kind FROM events WHERE origin = ? AND id = ?")?
            .query_row((origin, &event.id), |row| {
                Ok((row.get::<_, i64>("number")?, row.get::<_, String>("kind")?))
            })
            .optional()
    };
    let mut known = find(&delivery.event)?;
    if known
        .as_ref()
        .is_some_and(|(_, kind)| *kind != delivery.event.kind)
    {
        delivery.event.name_by_body(&delivery.body);
        known = find(&delivery.event)?;
    }
    if let Some((number, _)) = known {
        connection
            .prepare_cached("UPDATE events SET duplicates = duplicates + 1 WHERE number = ?")?
            .execute([number])?;
        return Ok(false);
    }
    let event = &delivery.event;
    connection
        .prepare_cached(
            "INSERT INTO events \
             (origin, id, kind, ordering_key, booking, status, headers, body, received_at, state) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            origin,
            event.id,
            event.kind,
            ordering_key,
            event.booking,
            event.status,
            serde_json::to_string(&delivery.headers).unwrap_or_default(),
            delivery.body,
            delivery.received_at.as_millisecond(),
            state.as_str(),
        ])?;
    Ok(true)
}

/// An event as it is sent next, if it is waiting or may be in any state.
fn queued(
    connection: &Connection,
    number: i64,
    in_any_state: bool,
) -> rusqlite::Result<Option<QueuedDelivery>> {
    connection
        .prepare_cached(
            "SELECT *, (SELECT count(*) FROM attempts WHERE event = e.number) AS attempts, \
             (SELECT count(*) FROM attempts WHERE event = e.number AND replay = 0 \
              AND latency_ms IS NOT NULL) AS failures \
             FROM events e WHERE number = ? AND (? OR state = 'waiting')",
        )?
        .query_row((number, in_any_state), |row| {
            let headers: String = row.get("headers")?;
            let attempts: u32 = row.get("attempts")?;
            Ok(QueuedDelivery {
                event: event(row)?,
                headers: serde_json::from_str(&headers).unwrap_or_default(),
                body: row.get("body")?,
                received_at: moment(row.get("received_at")?),
                attempt: attempts + 1,
                failures: row.get("failures")?,
            })
        })
        .optional()
}
