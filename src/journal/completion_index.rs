//! What shell completion reads from the journal: without waiting for locks, without messages, and without writing.

use std::path::Path;

use rusqlite::{Connection, Params, Row, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::RecentList;
use crate::platform::sqlite;

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;
/// The most bookings that are offered before anything is typed.
const LAST_BOOKINGS: u32 = 20;
/// How many of the latest attempts are searched for bookings.
const LAST_ATTEMPTS: u32 = 500;

/// The journal of one installation, limited to one service. It may be of any version.
///
/// Unreadable data counts as empty, because a completion cannot report errors.
pub(crate) struct CompletionIndex {
    connection: Connection,
    origin: String,
}

/// A venue from an earlier search.
pub(crate) struct IndexedVenue {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

/// A slot that was offered.
pub(crate) struct IndexedSlot {
    pub(crate) id: String,
    /// RFC 3339, as it was offered.
    pub(crate) datetime: String,
    pub(crate) venue_name: Option<String>,
}

/// A booking or an attempt of this machine.
pub(crate) struct KnownBooking {
    /// The booking's id, or the attempt's key.
    pub(crate) id: String,
    /// The last seen status; `None` for an attempt.
    pub(crate) status: Option<String>,
    /// The venue's name, or its id.
    pub(crate) venue: Option<String>,
    pub(crate) datetime: Option<String>,
    pub(crate) guest: Option<String>,
}

#[derive(Default, Deserialize)]
struct VenueDocument {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct SlotDocument {
    datetime: String,
}

/// The fields that bookings and booking requests have in common.
#[derive(Default, Deserialize)]
struct BookingDocument {
    venue_name: Option<String>,
    venue_id: Option<String>,
    datetime: Option<String>,
    customer: Option<GuestDocument>,
}

#[derive(Default, Deserialize)]
struct GuestDocument {
    name: Option<String>,
}

/// Reads a few fields of a document. Other fields, and fields of an unexpected type, are ignored.
fn read<T: Default + DeserializeOwned>(document: Option<&str>) -> T {
    let fields = document.and_then(|text| serde_json::from_str(text).ok());
    fields.unwrap_or_default()
}

impl CompletionIndex {
    /// Opens the journal if it exists. A journal that another process is writing counts as missing.
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        let connection = sqlite::peek(path)?;
        Some(CompletionIndex { connection, origin })
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

    /// The rows of the last list of venues, each with its number.
    pub(crate) fn listed_venues(&self) -> Vec<(u32, IndexedVenue)> {
        self.rows(
            "SELECT list.position, venue.id, venue.document FROM lists AS list
             JOIN venues AS venue ON venue.origin = list.origin AND venue.id = list.id
             WHERE list.origin = ?1 AND list.kind = ?2 ORDER BY list.position LIMIT ?3",
            params![self.origin, RecentList::Venues.as_str(), MOST],
            |row| Ok((row.get(0)?, venue(row, 1)?)),
        )
    }

    /// Known venues whose ids start with `prefix`.
    pub(crate) fn venues(&self, prefix: &str) -> Vec<IndexedVenue> {
        self.rows(
            "SELECT id, document FROM venues WHERE origin = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT ?4",
            params![self.origin, prefix, end(prefix), MOST],
            |row| venue(row, 0),
        )
    }

    /// The rows of the last list of slots, each with its number.
    pub(crate) fn listed_slots(&self) -> Vec<(u32, IndexedSlot)> {
        self.rows(
            "SELECT list.position, slot.id, slot.document, venue.document FROM lists AS list
             JOIN slots AS slot ON slot.origin = list.origin AND slot.id = list.id
             LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id
             WHERE list.origin = ?1 AND list.kind = ?2 ORDER BY list.position LIMIT ?3",
            params![self.origin, RecentList::Slots.as_str(), MOST],
            |row| Ok((row.get(0)?, slot(row, 1)?)),
        )
    }

    /// Known slots whose ids start with `prefix`.
    pub(crate) fn slots(&self, prefix: &str) -> Vec<IndexedSlot> {
        // A prefix is looked up by id; without one, the latest slots are taken.
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

    /// Bookings of this machine whose ids start with `prefix`, latest first.
    pub(crate) fn bookings(&self, prefix: &str) -> Vec<KnownBooking> {
        // A prefix is looked up by id; without one, the latest bookings are taken. Both use an index.
        let query = if prefix.is_empty() {
            "SELECT id, status, document FROM bookings WHERE origin = ?1 AND +id >= ?2 AND +id < ?3
             ORDER BY created_at DESC LIMIT ?4"
        } else {
            "SELECT id, status, document FROM bookings WHERE origin = ?1 AND id >= ?2 AND id < ?3
             ORDER BY id DESC LIMIT ?4"
        };
        let most = if prefix.is_empty() {
            LAST_BOOKINGS
        } else {
            MOST
        };
        let known = self.rows(
            query,
            params![self.origin, prefix, end(prefix), most],
            known_booking,
        );
        if !known.is_empty() {
            return known;
        }
        // Keys that bookctl generates increase with time.
        self.rows(
            "SELECT booking_id, NULL, request
             FROM (SELECT * FROM attempts ORDER BY idempotency_key DESC LIMIT ?4)
             WHERE origin = ?1 AND state = 'settled' AND booking_id >= ?2 AND booking_id < ?3
             ORDER BY created_at DESC LIMIT ?5",
            params![self.origin, prefix, end(prefix), LAST_ATTEMPTS, MOST],
            known_booking,
        )
    }

    /// Open attempts whose keys start with `prefix`, latest first.
    pub(crate) fn open_attempts(&self, prefix: &str) -> Vec<KnownBooking> {
        self.rows(
            "SELECT idempotency_key, NULL, request FROM attempts
             WHERE state = 'unsettled' AND origin = ?1 AND +idempotency_key >= ?2 AND +idempotency_key < ?3
             ORDER BY created_at DESC LIMIT ?4",
            params![self.origin, prefix, end(prefix), MOST],
            known_booking,
        )
    }
}

/// An upper bound for all texts that start with `prefix`.
fn end(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}

/// Reads an id and a document, starting at this column.
fn venue(row: &Row<'_>, from: usize) -> rusqlite::Result<IndexedVenue> {
    let document: Option<String> = row.get(from + 1)?;
    let VenueDocument { name } = read(document.as_deref());
    Ok(IndexedVenue {
        id: row.get(from)?,
        name,
    })
}

/// Reads an id, a document and the venue's document, starting at this column.
fn slot(row: &Row<'_>, from: usize) -> rusqlite::Result<IndexedSlot> {
    let document: Option<String> = row.get(from + 1)?;
    let venue: Option<String> = row.get(from + 2)?;
    let SlotDocument { datetime } = read(document.as_deref());
    let VenueDocument { name } = read(venue.as_deref());
    Ok(IndexedSlot {
        id: row.get(from)?,
        datetime,
        venue_name: name,
    })
}

/// Reads an id, a status and a document.
fn known_booking(row: &Row<'_>) -> rusqlite::Result<KnownBooking> {
    let document: Option<String> = row.get(2)?;
    let document: BookingDocument = read(document.as_deref());
    Ok(KnownBooking {
        id: row.get(0)?,
        status: row.get(1)?,
        venue: document.venue_name.or(document.venue_id),
        datetime: document.datetime,
        guest: document.customer.and_then(|guest| guest.name),
    })
}
