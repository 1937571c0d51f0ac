//! `POST /v1/venues/search`.

use serde::Serialize;

use super::reply::{Outcome, Reply};
use super::request_context::RequestContext;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::search::{SearchArea, VenueSearch};
use crate::sandbox::seed::{self, Venue, near_place, near_point};
use crate::sandbox::wire::venue::VenueDocument;

#[derive(Serialize)]
struct Found {
    object: &'static str,
    venues: Vec<VenueDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers_failed: Vec<&'static str>,
}

/// Searches, and remembers the venues that the organization found.
pub(super) fn search(context: &RequestContext<'_, '_>) -> Outcome {
    let body = context.request.fields()?;
    let search = VenueSearch::read(&body)?;
    let (answering, failed) = search.ask(&context.organization)?;
    let candidates: Vec<(&Venue, Option<f64>)> = match &search.around {
        SearchArea::Place(place) => near_place(place, search.vertical)
            .into_iter()
            .map(|venue| (venue, None))
            .collect(),
        SearchArea::Point {
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
            context.tx.learn_venue(&context.organization.id, venue)?;
            venues.push(VenueDocument::of(venue, distance));
        }
    }
    Reply::ok(&Found {
        object: "list",
        venues,
        providers_failed: failed.into_iter().map(|it| it.id()).collect(),
    })
}

/// The venue with this id. Fails unless a search of the organization returned it.
pub(super) fn known_venue(
    context: &RequestContext<'_, '_>,
    id: &str,
) -> Result<&'static Venue, ApiError> {
    let venue = seed::venue(id).ok_or(ApiError::VenueNotFound)?;
    if context.tx.knows_venue(&context.organization.id, venue)? {
        Ok(venue)
    } else {
        Err(ApiError::VenueNotFound)
    }
}
