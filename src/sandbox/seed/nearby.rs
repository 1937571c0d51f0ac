//! The venues near a place or a point.

use super::city;
use super::place::Place;
use super::schedule::Vertical;
use super::venue::Venue;
use super::venues::venues;

/// The radius of a search by coordinates.
const REACH_KM: f64 = 50.0;
const EARTH_RADIUS_KM: f64 = 6_371.0;

/// The venues of a vertical at a place. The places of outages have those of the made-up city; which
/// providers fail there is decided elsewhere.
pub(crate) fn near_place(place: &Place, vertical: Vertical) -> Vec<&'static Venue> {
    let city = match *place {
        Place::City(name) => name,
        Place::Sandbox | Place::Outage | Place::PartialOutage => city::SANDBOX.name,
    };
    venues()
        .filter(|it| it.vertical == vertical && it.city == city)
        .collect()
}

/// The venues of a vertical within 50 km of a point, with their distance in km, nearest first.
pub(crate) fn near_point(
    latitude: f64,
    longitude: f64,
    vertical: Vertical,
) -> Vec<(&'static Venue, f64)> {
    let mut near: Vec<_> = venues()
        .filter(|it| it.vertical == vertical)
        .filter_map(|it| Some((it, within_reach(latitude, longitude, it)?)))
        .collect();
    near.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    near
}

/// The distance of a venue from a point in km; `None` if it is more than 50 km.
pub(crate) fn within_reach(latitude: f64, longitude: f64, venue: &Venue) -> Option<f64> {
    let distance = distance_km((latitude, longitude), (venue.latitude, venue.longitude));
    (distance <= REACH_KM).then_some(distance)
}

/// The distance between two points in degrees (haversine).
fn distance_km(from: (f64, f64), to: (f64, f64)) -> f64 {
    let half_chord = |one: f64, other: f64| ((other - one).to_radians() / 2.0).sin().powi(2);
    let a = half_chord(from.0, to.0)
        + from.0.to_radians().cos() * to.0.to_radians().cos() * half_chord(from.1, to.1);
    2.0 * EARTH_RADIUS_KM * a.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_has_the_venues_of_the_made_up_city() {
        let sandbox = near_place(&Place::Sandbox, Vertical::Dining);
        assert_eq!(sandbox.len(), 24);
        for place in [Place::Outage, Place::PartialOutage] {
            assert_eq!(near_place(&place, Vertical::Dining).len(), 24);
        }
        assert!(near_place(&Place::Sandbox, Vertical::Travel).is_empty());
    }

    #[test]
    fn a_point_finds_what_is_within_reach_nearest_first() {
        // Greenwich: the harbourmaster is around the corner, Mayfair at the other end of town.
        let near = near_point(51.4810, -0.0095, Vertical::Dining);
        let ids: Vec<_> = near.iter().map(|(venue, _)| venue.id.as_str()).collect();
        assert_eq!(ids.first(), Some(&"ven_london_harbourmasters_table"));
        assert_eq!(ids.last(), Some(&"ven_london_velvet_marrow"));
        assert!(near.is_sorted_by(|one, other| one.1 <= other.1));
        // Brighton is 76 km away; no number is near anything.
        assert!(near_point(50.8225, -0.1372, Vertical::Dining).is_empty());
        assert!(near_point(f64::NAN, 0.0, Vertical::Dining).is_empty());
    }

    #[test]
    fn the_way_from_london_to_paris_is_344_km() {
        let way = distance_km((51.5074, -0.1278), (48.8566, 2.3522));
        assert!((way - 343.6).abs() < 0.5, "{way}");
    }
}
