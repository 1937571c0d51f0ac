//! The request to search venues, and the providers that answer it ("Venues").

use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::{FieldErrors, Fields};
use super::organization::Organization;
use crate::sandbox::seed::{Place, Provider, Venue, Vertical, names_city, resolve_place};

#[derive(Debug, PartialEq)]
pub(crate) struct VenueSearch {
    pub(crate) vertical: Vertical,
    pub(crate) around: SearchArea,
    /// The providers that the request names, in its order; `None` for all of the organization's.
    named: Option<Vec<Provider>>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum SearchArea {
    Place(Place),
    /// A location that names the city of a venue of the organization's own.
    OwnCity(String),
    /// Degrees.
    Point {
        latitude: f64,
        longitude: f64,
    },
}

impl SearchArea {
    /// The point if both coordinates are given, else the place; `None` if that is unknown.
    fn of(
        (latitude, longitude): (Option<f64>, Option<f64>),
        location: Option<&str>,
        own: &[Venue],
    ) -> Option<Self> {
        if let Some((latitude, longitude)) = latitude.zip(longitude) {
            return Some(Self::Point {
                latitude,
                longitude,
            });
        }
        let location = location?;
        let is_own = || own.iter().any(|it| names_city(location, &it.city));
        match resolve_place(location) {
            Some(place) => Some(Self::Place(place)),
            None => is_own().then(|| Self::OwnCity(location.to_owned())),
        }
    }
}

impl VenueSearch {
    /// Reads the body: types, then required fields, then values. `own` are the organization's own venues.
    pub(crate) fn read(body: &Map<String, Value>, own: &[Venue]) -> Result<Self, ApiError> {
        let fields = Fields::of(body);
        let vertical = fields.text("vertical")?;
        let datetime = fields.text("datetime")?;
        let location = fields.text("location")?;
        let latitude = fields.number("latitude")?;
        let longitude = fields.number("longitude")?;
        let providers = fields.texts("providers")?;
        let party_size = fields.whole("party_size")?;

        let is_blank = |it: Option<&str>| it.is_none_or(|it| it.trim().is_empty());
        let mut missing = Vec::new();
        if is_blank(vertical) {
            missing.push("vertical");
        }
        if is_blank(datetime) {
            missing.push("datetime");
        }
        match (latitude, longitude) {
            (Some(_), None) => missing.push("longitude"),
            (None, Some(_)) => missing.push("latitude"),
            (None, None) if is_blank(location) => missing.push("location"),
            _ => {}
        }
        if !missing.is_empty() {
            return Err(ApiError::Missing(missing));
        }

        let mut errors = FieldErrors::default();
        let vertical = vertical.and_then(Vertical::parse);
        if vertical.is_none() {
            errors.add(
                "vertical",
                "must be one of dining, fitness, entertainment, travel",
            );
        }
        errors.moment("datetime", datetime);
        errors.party_size(party_size);
        if latitude.is_some_and(|it| !(-90.0..=90.0).contains(&it)) {
            errors.add("latitude", "must be -90 to 90");
        }
        if longitude.is_some_and(|it| !(-180.0..=180.0).contains(&it)) {
            errors.add("longitude", "must be -180 to 180");
        }
        let vertical = errors.finish(vertical)?;

        let around = SearchArea::of((latitude, longitude), location, own);
        let named = providers
            .filter(|named| !named.is_empty())
            .map(|named| named.into_iter().map(Provider::parse).collect())
            .map(|known: Option<Vec<_>>| known.ok_or(ApiError::NoSearchProvider { named: true }))
            .transpose()?;
        Ok(Self {
            vertical,
            around: around.ok_or(ApiError::LocationUnresolved)?,
            named,
        })
    }

