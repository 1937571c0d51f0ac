//! The table of the numbers that stand for ids where a service's ids are numbers.
//!
//! It is made when a service with numbers is first served, and outlives a reset: a number is never used again.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::OptionalExtension;

use super::tx::Tx;

/// The table, with the number below the first one.
pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS spoken_ids \
     (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE)";
/// What is added to a row's number: single digits look like places in a list.
const BASE: i64 = 100_000;

impl Tx<'_> {
    /// The numbers of those ids that have one.
    pub(crate) fn known_numbers(
        &self,
        ids: &BTreeSet<String>,
    ) -> rusqlite::Result<BTreeMap<String, i64>> {
        let mut find = self.sql("SELECT number FROM spoken_ids WHERE id = ?")?;
        let mut numbers = BTreeMap::new();
        for id in ids {
            let number: Option<i64> = find.query_row([id], |row| row.get(0)).optional()?;
            numbers.extend(number.map(|number| (id.clone(), BASE + number)));
        }
        Ok(numbers)
    }

    /// The numbers of ids. Those that have none get one.
    pub(crate) fn numbers(
        &self,
        ids: &BTreeSet<String>,
    ) -> rusqlite::Result<BTreeMap<String, i64>> {
        let mut add = self.sql("INSERT INTO spoken_ids (id) VALUES (?) ON CONFLICT DO NOTHING")?;
        for id in ids {
            add.execute([id])?;
        }
        self.known_numbers(ids)
    }

    /// The ids that numbers stand for.
    pub(crate) fn numbered(&self, numbers: &[i64]) -> rusqlite::Result<BTreeMap<i64, String>> {
        let mut find = self.sql("SELECT id FROM spoken_ids WHERE number = ?")?;
        let mut ids = BTreeMap::new();
        for number in numbers {
            let id = find.query_row([number.saturating_sub(BASE)], |row| row.get(0));
            ids.extend(id.optional()?.map(|id| (*number, id)));
        }
        Ok(ids)
    }
}
