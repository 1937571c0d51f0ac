//! `GET /sandbox/scenarios`: what a booking does at each scenario's venues.

use serde_json::{Value, json};

use super::super::parsed_request::ParsedRequest;
use super::super::reply::{Outcome, Reply};
use crate::sandbox::seed::{Provider, Scenario, Venue, venues};
use crate::sandbox::store::Tx;

pub(super) fn list(_tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    let scenarios = Scenario::ALL.map(|scenario| {
        let own = venues().iter().filter(|it| it.scenario == Some(scenario));
        json!({
            "name": scenario.name(),
            "description": scenario.describe(),
            "payment": scenario.is_payment(),
            "venues": own.map(document).collect::<Vec<_>>(),
        })
    });
    Reply::ok(&json!({"scenarios": scenarios}))
}

fn document(venue: &Venue) -> Value {
    let providers: Vec<_> = venue.providers.iter().copied().map(Provider::id).collect();
    json!({"venue_id": venue.id, "name": venue.name, "providers": providers})
}
