//! Storing deliveries.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use super::{HeaderLine, State, Store, StoreError};
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

/// What to do with a new event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Store it only.
    Keep,
    /// Forward it, with retries.
    Forward,
    /// Forward it once; the service retries.
    PassThrough,
}

/// What storing a delivery found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    /// The event is to be kept or forwarded.
    Taken {
        number: i64,
        /// Whether it was stored before.
        again: bool,
        /// Whether no other event of the booking is waiting.
        first: bool,
        /// Whether the first waiting event of the booking has failed at least once.
        held_up: bool,
    },
    /// The event was stored before, and nothing is to be done.
    Duplicate { number: i64 },
    /// An earlier event of the booking is waiting, so this one cannot be passed through; it was not stored.
    Behind,
}

impl Receipt {
    /// The number of the event if it is stored.
    pub(crate) const fn number(self) -> Option<i64> {
        match self {
            Receipt::Taken { number, .. } | Receipt::Duplicate { number } => Some(number),
            Receipt::Behind => None,
        }
    }
}

impl Store {
    /// Stores an event unless it was stored before, and returns it as it is stored. It is on the disk when this returns.
    ///
    /// It was stored before if its id and its body were. A delivery with the id of another one and another body is another
    /// event: to take it for a duplicate would lose it, and to forward one too many is what an app has to bear anyway.
    ///
    /// An event that comes again is forwarded again if its sender was told that it was received: then the service means to
    /// send it twice, and the app is to see that. If not, as where the listener was killed before it answered, the sender
    /// could not know better.
    pub(crate) async fn receive(
        &self,
        mut delivery: ReceivedDelivery,
        intent: Intent,
    ) -> Result<(Event, Receipt), StoreError> {
        let origin = self.origin.clone();
        self.write(move |connection| {
            let receipt = receive(connection, &origin, &mut delivery, intent)?;
            Ok((delivery.event, receipt))
        })
        .await
    }
}

fn receive(
    connection: &Connection,
    origin: &str,
    delivery: &mut ReceivedDelivery,
    intent: Intent,
) -> rusqlite::Result<Receipt> {
    // Events that share an id stay in order.
    let lane = delivery.event.ordering_key().to_owned();
    let mut known = find(connection, origin, delivery)?;
    if known.as_ref().is_some_and(|it| !it.has_body) {
        delivery.event.name_by_body(&delivery.body);
        known = find(connection, origin, delivery)?;
    }
    if let Some(known) = &known {
        let number = known.number;
        connection
            .prepare_cached("UPDATE events SET duplicates = duplicates + 1 WHERE number = ?")?
            .execute([number])?;
        match (known.state, intent) {
            // The service sends an undelivered event again so that the app gets it.
            (State::Undelivered, _) => {}
            (_, Intent::Keep) | (State::Waiting, Intent::PassThrough) => {
                return Ok(Receipt::Duplicate { number });
            }
            _ if !known.answered => return Ok(Receipt::Duplicate { number }),
            (State::Waiting, Intent::Forward) => {
                connection
                    .prepare_cached("UPDATE events SET repeats = repeats + 1 WHERE number = ?")?
                    .execute([number])?;
                return Ok(Receipt::Taken {
                    number,
                    again: true,
                    first: false,
                    held_up: false,
                });
            }
            (State::Kept | State::Delivered | State::Abandoned, _) => {}
        }
    }
    let before: Option<i64> = match intent {
        Intent::Keep => None,
        Intent::Forward | Intent::PassThrough => connection
            .prepare_cached(
                "SELECT failures FROM events \
                 WHERE origin = ? AND lane = ? AND state = 'waiting' ORDER BY number LIMIT 1",
            )?
            .query_row((origin, &lane), |row| row.get(0))
            .optional()?,
    };
    if intent == Intent::PassThrough && before.is_some() {
        return Ok(Receipt::Behind);
    }
    let state = match intent {
        Intent::Keep => State::Kept,
        Intent::Forward => State::Waiting,
        Intent::PassThrough => State::Undelivered,
    };
    let next_at = (intent == Intent::Forward && before.is_none())
        .then(|| delivery.received_at.as_millisecond());
    let number = match &known {
        Some(Known { number, .. }) => {
            connection
                .prepare_cached(
                    "UPDATE events SET state = ?, next_at = ?, failures = 0 WHERE number = ?",
                )?
                .execute((state.as_str(), next_at, number))?;
            *number
        }
        None => {
            insert(connection, origin, delivery, &lane, state, next_at)?;
            connection.last_insert_rowid()
        }
    };
    Ok(Receipt::Taken {
        number,
        again: known.is_some(),
        first: before.is_none(),
        held_up: before.is_some_and(|failures| failures > 0),
    })
}

/// What is stored under an event's id.
struct Known {
    number: i64,
    state: State,
    /// Whether the sender was told that it was received.
    answered: bool,
    /// Whether it has the delivery's body.
    has_body: bool,
}

fn find(
    connection: &Connection,
    origin: &str,
    delivery: &ReceivedDelivery,
) -> rusqlite::Result<Option<Known>> {
    connection
        .prepare_cached(
            "SELECT number, state, answered, body = ?3 FROM events WHERE origin = ?1 AND id = ?2",
        )?
        .query_row((origin, &delivery.event.id, &delivery.body), |row| {
            Ok(Known {
                number: row.get(0)?,
                state: State::parse(&row.get::<_, String>(1)?),
                answered: row.get(2)?,
                has_body: row.get(3)?,
            })
        })
        .optional()
}

fn insert(
    connection: &Connection,
    origin: &str,
    delivery: &ReceivedDelivery,
    lane: &str,
    state: State,
    next_at: Option<i64>,
) -> rusqlite::Result<()> {
    let event = &delivery.event;
    let headers = serde_json::to_string(&delivery.headers).unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO events \
             (origin, id, kind, lane, booking, status, headers, body, received_at, state, next_at, \
             answered) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        )?
        .execute((
            origin,
            &event.id,
            &event.kind,
            lane,
            &event.booking,
            &event.status,
            headers,
            &delivery.body,
            delivery.received_at.as_millisecond(),
            state.as_str(),
            next_at,
        ))?;
    Ok(())
}
