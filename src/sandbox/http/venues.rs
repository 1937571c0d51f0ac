//! `POST /v1/venues/search`.

use serde::Serialize;

use super::door::Visit;
use super::reply::{Outcome, Reply};
use crate::sandbox::rules::refusal::Refusal;
use crate::sandbox::rules::search::{Around, Search};
use crate::sandbox::seed::{self, Venue, near_place, near_point};
use crate::sandbox::wire::venue::VenueDocument;

#[derive(Serialize)]
struct Found {
    object: &'static str,
    venues: Vec<VenueDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers_failed: Vec<&'static str>,
}

/// Searches, and lets the organization know what was found.
pub(super) fn search(visit: &Visit<'_, '_>) -> Outcome {
    let body = visit.call.fields()?;
    let search = Search::read(&body)?;
    let (answering, failed) = search.ask(&visit.organization)?;
    let candidates: Vec<(&Venue, Option<f64>)> = match &search.around {
        Around::Place(place) => near_place(place, search.vertical)
            .into_iter()
            .map(|venue| (venue, None))
            .collect(),
        Around::Point {
            latitude,
            longitude,
        } => near_point(*latitude, *longitude, search.vertical)
            .into_iter()
            .map(|(venue, distance)| (venue, Some(distance)))
            .collect(),
    };
    let mut venues = Vec::new();
    for (venue, distance) in candidates {
        if venue.providers.iter().any(|it| answering.contains(it)) {
            visit.ledger.learn_venue(&visit.organization.id, venue)?;
            venues.push(VenueDocument::of(venue, distance));
        }
    }
    Reply::ok(&Found {
        object: "list",
        venues,
        providers_failed: failed.into_iter().map(|it| it.id()).collect(),
    })
}

/// The venue of that id, which one of the organization's searches has to have returned.
pub(super) fn known_venue(visit: &Visit<'_, '_>, id: &str) -> Result<&'static Venue, Refusal> {
    let venue = seed::venue(id).ok_or(Refusal::VenueNotFound)?;
    if visit.ledger.knows_venue(&visit.organization.id, venue)? {
        Ok(venue)
    } else {
        Err(Refusal::VenueNotFound)
    }
}
