//! `POST /v1/venues/search`.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::Serialize;

use super::reply::{Outcome, Reply};
use super::request::RequestContext;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::search::VenueSearch;
use crate::sandbox::seed::{Venue, venues};
use crate::sandbox::wire::listed::VenueDocument;

#[derive(Serialize)]
struct Found<'a> {
    object: &'static str,
    venues: Vec<VenueDocument<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers_failed: Vec<&'static str>,
}

pub(super) fn search(context: &RequestContext<'_, '_>) -> Outcome {
    let body = context.request.fields()?;
    let own = context.tx.own_venues(Some(&context.organization.id))?;
    let search = VenueSearch::read(&body, &own)?;
    let (answering, failed) = search.ask(&context.organization)?;
    let area = &search.around;
    let mut found: Vec<_> = venues()
        .chain(&own)
        .filter(|it| it.vertical == search.vertical && area.holds(it))
        .filter(|it| it.providers.iter().any(|it| answering.contains(it)))
        .map(|it| (it, area.distance(it)))
        .collect();
    // The nearest first, or as they are listed.
    found.sort_by(|(_, one), (_, other)| one.partial_cmp(other).unwrap_or(Ordering::Equal));
    for (venue, _) in &found {
        context.tx.learn_venue(&context.organization.id, venue)?;
    }
    let documents = found.iter().map(|(it, km)| VenueDocument::of(it, *km));
    Reply::ok(&Found {
        object: "list",
        venues: documents.collect(),
        providers_failed: failed.into_iter().map(|it| it.id()).collect(),
    })
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
