//! `POST /v1/venues/search` and `POST /v1/availability/search`, and the choice of a slot.

use std::cmp::Ordering;

use jiff::Timestamp;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::reply::{HandlerResult, Reply};
use super::request::RequestContext;
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fields::{self, FieldErrors};
use crate::sandbox::rules::requests::serving;
use crate::sandbox::rules::search::VenueSearch;
use crate::sandbox::seed::{OfferedSlot, Scenario, SeedVenue, slots_at, slots_on, venues};
use crate::sandbox::wire::add_some;

#[derive(Serialize)]
struct VenueList<'a> {
    object: &'static str,
    venues: Vec<VenueDocument<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    providers_failed: Vec<&'static str>,
}

/// A venue, with its distance in km from the point of the search.
struct VenueDocument<'a>(&'a SeedVenue, Option<f64>);

impl Serialize for VenueDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(venue, distance) = self;
        // If several serve the venue, `providers` lists them.
        let provider = venue.sole_provider();
        let providers = provider.is_none().then_some(&venue.providers);
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("venue_id", &venue.id)?;
        fields.serialize_entry("name", &venue.name)?;
        fields.serialize_entry("vertical", &venue.vertical)?;
        fields.serialize_entry("provider", &provider)?;
        add_some(&mut fields, "providers", providers)?;
        fields.serialize_entry("address", &venue.address)?;
        fields.serialize_entry("city", &venue.city)?;
        fields.serialize_entry("country", &venue.country)?;
        fields.serialize_entry("latitude", &venue.latitude)?;
        fields.serialize_entry("longitude", &venue.longitude)?;
        fields.serialize_entry("timezone", &venue.timezone.iana_name())?;
        add_some(&mut fields, "distance_km", distance.map(|it| (it * 100.0).round() / 100.0))?;
        add_some(&mut fields, "price_level", venue.price_level)?;
        fields.serialize_entry("tags", &venue.tags)?;
        fields.end()
    }
}

#[derive(Serialize)]
struct SlotDocument {
    #[serde(flatten)]
    slot: OfferedSlot,
    /// That the slot was asked for.
    party_size: u8,
}

pub(super) fn search(context: &RequestContext<'_>) -> HandlerResult {
    let own = context.tx.own_venues(&context.organization.id)?;
    let search = VenueSearch::read(&context.request.body, &own)?;
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
    let documents = found.iter().map(|(it, km)| VenueDocument(it, *km));
    Reply::ok(&VenueList {
        object: "list",
        venues: documents.collect(),
        providers_failed: failed.into_iter().map(|it| it.id()).collect(),
    })
}

#[derive(Deserialize)]
struct AvailabilityQuery {
    venue_id: Option<String>,
    datetime: Option<String>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
    provider: Option<String>,
}

/// Lists the slots of the venue's local day that are neither past nor full. Of several providers,
/// the request need name none.
pub(super) fn slots(context: &RequestContext<'_>) -> HandlerResult {
    let tx = context.tx;
    let body: AvailabilityQuery = fields::read(&context.request.body)?;
    let mut errors = FieldErrors::default();
    let venue_id = errors.required("venue_id", body.venue_id);
    let at = errors.future_moment("datetime", body.datetime, tx.now);
    let party_size = errors.required_party_size(body.party_size);
    errors.finish()?;
    let venue = tx.known_venue(&context.organization.id, &venue_id)?;
    let venue = venue.as_deref().ok_or(ApiError::VENUE_NOT_FOUND)?;
    let provider = match &body.provider {
        Some(name) => Some(serving(venue, name)?),
        None => venue.sole_provider(),
    };
    if venue.scenario == Some(Scenario::AvailabilityFails)
        && let Some(provider) = venue.providers.first()
    {
        return Err(ApiError::availability_failed(*provider));
    }

    let day = at.to_zoned(venue.timezone.clone()).date();
    let mut free = Vec::new();
    for slot in slots_on(venue, day) {
        if slot.datetime.timestamp() > tx.now
            && slot.has_room(tx.held(&context.organization.id, &slot.id)?)
        {
            free.push(SlotDocument { slot, party_size });
        }
    }
    Reply::ok(&json!({
        "object": "list",
        "venue_id": venue.id,
        "provider": provider.map(|it| it.id()),
        "slots": free,
    }))
}

/// The slot at an instant, with the number of bookings in it. Of several seatings, the first wanted
/// one that has room, else the first wanted one.
pub(super) fn choose_slot(
    context: &RequestContext<'_>,
    venue: &SeedVenue,
    at: Timestamp,
    wanted: impl Fn(&OfferedSlot) -> bool,
) -> rusqlite::Result<Option<(OfferedSlot, u32)>> {
    let mut full = None;
    for slot in slots_at(venue, at).filter(wanted) {
        let held = context.tx.held(&context.organization.id, &slot.id)?;
        if slot.has_room(held) {
            return Ok(Some((slot, held)));
        }
        full = full.or(Some((slot, held)));
    }
    Ok(full)
}

pub(super) fn slot_of(
    venue: &SeedVenue,
    at: Timestamp,
    seating: Option<&str>,
) -> Option<OfferedSlot> {
    let is_preferred = |slot: &OfferedSlot| slot.seating.as_deref() == seating;
    slots_at(venue, at).find(is_preferred).or_else(|| slots_at(venue, at).next())
}
