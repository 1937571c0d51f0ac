//! `POST /v1/availability/search`.

use serde::Serialize;

use super::door::Visit;
use super::reply::{Outcome, Reply};
use super::venues::known_venue;
use crate::sandbox::rules::availability::{AvailabilityQuery, check_diary};
use crate::sandbox::rules::placement::has_room;
use crate::sandbox::seed::slots_on;
use crate::sandbox::wire::slot::SlotDocument;

#[derive(Serialize)]
struct Slots<'a> {
    object: &'static str,
    venue_id: &'a str,
    provider: Option<&'static str>,
    slots: Vec<SlotDocument<'a>>,
}

/// The slots of the venue's local day that are neither past nor full.
pub(super) fn search(visit: &Visit<'_, '_>) -> Outcome {
    let ledger = visit.ledger;
    let body = visit.call.fields()?;
    let query = AvailabilityQuery::read(&body, ledger.now)?;
    let venue = known_venue(visit, query.venue_id)?;
    let provider = query.provider(venue)?;
    check_diary(venue)?;

    let day = query.at.to_zoned(venue.timezone()).date();
    let mut free = Vec::new();
    for slot in slots_on(venue, day) {
        if slot.datetime.timestamp() > ledger.now && has_room(&slot, ledger.held(&slot.id)?) {
            free.push(slot);
        }
    }
    Reply::ok(&Slots {
        object: "list",
        venue_id: &venue.id,
        provider: provider.map(|it| it.id()),
        slots: free
            .iter()
            .map(|slot| SlotDocument::of(slot, query.party_size))
            .collect(),
    })
}
