//! What shell completion reads from the journal's file.

use std::path::Path;

use rusqlite::{Row, params};
use serde::Deserialize;

use crate::platform::sqlite::{Peek, fields, prefix_end};

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;
/// The most bookings that are offered before anything is typed.
const LAST_BOOKINGS: u32 = 20;

/// The journal of one installation, limited to one service.
pub(crate) struct CompletionIndex {
    file: Peek,
    origin: String,
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

impl CompletionIndex {
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        let file = Peek::open(path)?;
        Some(CompletionIndex { file, origin })
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
        let values = params![self.origin, prefix, prefix_end(prefix), most];
        self.file.rows(query, values, known_booking)
    }

    /// Open attempts whose keys start with `prefix`, latest first.
    pub(crate) fn open_attempts(&self, prefix: &str) -> Vec<KnownBooking> {
        self.file.rows(
            "SELECT idempotency_key, NULL, request FROM attempts
             WHERE state = 'unsettled' AND origin = ?1 AND +idempotency_key >= ?2 AND +idempotency_key < ?3
             ORDER BY created_at DESC LIMIT ?4",
            params![self.origin, prefix, prefix_end(prefix), MOST],
            known_booking,
        )
    }
}

/// Reads an id, a status and a document.
fn known_booking(row: &Row<'_>) -> rusqlite::Result<KnownBooking> {
    let document: Option<String> = row.get(2)?;
    let document: BookingDocument = fields(document.as_deref());
    Ok(KnownBooking {
        id: row.get(0)?,
        status: row.get(1)?,
        venue: document.venue_name.or(document.venue_id),
        datetime: document.datetime,
        guest: document.customer.and_then(|guest| guest.name),
    })
}
