//! The tables of organizations' settings, venues, and used rate limits.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::{Result, Row};

use super::number::next_number;
use super::tx::{TABLES, Tx, from_json, json, moment};
use crate::sandbox::rules::fixtures::VenueFixture;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::rules::rate_limit::{EndpointLimit, RateWindow, count};
use crate::sandbox::seed::{self, SeedVenue};
use crate::sandbox::wire::IdKind;

impl Tx<'_> {
    /// The window of a rate limit with a request more.
    pub(crate) fn rate_limit(
        &self,
        organization: &str,
        rate_limit: EndpointLimit,
    ) -> Result<RateWindow> {
        let sql = "SELECT opened_at, used FROM rate_windows WHERE organization = ? AND budget = ?";
        let before = self.first(sql, (organization, rate_limit.0), |row| {
            Ok((moment(row.get("opened_at")?)?, row.get("used")?))
        })?;
        Ok(count(rate_limit, before, self.now))
    }

    pub(crate) fn count_request(
        &self,
        organization: &str,
        rate_limit: EndpointLimit,
    ) -> Result<RateWindow> {
        let window = self.rate_limit(organization, rate_limit)?;
        let row = (organization, rate_limit.0, window.opened_at.as_millisecond(), window.used);
        self.run("INSERT OR REPLACE INTO rate_windows VALUES (?, ?, ?, ?)", row)?;
        Ok(window)
    }

    /// The defaults of a built-in one if its settings were never changed.
    pub(crate) fn organization(&self, id: &str) -> Result<Option<Organization>> {
        let sql = "SELECT settings FROM organizations WHERE id = ?";
        let changed = self.first(sql, [id], from_json)?;
        let fresh = || Organization::is_built_in(id).then(|| Organization::fresh(id));
        Ok(changed.or_else(fresh))
    }

    /// Gives the organizations of before a reset that are still there the URLs that outlast it. So
    /// an event of the new state is sent where one of the old state was.
    pub(super) fn keep_urls(&self, before: &[Organization]) -> Result<()> {
        for stored in before.iter().filter(|it| it.webhook_url_stays) {
            if let Some(mut present) = self.organization(&stored.id)? {
                present.webhook_url.clone_from(&stored.webhook_url);
                present.webhook_url_before.clone_from(&stored.webhook_url_before);
                present.webhook_url_stays = true;
                self.save_organization(&present)?;
            }
        }
        Ok(())
    }

    /// Those with settings of their own, oldest first.
    pub(crate) fn changed_organizations(&self) -> Result<Vec<Organization>> {
        self.all("SELECT settings FROM organizations ORDER BY id", (), from_json)
    }

    pub(crate) fn added_organizations(&self) -> Result<Vec<Organization>> {
        let mut added = self.changed_organizations()?;
        added.retain(|it| !Organization::is_built_in(&it.id));
        Ok(added)
    }

    /// The names of those that have one, by their ids.
    pub(crate) fn organization_names(&self) -> Result<HashMap<String, String>> {
        let named = self.changed_organizations()?.into_iter();
        Ok(named.filter_map(|it| Some((it.id, it.name?))).collect())
    }

    pub(crate) fn add_organization(&self, name: Option<&str>) -> Result<Organization> {
        let mut organization = Organization::fresh(&IdKind::ORGANIZATION.id(next_number()));
        organization.name = name.map(str::to_owned);
        let clock =
            "INSERT INTO clocks SELECT ?, offset_ms, frozen_at FROM clocks WHERE organization = ''";
        self.run(clock, [&organization.id])?;
        self.save_organization(&organization)?;
        Ok(organization)
    }

    pub(crate) fn delete_organization(&self, id: &str) -> Result<()> {
        self.clear_organization(id)?;
        self.run("DELETE FROM clocks WHERE organization = ?", [id])?;
        self.run("DELETE FROM organizations WHERE id = ?", [id]).map(drop)
    }

    /// Deletes what its requests, its faults and its fixtures left.
    pub(super) fn clear_organization(&self, id: &str) -> Result<()> {
        let events = "SELECT number FROM events WHERE organization = ?";
        self.run(&format!("DELETE FROM attempts WHERE event IN ({events})"), [id])?;
        for table in TABLES {
            self.run(&format!("DELETE FROM {table} WHERE organization = ?"), [id])?;
        }
        Ok(())
    }

    pub(crate) fn save_organization(&self, organization: &Organization) -> Result<()> {
        let row = (&organization.id, json(organization)?);
        self.run("INSERT OR REPLACE INTO organizations VALUES (?, ?)", row)?;
        // What waited for a URL is due.
        let due = "UPDATE deliveries SET next_attempt_at = ? WHERE state = 'pending' AND next_attempt_at IS NULL AND ? \
                   AND event IN (SELECT number FROM events WHERE organization = ?)";
        let has_url = organization.webhook_url.is_some();
        self.run(due, (self.now_ms(), has_url, &organization.id)).map(drop)
    }

    /// The venue of this id: one that every sandbox has, else one of the organization's own.
    pub(crate) fn venue(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<Cow<'static, SeedVenue>>> {
        if let Some(venue) = seed::venue(id) {
            return Ok(Some(Cow::Borrowed(venue)));
        }
        let sql = "SELECT entry FROM fixture_venues WHERE organization = ? AND venue_id = ?";
        Ok(self.first(sql, [organization, id], venue)?.map(Cow::Owned))
    }

    pub(crate) fn own_venues(&self, organization: &str) -> Result<Vec<SeedVenue>> {
        let sql = "SELECT entry FROM fixture_venues WHERE organization = ? ORDER BY number";
        self.all(sql, [organization], venue)
    }

    pub(crate) fn put_venue(&self, organization: &str, id: &str, entry: &str) -> Result<()> {
        let sql = "INSERT INTO fixture_venues (organization, venue_id, entry) VALUES (?, ?, ?) \
                   ON CONFLICT (organization, venue_id) DO UPDATE SET entry = excluded.entry";
        self.run(sql, [organization, id, entry]).map(drop)
    }

    pub(crate) fn learn_venue(&self, organization: &str, venue: &SeedVenue) -> Result<()> {
        if !is_always_known(venue) {
            let row = [organization, &venue.id];
            self.run("INSERT OR IGNORE INTO known_venues VALUES (?, ?)", row)?;
        }
        Ok(())
    }

    /// The venue of this id, if a search returned it. Those of scenarios and its own are always known.
    pub(crate) fn known_venue(
        &self,
        organization: &str,
        id: &str,
    ) -> Result<Option<Cow<'static, SeedVenue>>> {
        let Some(venue) = self.venue(organization, id)? else {
            return Ok(None);
        };
        let sql = "SELECT 1 FROM known_venues WHERE organization = ? AND venue_id = ?";
        let is_known = is_always_known(&venue) || self.sql(sql)?.exists([organization, id])?;
        Ok(is_known.then_some(venue))
    }
}

const fn is_always_known(venue: &SeedVenue) -> bool {
    venue.scenario.is_some() || venue.is_own
}

fn venue(row: &Row<'_>) -> Result<SeedVenue> {
    from_json(row).map(VenueFixture::venue)
}
