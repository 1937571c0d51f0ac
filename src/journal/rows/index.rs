//! What shell completion reads of the venues and slots that this terminal saw.

use std::path::Path;

use rusqlite::params;

use super::rows::{LAST_LIST, RecentList};
use crate::platform::sqlite::{Peek, prefix_end};
use crate::platform::system;

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;

/// The recent rows of one service.
pub(crate) struct RecentIndex {
    file: Peek,
    origin: String,
    terminal: String,
}

pub(crate) struct IndexedVenue {
    /// What stands for it: `@2` in the last list, or its id.
    pub(crate) word: String,
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

pub(crate) struct IndexedSlot {
    /// What stands for it: `@2` in the last list, or its id.
    pub(crate) word: String,
    /// As it was offered.
    pub(crate) datetime: String,
    pub(crate) venue_name: Option<String>,
}

impl RecentIndex {
    /// Opens the file if it exists.
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        Some(RecentIndex {
            file: Peek::open(path)?,
            origin,
            terminal: system::process::terminal(),
        })
    }

    /// The rows of this terminal's last list of venues, then the venues whose ids have this prefix.
    pub(crate) fn venues(&self, prefix: &str) -> Vec<IndexedVenue> {
        let query = format!(
            "SELECT word, id, CAST(document ->> 'name' AS TEXT) AS name FROM ({})
             JOIN venues USING (id) WHERE origin = ?1",
            words(
                "SELECT id FROM venues WHERE origin = ?1 AND id >= ?4 AND id < ?5 ORDER BY id LIMIT ?6"
            )
        );
        self.rows(RecentList::Venues, &query, prefix, |row| {
            Ok(IndexedVenue {
                word: row.get("word")?,
                id: row.get("id")?,
                name: row.get("name")?,
            })
        })
    }

    /// The rows of this terminal's last list of slots, then the slots whose ids have this prefix. Without a prefix, those
    /// that were seen last.
    pub(crate) fn slots(&self, prefix: &str) -> Vec<IndexedSlot> {
        let order = if prefix.is_empty() {
            "seen_at DESC"
        } else {
            "id"
        };
        let query = format!(
            "SELECT word, CAST(slots.document ->> 'datetime' AS TEXT) AS datetime,
                    CAST(venues.document ->> 'name' AS TEXT) AS venue_name
             FROM ({}) AS words JOIN slots ON slots.origin = ?1 AND slots.id = words.id
             LEFT JOIN venues ON venues.origin = ?1 AND venues.id = slots.venue_id",
            words(&format!(
                "SELECT id FROM slots WHERE origin = ?1 AND id >= ?4 AND id < ?5 ORDER BY {order} LIMIT ?6"
            ))
        );
        self.rows(RecentList::Slots, &query, prefix, |row| {
            Ok(IndexedSlot {
                word: row.get("word")?,
                datetime: row.get("datetime")?,
                venue_name: row.get("venue_name")?,
            })
        })
    }

    fn rows<T>(
        &self,
        list: RecentList,
        query: &str,
        prefix: &str,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let end = prefix_end(prefix);
        let values = params![self.origin, list.kind(), self.terminal, prefix, end, MOST];
        self.file.rows(query, values, read)
    }
}

/// The words that stand for ids: the rows of the last list, each under its number, then the ids of a query.
fn words(ids: &str) -> String {
    format!(
        "SELECT '@' || (key + 1) AS word, value AS id FROM json_each({LAST_LIST}) WHERE key < ?6
         UNION ALL SELECT id AS word, id FROM ({ids})"
    )
}
