//! The venues and slots that were last shown, so that an id or `@2` is enough to name one.

use std::iter;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::Recent;
use crate::model::slot::Slot;
use crate::model::venue::Venue;
use crate::outcome::Result;

/// How long slots are kept after they were seen. By then they are past or taken.
const KEEP_SLOTS_SECONDS: i64 = 30 * 24 * 3600;

/// How long the list of a terminal is kept. Few terminals stay open for longer, and the newest list of all stays.
const KEEP_TERMINALS_SECONDS: i64 = 7 * 24 * 3600;

/// The name under which the list `?2` of the service `?1` is stored for the terminal `?3`.
pub(super) const OF_THIS_TERMINAL: &str = "(CASE WHEN EXISTS (SELECT 1 FROM lists
     WHERE origin = ?1 AND kind = ?2 AND terminal = ?3) THEN ?3 ELSE '' END)";

/// A list whose rows `@N` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecentList {
    Venues,
    Slots,
    Bookings,
    /// Attempts at all services.
    Attempts,
    /// The booking that was made or shown last.
    LastBooking,
    /// The venue whose slots were shown last.
    LastVenue,
    /// The session that was made or shown last.
    LastSession,
    /// The number of the last received event whose booking the journal took in.
    TakenIn,
    /// The day on which a person was last reminded of open attempts.
    Reminded,
    /// Those that a sandbox has answered.
    Requests,
    Deliveries,
    /// Those that listeners on this computer have received.
    Events,
}

impl RecentList {
    /// Whether each terminal has a list of its own, so that what another one lists moves no `@N` of this one.
    pub(super) fn is_of_a_terminal(self) -> bool {
        !matches!(self, RecentList::TakenIn | RecentList::Reminded)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            RecentList::Venues => "venues",
            RecentList::Slots => "slots",
            RecentList::Bookings => "bookings",
            RecentList::Attempts => "attempts",
            RecentList::LastBooking => "last booking",
            RecentList::LastVenue => "last venue",
            RecentList::LastSession => "last session",
            RecentList::TakenIn => "taken in",
            RecentList::Reminded => "reminded",
            RecentList::Requests => "requests",
            RecentList::Deliveries => "deliveries",
            RecentList::Events => "events",
        }
    }
}

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

fn now() -> i64 {
    Timestamp::now().as_second()
}

fn read_venue(text: &str) -> Option<Venue> {
    Venue::from_value(serde_json::from_str(text).ok()?)
}

fn read_slot(text: &str) -> Option<Slot> {
    Slot::from_value(serde_json::from_str(text).ok()?)
}

impl Recent {
    pub(crate) fn remember_venues(&self, venues: &[Venue], shown: Shown) -> Result<()> {
        let stored = self.write(|connection| {
            let mut insert = connection
                .prepare("INSERT OR REPLACE INTO venues (origin, id, document, seen_at) VALUES (?1, ?2, ?3, ?4)")?;
            for venue in venues {
                insert.execute(params![self.origin, venue.id(), venue.value().to_string(), now()])?;
            }
            if shown == Shown::AsList {
                self.replace(connection, RecentList::Venues, venues.iter().map(Venue::id))?;
            }
            Ok(())
        });
        stored.inspect_err(|_| self.empty(RecentList::Venues))
    }

    pub(crate) fn remember_slots(
        &self,
        venue_id: &str,
        provider: Option<&str>,
        party_size: u32,
        slots: &[Slot],
        shown: Shown,
    ) -> Result<()> {
        let stored = self.write(|connection| {
            connection.execute("DELETE FROM slots WHERE seen_at < ?1", [now() - KEEP_SLOTS_SECONDS])?;
            let mut insert = connection.prepare(
                "INSERT OR REPLACE INTO slots (origin, id, venue_id, provider, party_size, document, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for slot in slots {
                let document = slot.value().to_string();
                insert.execute(params![self.origin, slot.id(), venue_id, provider, party_size, document, now()])?;
            }
            if shown == Shown::AsList {
                self.replace(connection, RecentList::Slots, slots.iter().map(Slot::id))?;
            }
            self.replace(connection, RecentList::LastVenue, iter::once(venue_id))
        });
        stored.inspect_err(|_| {
            self.empty(RecentList::Slots);
            self.empty(RecentList::LastVenue);
        })
    }

