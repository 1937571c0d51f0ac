//! What completion offers: read without waiting, without a word and without leaving a trace.

use std::path::Path;

use rusqlite::{Connection, Params, Row, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::List;
use crate::platform::sqlite;

/// More than this nobody reads in a list of candidates; who types on sees others.
const MOST: u32 = 100;
/// How many of the last attempts are looked at for bookings.
const LAST_ATTEMPTS: u32 = 500;

/// The journal of one installation, seen from one service, as it is: of any version, made by nobody here.
///
/// What cannot be read is empty: a completion has nobody to tell.
pub(crate) struct Memory {
    connection: Connection,
    origin: String,
}

/// A venue that was seen.
pub(crate) struct SeenVenue {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

/// A slot that was offered.
pub(crate) struct SeenSlot {
    pub(crate) id: String,
    /// As it was offered: RFC 3339.
    pub(crate) datetime: String,
    pub(crate) venue_name: Option<String>,
}

/// A booking or an attempt of this machine.
pub(crate) struct Made {
    /// The booking's id, or the attempt's key.
    pub(crate) id: String,
    /// The status as it was last seen; `None` where only the attempt is known.
    pub(crate) status: Option<String>,
    /// The venue's name, else its id.
    pub(crate) venue: Option<String>,
    pub(crate) datetime: Option<String>,
}

#[derive(Default, Deserialize)]
struct VenueDocument {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct SlotDocument {
    datetime: String,
}

/// What a booking and the request for one have in common.
#[derive(Default, Deserialize)]
struct BookingDocument {
    venue_name: Option<String>,
    venue_id: Option<String>,
    datetime: Option<String>,
}

/// A document's few fields; the rest, and what has another type than expected, is passed over.
fn read<T: Default + DeserializeOwned>(document: Option<&str>) -> T {
    let fields = document.and_then(|text| serde_json::from_str(text).ok());
    fields.unwrap_or_default()
}

impl Memory {
    /// Opens the journal if there is one. A file that another process is writing is passed over.
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        let connection = sqlite::peek(path)?;
        Some(Memory { connection, origin })
    }

    fn rows<T>(
        &self,
        query: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let Ok(mut statement) = self.connection.prepare(query) else {
            return Vec::new();
        };
        let rows = statement.query_map(params, map);
        rows.map(|rows| rows.map_while(Result::ok).collect())
            .unwrap_or_default()
    }

    /// The rows of the last list of venues: number and venue.
    pub(crate) fn listed_venues(&self) -> Vec<(u32, SeenVenue)> {
        self.rows(
            "SELECT list.position, venue.id, venue.document FROM lists AS list
             JOIN venues AS venue ON venue.origin = list.origin AND venue.id = list.id
             WHERE list.origin = ?1 AND list.kind = ?2 ORDER BY list.position LIMIT ?3",
            params![self.origin, List::Venues.as_str(), MOST],
            |row| Ok((row.get(0)?, venue(row, 1)?)),
        )
    }

    /// Remembered venues whose ids begin so.
    pub(crate) fn venues(&self, prefix: &str) -> Vec<SeenVenue> {
        self.rows(
            "SELECT id, document FROM venues WHERE origin = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT ?4",
            params![self.origin, prefix, end(prefix), MOST],
            |row| venue(row, 0),
        )
    }

    /// The rows of the last list of slots: number and slot.
    pub(crate) fn listed_slots(&self) -> Vec<(u32, SeenSlot)> {
        self.rows(
            "SELECT list.position, slot.id, slot.document, venue.document FROM lists AS list
             JOIN slots AS slot ON slot.origin = list.origin AND slot.id = list.id
             LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id
             WHERE list.origin = ?1 AND list.kind = ?2 ORDER BY list.position LIMIT ?3",
            params![self.origin, List::Slots.as_str(), MOST],
            |row| Ok((row.get(0)?, slot(row, 1)?)),
        )
    }

    /// Remembered slots whose ids begin so.
    pub(crate) fn slots(&self, prefix: &str) -> Vec<SeenSlot> {
        // What was typed narrows by the id; nothing typed goes by when it was seen.
        let from = if prefix.is_empty() {
            "(SELECT * FROM slots ORDER BY seen_at DESC LIMIT ?4)"
        } else {
            "slots"
        };
        self.rows(
            &format!(
                "SELECT slot.id, slot.document, venue.document FROM {from} AS slot
                 LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id
                 WHERE slot.origin = ?1 AND slot.id >= ?2 AND slot.id < ?3 ORDER BY slot.id LIMIT ?4"
            ),
            params![self.origin, prefix, end(prefix), MOST],
            |row| slot(row, 0),
        )
    }

    /// What was booked here and begins so, the latest first.
    pub(crate) fn bookings(&self, prefix: &str) -> Vec<Made> {
        // What was typed narrows by the id, nothing typed goes by time: either way an index leads.
        let query = if prefix.is_empty() {
            "SELECT id, status, document FROM bookings WHERE origin = ?1 AND +id >= ?2 AND +id < ?3
             ORDER BY created_at DESC LIMIT ?4"
        } else {
            "SELECT id, status, document FROM bookings WHERE origin = ?1 AND id >= ?2 AND id < ?3
             ORDER BY id DESC LIMIT ?4"
        };
        let known = self.rows(query, params![self.origin, prefix, end(prefix), MOST], made);
        if !known.is_empty() {
            return known;
        }
        // Keys that bookctl makes grow with time.
        self.rows(
            "SELECT booking_id, NULL, request
             FROM (SELECT * FROM attempts ORDER BY idempotency_key DESC LIMIT ?4)
             WHERE origin = ?1 AND state = 'settled' AND booking_id >= ?2 AND booking_id < ?3
             ORDER BY created_at DESC LIMIT ?5",
            params![self.origin, prefix, end(prefix), LAST_ATTEMPTS, MOST],
            made,
        )
    }

    /// Attempts whose outcome is not settled and whose keys begin so, the latest first.
    pub(crate) fn unsettled(&self, prefix: &str) -> Vec<Made> {
        self.rows(
            "SELECT idempotency_key, NULL, request FROM attempts
             WHERE state = 'unsettled' AND origin = ?1 AND +idempotency_key >= ?2 AND +idempotency_key < ?3
             ORDER BY created_at DESC LIMIT ?4",
            params![self.origin, prefix, end(prefix), MOST],
            made,
        )
    }
}

/// What is greater than every text that begins so, and no greater than any other that is.
fn end(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

/// An id and a document, from this column on.
fn venue(row: &Row<'_>, from: usize) -> rusqlite::Result<SeenVenue> {
    let document: Option<String> = row.get(from + 1)?;
    let VenueDocument { name } = read(document.as_deref());
    Ok(SeenVenue {
        id: row.get(from)?,
        name,
    })
}

/// An id, a document and the venue's document, from this column on.
fn slot(row: &Row<'_>, from: usize) -> rusqlite::Result<SeenSlot> {
    let document: Option<String> = row.get(from + 1)?;
    let venue: Option<String> = row.get(from + 2)?;
    let SlotDocument { datetime } = read(document.as_deref());
    let VenueDocument { name } = read(venue.as_deref());
    Ok(SeenSlot {
        id: row.get(from)?,
        datetime,
        venue_name: name,
    })
}

/// An id, a status and a document.
fn made(row: &Row<'_>) -> rusqlite::Result<Made> {
    let document: Option<String> = row.get(2)?;
    let document: BookingDocument = read(document.as_deref());
    Ok(Made {
        id: row.get(0)?,
        status: row.get(1)?,
        venue: document.venue_name.or(document.venue_id),
        datetime: document.datetime,
    })
}
