//! The tables of organizations' settings, of the venues that they found, and of what they used of their rate limits.

use rusqlite::OptionalExtension;
use rusqlite::types::Type;

use super::number::next_number;
use super::tx::{Tx, moment};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::rate_limit::{RateLimit, RateLimitStatus, RateWindow, count};
use crate::sandbox::seed::Venue;
use crate::sandbox::wire::id::IdKind;

impl Tx<'_> {
    /// Counts a request of the organization against a rate limit.
    pub(crate) fn count_request(
        &self,
        organization: &str,
        rate_limit: RateLimit,
    ) -> rusqlite::Result<RateLimitStatus> {
        let window = self
            .sql("SELECT opened_at, used FROM rate_windows WHERE organization = ? AND budget = ?")?
            .query_row((organization, rate_limit.as_str()), |row| {
                Ok(RateWindow {
                    opened_at: moment(row.get(0)?)?,
                    used: row.get(1)?,
                })
            })
            .optional()?;
        let (window, status) = count(rate_limit, window, self.now);
        self.sql("INSERT OR REPLACE INTO rate_windows VALUES (?, ?, ?, ?)")?
            .execute((
                organization,
                rate_limit.as_str(),
                window.opened_at.as_millisecond(),
                window.used,
            ))?;
        Ok(status)
    }

    /// The organization's settings; the defaults of a built-in one if they were never changed.
    pub(crate) fn organization(&self, id: &str) -> rusqlite::Result<Option<Organization>> {
        let settings: Option<String> = self
            .sql("SELECT settings FROM organizations WHERE id = ?")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        match settings {
            None => Ok(Organization::is_built_in(id).then(|| Organization::fresh(id))),
            Some(settings) => parse(&settings).map(Some),
        }
    }

    /// The organization with this id, which may lack its prefix.
    pub(crate) fn organization_named(&self, name: &str) -> rusqlite::Result<Option<Organization>> {
        if name.starts_with("org_") {
            self.organization(name)
        } else {
            self.organization(&format!("org_{name}"))
        }
    }

    /// The organizations that were added, oldest first.
    pub(crate) fn added_organizations(&self) -> rusqlite::Result<Vec<Organization>> {
        let mut added = self.changed_organizations()?;
        added.retain(|it| !Organization::is_built_in(&it.id));
        Ok(added)
    }

    /// The organizations whose webhook URL stays.
    pub(super) fn staying_urls(&self) -> rusqlite::Result<Vec<Organization>> {
        let mut staying = self.changed_organizations()?;
        staying.retain(|it| it.webhook_url_stays);
        Ok(staying)
    }

    /// Gives the organizations that are still there the URLs that stay, after everything was deleted. So an event of the new
    /// state is sent where one of the old state was.
    pub(super) fn keep_urls(&self, staying: &[Organization]) -> rusqlite::Result<()> {
        for kept in staying {
            if let Some(mut present) = self.organization(&kept.id)? {
                present.webhook_url.clone_from(&kept.webhook_url);
                present.webhook_url_stays = true;
                self.save_organization(&present)?;
            }
        }
        Ok(())
    }

    /// The organizations with settings of their own, oldest first.
    fn changed_organizations(&self) -> rusqlite::Result<Vec<Organization>> {
        self.sql("SELECT settings FROM organizations ORDER BY id")?
            .query_map((), |row| parse(&row.get::<_, String>(0)?))?
            .collect()
    }

    /// Adds an organization with the default settings.
    pub(crate) fn add_organization(&self, name: Option<&str>) -> rusqlite::Result<Organization> {
        let mut organization = Organization::fresh(&IdKind::Organization.id(next_number()));
        organization.name = name.map(str::to_owned);
        self.save_organization(&organization)?;
        Ok(organization)
    }

    /// Deletes an organization with all that is its.
    pub(crate) fn delete_organization(&self, id: &str) -> rusqlite::Result<()> {
        for sql in [
            "DELETE FROM attempts WHERE event IN (SELECT number FROM events WHERE organization = ?)",
            "DELETE FROM deliveries WHERE event IN (SELECT number FROM events WHERE organization = ?)",
            "DELETE FROM events WHERE organization = ?",
            "DELETE FROM messages WHERE organization = ?",
            "DELETE FROM sessions WHERE organization = ?",
            "DELETE FROM idempotency_keys WHERE organization = ?",
            "DELETE FROM bookings WHERE organization = ?",
            "DELETE FROM known_venues WHERE organization = ?",
            "DELETE FROM rate_windows WHERE organization = ?",
            "DELETE FROM faults WHERE organization = ?",
            "DELETE FROM fixture_venues WHERE organization = ?",
            "DELETE FROM organizations WHERE id = ?",
        ] {
            self.sql(sql)?.execute([id])?;
        }
        Ok(())
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
        if !is_always_known(venue) {
            self.sql("INSERT OR IGNORE INTO known_venues VALUES (?, ?)")?
                .execute([organization, &venue.id])?;
        }
        Ok(())
    }

    /// Whether a search of the organization returned the venue. Always true of scenario venues and of its own.
    pub(crate) fn knows_venue(&self, organization: &str, venue: &Venue) -> rusqlite::Result<bool> {
        if is_always_known(venue) {
            return Ok(true);
        }
        self.sql("SELECT 1 FROM known_venues WHERE organization = ? AND venue_id = ?")?
            .exists([organization, &venue.id])
    }
}

/// Reads the settings of an organization.
fn parse(settings: &str) -> rusqlite::Result<Organization> {
    serde_json::from_str(settings)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}

/// Whether a venue can be booked without a search.
const fn is_always_known(venue: &Venue) -> bool {
    venue.scenario.is_some() || venue.is_own()
}
