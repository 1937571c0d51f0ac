//! The cities of the venues, and amounts of their currencies.

use std::fmt;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Deserializer, Serialize, de};

pub(super) struct City {
    pub(super) name: &'static str,
    pub(super) slug: &'static str,
    pub(super) country: &'static str,
    pub(super) timezone: &'static str,
    pub(super) currency: Currency,
    /// Minor units of the currency for a pound, at a fixed rate.
    pub(super) pound: i64,
    /// What people call it, as [`plain`](super::place::plain) leaves it.
    pub(super) names: &'static [&'static str],
}

#[rustfmt::skip]
pub(super) const CITIES: [City; 5] = [
    City {
        name: "London", slug: "london", country: "United Kingdom", timezone: "Europe/London",
        currency: Currency("GBP"), pound: 100,
        names: &["london", "londres"],
    },
    City {
        name: "New York", slug: "new_york", country: "United States", timezone: "America/New_York",
        currency: Currency("USD"), pound: 130,
        names: &["new york", "nyc"],
    },
    City {
        name: "Paris", slug: "paris", country: "France", timezone: "Europe/Paris",
        currency: Currency("EUR"), pound: 115,
        names: &["paris", "parigi"],
    },
    City {
        name: "Tokyo", slug: "tokyo", country: "Japan", timezone: "Asia/Tokyo",
        currency: Currency("JPY"), pound: 190,
        names: &["tokyo", "tokio", "東京"],
    },
    City {
        name: "Sydney", slug: "sydney", country: "Australia", timezone: "Australia/Sydney",
        currency: Currency("AUD"), pound: 200,
        names: &["sydney"],
    },
];

/// The made-up city of the scenario venues.
#[rustfmt::skip]
pub(super) const SANDBOX: City = City {
    name: "Sandbox", slug: "sandbox", country: "Nowhere", timezone: "UTC",
    currency: Currency("EUR"), pound: 115,
    names: &["sandbox"],
};

pub(crate) fn country_of(place: &str) -> &'static str {
    CITIES.iter().find(|it| it.name == place).map_or(SANDBOX.country, |it| it.country)
}

/// The zone of this IANA name, from the database in the program: the system's could differ from
/// computer to computer, which slots must not.
pub(crate) fn timezone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

impl City {
    pub(super) fn money(&self, pounds: i64) -> Money {
        Money { amount: pounds * self.pound, currency: self.currency }
    }
}

/// An amount in minor units of its currency: pence, cents, and whole yen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Money {
    pub(crate) amount: i64,
    pub(crate) currency: Currency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Currency(pub(crate) &'static str);

#[rustfmt::skip]
const CURRENCIES: &[&str] = &[
    "AED", "ARS", "AUD", "BGN", "BHD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP",
    "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JOD", "JPY", "KES", "KRW", "KWD", "MAD", "MXN", "MYR", "NGN", "NOK",
    "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD",
    "UAH", "USD", "UYU", "VND", "ZAR",
];

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let code = String::deserialize(source)?;
        let known = CURRENCIES.iter().find(|it| **it == code);
        let demand = "it must be an ISO 4217 code in capitals, such as EUR";
        known.map(|it| Self(it)).ok_or_else(|| de::Error::custom(demand))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (amount, currency) = (self.amount, self.currency.0);
        let digits = match currency {
            "CLP" | "ISK" | "JPY" | "KRW" | "VND" => return write!(f, "{amount} {currency}"),
            "BHD" | "JOD" | "KWD" | "OMR" | "TND" => 3,
            _ => 2,
        };
        let unit = 10_i64.pow(digits);
        let places = digits as usize;
        write!(f, "{}.{:0places$} {currency}", amount / unit, amount % unit)
    }
}
