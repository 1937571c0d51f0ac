//! What shell completion reads from the journal's file.

use std::path::Path;

use rusqlite::params;

use crate::platform::sqlite::{Peek, prefix_end};

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;
/// The most bookings that are offered before anything is typed.
const LAST_BOOKINGS: u32 = 20;

pub(crate) struct CompletionIndex {
    file: Peek,
    origin: String,
}

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

/// What is read of a document; nothing of one whose guest was deleted.
const SHOWN: &str = "CAST(coalesce(document ->> 'venue_name', document ->> 'venue_id') AS TEXT) AS venue,
    CAST(document ->> 'datetime' AS TEXT) AS datetime, CAST(document -> 'customer' ->> 'name' AS TEXT) AS guest";

impl CompletionIndex {
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        let file = Peek::open(path)?;
        Some(CompletionIndex { file, origin })
    }

    /// Bookings of this machine whose ids start with `prefix`, latest first.
    pub(crate) fn bookings(&self, prefix: &str) -> Vec<KnownBooking> {
        // A prefix is looked up by id; without one, the latest bookings are taken. Both use an index.
        let (id, order, most) = match prefix {
            "" => ("+id", "created_at", LAST_BOOKINGS),
            _ => ("id", "id", MOST),
        };
        let rows = format!(
            "SELECT id, status, iif(json_valid(document), document, '{{}}') AS document FROM bookings
             WHERE origin = ?1 AND {id} >= ?2 AND {id} < ?3 ORDER BY {order} DESC LIMIT ?4"
        );
        self.rows(&rows, prefix, most)
    }

    /// Open attempts whose keys start with `prefix`, latest first.
    pub(crate) fn open_attempts(&self, prefix: &str) -> Vec<KnownBooking> {
        let rows = "SELECT idempotency_key AS id, NULL AS status, iif(json_valid(request), request, '{}') AS document
             FROM attempts
             WHERE state = 'unresolved' AND origin = ?1 AND +idempotency_key >= ?2 AND +idempotency_key < ?3
             ORDER BY created_at DESC LIMIT ?4";
        self.rows(rows, prefix, MOST)
    }

    fn rows(&self, rows: &str, prefix: &str, most: u32) -> Vec<KnownBooking> {
        let query = format!("SELECT id, status, {SHOWN} FROM ({rows})");
        let values = params![self.origin, prefix, prefix_end(prefix), most];
        self.file.rows(&query, values, |row| {
            Ok(KnownBooking {
                id: row.get("id")?,
                status: row.get("status")?,
                venue: row.get("venue")?,
                datetime: row.get("datetime")?,
                guest: row.get("guest")?,
            })
        })
    }
}
