//! The venues and slots that were last seen and the lists that were last shown, so that an id or
//! `@2` is enough to name one.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Params, params};

use super::Recent;
use crate::outcome::Result;
use crate::service::documents::slot::Slot;
use crate::service::documents::venue::Venue;

/// How long slots are kept after they were seen. By then they are past or taken.
const KEEP_SLOTS_SECONDS: i64 = 30 * 24 * 3600;

/// How long a list is kept. Few shells stay open for longer.
const KEEP_LISTS_SECONDS: i64 = 7 * 24 * 3600;

/// The ids in the last list of the kind `?2` at the service `?1`: the list of the owner `?3`, else
/// the newest of the terminal `?4`.
pub(crate) const LAST_LIST: &str = "(SELECT ids FROM lists WHERE origin = ?1 AND kind = ?2
     AND (owner = ?3 AND ?3 <> '' OR terminal = ?4 AND ?4 <> '') ORDER BY owner = ?3 DESC, rowid DESC LIMIT 1)";

/// Of lists that belong to no process.
const ANYBODY: &str = "*";

/// A list whose rows `@N` names. Each process that starts commands has its own, so that no other
/// job moves an `@N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecentList {
    Venues,
    Slots,
    Bookings,
    /// Attempts at all services.
    Attempts,
    LastBooking,
    /// The venue whose slots were shown last.
    LastVenue,
    Sessions,
    LastSession,
    /// The number of the last event whose booking the journal stored. All processes share it.
    TakenIn,
    /// Those that a sandbox has answered.
    Requests,
    Deliveries,
    /// Those that listeners on this computer have received.
    Events,
}

