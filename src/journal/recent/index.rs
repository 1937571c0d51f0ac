//! What shell completion reads of the venues and slots that this terminal saw.

use std::path::Path;

use rusqlite::params;

use super::rows::{LAST_LIST, RecentList};
use crate::platform::sqlite::{Peek, prefix_end};
use crate::platform::system;

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;

pub(crate) struct RecentIndex {
    file: Peek,
    origin: String,
    terminal: String,
}

pub(crate) struct IndexedRow {
    /// What stands for it: `@2` in the last list, or its id.
    pub(crate) word: String,
    pub(crate) id: String,
    /// The venue's.
    pub(crate) name: Option<String>,
    /// The slot's, as it was offered.
    pub(crate) datetime: Option<String>,
}

impl RecentIndex {
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        Some(RecentIndex {
            file: Peek::open(path)?,
            origin,
            terminal: system::process::terminal(),
        })
    }

    /// The rows of this terminal's last list of venues, then the venues whose ids have this prefix.
    pub(crate) fn venues(&self, prefix: &str) -> Vec<IndexedRow> {
        let query = format!(
            "SELECT word, id, CAST(document ->> 'name' AS TEXT) AS name, NULL AS datetime FROM ({})
             JOIN venues USING (id) WHERE origin = ?1",
            words(
                "SELECT id FROM venues WHERE origin = ?1 AND id >= ?4 AND id < ?5 ORDER BY id LIMIT ?6"
            )
        );
        self.rows(RecentList::Venues, &query, prefix)
    }

    /// The rows of this terminal's last list of slots, then the slots whose ids have this prefix. Without a prefix, those
    /// that were seen last.
    pub(crate) fn slots(&self, prefix: &str) -> Vec<IndexedRow> {
        let order = if prefix.is_empty() {
            "seen_at DESC"
        } else {
            "id"
        };
        let query = format!(
            "SELECT word, words.id, CAST(slots.document ->> 'datetime' AS TEXT) AS datetime,
                    CAST(venues.document ->> 'name' AS TEXT) AS name
             FROM ({}) AS words JOIN slots ON slots.origin = ?1 AND slots.id = words.id
             LEFT JOIN venues ON venues.origin = ?1 AND venues.id = slots.venue_id",
            words(&format!(
                "SELECT id FROM slots WHERE origin = ?1 AND id >= ?4 AND id < ?5 ORDER BY {order} LIMIT ?6"
            ))
        );
        self.rows(RecentList::Slots, &query, prefix)
    }

    fn rows(&self, list: RecentList, query: &str, prefix: &str) -> Vec<IndexedRow> {
        let end = prefix_end(prefix);
        let values = params![self.origin, list.kind(), self.terminal, prefix, end, MOST];
        self.file.rows(query, values, |row| {
            Ok(IndexedRow {
                word: row.get("word")?,
                id: row.get("id")?,
                name: row.get("name")?,
                datetime: row.get("datetime")?,
            })
        })
    }
}

/// The words that stand for ids: the rows of the last list, each under its number, then the ids of a query.
fn words(ids: &str) -> String {
    format!(
        "SELECT '@' || (key + 1) AS word, value AS id FROM json_each({LAST_LIST}) WHERE key < ?6
         UNION ALL SELECT id AS word, id FROM ({ids})"
    )
}
