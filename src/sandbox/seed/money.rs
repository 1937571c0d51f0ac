//! Amounts and currencies.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

/// An amount in minor units of its currency: pence, cents, and whole yen (the yen has no minor unit).
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
        known
            .map(|it| Self(it))
            .ok_or_else(|| de::Error::custom(demand))
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
