//! The searches of the walk.

use serde_json::Map;

use crate::app::Context;
use crate::client::{SearchLocation, VenueQuery};
use crate::flows::pages::DEFAULT_LIMIT;
use crate::flows::venues::find_venues;
use crate::model::venue::Venue;
use crate::model::when::Moment;
use crate::outcome::Error;
use crate::recent::Shown;

/// A scenario venue of a sandbox by its id. Without it, the id stands for the venue.
pub(super) async fn scenario_venue(context: &Context, id: &str) -> Option<Venue> {
    let moment = Moment::zulu(context.now().ok()?);
    let place = SearchLocation::Near("Sandbox".to_owned());
    let query = query(context, "dining", place, &moment);
    let found = find_venues(context, &query, ALL_SCENARIOS, Shown::No).await;
    let mut venues = found.ok()?.items.into_iter();
    venues.find(|venue| venue.id() == id)
}

/// Enough for every scenario venue.
const ALL_SCENARIOS: usize = 10 * DEFAULT_LIMIT;

/// A search for venues of any party size and provider.
pub(super) fn query(
    context: &Context,
    vertical: &str,
    place: SearchLocation,
    moment: &Moment,
) -> VenueQuery {
    VenueQuery {
        vertical: vertical.to_owned(),
        place,
        datetime: context.adapter().wire_time(moment),
        party_size: None,
        providers: Vec::new(),
        fields: Map::new(),
        page: None,
    }
}

/// Whether a refusal of a search is about the place (spec, Errors: "location could not be resolved").
pub(super) fn is_of_the_place(error: &Error) -> bool {
    let message = error.message.to_lowercase();
    ["location", "place", "latitude"]
        .iter()
        .any(|word| message.contains(word))
}
