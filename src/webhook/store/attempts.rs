//! Attempts to take an event to the app, and what they make of it.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::{HeaderLine, State, Store, StoreError, moment};
use crate::outcome::Result;
use crate::webhook::event::Event;
use crate::webhook::schedule::Schedule;
use crate::webhook::slate::Taken;

/// Said of an attempt whose listener was gone before the answer came: the app may have had the event.
const IN_DOUBT: &str = "the listener ended before the answer came";

/// An event on its way to the app.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) number: i64,
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
    /// The attempt's number, from 1.
    pub(crate) attempt: u32,
    pub(crate) begun_at: Timestamp,
}

/// What came of an attempt: a status, or why there was none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: Result<u16, String>,
    pub(crate) latency_ms: u64,
}

impl Answer {
    /// Any 2xx is delivered; everything else is not ("Events", 6).
    pub(crate) fn is_delivered(&self) -> bool {
        matches!(self.status, Ok(200..=299))
    }
}

/// Where an event stands after an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) state: State,
    /// When it is tried again.
    pub(crate) next_at: Option<Timestamp>,
    /// The event of the same booking whose turn it is now.
    pub(crate) released: Option<i64>,
}

impl Store {
    /// Notes that an attempt begins, before its first byte leaves; `None` where the event is not to be sent any more.
    pub(crate) async fn begin(
        &self,
        number: i64,
        url: String,
    ) -> Result<Option<Parcel>, StoreError> {
        self.write(move |connection| {
            let parcel = connection
                .prepare_cached(&parcel_where(
                    "number = ? AND state IN ('waiting', 'undelivered')",
                ))?
                .query_row([number], parcel)
                .optional()?;
            if let Some(parcel) = &parcel {
                note_begun(connection, parcel, false, &url)?;
            }
            Ok(parcel)
        })
        .await
    }

    /// Notes that an event is sent once more, whatever its state.
    pub(crate) async fn begin_replay(
        &self,
        number: i64,
        url: String,
    ) -> Result<Parcel, StoreError> {
        self.write(move |connection| {
            let parcel = connection
                .prepare_cached(&parcel_where("number = ?"))?
                .query_row([number], parcel)?;
            note_begun(connection, &parcel, true, &url)?;
            Ok(parcel)
        })
        .await
    }

    /// Notes an attempt's answer, and nothing else.
    pub(crate) async fn note_replay(
        &self,
        number: i64,
        attempt: u32,
        answer: Answer,
    ) -> Result<(), StoreError> {
        self.write(move |connection| note_answer(connection, number, attempt, &answer))
            .await
    }

    /// Notes an attempt's answer and where the event stands after it; without a schedule it is the service that
    /// tries again.
    pub(crate) async fn settle(
        &self,
        number: i64,
        attempt: u32,
        answer: Answer,
        schedule: Option<Schedule>,
        now: Timestamp,
    ) -> Result<Settled, StoreError> {
        self.write(move |connection| {
            note_answer(connection, number, attempt, &answer)?;
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
            Ok(Settled {
                state,
                next_at,
                released,
            })
        })
        .await
    }

    /// What earlier listeners left: what the app took is noted as such, other attempts that are open as in doubt, and
    /// the events whose turn it is are returned, each with its time.
    pub(crate) async fn take_over(
        &self,
        taken: Vec<Taken>,
    ) -> Result<Vec<(i64, Timestamp)>, StoreError> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            for taken in taken {
                note_taken(connection, taken)?;
            }
            connection.execute(
                "UPDATE attempts SET error = ? WHERE status IS NULL AND error IS NULL AND replay = 0 \
                 AND event IN (SELECT number FROM events WHERE origin = ?)",
                (IN_DOUBT, &origin),
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

    /// How many events are still to be taken to the app.
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

/// Settles an attempt that is open although the app took the event.
fn note_taken(connection: &Connection, taken: Taken) -> rusqlite::Result<()> {
    let Taken {
        number,
        attempt,
        status,
        begun_at,
    } = taken;
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

/// Lets the next waiting event of a lane have its turn.
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

fn parcel_where(condition: &str) -> String {
    format!(
        "SELECT number, id, kind, booking, status, headers, body, received_at, \
         (SELECT count(*) FROM attempts WHERE event = events.number) \
         FROM events WHERE {condition}"
    )
}

fn parcel(row: &rusqlite::Row<'_>) -> rusqlite::Result<Parcel> {
    let headers: String = row.get(5)?;
    let attempts: u32 = row.get(8)?;
    Ok(Parcel {
        number: row.get(0)?,
        event: Event {
            id: row.get(1)?,
            kind: row.get(2)?,
            booking: row.get(3)?,
            status: row.get(4)?,
        },
        headers: serde_json::from_str(&headers).unwrap_or_default(),
        body: row.get(6)?,
        received_at: moment(row.get(7)?),
        attempt: attempts + 1,
        begun_at: Timestamp::now(),
    })
}

fn note_begun(
    connection: &Connection,
    parcel: &Parcel,
    replay: bool,
    url: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO attempts (event, number, replay, url, begun_at) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute((
            parcel.number,
            parcel.attempt,
            replay,
            url,
            parcel.begun_at.as_millisecond(),
        ))?;
    Ok(())
}

fn note_answer(
    connection: &Connection,
    number: i64,
    attempt: u32,
    answer: &Answer,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE attempts SET status = ?, error = ?, latency_ms = ? \
             WHERE event = ? AND number = ?",
        )?
        .execute((
            answer.status.as_ref().ok(),
            answer.status.as_ref().err(),
            i64::try_from(answer.latency_ms).unwrap_or(i64::MAX),
            number,
            attempt,
        ))?;
    Ok(())
}
