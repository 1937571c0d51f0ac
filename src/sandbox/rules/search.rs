//! The request to search venues, and the providers that answer it ("Venues").

use serde::Deserialize;

use super::api_error::{ApiError, Result};
use super::fields::{self, FieldErrors};
use super::organization::Organization;
use crate::sandbox::seed::{
    Provider, SeedPlace, SeedVenue, Vertical, names_city, resolve_place, within_reach,
};

pub(crate) struct VenueSearch {
    pub(crate) vertical: Vertical,
    pub(crate) around: SearchArea,
    /// The providers that the request names, in its order; `None` for all of the organization's.
    named: Option<Vec<Provider>>,
}

pub(crate) enum SearchArea {
    Place(SeedPlace),
    /// A location that names the city of a venue of the organization's own.
    OwnCity(String),
    Point {
        latitude: f64,
        longitude: f64,
    },
}

#[derive(Deserialize)]
struct SearchBody {
    vertical: Option<String>,
    datetime: Option<String>,
    location: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    providers: Option<Vec<String>>,
    #[serde(default, deserialize_with = "fields::whole")]
    party_size: Option<i64>,
}

impl SearchBody {
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
    fn around(&self, own: &[SeedVenue]) -> Option<SearchArea> {
        if let Some((latitude, longitude)) = self.latitude.zip(self.longitude) {
            return Some(SearchArea::Point { latitude, longitude });
        }
        let location = self.location.as_deref()?;
        if let Some(place) = resolve_place(location) {
            return Some(SearchArea::Place(place));
        }
        let is_own = own.iter().any(|it| names_city(location, &it.city));
        is_own.then(|| SearchArea::OwnCity(location.to_owned()))
    }
}

impl SearchArea {
    pub(crate) fn holds(&self, venue: &SeedVenue) -> bool {
        match self {
            Self::Place(place) => {
                let is_named = || resolve_place(&venue.city) == Some(*place);
                venue.city == place.city() || venue.is_own && is_named()
            }
            Self::OwnCity(location) => venue.is_own && names_city(location, &venue.city),
            Self::Point { .. } => self.distance(venue).is_some(),
        }
    }

    /// How many km a venue is from its point, if it has one and the venue is within reach.
    pub(crate) fn distance(&self, venue: &SeedVenue) -> Option<f64> {
        match *self {
            Self::Point { latitude, longitude } => within_reach(latitude, longitude, venue),
            _ => None,
        }
    }
}

impl VenueSearch {
    pub(crate) fn read(body: &[u8], own: &[SeedVenue]) -> Result<Self> {
        let body: SearchBody = fields::read(body)?;
        let missing = body.missing();
        if !missing.is_empty() {
            return Err(ApiError::missing(&missing));
        }
        let mut errors = FieldErrors::default();
        let known = |it: &str| serde_json::from_value(it.into()).ok();
        let demand = "must be one of dining, fitness, entertainment, travel";
        let vertical = errors.parsed("vertical", body.vertical.as_deref(), known, demand);
        let vertical = vertical.unwrap_or(Vertical::Dining);
        errors.moment("datetime", body.datetime.as_deref().unwrap_or_default());
        errors.party_size(body.party_size);
        for (field, degrees, most) in
            [("latitude", body.latitude, 90.0), ("longitude", body.longitude, 180.0)]
        {
            if degrees.is_some_and(|it| it.abs() > most) {
                errors.add(field, format!("must be -{most} to {most}"));
            }
        }
        errors.finish()?;
        let around = body.around(own);
        let parse = |name: &String| Provider::parse(name).ok_or(ApiError::UNKNOWN_SEARCH_PROVIDER);
        let named = body.providers.filter(|it| !it.is_empty());
        let named = named.map(|it| it.iter().map(parse).collect()).transpose()?;
        Ok(Self { vertical, around: around.ok_or(ApiError::LOCATION_UNRESOLVED)?, named })
    }

    /// The providers that respond and those that fail: all near "Outage", provider C near "Partial
    /// Outage". The request's providers are asked, else all of the organization.
    pub(crate) fn ask(
        &self,
        organization: &Organization,
    ) -> Result<(Vec<Provider>, Vec<Provider>)> {
        let fails = |provider: &Provider| match self.around {
            SearchArea::Place(SeedPlace::Outage) => true,
            SearchArea::Place(SeedPlace::PartialOutage) => *provider == Provider::C,
            _ => false,
        };
        let requested = self.named.as_deref().unwrap_or(&Provider::ALL);
        let usable =
            requested.iter().copied().filter(|it| organization.search_providers.contains(it));
        let (failed, answering): (Vec<_>, Vec<_>) = usable.partition(fails);
        match (answering.as_slice(), failed.as_slice()) {
            ([], []) if self.named.is_some() => Err(ApiError::UNKNOWN_SEARCH_PROVIDER),
            ([], []) => Err(ApiError::NO_SEARCH_PROVIDER),
            ([], _) => Err(ApiError::search_failed(&failed)),
            _ => Ok((answering, failed)),
        }
    }
}
