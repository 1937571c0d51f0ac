//! `POST /v1/availability/search`.

use serde::Serialize;

use super::reply::{Outcome, Reply};
use super::request_context::RequestContext;
use super::venues::known_venue;
use crate::sandbox::rules::availability::{AvailabilityQuery, check_readable};
use crate::sandbox::rules::provider_response::has_room;
use crate::sandbox::seed::slots_on;
use crate::sandbox::wire::slot::SlotDocument;

#[derive(Serialize)]
struct Slots<'a> {
    object: &'static str,
    venue_id: &'a str,
    provider: Option<&'static str>,
    slots: Vec<SlotDocument<'a>>,
}

/// Lists the slots of the venue's local day that are neither past nor full.
pub(super) fn search(context: &RequestContext<'_, '_>) -> Outcome {
    let tx = context.tx;
    let body = context.request.fields()?;
    let query = AvailabilityQuery::read(&body, tx.now)?;
    let venue = known_venue(context, query.venue_id)?;
    let venue = venue.as_ref();
    let provider = query.provider(venue)?;
    check_readable(venue)?;

    let day = query.at.to_zoned(venue.timezone()).date();
    let mut free = Vec::new();
    for slot in slots_on(venue, day) {
        if slot.datetime.timestamp() > tx.now
            && has_room(&slot, tx.held(&context.organization.id, &slot.id)?)
        {
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
