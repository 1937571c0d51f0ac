//! Organizations' settings, and the venues they know.

use rusqlite::OptionalExtension;

use super::ledger::{Ledger, unreadable};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::seed::Venue;

impl Ledger<'_> {
    /// The organization's settings; a fresh organization's where nobody changed them.
    pub(crate) fn organization(&self, id: &str) -> rusqlite::Result<Organization> {
        let settings: Option<String> = self
            .sql("SELECT settings FROM organizations WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        match settings {
            None => Ok(Organization::fresh(id)),
            Some(settings) => serde_json::from_str(&settings).map_err(|_| unreadable(0, &settings)),
        }
    }

    pub(crate) fn save_organization(&self, organization: &Organization) -> rusqlite::Result<()> {
        let settings = serde_json::json!(organization).to_string();
        self.sql("INSERT INTO organizations VALUES (?, ?) ON CONFLICT DO UPDATE SET settings = excluded.settings")?
            .execute([&organization.id, &settings])?;
        Ok(())
    }

    /// The organization knows the venue from now on.
    pub(crate) fn learn_venue(&self, organization: &str, venue: &Venue) -> rusqlite::Result<()> {
        if venue.scenario.is_none() {
            self.sql("INSERT OR IGNORE INTO known_venues VALUES (?, ?)")?
                .execute([organization, &venue.id])?;
        }
        Ok(())
    }

    /// Whether the organization knows the venue; scenario venues everybody knows.
    pub(crate) fn knows_venue(&self, organization: &str, venue: &Venue) -> rusqlite::Result<bool> {
        if venue.scenario.is_some() {
            return Ok(true);
        }
        self.sql("SELECT 1 FROM known_venues WHERE organization = ? AND venue_id = ?")?
            .exists([organization, &venue.id])
    }
}
