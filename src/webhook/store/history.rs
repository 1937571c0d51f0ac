//! Reading events and attempts.

use clap::ValueEnum;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Params, Row, params};
use serde::Serialize;

use super::{EventState, Webhooks, event, moment};
use crate::outcome::Result;
use crate::service::time::text::serialize_time;
use crate::webhook::event::Event;
use crate::webhook::handler::{HandlerResponse, HeaderLine};
use crate::webhook::reporter::ForwardAttempt;

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

    pub(crate) fn content(&self, number: i64) -> Result<(Vec<HeaderLine>, Vec<u8>)> {
        let sql = "SELECT headers, body FROM events WHERE number = ?";
        self.read(|connection| {
            connection.query_row(sql, [number], |row| {
                let headers: String = row.get("headers")?;
                Ok((serde_json::from_str(&headers).unwrap_or_default(), row.get("body")?))
            })
        })
    }

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
