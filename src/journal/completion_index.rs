//! What shell completion reads: the bookings and attempts of the journal's file, the venues and
//! slots that this terminal saw.
//!
//! It waits for no lock, says nothing and writes nothing. What cannot be read counts as empty.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value as Json;

use super::recent::Viewer;
use super::recent::rows::{LAST_LIST, RecentList};
use crate::json::plain;

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;
const LAST_BOOKINGS: u32 = 20;

pub(crate) struct CompletionIndex {
    file: Connection,
    origin: String,
}

pub(crate) struct IndexedRow {
    /// What stands for it: `@2` in the last list, or its id.
    pub(crate) word: String,
    /// An attempt's is its key.
    pub(crate) id: String,
    pub(crate) status: Option<String>,
    /// The venue's name, or its id.
    pub(crate) venue: Option<String>,
    pub(crate) datetime: Option<String>,
    pub(crate) guest: Option<String>,
}

impl CompletionIndex {
    /// Opens the journal's file, or the file of this terminal's lists, of any version.
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        // A pipe would be waited for.
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = Connection::open_with_flags(path, flags).ok()?;
        file.busy_timeout(Duration::ZERO).ok()?;
        Some(CompletionIndex { file, origin })
    }

    /// Bookings of this computer whose ids start with `prefix`, latest first.
    pub(crate) fn bookings(&self, prefix: &str) -> Vec<IndexedRow> {
        let bookings = format!(
            "SELECT id AS word, id, status, document FROM bookings
             WHERE origin = ?1 AND +id >= ?5 AND +id < ?6 ORDER BY created_at DESC LIMIT {LAST_BOOKINGS}"
        );
        self.rows("", &bookings, prefix)
    }

    /// Open attempts whose keys start with `prefix`, latest first.
    pub(crate) fn open_attempts(&self, prefix: &str) -> Vec<IndexedRow> {
        let attempts = format!(
            "SELECT idempotency_key AS word, idempotency_key AS id, request AS document FROM attempts
             WHERE state = 'unresolved' AND origin = ?1 AND +idempotency_key >= ?5 AND +idempotency_key < ?6
             ORDER BY created_at DESC LIMIT {MOST}"
        );
        self.rows("", &attempts, prefix)
    }

    /// The rows of this terminal's last list of venues, then the venues whose ids have this prefix.
    pub(crate) fn venues(&self, prefix: &str) -> Vec<IndexedRow> {
        let venues =
            words("SELECT id FROM venues WHERE origin = ?1 AND id >= ?5 AND id < ?6 ORDER BY id");
        let query = format!(
            "SELECT word, id, document AS venue FROM ({venues}) JOIN venues USING (id) WHERE origin = ?1"
        );
        self.rows(&RecentList::Venues.kind(), &query, prefix)
    }

    /// The rows of this terminal's last list of slots, then the slots whose ids have this prefix,
    /// those that were seen last first.
    pub(crate) fn slots(&self, prefix: &str) -> Vec<IndexedRow> {
        let slots = words(
            "SELECT id FROM slots WHERE origin = ?1 AND id >= ?5 AND id < ?6 ORDER BY seen_at DESC",
        );
        let query = format!(
            "SELECT word, words.id, slots.document, venues.document AS venue
             FROM ({slots}) AS words JOIN slots ON slots.origin = ?1 AND slots.id = words.id
             LEFT JOIN venues ON venues.origin = ?1 AND venues.id = slots.venue_id"
        );
        self.rows(&RecentList::Slots.kind(), &query, prefix)
    }

    /// The rows of a query, up to the first unreadable one. `kind` is the list of the query.
    fn rows(&self, kind: &str, query: &str, prefix: &str) -> Vec<IndexedRow> {
        let Ok(mut query) = self.file.prepare(query) else {
            return Vec::new();
        };
        let end = format!("{prefix}\u{10ffff}");
        let Viewer { owner, terminal } = Viewer::of_process();
        let values = params![self.origin, kind, owner, terminal, prefix, end];
        let rows = query.query_map(values, |row| {
            // A query has not all of them, and a guest may be deleted.
            let text = |column| row.get::<_, String>(column).ok();
            let json = |column| text(column).and_then(|it| serde_json::from_str(&it).ok());
            let (document, venue): (Json, Json) =
                (json("document").unwrap_or_default(), json("venue").unwrap_or_default());
            let field =
                |of: &Json, pointer| of.pointer(pointer).map(plain).filter(|it| !it.is_empty());
            Ok(IndexedRow {
                word: row.get("word")?,
                id: row.get("id")?,
                status: text("status"),
                venue: field(&venue, "/name")
                    .or_else(|| field(&document, "/venue_name"))
                    .or_else(|| field(&document, "/venue_id")),
                datetime: field(&document, "/datetime"),
                guest: field(&document, "/customer/name"),
            })
        });
        rows.map(|rows| rows.map_while(Result::ok).collect()).unwrap_or_default()
    }
}

/// The words that stand for ids: the numbers of the last list's rows, then the ids of a query.
fn words(ids: &str) -> String {
    format!(
        "SELECT '@' || (key + 1) AS word, value AS id FROM json_each({LAST_LIST}) WHERE key < {MOST}
         UNION ALL SELECT id AS word, id FROM ({ids} LIMIT {MOST})"
    )
}
