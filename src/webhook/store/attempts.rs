//! Attempts to forward events, and the states that follow from them.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{HeaderLine, State, Store, moment};
use crate::outcome::Result;
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
}

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

/// The oldest waiting event of a booking: it is the booking's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) number: i64,
    /// When it is retried, by the service's clock; `None` before its first attempt.
    pub(crate) next_attempt_at: Option<Timestamp>,
}

impl Store {
    /// The oldest waiting event of each booking, at most `limit`: those that are due come first, the oldest of them first,
    /// then those that are due next.
    pub(crate) async fn turns(&self, now: Timestamp, limit: usize) -> Result<Vec<Turn>> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "SELECT min(number) AS number, next_attempt_at FROM events \
                     WHERE origin = ? AND state = 'waiting' GROUP BY ordering_key \
                     ORDER BY max(coalesce(next_attempt_at, 0), ?), number LIMIT ?",
                )?
                .query_map(
                    (
                        &origin,
                        now.as_millisecond(),
                        i64::try_from(limit).unwrap_or(i64::MAX),
                    ),
                    |row| {
                        let next: Option<i64> = row.get("next_attempt_at")?;
                        Ok(Turn {
                            number: row.get("number")?,
                            next_attempt_at: next.map(moment),
                        })
                    },
                )?
                .collect()
        })
        .await
    }

    /// Makes all retries come earlier by this much: the service's clock was set back, as by a reset.
    pub(crate) async fn bring_forward(&self, by: SignedDuration) -> Result<()> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            let sql = "UPDATE events SET next_attempt_at = next_attempt_at - ? \
                       WHERE origin = ? AND state = 'waiting'";
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            connection.execute(sql, (by, &origin))
        })
        .await
        .map(drop)
    }

    /// Records an attempt before it is sent; `None` if the event is not to be sent any more.
    pub(crate) async fn begin_attempt(
        &self,
        number: i64,
        url: String,
    ) -> Result<Option<QueuedDelivery>> {
        self.write(move |connection| {
            let delivery = queued(connection, number, "AND state = 'waiting'")?;
            if let Some(delivery) = &delivery {
                record_begin(connection, delivery, false, &url)?;
            }
            Ok(delivery)
        })
        .await
    }

    /// Records a replay before it is sent, whatever the event's state.
    pub(crate) async fn begin_replay(&self, number: i64, url: String) -> Result<QueuedDelivery> {
        self.write(move |connection| {
            let delivery =
                queued(connection, number, "")?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
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
    ) -> Result<()> {
        self.write(move |connection| record_answer(connection, number, attempt, &answer))
            .await
    }

    /// Records an attempt's answer. Returns the event's new state, and when it is retried.
    pub(crate) async fn end_attempt(
        &self,
        number: i64,
        attempt: u32,
        answer: AppAnswer,
        schedule: Schedule,
        now: Timestamp,
    ) -> Result<(State, Option<Timestamp>)> {
        self.write(move |connection| {
            record_answer(connection, number, attempt, &answer)?;
            // An attempt that was cut off by the end of its listener has no latency, and is no failure of the app.
            let failures: i64 = connection
                .prepare_cached(
                    "SELECT count(*) FROM attempts WHERE event = ? AND replay = 0 AND latency_ms IS NOT NULL",
                )?
                .query_row([number], |row| row.get(0))?;
            let failures = usize::try_from(failures).unwrap_or(usize::MAX);
            let (state, next) = match schedule.next(failures, now) {
                _ if answer.is_delivered() => (State::Delivered, None),
                Some(next) => (State::Waiting, Some(next)),
                None => (State::Abandoned, None),
            };
            connection
                .prepare_cached(
                    "UPDATE events SET state = ?, next_attempt_at = ? WHERE number = ?",
                )?
                .execute((state.as_str(), next.map(Timestamp::as_millisecond), number))?;
            Ok((state, next))
        })
        .await
    }

    /// Marks the attempts that an earlier listener had in flight as unknown. Their events are still waiting.
    pub(crate) async fn recover(&self) -> Result<()> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            connection.execute(
                "UPDATE attempts SET error = ? WHERE status IS NULL AND error IS NULL AND replay = 0 \
                 AND event IN (SELECT number FROM events WHERE origin = ?)",
                (UNKNOWN, &origin),
            )
        })
        .await
        .map(drop)
    }

    /// How many events are still to be forwarded.
    pub(crate) async fn waiting(&self) -> Result<u64> {
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

/// The event of this number as it is sent next, if `condition` holds for it.
fn queued(
    connection: &Connection,
    number: i64,
    condition: &str,
) -> rusqlite::Result<Option<QueuedDelivery>> {
    let sql = format!(
        "SELECT id, kind, booking, status, headers, body, received_at, \
         (SELECT count(*) FROM attempts WHERE event = events.number) AS attempts \
         FROM events WHERE number = ? {condition}"
    );
    connection
        .prepare_cached(&sql)?
        .query_row([number], |row| {
            let headers: String = row.get("headers")?;
            let attempts: u32 = row.get("attempts")?;
            Ok(QueuedDelivery {
                number,
                event: Event {
                    id: row.get("id")?,
                    kind: row.get("kind")?,
                    booking: row.get("booking")?,
                    status: row.get("status")?,
                    id_source: IdSource::Stated,
                },
                headers: serde_json::from_str(&headers).unwrap_or_default(),
                body: row.get("body")?,
                received_at: moment(row.get("received_at")?),
                attempt: attempts + 1,
            })
        })
        .optional()
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
            Timestamp::now().as_millisecond(),
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
