//! Fixtures: venues and bookings of one's own, as one document.

use std::collections::HashSet;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use serde::Deserialize;
use serde_json::Value;

use super::api_error::{ApiError, Result};
use super::booking::StoredCustomer;
use super::fields::{rfc3339, typed};
use super::state::{BookingErrorCode, BookingStatus};
use crate::sandbox::seed::{self, Currency, Provider, Scenario, SeedVenue, SlotPlan, Vertical};
use crate::sandbox::wire::IdKind;

/// Numbers of bookings that the sandbox made are above it for all times to come.
const MOST_NUMBER: i64 = 1 << 60;
const MOST_AMOUNT: i64 = 1_000_000_000;
const DAY_MINUTES: u16 = 24 * 60;
const MOST_SEATINGS: usize = 32;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fixtures {
    #[serde(default)]
    pub(crate) venues: Vec<VenueFixture>,
    #[serde(default)]
    pub(crate) bookings: Vec<BookingFixture>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VenueFixture {
    pub(crate) venue_id: String,
    name: String,
    vertical: Vertical,
    /// `None` if several serve the venue; `providers` then lists them.
    provider: Option<Provider>,
    providers: Option<Vec<Provider>>,
    city: String,
    country: Option<String>,
    latitude: f64,
    longitude: f64,
    timezone: String,
    address: Option<String>,
    price_level: Option<u8>,
    #[serde(default)]
    tags: Vec<String>,
    outcome: Option<Scenario>,
    slots: SlotPlan,
    #[serde(default)]
    closed: Vec<Date>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BookingFixture {
    id: Option<String>,
    pub(crate) venue_id: String,
    pub(crate) provider: Option<Provider>,
    pub(crate) datetime: FixtureTime,
    pub(crate) party_size: u8,
    pub(crate) customer: StoredCustomer,
    #[serde(default)]
    pub(crate) status: BookingStatus,
    pub(crate) error_code: Option<BookingErrorCode>,
    pub(crate) end_user: Option<String>,
    pub(crate) seating_preference: Option<String>,
    pub(crate) payment_collection: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum FixtureTime {
    At(Timestamp),
    /// In the venue's zone.
    Local(DateTime),
    /// So many days from the sandbox's day, in the venue's zone.
    Relative {
        days: i64,
        time: Time,
    },
}

/// Whether something is wrong, with the field and what it must be instead.
type FixtureResult = (bool, &'static str, &'static str);

impl Fixtures {
    /// The error is the first mistake, with the path that leads to it.
    pub(crate) fn read(body: &Value) -> Result<Self> {
        let fixtures: Self = typed(body)?;
        let mut ids = HashSet::new();
        for (place, venue) in fixtures.venues.iter().enumerate() {
            let is_second = !ids.insert(&venue.venue_id);
            let twice = [(is_second, "venue_id", "is in the list twice")];
            refuse("venues", place, twice.into_iter().chain(venue.checks()))?;
        }
        for (place, booking) in fixtures.bookings.iter().enumerate() {
            refuse("bookings", place, booking.checks())?;
        }
        Ok(fixtures)
    }
}

fn refuse(list: &str, place: usize, mut checks: impl Iterator<Item = FixtureResult>) -> Result<()> {
    match checks.find(|(is_wrong, ..)| *is_wrong) {
        Some((_, field, why)) => Err(ApiError::invalid(&format!("{list}[{place}].{field}"), why)),
        None => Ok(()),
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

impl VenueFixture {
    #[rustfmt::skip]
    fn checks(&self) -> impl Iterator<Item = FixtureResult> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let id = self.venue_id.as_str();
        let listed = self.providers.as_deref().unwrap_or_default();
        let is_repeated = (1..listed.len()).any(|it| listed[..it].contains(&listed[it]));
        let is_dining = self.vertical == Vertical::Dining;
        let takes_payments = is_dining && self.all_providers().contains(&Provider::A);
        let slots = &self.slots;
        let is_whole = |time: Time| time.second() == 0 && time.subsec_nanosecond() == 0;
        let is_amount = |amount: Option<i64>| amount.is_none_or(|it| (0..=MOST_AMOUNT).contains(&it));
        let amount = "must be 0 to 1000000000, in minor units";
        let (card, fee) = (slots.card_terms.as_ref(), slots.cancellation_terms.as_ref());
        let (hold_amount, fee_amount) = (card.and_then(|it| it.hold_amount), fee.and_then(|it| it.fee_amount));
        let hours = fee.and_then(|it| it.free_until_hours);
        [
            (id.is_empty() || id.len() > 100 || !id.chars().all(is_plain), "venue_id", "must be 1 to 100 letters, digits, dots, dashes and underscores"),
            (seed::venue(id).is_some(), "venue_id", "is that of a venue that every sandbox has"),
            (is_blank(&self.name), "name", "must not be blank"),
            (is_blank(&self.city), "city", "must not be blank"),
            (self.provider.is_some() && self.providers.is_some(), "providers", "cannot be given beside provider"),
            (self.provider.is_none() && listed.is_empty(), "provider", "is required, or providers"),
            (is_repeated, "providers", "must name each provider once"),
            (!(-90.0..=90.0).contains(&self.latitude), "latitude", "must be -90 to 90"),
            (!(-180.0..=180.0).contains(&self.longitude), "longitude", "must be -180 to 180"),
            (seed::timezone(&self.timezone).is_none(), "timezone", "must be an IANA name, such as Europe/London"),
            (self.price_level.is_some_and(|it| !(1..=4).contains(&it)), "price_level", "must be 1 to 4"),
            (self.outcome.is_some_and(Scenario::is_payment) && !takes_payments, "outcome", "needs vertical dining and provider provider_a"),
            (!is_whole(slots.from), "slots.from", "must be a time such as 19:30"),
            (!is_whole(slots.to), "slots.to", "must be a time such as 19:30"),
            (slots.to < slots.from, "slots.to", "must not be before from; it is the last start"),
            (!(1..=DAY_MINUTES).contains(&slots.every_minutes), "slots.every_minutes", "must be 1 to 1440"),
            (!(1..=100_000).contains(&slots.capacity), "slots.capacity", "must be 1 to 100000"),
            (!(1..=144_000).contains(&slots.duration_minutes), "slots.duration_minutes", "must be 1 to 144000"),
            (slots.days.is_empty(), "slots.days", "must name a day"),
            (slots.seating.len() > MOST_SEATINGS, "slots.seating", "must be at most 32 texts"),
            (slots.seating.iter().any(|it| is_blank(it)), "slots.seating", "must not be blank"),
            (!is_amount(slots.price.map(|it| it.amount)), "slots.price.amount", amount),
            (card.is_some() && !is_dining, "slots.card_terms", "is for dining venues alone"),
            (fee.is_some() && !is_dining, "slots.cancellation_terms", "is for dining venues alone"),
            (!is_amount(hold_amount), "slots.card_terms.hold_amount", amount),
            (!is_amount(fee_amount), "slots.cancellation_terms.fee_amount", amount),
            (hold_amount.is_some() && card.is_some_and(|it| it.currency.is_none()), "slots.card_terms.currency", "is required"),
            (fee_amount.is_some() && fee.is_some_and(|it| it.currency.is_none()), "slots.cancellation_terms.currency", "is required"),
            (hours.is_some_and(|it| !(0..=8_760).contains(&it)), "slots.cancellation_terms.free_until_hours", "must be 0 to 8760"),
        ]
        .into_iter()
    }

    fn all_providers(&self) -> &[Provider] {
        match &self.provider {
            Some(provider) => std::slice::from_ref(provider),
            None => self.providers.as_deref().unwrap_or_default(),
        }
    }

    pub(crate) fn venue(self) -> SeedVenue {
        let providers = self.all_providers().to_vec();
        let offer = match self.outcome {
            Some(outcome) => self.slots.met_by(outcome),
            None => self.slots,
        };
        SeedVenue {
            id: self.venue_id,
            name: self.name,
            vertical: self.vertical,
            providers,
            address: self.address.unwrap_or_else(|| self.city.clone()),
            country: self.country.unwrap_or_else(|| seed::country_of(&self.city).to_owned()),
            city: self.city,
            latitude: self.latitude,
            longitude: self.longitude,
            timezone: seed::timezone(&self.timezone).unwrap_or(TimeZone::UTC),
            price_level: self.price_level,
            tags: self.tags,
            scenario: self.outcome,
            is_own: true,
            currency: offer.currency().unwrap_or(Currency("EUR")),
            offer,
            closed: self.closed,
        }
    }
}

impl BookingFixture {
    #[rustfmt::skip]
    fn checks(&self) -> impl Iterator<Item = FixtureResult> {
        let takes_error = matches!(self.status, BookingStatus::Failed | BookingStatus::Confirmed);
        [
            (self.id.is_some() && self.number().is_none(), "id", "must be bk_0 and 12 of 0-9 and a-z without i, l, o and u, as bk_0000000000001"),
            (!(1..=20).contains(&self.party_size), "party_size", "must be 1 to 20"),
            (is_blank(&self.customer.name), "customer.name", "must not be blank"),
            (self.payment_collection.as_deref().is_some_and(|it| it != "vendor_external"), "payment_collection", "must be vendor_external"),
            (self.error_code.is_some() && !takes_error, "error_code", "is for a failed or a confirmed booking alone"),
        ]
        .into_iter()
    }

    pub(crate) fn number(&self) -> Option<i64> {
        IdKind::BOOKING.number(self.id.as_deref()?).filter(|it| (1..MOST_NUMBER).contains(it))
    }
}

impl TryFrom<String> for FixtureTime {
    type Error = &'static str;

    /// Reads an RFC 3339 time, a local time, or `+1d 19:30`.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let relative = |(days, time): (&str, &str)| {
            let is_signed = days.starts_with(['+', '-']);
            let days = days.parse().ok().filter(|_| is_signed)?;
            let time = time.trim().parse().ok()?;
            (-36_500..=36_500).contains(&days).then_some(Self::Relative { days, time })
        };
        let local = || text.contains(':').then(|| text.parse().ok()).flatten();
        rfc3339(&text)
            .map(Self::At)
            .or_else(|| text.split_once("d ").and_then(relative))
            .or_else(|| local().map(Self::Local))
            .ok_or("it must be a time such as 2026-12-01T19:30:00+01:00, 2026-12-01 19:30 or +1d 19:30")
    }
}

impl FixtureTime {
    /// The time in a zone. `None` if the clocks there skip it.
    pub(crate) fn resolve(self, zone: &TimeZone, now: Timestamp) -> Option<Zoned> {
        let local = match self {
            Self::At(at) => return Some(at.to_zoned(zone.clone())),
            Self::Local(local) => local,
            Self::Relative { days, time } => {
                now.to_zoned(zone.clone()).date().checked_add(days.days()).ok()?.to_datetime(time)
            }
        };
        let at = local.to_zoned(zone.clone()).ok()?;
        (at.datetime() == local).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn venue() -> Value {
        json!({
            "venue_id": "ven_mill", "name": "The Old Mill", "vertical": "dining",
            "provider": "provider_a", "city": "Bath", "latitude": 51.38, "longitude": -2.36,
            "timezone": "Europe/London",
            "slots": {"from": "18:00", "to": "21:00", "every_minutes": 30, "capacity": 4},
        })
    }

    /// The field that is refused if the value at a pointer of the document is replaced.
    fn refused(pointer: &str, value: Value) -> String {
        let booking = json!({"venue_id": "ven_mill", "datetime": "+1d 19:30", "party_size": 2,
            "customer": {"name": "Ada Lovelace"}});
        let mut document = json!({"venues": [venue()], "bookings": [booking]});
        Fixtures::read(&document).unwrap();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        document.pointer_mut(parent).unwrap()[field] = value;
        let refused = Fixtures::read(&document).unwrap_err().answer().1;
        let fields = refused["fields"].as_object().unwrap();
        fields.keys().next().unwrap().clone()
    }

    #[test]
    fn a_mistake_is_refused_with_the_path_of_its_field() {
        for (pointer, value) in [
            ("/x", json!(1)),
            ("/venues/0/nmae", json!("x")),
            ("/venues/0/name", json!(" ")),
            ("/venues/0/venue_id", json!("ven_otp")),
            ("/venues/0/providers", json!(["provider_b"])),
            ("/venues/0/latitude", json!(91)),
            ("/venues/0/timezone", json!("Europe/Bath")),
            ("/venues/0/outcome", json!("explodes")),
            ("/venues/0/slots/to", json!("17:00")),
            ("/venues/0/slots/capcity", json!(1)),
            ("/venues/0/slots/capacity", json!(0)),
            ("/venues/0/slots/days", json!([])),
            ("/venues/0/slots/seating", json!(["a", 1])),
            ("/bookings/0/id", json!("bk_1")),
            ("/bookings/0/datetime", json!("soon")),
            ("/bookings/0/party_size", json!(0)),
            ("/bookings/0/customer/name", json!("")),
            ("/bookings/0/status", json!("done")),
        ] {
            let path = pointer[1..].replace('/', ".").replace(".0", "[0]");
            assert_eq!(refused(pointer, value), path);
        }
        let twice = json!({"venues": [venue(), venue()]});
        assert!(Fixtures::read(&twice).is_err());
    }

    #[test]
    fn a_time_is_absolute_local_or_relative_to_the_sandboxs_day() {
        let zone = TimeZone::get("Europe/London").unwrap();
        // Already the next day in London.
        let now = "2026-06-30T23:30:00Z".parse().unwrap();
        for (text, expected) in [
            ("2026-12-01T19:30:00+01:00", "2026-12-01T18:30:00+00:00"),
            ("2026-12-01 19:30", "2026-12-01T19:30:00+00:00"),
            ("2026-12-01T19:30:00", "2026-12-01T19:30:00+00:00"),
            ("+1d 19:30", "2026-07-02T19:30:00+01:00"),
            ("-2d 08:00", "2026-06-29T08:00:00+01:00"),
            ("+0d 19:30", "2026-07-01T19:30:00+01:00"),
        ] {
            let at = FixtureTime::try_from(text.to_owned()).unwrap().resolve(&zone, now).unwrap();
            let at = at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
            assert_eq!(at, expected, "{text}");
        }
        for text in ["", "tomorrow", "1d 19:30", "+1d", "+1d 25:00", "2026-12-01", "+99999d 10:00"]
        {
            assert!(FixtureTime::try_from(text.to_owned()).is_err(), "{text}");
        }
        let skipped = FixtureTime::try_from("2027-03-28 01:30".to_owned()).unwrap();
        assert_eq!(skipped.resolve(&zone, now), None);
    }
}
