//! The tables of organizations' settings and of the venues that they found.

use rusqlite::OptionalExtension;

use super::tx::{Tx, invalid_column};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::seed::Venue;

impl Tx<'_> {
    /// The organization's settings; the defaults if they were never changed.
    pub(crate) fn organization(&self, id: &str) -> rusqlite::Result<Organization> {
        let settings: Option<String> = self
            .sql("SELECT settings FROM organizations WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        match settings {
            None => Ok(Organization::fresh(id)),
            Some(settings) => {
                serde_json::from_str(&settings).map_err(|_| invalid_column(0, &settings))
            }
        }
    }

    /// Stores the organization's settings.
    pub(crate) fn save_organization(&self, organization: &Organization) -> rusqlite::Result<()> {
        let settings = serde_json::json!(organization).to_string();
        self.sql("INSERT INTO organizations VALUES (?, ?) ON CONFLICT DO UPDATE SET settings = excluded.settings")?
            .execute([&organization.id, &settings])?;
        Ok(())
    }

    /// Remembers that a search of the organization returned the venue.
    pub(crate) fn learn_venue(&self, organization: &str, venue: &Venue) -> rusqlite::Result<()> {
        if venue.scenario.is_none() {
            self.sql("INSERT OR IGNORE INTO known_venues VALUES (?, ?)")?
                .execute([organization, &venue.id])?;
        }
        Ok(())
    }

    /// Whether a search of the organization returned the venue. Always true of scenario venues.
    pub(crate) fn knows_venue(&self, organization: &str, venue: &Venue) -> rusqlite::Result<bool> {
        if venue.scenario.is_some() {
            return Ok(true);
        }
        self.sql("SELECT 1 FROM known_venues WHERE organization = ? AND venue_id = ?")?
            .exists([organization, &venue.id])
    }
}
