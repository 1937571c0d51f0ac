//! What shell completion reads of the venues and slots that this terminal saw.

use std::path::Path;

use rusqlite::{Row, params};
use serde::Deserialize;

use super::list::RecentList;
use super::rows::OF_THIS_TERMINAL;
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
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

pub(crate) struct IndexedSlot {
    pub(crate) id: String,
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

impl RecentIndex {
    /// Opens the file if it exists.
    pub(crate) fn open(path: &Path, origin: String) -> Option<Self> {
        let file = Peek::open(path)?;
        let terminal = system::process::terminal();
        Some(RecentIndex {
            file,
            origin,
            terminal,
        })
    }

    /// The rows of this terminal's last list of venues, each with its number.
    pub(crate) fn listed_venues(&self) -> Vec<(u32, IndexedVenue)> {
        self.file.rows(
            &format!(
                "SELECT list.position, venue.id, venue.document FROM lists AS list
             JOIN venues AS venue ON venue.origin = list.origin AND venue.id = list.id
             WHERE list.origin = ?1 AND list.kind = ?2 AND list.terminal = {OF_THIS_TERMINAL}
             ORDER BY list.position LIMIT ?4"
            ),
            params![
                self.origin,
                RecentList::Venues.as_str(),
                self.terminal,
                MOST
            ],
            |row| Ok((row.get(0)?, venue(row, 1)?)),
        )
    }

    pub(crate) fn venues(&self, prefix: &str) -> Vec<IndexedVenue> {
        self.file.rows(
            "SELECT id, document FROM venues WHERE origin = ?1 AND id >= ?2 AND id < ?3 ORDER BY id LIMIT ?4",
            params![self.origin, prefix, prefix_end(prefix), MOST],
            |row| venue(row, 0),
        )
    }

    /// The rows of this terminal's last list of slots, each with its number.
    pub(crate) fn listed_slots(&self) -> Vec<(u32, IndexedSlot)> {
        self.file.rows(
            &format!(
                "SELECT list.position, slot.id, slot.document, venue.document FROM lists AS list
             JOIN slots AS slot ON slot.origin = list.origin AND slot.id = list.id
             LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id
             WHERE list.origin = ?1 AND list.kind = ?2 AND list.terminal = {OF_THIS_TERMINAL}
             ORDER BY list.position LIMIT ?4"
            ),
            params![self.origin, RecentList::Slots.as_str(), self.terminal, MOST],
            |row| Ok((row.get(0)?, slot(row, 1)?)),
        )
    }

    pub(crate) fn slots(&self, prefix: &str) -> Vec<IndexedSlot> {
        // A prefix is looked up by id; without one, the latest slots are taken.
        let from = if prefix.is_empty() {
            "(SELECT * FROM slots ORDER BY seen_at DESC LIMIT ?4)"
        } else {
            "slots"
        };
        self.file.rows(
            &format!(
                "SELECT slot.id, slot.document, venue.document FROM {from} AS slot
                 LEFT JOIN venues AS venue ON venue.origin = slot.origin AND venue.id = slot.venue_id
                 WHERE slot.origin = ?1 AND slot.id >= ?2 AND slot.id < ?3 ORDER BY slot.id LIMIT ?4"
            ),
            params![self.origin, prefix, prefix_end(prefix), MOST],
            |row| slot(row, 0),
        )
    }
}

/// Reads an id and a document, starting at this column.
fn venue(row: &Row<'_>, from: usize) -> rusqlite::Result<IndexedVenue> {
    let document: Option<String> = row.get(from + 1)?;
    let VenueDocument { name } = fields(document.as_deref());
    Ok(IndexedVenue {
        id: row.get(from)?,
        name,
    })
}

/// Reads an id, a document and the venue's document, starting at this column.
fn slot(row: &Row<'_>, from: usize) -> rusqlite::Result<IndexedSlot> {
    let document: Option<String> = row.get(from + 1)?;
    let venue: Option<String> = row.get(from + 2)?;
    let SlotDocument { datetime } = fields(document.as_deref());
    let VenueDocument { name } = fields(venue.as_deref());
    Ok(IndexedSlot {
        id: row.get(from)?,
        datetime,
        venue_name: name,
    })
}
