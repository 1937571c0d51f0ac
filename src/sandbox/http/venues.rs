//! `POST /v1/venues/search`.

use std::borrow::Cow;

use serde::Serialize;

use super::reply::{Outcome, Reply};
use super::request::RequestContext;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::search::{SearchArea, VenueSearch};
use crate::sandbox::seed::{
    Venue, names_city, near_place, near_point, resolve_place, within_reach,
};
use crate::sandbox::wire::listed::VenueDocument;

#[derive(Serialize)]
struct Found<'a> {
    object: &'static str,
    venues: Vec<VenueDocument<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers_failed: Vec<&'static str>,
}

/// Searches, and remembers the venues that the organization found.
pub(super) fn search(context: &RequestContext<'_, '_>) -> Outcome {
    let body = context.request.fields()?;
    let mut own = context.tx.own_venues(Some(&context.organization.id))?;
    let search = VenueSearch::read(&body, &own)?;
    let (answering, failed) = search.ask(&context.organization)?;
    own.retain(|it| it.vertical == search.vertical);
    let mut venues = Vec::new();
    let candidates = candidates(&search, &own);
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

/// The venues in the search's area, with their distance from its point if it has one. `own` are the organization's own
/// of the vertical.
fn candidates<'a>(search: &VenueSearch, own: &'a [Venue]) -> Vec<(&'a Venue, Option<f64>)> {
    let alone = |venue: &'a Venue| (venue, None);
    match &search.around {
        SearchArea::Place(place) => {
            let is_there = |it: &&Venue| resolve_place(&it.city).as_ref() == Some(place);
            let seeded = near_place(place, search.vertical).into_iter();
            seeded
                .chain(own.iter().filter(is_there))
                .map(alone)
                .collect()
        }
        SearchArea::OwnCity(location) => {
            let is_there = |it: &&Venue| names_city(location, &it.city);
            own.iter().filter(is_there).map(alone).collect()
        }
        SearchArea::Point {
            latitude,
            longitude,
        } => {
            let (latitude, longitude) = (*latitude, *longitude);
            let mut near = near_point(latitude, longitude, search.vertical);
            let reach = |it: &'a Venue| Some((it, within_reach(latitude, longitude, it)?));
            near.extend(own.iter().filter_map(reach));
            near.sort_by(|(_, one), (_, other)| one.total_cmp(other));
            let near = near.into_iter();
            near.map(|(venue, distance)| (venue, Some(distance)))
                .collect()
        }
    }
}

/// The venue with this id. Fails unless a search of the organization returned it.
pub(super) fn known_venue(
    context: &RequestContext<'_, '_>,
    id: &str,
) -> Result<Cow<'static, Venue>, ApiError> {
    let organization = &context.organization.id;
    let venue = context.tx.venue(organization, id)?;
    let venue = venue.ok_or(ApiError::VenueNotFound)?;
    if context.tx.knows_venue(organization, &venue)? {
        Ok(venue)
    } else {
        Err(ApiError::VenueNotFound)
    }
}