    /// Stores the ids of a list that was shown, for `@N`.
    pub(crate) fn remember_list<'a>(
        &self,
        list: RecentList,
        ids: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let stored = self.write(|connection| self.replace(connection, list, ids));
        stored.inspect_err(|_| self.empty(list))
    }

    /// Empties a list that could not be stored: else `@1` and `@last` would stand for what was shown before.
    fn empty(&self, list: RecentList) {
        if list.is_of_a_terminal() {
            let _ = self.write_in_place(|connection| self.replace(connection, list, iter::empty()));
        }
    }

    /// Stores a list of one, unless it is stored already.
    pub(crate) fn remember_one(&self, list: RecentList, id: &str) -> Result<()> {
        let query = "SELECT count(*) = 1 AND max(id) = ?4 FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal = ?3";
        for terminal in self.terminals(list) {
            let values = params![self.origin, list.as_str(), terminal, id];
            let is_only = self.read(|connection| {
                connection.query_row(query, values, |row| row.get::<_, Option<bool>>(0))
            })?;
            if is_only != Some(true) {
                return self.remember_list(list, iter::once(id));
            }
        }
        Ok(())
    }

    /// The first column of each row.
    fn texts(&self, query: &str, values: impl Params) -> Result<Vec<String>> {
        self.read(|connection| {
            let mut query = connection.prepare(query)?;
            query.query_map(values, |row| row.get(0))?.collect()
        })
    }

    pub(crate) fn venue(&self, id: &str) -> Result<Option<Venue>> {
        let query = "SELECT document FROM venues WHERE origin = ?1 AND id = ?2";
        let found = self.texts(query, [&self.origin, id])?;
        Ok(found.first().and_then(|text| read_venue(text)))
    }

    /// The venues that were seen last, the latest first.
    pub(crate) fn recent_venues(&self, limit: u32) -> Result<Vec<Venue>> {
        let query =
            "SELECT document FROM venues WHERE origin = ?1 ORDER BY seen_at DESC, id LIMIT ?2";
        let found = self.texts(query, params![self.origin, limit])?;
        Ok(found.iter().filter_map(|text| read_venue(text)).collect())
    }

    pub(crate) fn slot(&self, id: &str) -> Result<Option<RecentSlot>> {
        let query = "SELECT document, venue_id, provider, party_size FROM slots WHERE origin = ?1 AND id = ?2";
        let found = self.read(|connection| {
            let row = connection.query_row(query, [&self.origin, id], |row| {
                let Some(slot) = read_slot(&row.get::<_, String>("document")?) else {
                    return Ok(None);
                };
                Ok(Some(RecentSlot {
                    slot,
                    venue_id: row.get("venue_id")?,
                    provider: row.get("provider")?,
                    party_size: row.get("party_size")?,
                }))
            });
            row.optional()
        })?;
        Ok(found.flatten())
    }

    /// The remembered slots of a venue, whatever party they were offered for.
    pub(crate) fn slots_of(&self, venue_id: &str) -> Result<Vec<Slot>> {
        let query = "SELECT document FROM slots WHERE origin = ?1 AND venue_id = ?2";
        let found = self.texts(query, [&self.origin, venue_id])?;
        Ok(found.iter().filter_map(|text| read_slot(text)).collect())
    }

    /// The id in row `position` (from 1) of the last list of this terminal; of the newest list of all if this terminal
    /// has none.
    pub(crate) fn listed(&self, list: RecentList, position: u32) -> Result<Option<String>> {
        let query = format!(
            "SELECT id FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal = {OF_THIS_TERMINAL} AND position = ?4"
        );
        let values = params![self.origin, list.as_str(), self.terminal, position];
        Ok(self.texts(&query, values)?.pop())
    }

    /// The names under which a list is stored: the empty one is that of the newest of all terminals.
    fn terminals(&self, list: RecentList) -> Vec<&str> {
        if list.is_of_a_terminal() && !self.terminal.is_empty() {
            vec!["", &self.terminal]
        } else {
            vec![""]
        }
    }

    fn replace<'a>(
        &self,
        connection: &Connection,
        list: RecentList,
        ids: impl Iterator<Item = &'a str>,
    ) -> rusqlite::Result<()> {
        let (origin, kind) = (&self.origin, list.as_str());
        connection.execute(
            "DELETE FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal <> '' AND listed_at < ?3",
            params![origin, kind, now() - KEEP_TERMINALS_SECONDS],
        )?;
        let mut delete = connection
            .prepare("DELETE FROM lists WHERE origin = ?1 AND kind = ?2 AND terminal = ?3")?;
        let mut insert = connection.prepare(
            "INSERT INTO lists (origin, kind, terminal, position, id, listed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let ids: Vec<&str> = ids.collect();
        for terminal in self.terminals(list) {
            delete.execute([origin, kind, terminal])?;
            for (row, id) in (1u32..).zip(&ids) {
                insert.execute(params![origin, kind, terminal, row, id, now()])?;
            }
        }
        Ok(())
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
        let recent = Recent::open(&path, "a".into()).unwrap();
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
        let recent = Recent::open(&path, "a".into()).unwrap();
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
        let recent = Recent::open(&path, "a".into()).unwrap();
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
        let recent = Recent::open(&path, "a".into()).unwrap();
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
