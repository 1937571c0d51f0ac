//! The venues and slots that were last shown, so that an id or `@2` is enough to name one.

use std::iter;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::Recent;
use super::list::RecentList;
use crate::model::slot::Slot;
use crate::model::venue::Venue;
use crate::outcome::Result;

/// How long slots are kept after they were seen. By then they are past or taken.
const KEEP_SLOTS_SECONDS: i64 = 30 * 24 * 3600;

/// How long the list of a terminal is kept. Few terminals stay open for longer, and the newest list of all stays.
const KEEP_TERMINALS_SECONDS: i64 = 7 * 24 * 3600;

/// Whether the rows were shown as a list, which `@N` then refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    AsList,
    No,
}

/// A slot, with the search that returned it.
#[derive(Clone, Debug)]
pub(crate) struct RecentSlot {
    pub(crate) slot: Slot,
    pub(crate) venue_id: String,
    pub(crate) provider: Option<String>,
    pub(crate) party_size: u32,
}

impl Recent {
    pub(crate) fn remember_venues(&mut self, venues: &[Venue], shown: Shown) -> Result<()> {
        let (origin, now) = (self.origin.clone(), Timestamp::now().as_second());
        let list = ListRows::of(self, RecentList::Venues);
        let stored = self.write(|connection| {
            let mut insert = connection
                .prepare("INSERT OR REPLACE INTO venues (origin, id, document, seen_at) VALUES (?1, ?2, ?3, ?4)")?;
            for venue in venues {
                insert.execute(params![origin, venue.id(), venue.value().to_string(), now])?;
            }
            match shown {
                Shown::AsList => list.replace(connection, venues.iter().map(Venue::id)),
                Shown::No => Ok(()),
            }
        });
        stored.inspect_err(|_| self.empty(&list))
    }

    pub(crate) fn remember_slots(
        &mut self,
        venue_id: &str,
        provider: Option<&str>,
        party_size: u32,
        slots: &[Slot],
        shown: Shown,
    ) -> Result<()> {
        let (origin, now) = (self.origin.clone(), Timestamp::now().as_second());
        let list = ListRows::of(self, RecentList::Slots);
        let last_venue = ListRows::of(self, RecentList::LastVenue);
        let stored = self.write(|connection| {
            connection.execute("DELETE FROM slots WHERE seen_at < ?1", [now - KEEP_SLOTS_SECONDS])?;
            let mut insert = connection.prepare(
                "INSERT OR REPLACE INTO slots (origin, id, venue_id, provider, party_size, document, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for slot in slots {
                let document = slot.value().to_string();
                insert.execute(params![origin, slot.id(), venue_id, provider, party_size, document, now])?;
            }
            match shown {
                Shown::AsList => list.replace(connection, slots.iter().map(Slot::id)),
                Shown::No => Ok(()),
            }?;
            last_venue.replace(connection, iter::once(venue_id))
        });
        stored.inspect_err(|_| {
            self.empty(&list);
            self.empty(&last_venue);
        })
    }