    /// The providers to ask: those named, else all. Providers that do not search for the organization
    /// are left out.
    fn providers(&self, organization: &Organization) -> Result<Vec<Provider>, ApiError> {
        let candidates = self.named.as_deref().unwrap_or(&Provider::ALL);
        let usable: Vec<_> = candidates
            .iter()
            .copied()
            .filter(|it| organization.searches_with(*it))
            .collect();
        if usable.is_empty() {
            return Err(ApiError::NoSearchProvider {
                named: self.named.is_some(),
            });
        }
        Ok(usable)
    }

    /// The providers that answer and those that fail: all of them near "Outage", provider C near
    /// "Partial Outage". The search fails if all of them do.
    pub(crate) fn ask(
        &self,
        organization: &Organization,
    ) -> Result<(Vec<Provider>, Vec<Provider>), ApiError> {
        let fails = |provider: &Provider| match self.around {
            SearchArea::Place(Place::Outage) => true,
            SearchArea::Place(Place::PartialOutage) => *provider == Provider::C,
            _ => false,
        };
        let (failed, answering): (Vec<_>, Vec<_>) =
            self.providers(organization)?.into_iter().partition(fails);
        if answering.is_empty() {
            return Err(ApiError::SearchFailed(failed));
        }
        Ok((answering, failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const AT: &str = "2026-12-01T19:30:00+01:00";

    fn read(body: &Value) -> Result<VenueSearch, ApiError> {
        VenueSearch::read(body.as_object().unwrap(), &[])
    }

    #[test]
    fn every_missing_field_is_listed() {
        assert_eq!(
            read(&json!({})),
            Err(ApiError::Missing(vec!["vertical", "datetime", "location"]))
        );
        assert_eq!(
            read(&json!({"vertical": "dining", "datetime": AT, "latitude": 51.5})),
            Err(ApiError::Missing(vec!["longitude"]))
        );
    }

    #[test]
    fn types_come_before_what_is_missing() {
        assert_eq!(
            read(&json!({"party_size": "two"})),
            Err(ApiError::wrong_type("party_size", "must be a whole number"))
        );
    }

    #[test]
    fn a_place_that_nobody_knows_is_refused_without_a_code() {
        let body = json!({"vertical": "dining", "datetime": AT, "location": "Atlantis"});
        assert_eq!(read(&body), Err(ApiError::LocationUnresolved));
        assert_eq!(
            ApiError::LocationUnresolved.answer().1.get("error_code"),
            None
        );
    }

    #[test]
    fn an_outage_fails_the_search_only_where_no_provider_is_left() {
        let organization = Organization::fresh(Organization::MAIN);
        let near = |place: &str, providers: &[&str]| {
            read(&json!({
                "vertical": "dining", "datetime": AT, "location": place, "providers": providers,
            }))
            .and_then(|search| search.ask(&organization))
        };
        let failed = |it: &[Provider]| Err(ApiError::SearchFailed(it.to_vec()));
        assert_eq!(near("Outage", &[]), failed(&Provider::ALL));
        assert_eq!(
            near("Partial Outage", &[]),
            Ok((vec![Provider::A, Provider::B], vec![Provider::C]))
        );
        assert_eq!(
            near("Partial Outage", &["provider_c"]),
            failed(&[Provider::C])
        );
    }

    #[test]
    fn no_search_provider_tells_a_caller_that_named_one_from_one_that_did_not() {
        let mut organization = Organization::fresh(Organization::MAIN);
        organization.search_providers = vec![Provider::A];
        let ask = |organization: &Organization, providers: &[&str]| {
            read(&json!({
                "vertical": "dining", "datetime": AT, "location": "Sandbox", "providers": providers,
            }))
            .and_then(|search| search.ask(organization))
        };
        let none = |named| Err(ApiError::NoSearchProvider { named });
        assert_eq!(ask(&organization, &["provider_b"]), none(true));
        assert_eq!(ask(&organization, &["provider_z"]), none(true));
        organization.search_providers.clear();
        assert_eq!(ask(&organization, &[]), none(false));
    }
}
