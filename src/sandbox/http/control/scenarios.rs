//! `GET /sandbox/scenarios`: what a booking does at each scenario's venues, those of fixtures among them.

use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::seed::{Provider, Scenario, Venue, venues};
use crate::sandbox::store::Tx;

pub(super) fn list(tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
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
            "venues": seeded.map(document).chain(own.map(document)).collect::<Vec<_>>(),
        })
    });
    Reply::ok(&json!({"scenarios": scenarios}))
}

fn document(venue: &Venue) -> Value {
    let providers: Vec<_> = venue.providers.iter().copied().map(Provider::id).collect();
    json!({"venue_id": venue.id, "name": venue.name, "providers": providers})
}
