//! What shell completion reads of the venues and slots that this terminal saw.

use std::path::Path;

use rusqlite::{Row, params};
use serde::Deserialize;

use super::rows::{OF_THIS_TERMINAL, RecentList};
use crate::platform::sqlite::{Peek, fields, prefix_end};
use crate::platform::system;

/// The most candidates of a kind. Typing more characters shows others.
const MOST: u32 = 100;

/// The recent rows of one service.
pub(crate) struct RecentIndex {
    file: Peek,
    origin: String,
    terminal: String,
}

/// A venue from an earlier search.
pub(crate) struct IndexedVenue {
    /// What stands for it: `@2` in the last list, or its id.
    pub(crate) word: String,
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

pub(crate) struct IndexedSlot {
    /// What stands for it: `@2` in the last list, or its id.
    pub(crate) word: String,
    /// RFC 3339, as it was offered.
    pub(crate) datetime: String,
    pub(crate) venue_name: Option<String>,
}

#[derive(Default, Deserialize)]
struct VenueDocument {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct SlotDocument {
    datetime: String,
}

/// The fields of the document in a column.
fn document<T: Default + serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<T> {
    Ok(fields(row.get::<_, Option<String>>(column)?.as_deref()))
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
        let read = |row: &Row<'_>| {
            let VenueDocument { name } = document(row, "document")?;
            let (word, id) = (row.get("word")?, row.get("id")?);
            Ok(IndexedVenue { word, id, name })
        };
        let mut venues = self.listed(
            RecentList::Venues,
            "venue.id, venue.document FROM lists AS list
             JOIN venues AS venue ON venue.origin = list.origin AND venue.id = list.id",
            read,
        );
        venues.extend(self.file.rows(
            "SELECT id AS word, id, document FROM venues
             WHERE origin = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT ?4",
            params![self.origin, prefix, prefix_end(prefix), MOST],
            read,
        ));
        venues
    }

    /// The rows of this terminal's last list of slots, then the slots whose ids have this prefix.
    pub(crate) fn slots(&self, prefix: &str) -> Vec<IndexedSlot> {
        let read = |row: &Row<'_>| {
            let SlotDocument { datetime } = document(row, "document")?;
            let VenueDocument { name } = document(row, "venue")?;
            Ok(IndexedSlot {
                word: row.get("word")?,
                datetime,
                venue_name: name,
            })
        };
        let mut slots = self.listed(
            RecentList::Slots,
            "slot.document, venue.document AS venue FROM lists AS list
             JOIN slots AS slot ON slot.origin = list.origin AND slot.id = list.id
             LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id",
            read,
        );
        // A prefix is looked up by id; without one, the latest slots are taken.
        let from = if prefix.is_empty() {
            "(SELECT * FROM slots ORDER BY seen_at DESC LIMIT ?4)"
        } else {
            "slots"
        };
        slots.extend(self.file.rows(
            &format!(
                "SELECT slot.id AS word, slot.document, venue.document AS venue FROM {from} AS slot
                 LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id
                 WHERE slot.origin = ?1 AND slot.id >= ?2 AND slot.id < ?3 ORDER BY slot.id LIMIT ?4"
            ),
            params![self.origin, prefix, prefix_end(prefix), MOST],
            read,
        ));
        slots
    }

    /// The rows of this terminal's last list, each under its number.
    fn listed<T>(
        &self,
        list: RecentList,
        columns: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let query = format!(
            "SELECT '@' || list.position AS word, {columns}
             WHERE list.origin = ?1 AND list.kind = ?2 AND list.terminal = {OF_THIS_TERMINAL}
             ORDER BY list.position LIMIT ?4"
        );
        let values = params![self.origin, list.as_str(), self.terminal, MOST];
        self.file.rows(&query, values, read)
    }
}