impl RecentList {
    pub(crate) fn kind(self) -> String {
        format!("{self:?}")
    }
}

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
    pub(crate) fn remember_venues(&self, venues: &[Venue]) -> Result<()> {
        self.write(|connection| {
            let insert =
                "INSERT OR REPLACE INTO venues (origin, id, document, seen_at) VALUES (?1, ?2, ?3, ?4)";
            for venue in venues {
                let document = venue.value.to_string();
                connection.execute(insert, params![self.origin, venue.id(), document, now()])?;
            }
            Ok(())
        })
    }

    /// Also makes the venue what `@last` stands for.
    pub(crate) fn remember_slots(
        &self,
        venue_id: &str,
        provider: Option<&str>,
        party_size: u32,
        slots: &[Slot],
    ) -> Result<()> {
        self.write(|connection| {
            connection.execute("DELETE FROM slots WHERE seen_at < ?1", [now() - KEEP_SLOTS_SECONDS])?;
            let insert = "INSERT OR REPLACE INTO slots (origin, id, venue_id, provider, party_size, document, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            for slot in slots {
                let document = slot.value.to_string();
                let row = params![self.origin, slot.id(), venue_id, provider, party_size, document, now()];
                connection.execute(insert, row)?;
            }
            Ok(())
        })?;
        self.remember_one(RecentList::LastVenue, venue_id)
    }

    /// Stores a shown list for `@N`, or empties it: `@1` must not mean an earlier list.
    pub(crate) fn remember_list<'a>(
        &self,
        list: RecentList,
        ids: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        let ids = serde_json::Value::from_iter(ids).to_string();
        self.store(list, &ids).inspect_err(|_| {
            // The disk may be full: nothing is copied before this write.
            let in_memory = "PRAGMA journal_mode = MEMORY";
            let _ = self.read(|it| it.query_row(in_memory, (), |_| Ok(())));
            let _ = self.store(list, "[]");
        })
    }

    fn store(&self, list: RecentList, ids: &str) -> Result<()> {
        let (kind, owner, terminal) = (list.kind(), self.owner_of(list), &self.viewer.terminal);
        self.write(|connection| {
            let old = "DELETE FROM lists WHERE origin = ?1 AND kind = ?2 AND (owner = ?3 OR listed_at < ?4)";
            let oldest = now() - KEEP_LISTS_SECONDS;
            connection.execute(old, params![self.origin, kind, owner, oldest])?;
            let new = "INSERT INTO lists (origin, kind, owner, terminal, ids, listed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            connection.execute(new, params![self.origin, kind, owner, terminal, ids, now()])?;
            Ok(())
        })
    }

    fn owner_of(&self, list: RecentList) -> &str {
        if matches!(list, RecentList::TakenIn) { ANYBODY } else { &self.viewer.owner }
    }

    pub(crate) fn remember_one(&self, list: RecentList, id: &str) -> Result<()> {
        self.remember_list(list, [id].into_iter())
    }

    fn texts(&self, query: &str, values: impl Params) -> Result<Vec<String>> {
        self.read(|connection| {
            connection.prepare(query)?.query_map(values, |row| row.get(0))?.collect()
        })
    }

    pub(crate) fn venue(&self, id: &str) -> Result<Option<Venue>> {
        let query = "SELECT document FROM venues WHERE origin = ?1 AND id = ?2";
        Ok(self.texts(query, [&self.origin, id])?.first().and_then(|text| read_venue(text)))
    }

    pub(crate) fn recent_venues(&self, limit: u32) -> Result<Vec<Venue>> {
        let query =
            "SELECT document FROM venues WHERE origin = ?1 ORDER BY seen_at DESC, id LIMIT ?2";
        let found = self.texts(query, params![self.origin, limit])?;
        Ok(found.iter().filter_map(|text| read_venue(text)).collect())
    }

    pub(crate) fn slots_of(&self, venue_id: &str) -> Result<Vec<Slot>> {
        let query = "SELECT document FROM slots WHERE origin = ?1 AND venue_id = ?2";
        let found = self.texts(query, [&self.origin, venue_id])?;
        Ok(found.iter().filter_map(|text| read_slot(text)).collect())
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

    /// The id in row `position` (from 1) of the last list. `may_borrow`: of any process at this
    /// terminal, if the one that started this command has none.
    pub(crate) fn listed(
        &self,
        list: RecentList,
        position: u32,
        may_borrow: bool,
    ) -> Result<Option<String>> {
        let query = format!("SELECT value FROM json_each({LAST_LIST}) WHERE key + 1 = ?5");
        let terminal = if may_borrow { &self.viewer.terminal } else { "" };
        let values = params![self.origin, list.kind(), self.owner_of(list), terminal, position];
        Ok(self.texts(&query, values)?.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::recent::Viewer;
    use serde_json::json;

    fn recent() -> (tempfile::TempDir, Recent) {
        let folder = tempfile::tempdir().unwrap();
        let recent = Recent::open(&folder.path().join("recent.db"), "a".into()).unwrap();
        (folder, recent)
    }

    #[test]
    fn a_row_number_stands_for_the_last_list_of_its_kind_alone() {
        let (folder, recent) = recent();
        let lists: [(_, &[&str]); 3] = [
            (RecentList::Venues, &["x", "y"]),
            (RecentList::Bookings, &["bk_1", "bk_2"]),
            (RecentList::Venues, &["z"]),
        ];
        for (list, ids) in lists {
            recent.remember_list(list, ids.iter().copied()).unwrap();
        }
        let row = |list, position| recent.listed(list, position, false).unwrap();
        assert_eq!(row(RecentList::Venues, 1).as_deref(), Some("z"));
        assert_eq!(row(RecentList::Venues, 2), None);
        assert_eq!(row(RecentList::Bookings, 2).as_deref(), Some("bk_2"));
        let other = Recent::open(&folder.path().join("recent.db"), "b".into()).unwrap();
        assert_eq!(other.listed(RecentList::Venues, 1, true).unwrap(), None);
    }

    fn slot(id: &str) -> Slot {
        Slot::from_value(json!({"availability_id": id, "datetime": "2026-12-01T19:30:00Z"}))
            .unwrap()
    }

    #[test]
    fn slot_is_remembered_for_thirty_days_with_its_request() {
        let (_folder, recent) = recent();
        let slots = [slot("old"), slot("older")];
        let provider = Some("provider_a");
        recent.remember_slots("v", provider, 3, &slots).unwrap();
        recent
            .write(|connection| {
                connection.execute_batch(
                    "UPDATE slots SET seen_at = unixepoch() - 29 * 86400 WHERE id = 'old';
                     UPDATE slots SET seen_at = unixepoch() - 31 * 86400 WHERE id = 'older'",
                )
            })
            .unwrap();
        recent.remember_slots("w", None, 2, &[slot("new")]).unwrap();
        let known = |id: &str| recent.slot(id).unwrap();
        let old = known("old").unwrap();
        assert_eq!(old.slot.value, slots[0].value);
        assert_eq!(old.venue_id, "v");
        assert_eq!(old.provider.as_deref(), Some("provider_a"));
        assert_eq!(old.party_size, 3);
        assert!(known("new").is_some() && known("older").is_none());
        let last = recent.listed(RecentList::LastVenue, 1, true).unwrap();
        assert_eq!(last.as_deref(), Some("w"));
    }

    #[test]
    fn list_belongs_to_its_owner() {
        let (folder, _) = recent();
        let path = folder.path().join("recent.db");
        let of = |owner: &str, terminal: &str| {
            let mut recent = Recent::open(&path, "a".into()).unwrap();
            recent.viewer = Viewer { owner: owner.to_owned(), terminal: terminal.to_owned() };
            recent
        };
        let kind = RecentList::Bookings;
        for (owner, terminal, ids) in [
            ("shell 1", "tty 1", &["lovelace"][..]),
            ("shell 2", "tty 2", &["byron", "hopper"]),
            ("job 3", "", &["turing"]),
            ("", "", &["orphan"]),
        ] {
            of(owner, terminal).remember_list(kind, ids.iter().copied()).unwrap();
        }
        for (owner, terminal, row, own, borrowed) in [
            ("shell 1", "tty 1", 1, Some("lovelace"), Some("lovelace")),
            ("shell 1", "tty 1", 2, None, None),
            ("shell 1", "tty 2", 1, Some("lovelace"), Some("lovelace")),
            ("xargs 4", "tty 2", 2, None, Some("hopper")),
            ("job 3", "", 1, Some("turing"), Some("turing")),
            ("job 4", "", 1, None, None),
            ("", "", 1, None, None),
        ] {
            let found = |may_borrow| of(owner, terminal).listed(kind, row, may_borrow).unwrap();
            assert_eq!(found(false).as_deref(), own, "{owner}");
            assert_eq!(found(true).as_deref(), borrowed, "{owner}");
        }
        of("shell 2", "tty 2").remember_list(kind, [].into_iter()).unwrap();
        let empty = of("shell 2", "tty 2").listed(kind, 1, true).unwrap();
        assert_eq!(empty, None, "an empty list is a list");
        let age = "UPDATE lists SET listed_at = listed_at - 8 * 86400";
        of("job 3", "").write(|it| it.execute_batch(age)).unwrap();
        of("job 5", "").remember_one(kind, "newest").unwrap();
        assert_eq!(of("shell 1", "tty 1").listed(kind, 1, true).unwrap(), None);
        for owner in ["1", "2"] {
            of(owner, owner).remember_one(RecentList::TakenIn, owner).unwrap();
        }
        let taken_in = of("1", "1").listed(RecentList::TakenIn, 1, false).unwrap();
        assert_eq!(taken_in.as_deref(), Some("2"), "which belongs to no process");
    }
}
