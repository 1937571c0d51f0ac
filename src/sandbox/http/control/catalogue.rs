//! What a sandbox has from the beginning: keys, and the scenarios with their venues.

use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::access::{KEYS, keys_of};
use crate::sandbox::rules::no_key::Scope;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::seed::{Provider, Scenario, Venue, venues};
use crate::sandbox::store::Tx;

pub(super) fn keys(tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    let added = tx.added_organizations()?;
    let added = added.iter().flat_map(|it| keys_of(&it.id));
    let keys = KEYS.iter().cloned().chain(added).map(|key| {
        json!({
            "key": key.secret,
            "kind": key.kind.as_str(),
            "organization": key.organization,
            "scopes": key.scopes.iter().copied().map(Scope::as_str).collect::<Vec<_>>(),
            "purpose": key.purpose,
        })
    });
    Reply::ok(&json!({"keys": keys.collect::<Vec<_>>()}))
}

/// What a booking does at each scenario's venues, those of fixtures among them.
pub(super) fn scenarios(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let organization = super::organization_asked(tx, request)?;
    let own = tx.own_venues(Some(organization.as_deref().unwrap_or(Organization::MAIN)))?;
    let scenarios = Scenario::ALL.map(|scenario| {
        let seeded = venues().filter(|it| it.scenario == Some(scenario));
        // A fixture without an outcome confirms at once.
        let own = own
            .iter()
            .filter(|it| it.scenario.unwrap_or(Scenario::Confirms) == scenario);
        json!({
            "name": scenario.name(),
            "description": scenario.describe(),
            "payment": scenario.is_payment(),
            "venues": seeded.map(venue).chain(own.map(venue)).collect::<Vec<_>>(),
        })
    });
    Reply::ok(&json!({"scenarios": scenarios}))
}

fn venue(venue: &Venue) -> Value {
    let providers: Vec<_> = venue.providers.iter().copied().map(Provider::id).collect();
    json!({"venue_id": venue.id, "name": venue.name, "providers": providers})
}
