//! The request to search venues, and the providers that answer it ("Venues").

use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::{self, FieldErrors};
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

#[derive(Deserialize)]
struct Body {
    vertical: Option<String>,
    datetime: Option<String>,
    location: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    providers: Option<Vec<String>>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
}

impl Body {
    fn missing(&self) -> Vec<&'static str> {
        let is_blank = |it: &Option<String>| it.as_ref().is_none_or(|it| it.trim().is_empty());
        let (no_latitude, no_longitude) = (self.latitude.is_none(), self.longitude.is_none());
        let is_nowhere = no_latitude && no_longitude;
        [
            (is_blank(&self.vertical), "vertical"),
            (is_blank(&self.datetime), "datetime"),
            (no_latitude && !is_nowhere, "latitude"),
            (no_longitude && !is_nowhere, "longitude"),
            (is_nowhere && is_blank(&self.location), "location"),
        ]
        .into_iter()
        .filter_map(|(is_missing, name)| is_missing.then_some(name))
        .collect()
    }

    /// The point if there is one, else the place; `None` if that is unknown.
    fn around(&self, own: &[Venue]) -> Option<SearchArea> {
        if let Some((latitude, longitude)) = self.latitude.zip(self.longitude) {
            return Some(SearchArea::Point {
                latitude,
                longitude,
            });
        }
        let location = self.location.as_deref()?;
        if let Some(place) = resolve_place(location) {
            return Some(SearchArea::Place(place));
        }
        let is_own = own.iter().any(|it| names_city(location, &it.city));
        is_own.then(|| SearchArea::OwnCity(location.to_owned()))
    }
}

impl VenueSearch {
    /// Reads the body: types, then required fields, then values. `own` are the organization's own venues.
    pub(crate) fn read(body: &Map<String, Value>, own: &[Venue]) -> Result<Self, ApiError> {
        let body: Body = fields::read(body)?;
        let missing = body.missing();
        if !missing.is_empty() {
            return Err(ApiError::Missing(missing));
        }
        let mut errors = FieldErrors::default();
        let vertical = body.vertical.as_deref();
        let vertical = vertical.and_then(|it| serde_json::from_value(it.into()).ok());
        if vertical.is_none() {
            let demand = "must be one of dining, fitness, entertainment, travel";
            errors.add("vertical", demand);
        }
        errors.moment("datetime", body.datetime.as_deref());
        errors.party_size(body.party_size);
        if body
            .latitude
            .is_some_and(|it| !(-90.0..=90.0).contains(&it))
        {
            errors.add("latitude", "must be -90 to 90");
        }
        if body
            .longitude
            .is_some_and(|it| !(-180.0..=180.0).contains(&it))
        {
            errors.add("longitude", "must be -180 to 180");
        }
        let vertical = errors.finish(vertical)?;
        let around = body.around(own);
        let named = body.providers.filter(|it| !it.is_empty());
        let named = named.map(|it| it.iter().map(|it| Provider::parse(it)).collect());
        let unknown = ApiError::NoSearchProvider { named: true };
        let named = named
            .map(|it: Option<Vec<_>>| it.ok_or(unknown))
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
            .filter(|it| organization.search_providers.contains(it))
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
        let error = ApiError::wrong_type("party_size", "must be a whole number");
        assert_eq!(read(&json!({"party_size": "two"})), Err(error));
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
