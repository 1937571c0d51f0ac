//! Storing deliveries.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::{HeaderLine, State, Store};
use crate::outcome::Result;
use crate::webhook::event::Event;

/// A delivery whose signature verified.
#[derive(Debug)]
pub(crate) struct ReceivedDelivery {
    pub(crate) event: Event,
    pub(crate) headers: Vec<HeaderLine>,
    /// The raw bytes that were signed.
    pub(crate) body: Vec<u8>,
    pub(crate) received_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    New {
        /// Whether an earlier event of the booking has failed, and is forwarded first.
        held_up: bool,
    },
    Duplicate,
}

impl Store {
    /// Stores an event unless it was stored before, in this state, and returns it as it is stored. It is on the disk when
    /// this returns.
    ///
    /// An event with the id of another kind of event is another event. To take it for a duplicate would lose it.
    pub(crate) async fn receive(
        &self,
        mut delivery: ReceivedDelivery,
        state: State,
    ) -> Result<(Event, Receipt)> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            let receipt = receive(connection, &origin, &mut delivery, state)?;
            Ok((delivery.event, receipt))
        })
        .await
    }
}

fn receive(
    connection: &Connection,
    origin: &str,
    delivery: &mut ReceivedDelivery,
    state: State,
) -> rusqlite::Result<Receipt> {
    // Events that share an id stay in order.
    let ordering_key = delivery.event.ordering_key().to_owned();
    let mut known = find(connection, origin, &delivery.event)?;
    if known
        .as_ref()
        .is_some_and(|it| it.kind != delivery.event.kind)
    {
        delivery.event.name_by_body(&delivery.body);
        known = find(connection, origin, &delivery.event)?;
    }
    if let Some(known) = &known {
        connection
            .prepare_cached("UPDATE events SET duplicates = duplicates + 1 WHERE number = ?")?
            .execute([known.number])?;
        return Ok(Receipt::Duplicate);
    }
    // Whether the booking's first waiting event has failed; `None` if none is waiting.
    let has_failed: Option<bool> = connection
        .prepare_cached(
            "SELECT next_attempt_at IS NOT NULL FROM events \
             WHERE origin = ? AND ordering_key = ? AND state = 'waiting' ORDER BY number LIMIT 1",
        )?
        .query_row((origin, &ordering_key), |row| row.get(0))
        .optional()?;
    insert(connection, origin, delivery, &ordering_key, state)?;
    Ok(Receipt::New {
        held_up: has_failed.unwrap_or_default(),
    })
}

/// What is stored under an event's id.
struct Known {
    number: i64,
    kind: String,
}

fn find(connection: &Connection, origin: &str, event: &Event) -> rusqlite::Result<Option<Known>> {
    connection
        .prepare_cached("SELECT number, kind FROM events WHERE origin = ? AND id = ?")?
        .query_row((origin, &event.id), |row| {
            Ok(Known {
                number: row.get("number")?,
                kind: row.get("kind")?,
            })
        })
        .optional()
}

fn insert(
    connection: &Connection,
    origin: &str,
    delivery: &ReceivedDelivery,
    ordering_key: &str,
    state: State,
) -> rusqlite::Result<()> {
    let event = &delivery.event;
    let headers = serde_json::to_string(&delivery.headers).unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO events \
             (origin, id, kind, ordering_key, booking, status, headers, body, received_at, state) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute((
            origin,
            &event.id,
            &event.kind,
            ordering_key,
            &event.booking,
            &event.status,
            headers,
            &delivery.body,
            delivery.received_at.as_millisecond(),
            state.as_str(),
        ))?;
    Ok(())
}
