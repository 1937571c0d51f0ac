//! Attempts to forward events, and the states that follow from them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{HeaderLine, State, Store, StoreError, moment};
use crate::outcome::Result;
use crate::webhook::ack_log::Ack;
use crate::webhook::event::{Event, IdSource};
use crate::webhook::schedule::Schedule;

/// The error of an attempt that was in flight when its listener ended. The app may have received the event.
const UNKNOWN: &str = "the listener stopped before the response arrived";

/// An event with everything needed to post it to the app.
#[derive(Clone, Debug)]
pub(crate) struct QueuedDelivery {
    pub(crate) number: i64,
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
    /// The attempt's number, from 1.
    pub(crate) attempt: u32,
    pub(crate) begun_at: Timestamp,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AppAnswer {
    /// The status, or why there was none.
    pub(crate) status: Result<u16, String>,
    pub(crate) latency_ms: u64,
    /// What was sent, if it is to be shown.
    pub(crate) request: Option<Content>,
    /// What came with the status.
    pub(crate) response: Option<Content>,
}

/// Headers and body of a request or an answer, as much of it as is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) headers: Map<String, Value>,
    pub(crate) body: String,
    /// Whether more of the body came.
    pub(crate) truncated: bool,
}

impl Content {
    /// The headers and the kept part of a body of this length.
    pub(crate) fn new(headers: Map<String, Value>, body: &[u8], length: usize) -> Self {
        Content {
            headers,
            body: String::from_utf8_lossy(body).into_owned(),
            truncated: length > body.len(),
        }
    }
}

impl AppAnswer {
    /// Whether the status is 2xx ("Events", 6).
    pub(crate) fn is_delivered(&self) -> bool {
        matches!(self.status, Ok(200..=299))
    }
}

/// An event's state after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndedAttempt {
    pub(crate) state: State,
    /// When it is retried.
    pub(crate) next_at: Option<Timestamp>,
    /// The booking's next event, which may be forwarded now.
    pub(crate) released: Option<i64>,
}

impl Store {
    /// Records an attempt before it is sent; `None` if the event is not to be sent any more.
    pub(crate) async fn begin_attempt(
        &self,
        number: i64,
        url: String,
    ) -> Result<Option<QueuedDelivery>, StoreError> {
        self.write(move |connection| {
            let delivery = connection
                .prepare_cached(&queued_where(
                    "number = ? AND state IN ('waiting', 'undelivered')",
                ))?
                .query_row([number], queued)
                .optional()?;
            if let Some(delivery) = &delivery {
                record_begin(connection, delivery, false, &url)?;
            }
            Ok(delivery)
        })
        .await
    }

    /// Records a replay before it is sent, whatever the event's state.
    pub(crate) async fn begin_replay(
        &self,
        number: i64,
        url: String,
    ) -> Result<QueuedDelivery, StoreError> {
        self.write(move |connection| {
            let delivery = connection
                .prepare_cached(&queued_where("number = ?"))?
                .query_row([number], queued)?;
            record_begin(connection, &delivery, true, &url)?;
            Ok(delivery)
        })
        .await
    }

    /// Records a replay's answer; the event's state stays as it is.
    pub(crate) async fn end_replay(
        &self,
        number: i64,
        attempt: u32,
        answer: AppAnswer,
    ) -> Result<(), StoreError> {
        self.write(move |connection| record_answer(connection, number, attempt, &answer))
            .await
    }

    /// Records an attempt's answer and the event's new state. Without a schedule the service does the retrying.
    pub(crate) async fn end_attempt(
        &self,
        number: i64,
        attempt: u32,
        answer: AppAnswer,
        schedule: Option<Schedule>,
        now: Timestamp,
    ) -> Result<EndedAttempt, StoreError> {
        self.write(move |connection| {
            record_answer(connection, number, attempt, &answer)?;
            let failed = i64::from(!answer.is_delivered());
            let failures: i64 = connection
                .prepare_cached(
                    "UPDATE events SET failures = failures + ? WHERE number = ? RETURNING failures",
                )?
                .query_row((failed, number), |row| row.get(0))?;
            let failures = usize::try_from(failures).unwrap_or(usize::MAX);
            let (state, next_at) = match &schedule {
                _ if answer.is_delivered() => (State::Delivered, None),
                None => (State::Undelivered, None),
                Some(schedule) => match schedule.next(failures, now) {
                    Some(next) => (State::Waiting, Some(next)),
                    None => (State::Abandoned, None),
                },
            };
            connection
                .prepare_cached("UPDATE events SET state = ?, next_at = ? WHERE number = ?")?
                .execute((
                    state.as_str(),
                    next_at.map(Timestamp::as_millisecond),
                    number,
                ))?;
            let released = match state {
                State::Waiting | State::Undelivered => None,
                _ => release(connection, number, now)?,
            };
            Ok(EndedAttempt {
                state,
                next_at,
                released,
            })
        })
        .await
    }