    /// Stores the ids of a list that was shown, for `@N`.
    pub(crate) fn remember_list<'a>(
        &mut self,
        list: RecentList,
        ids: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let rows = ListRows::of(self, list);
        let stored = self.write(|connection| rows.replace(connection, ids));
        stored.inspect_err(|_| self.empty(&rows))
    }

    /// Empties a list that could not be stored: else `@1` and `@last` would stand for what was shown before.
    fn empty(&mut self, rows: &ListRows) {
        if rows.list.is_of_a_terminal() {
            let _ = self.write_in_place(|connection| rows.replace(connection, iter::empty()));
        }
    }

    /// Stores a list of one, unless it is stored already.
    pub(crate) fn remember_one(&mut self, list: RecentList, id: &str) -> Result<()> {
        let rows = ListRows::of(self, list);
        match self.read(|connection| rows.are_only(connection, id))? {
            true => Ok(()),
            false => self.remember_list(list, iter::once(id)),
        }
    }

    pub(crate) fn venue(&self, id: &str) -> Result<Option<Venue>> {
        let document = self.read(|connection| {
            connection
                .query_row(
                    "SELECT document FROM venues WHERE origin = ?1 AND id = ?2",
                    [&self.origin, id],
                    |row| row.get::<_, String>(0),
                )
                .optional()
        })?;
        Ok(document.and_then(|text| Venue::from_value(serde_json::from_str(&text).ok()?)))
    }

    /// The venues that were seen last, the latest first.
    pub(crate) fn recent_venues(&self, limit: u32) -> Result<Vec<Venue>> {
        let documents: Vec<String> = self.read(|connection| {
            let query =
                "SELECT document FROM venues WHERE origin = ?1 ORDER BY seen_at DESC, id LIMIT ?2";
            connection
                .prepare(query)?
                .query_map(params![self.origin, limit], |row| row.get(0))?
                .collect()
        })?;
        let read = |text: &String| Venue::from_value(serde_json::from_str(text).ok()?);
        Ok(documents.iter().filter_map(read).collect())
    }

    pub(crate) fn slot(&self, id: &str) -> Result<Option<RecentSlot>> {
        let row = self.read(|connection| {
            connection
                .query_row(
                    "SELECT document, venue_id, provider, party_size FROM slots WHERE origin = ?1 AND id = ?2",
                    [&self.origin, id],
                    |row| Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
                )
                .optional()
        })?;
        Ok(row.and_then(|(document, venue_id, provider, party_size)| {
            let value: Value = serde_json::from_str(&document).ok()?;
            Some(RecentSlot {
                slot: Slot::from_value(value)?,
                venue_id,
                provider,
                party_size,
            })
        }))
    }

    /// The remembered slots of a venue, whatever party they were offered for.
    pub(crate) fn slots_of(&self, venue_id: &str) -> Result<Vec<Slot>> {
        let documents: Vec<String> = self.read(|connection| {
            connection
                .prepare("SELECT document FROM slots WHERE origin = ?1 AND venue_id = ?2")?
                .query_map([&self.origin, venue_id], |row| row.get(0))?
                .collect()
        })?;
        let slots = documents.iter();
        let slots = slots.filter_map(|text| Slot::from_value(serde_json::from_str(text).ok()?));
        Ok(slots.collect())
    }

    /// The id in row `position` (from 1) of the last list of this terminal; of the newest list of all if this terminal
    /// has none.
    pub(crate) fn listed(&self, list: RecentList, position: u32) -> Result<Option<String>> {
        let query = format!(
            "SELECT id FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal = {OF_THIS_TERMINAL} AND position = ?4"
        );
        let values = params![self.origin, list.as_str(), self.terminal, position];
        self.read(|connection| {
            connection
                .query_row(&query, values, |row| row.get(0))
                .optional()
        })
    }
}

/// The name under which the list `?2` of the service `?1` is stored for the terminal `?3`.
pub(super) const OF_THIS_TERMINAL: &str = "(CASE WHEN EXISTS (SELECT 1 FROM lists
     WHERE origin = ?1 AND kind = ?2 AND terminal = ?3) THEN ?3 ELSE '' END)";

struct ListRows {
    origin: String,
    list: RecentList,
    /// The names of the lists: empty for the newest of all terminals.
    terminals: Vec<String>,
}

impl ListRows {
    fn of(recent: &Recent, list: RecentList) -> Self {
        let mut terminals = vec![String::new()];
        if list.is_of_a_terminal() && !recent.terminal.is_empty() {
            terminals.push(recent.terminal.clone());
        }
        ListRows {
            origin: recent.origin.clone(),
            list,
            terminals,
        }
    }

