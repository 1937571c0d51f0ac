//! Venue search: what is asked for, and who is asked ("Venues").

use serde_json::{Map, Value};

use super::fields::{Complaints, Fields};
use super::organization::Organization;
use super::refusal::Refusal;
use crate::sandbox::seed::{Place, Provider, Vertical, resolve_place};

/// A venue search that makes sense.
#[derive(Debug, PartialEq)]
pub(crate) struct Search {
    pub(crate) vertical: Vertical,
    pub(crate) around: Around,
    /// Providers that the caller named, in that order; none: all of the organization's.
    named: Option<Vec<Provider>>,
}

/// Where to search.
#[derive(Debug, PartialEq)]
pub(crate) enum Around {
    Place(Place),
    /// Degrees.
    Point {
        latitude: f64,
        longitude: f64,
    },
}

impl Search {
    /// Reads the body: types, then required fields, then values.
    pub(crate) fn read(body: &Map<String, Value>) -> Result<Self, Refusal> {
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
            return Err(Refusal::Missing(missing));
        }

        let mut complaints = Complaints::default();
        let vertical = vertical.and_then(Vertical::parse);
        if vertical.is_none() {
            complaints.add(
                "vertical",
                "must be one of dining, fitness, entertainment, travel",
            );
        }
        complaints.moment("datetime", datetime);
        complaints.party_size(party_size);
        if latitude.is_some_and(|it| !(-90.0..=90.0).contains(&it)) {
            complaints.add("latitude", "must be -90 to 90");
        }
        if longitude.is_some_and(|it| !(-180.0..=180.0).contains(&it)) {
            complaints.add("longitude", "must be -180 to 180");
        }
        let vertical = complaints.settle(vertical)?;

        let around = match (latitude, longitude, location) {
            (Some(latitude), Some(longitude), _) => Some(Around::Point {
                latitude,
                longitude,
            }),
            (_, _, location) => location.and_then(resolve_place).map(Around::Place),
        };
        let named = providers
            .filter(|named| !named.is_empty())
            .map(|named| named.into_iter().map(Provider::parse).collect())
            .map(|known: Option<Vec<_>>| known.ok_or(Refusal::NoSearchProvider { named: true }))
            .transpose()?;
        Ok(Self {
            vertical,
            around: around.ok_or(Refusal::LocationUnresolved)?,
            named,
        })
    }

    /// The providers that search: those named, as far as they can search, else all that can.
    fn providers(&self, organization: &Organization) -> Result<Vec<Provider>, Refusal> {
        let candidates = self.named.as_deref().unwrap_or(&Provider::ALL);
        let usable: Vec<_> = candidates
            .iter()
            .copied()
            .filter(|it| organization.searches_with(*it))
            .collect();
        if usable.is_empty() {
            return Err(Refusal::NoSearchProvider {
                named: self.named.is_some(),
            });
        }
        Ok(usable)
    }

    /// The providers that answer, and those that fail, which is every provider near "Outage" and
    /// provider C near "Partial Outage". When all fail, so does the search.
    pub(crate) fn ask(
        &self,
        organization: &Organization,
    ) -> Result<(Vec<Provider>, Vec<Provider>), Refusal> {
        let fails = |provider: &Provider| match self.around {
            Around::Place(Place::Outage) => true,
            Around::Place(Place::PartialOutage) => *provider == Provider::C,
            _ => false,
        };
        let (failed, answering): (Vec<_>, Vec<_>) =
            self.providers(organization)?.into_iter().partition(fails);
        if answering.is_empty() {
            return Err(Refusal::SearchFailed(failed));
        }
        Ok((answering, failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const AT: &str = "2026-12-01T19:30:00+01:00";

    fn read(body: &Value) -> Result<Search, Refusal> {
        Search::read(body.as_object().unwrap())
    }

    #[test]
    fn every_missing_field_is_listed() {
        assert_eq!(
            read(&json!({})),
            Err(Refusal::Missing(vec!["vertical", "datetime", "location"]))
        );
        assert_eq!(
            read(&json!({"vertical": "dining", "datetime": AT, "latitude": 51.5})),
            Err(Refusal::Missing(vec!["longitude"]))
        );
    }

    #[test]
    fn types_come_before_what_is_missing() {
        assert_eq!(
            read(&json!({"party_size": "two"})),
            Err(Refusal::wrong_type("party_size", "must be a whole number"))
        );
    }

    #[test]
    fn a_place_that_nobody_knows_is_refused_without_a_code() {
        let body = json!({"vertical": "dining", "datetime": AT, "location": "Atlantis"});
        assert_eq!(read(&body), Err(Refusal::LocationUnresolved));
        assert_eq!(
            Refusal::LocationUnresolved.answer().1.get("error_code"),
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
        let failed = |it: &[Provider]| Err(Refusal::SearchFailed(it.to_vec()));
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
        organization.search_providers = vec!["provider_a".to_owned()];
        let ask = |organization: &Organization, providers: &[&str]| {
            read(&json!({
                "vertical": "dining", "datetime": AT, "location": "Sandbox", "providers": providers,
            }))
            .and_then(|search| search.ask(organization))
        };
        let none = |named| Err(Refusal::NoSearchProvider { named });
        assert_eq!(ask(&organization, &["provider_b"]), none(true));
        assert_eq!(ask(&organization, &["provider_z"]), none(true));
        organization.search_providers.clear();
        assert_eq!(ask(&organization, &[]), none(false));
    }
}