    /// Cleans up after earlier listeners: records the answers in their log, and marks other attempts without an answer as
    /// unknown. Returns the events to forward, each with the time at which it is due.
    pub(crate) async fn recover(
        &self,
        acks: Vec<Ack>,
    ) -> Result<Vec<(i64, Timestamp)>, StoreError> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            for ack in acks {
                record_ack(connection, ack)?;
            }
            connection.execute(
                "UPDATE attempts SET error = ? WHERE status IS NULL AND error IS NULL AND replay = 0 \
                 AND event IN (SELECT number FROM events WHERE origin = ?)",
                (UNKNOWN, &origin),
            )?;
            connection
                .prepare(
                    "SELECT number, next_at FROM events \
                     WHERE origin = ? AND next_at IS NOT NULL ORDER BY next_at, number",
                )?
                .query_map([&origin], |row| Ok((row.get(0)?, moment(row.get(1)?))))?
                .collect()
        })
        .await
    }

    /// How many events are still to be forwarded.
    pub(crate) async fn waiting(&self) -> Result<u64, StoreError> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "SELECT count(*) FROM events WHERE origin = ? AND state = 'waiting'",
                )?
                .query_row([&origin], |row| row.get::<_, i64>(0))
        })
        .await
        .map(|count| u64::try_from(count).unwrap_or_default())
    }
}

/// Records a 2xx from the log for an attempt that has no answer in the database.
fn record_ack(connection: &Connection, ack: Ack) -> rusqlite::Result<()> {
    let Ack {
        number,
        attempt,
        status,
        begun_at,
    } = ack;
    let was_open = connection
        .prepare_cached(
            "UPDATE attempts SET status = ? \
             WHERE event = ? AND number = ? AND begun_at = ? AND status IS NULL AND error IS NULL",
        )?
        .execute((status, number, attempt, begun_at))?;
    if was_open > 0 {
        connection
            .prepare_cached(
                "UPDATE events SET state = 'delivered', next_at = NULL WHERE number = ?",
            )?
            .execute([number])?;
        release(connection, number, Timestamp::now())?;
    }
    Ok(())
}

/// Makes the next waiting event of the same ordering key due. (The column `lane` holds the key.)
fn release(connection: &Connection, after: i64, now: Timestamp) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "UPDATE events SET next_at = ?2 WHERE number = ( \
             SELECT later.number FROM events settled JOIN events later \
             ON later.origin = settled.origin AND later.lane = settled.lane \
             AND later.state = 'waiting' \
             WHERE settled.number = ?1 ORDER BY later.number LIMIT 1) RETURNING number",
        )?
        .query_row((after, now.as_millisecond()), |row| row.get(0))
        .optional()
}

fn queued_where(condition: &str) -> String {
    format!(
        "SELECT number, id, kind, booking, status, headers, body, received_at, \
         (SELECT count(*) FROM attempts WHERE event = events.number) \
         FROM events WHERE {condition}"
    )
}

fn queued(row: &rusqlite::Row<'_>) -> rusqlite::Result<QueuedDelivery> {
    let headers: String = row.get(5)?;
    let attempts: u32 = row.get(8)?;
    Ok(QueuedDelivery {
        number: row.get(0)?,
        event: Event {
            id: row.get(1)?,
            kind: row.get(2)?,
            booking: row.get(3)?,
            status: row.get(4)?,
            id_source: IdSource::Stated,
        },
        headers: serde_json::from_str(&headers).unwrap_or_default(),
        body: row.get(6)?,
        received_at: moment(row.get(7)?),
        attempt: attempts + 1,
        begun_at: Timestamp::now(),
    })
}

fn record_begin(
    connection: &Connection,
    delivery: &QueuedDelivery,
    replay: bool,
    url: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO attempts (event, number, replay, url, begun_at) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute((
            delivery.number,
            delivery.attempt,
            replay,
            url,
            delivery.begun_at.as_millisecond(),
        ))?;
    Ok(())
}

fn record_answer(
    connection: &Connection,
    number: i64,
    attempt: u32,
    answer: &AppAnswer,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE attempts SET status = ?, error = ?, latency_ms = ?, response = ? \
             WHERE event = ? AND number = ?",
        )?
        .execute((
            answer.status.as_ref().ok(),
            answer.status.as_ref().err(),
            i64::try_from(answer.latency_ms).unwrap_or(i64::MAX),
            answer
                .response
                .as_ref()
                .and_then(|it| serde_json::to_string(it).ok()),
            number,
            attempt,
        ))?;
    Ok(())
}