    fn replace<'a>(
        &self,
        connection: &Connection,
        ids: impl Iterator<Item = &'a str>,
    ) -> rusqlite::Result<()> {
        let (kind, now) = (self.list.as_str(), Timestamp::now().as_second());
        connection.execute(
            "DELETE FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal <> '' AND listed_at < ?3",
            params![self.origin, kind, now - KEEP_TERMINALS_SECONDS],
        )?;
        let mut delete = connection
            .prepare("DELETE FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal = ?3")?;
        for terminal in &self.terminals {
            delete.execute([&self.origin, kind, terminal])?;
        }
        let mut insert = connection.prepare(
            "INSERT INTO lists (origin, kind, terminal, position, id, listed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for (row, id) in (1u32..).zip(ids) {
            for terminal in &self.terminals {
                insert.execute(params![self.origin, kind, terminal, row, id, now])?;
            }
        }
        Ok(())
    }

    /// Whether every list consists of this id.
    fn are_only(&self, connection: &Connection, id: &str) -> rusqlite::Result<bool> {
        let query = "SELECT count(*) = 1 AND max(id) = ?4 FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal = ?3";
        let mut query = connection.prepare(query)?;
        for terminal in &self.terminals {
            let values = params![self.origin, self.list.as_str(), terminal, id];
            if !query.query_row(values, |row| {
                Ok(row.get::<_, Option<bool>>(0)? == Some(true))
            })? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn venue(id: &str) -> Venue {
        Venue::from_value(json!({"venue_id": id, "name": id})).unwrap()
    }

    #[test]
    fn a_row_number_stands_for_the_last_list_alone_and_ids_are_remembered_longer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "a".into()).unwrap();
        recent
            .remember_venues(&[venue("x"), venue("y")], Shown::AsList)
            .unwrap();
        recent
            .remember_venues(&[venue("z")], Shown::AsList)
            .unwrap();
        recent
            .remember_venues(&[venue("unseen")], Shown::No)
            .unwrap();
        assert_eq!(
            recent.listed(RecentList::Venues, 1).unwrap().as_deref(),
            Some("z")
        );
        assert_eq!(recent.listed(RecentList::Venues, 2).unwrap(), None);
        assert_eq!(recent.venue("y").unwrap().unwrap().id(), "y");
        let other = Recent::open(&path, "b".into()).unwrap();
        assert!(
            other.venue("y").unwrap().is_none(),
            "another service's venues are not ours"
        );
    }

    fn slot(id: &str) -> Slot {
        Slot::from_value(json!({"availability_id": id, "datetime": "2026-12-01T19:30:00Z"}))
            .unwrap()
    }

    #[test]
    fn a_slot_is_remembered_with_what_was_asked_for_it_and_its_row_in_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "a".into()).unwrap();
        let slots = [slot("one"), slot("two")];
        recent
            .remember_slots("ven_1", Some("provider_a"), 3, &slots, Shown::AsList)
            .unwrap();
        recent
            .remember_slots("ven_2", None, 2, &[slot("unseen")], Shown::No)
            .unwrap();
        let known = recent.slot("two").unwrap().unwrap();
        assert_eq!(known.slot.value(), slots[1].value());
        assert_eq!(
            (
                known.venue_id.as_str(),
                known.provider.as_deref(),
                known.party_size
            ),
            ("ven_1", Some("provider_a"), 3)
        );
        assert_eq!(
            recent.listed(RecentList::Slots, 2).unwrap().as_deref(),
            Some("two")
        );
        assert_eq!(recent.listed(RecentList::Slots, 3).unwrap(), None);
        assert!(recent.slot("three").unwrap().is_none());
    }

    #[test]
    fn a_slot_is_forgotten_after_thirty_days_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "a".into()).unwrap();
        let slots = [slot("old"), slot("older")];
        recent
            .remember_slots("ven_1", None, 2, &slots, Shown::No)
            .unwrap();
        recent
            .write(|connection| {
                connection.execute_batch(
                    "UPDATE slots SET seen_at = seen_at - 29 * 86400 WHERE id = 'old';
                     UPDATE slots SET seen_at = seen_at - 31 * 86400 WHERE id = 'older'",
                )
            })
            .unwrap();
        recent
            .remember_slots("ven_1", None, 2, &[slot("new")], Shown::No)
            .unwrap();
        let remembered = ["new", "old", "older"].map(|id| recent.slot(id).unwrap().is_some());
        assert_eq!(remembered, [true, true, false]);
    }

    #[test]
    fn a_list_of_another_terminal_moves_no_row_and_a_new_terminal_has_the_newest_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let at = |terminal: &str| {
            let mut recent = Recent::open(&path, "a".into()).unwrap();
            recent.terminal = terminal.to_owned();
            recent
        };
        let row =
            |terminal: &str, position| at(terminal).listed(RecentList::Bookings, position).unwrap();
        let list = |terminal: &str, ids: &[&str]| {
            at(terminal)
                .remember_list(RecentList::Bookings, ids.iter().copied())
                .unwrap();
        };
        list("1", &["lovelace"]);
        list("2", &["byron", "hopper"]);
        assert_eq!(row("1", 1).as_deref(), Some("lovelace"));
        assert_eq!(row("1", 2), None, "rows of two lists are never mixed");
        assert_eq!(row("2", 1).as_deref(), Some("byron"));
        assert_eq!(row("3", 2).as_deref(), Some("hopper"));
        assert_eq!(row("", 2).as_deref(), Some("hopper"));
        at("1")
            .remember_one(RecentList::Bookings, "lovelace")
            .unwrap();
        assert_eq!(row("3", 1).as_deref(), Some("lovelace"));
        at("1")
            .write(|connection| {
                connection.execute_batch("UPDATE lists SET listed_at = listed_at - 8 * 86400")
            })
            .unwrap();
        list("2", &["newest"]);
        assert_eq!(
            row("1", 1).as_deref(),
            Some("newest"),
            "an old list is forgotten"
        );
    }

    #[test]
    fn rows_of_bookings_and_of_venues_are_counted_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recent.db");
        let mut recent = Recent::open(&path, "a".into()).unwrap();
        recent
            .remember_list(RecentList::Bookings, ["bk_1", "bk_2"].into_iter())
            .unwrap();
        recent
            .remember_venues(&[venue("x")], Shown::AsList)
            .unwrap();
        assert_eq!(
            recent.listed(RecentList::Bookings, 2).unwrap().as_deref(),
            Some("bk_2")
        );
        assert_eq!(recent.listed(RecentList::Venues, 2).unwrap(), None);
    }
}
