//! Amounts and the currencies of the seeded cities.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

/// An amount in minor units of its currency: pence, cents, and whole yen (the yen has no minor unit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Money {
    pub(crate) amount: i64,
    #[serde(deserialize_with = "currency")]
    pub(crate) currency: CurrencyCode,
}

/// An ISO 4217 code. serde would borrow a `&str` from what it reads.
pub(crate) type CurrencyCode = &'static str;

/// The currencies that a price may be in, by their ISO 4217 codes.
#[rustfmt::skip]
const CODES: &[&str] = &[
    "AED", "ARS", "AUD", "BGN", "BHD", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP",
    "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JOD", "JPY", "KES", "KRW", "KWD", "MAD", "MXN", "MYR", "NGN", "NOK",
    "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD",
    "UAH", "USD", "UYU", "VND", "ZAR",
];

pub(super) fn currency<'de, D: Deserializer<'de>>(source: D) -> Result<CurrencyCode, D::Error> {
    let code = String::deserialize(source)?;
    let demand = "it must be an ISO 4217 code in capitals, such as EUR";
    let known = CODES.iter().copied().find(|it| *it == code);
    known.ok_or_else(|| de::Error::custom(demand))
}

/// The currency of a city, into which prices are converted at a fixed rate.
#[derive(Debug)]
pub(super) struct Currency {
    pub(super) code: CurrencyCode,
    /// Minor units for a hundred pence.
    rate: i64,
    /// What prices are rounded to, in minor units.
    step: i64,
}

pub(super) static GBP: Currency = Currency::new("GBP", 100, 50);
pub(super) static USD: Currency = Currency::new("USD", 130, 50);
pub(super) static EUR: Currency = Currency::new("EUR", 115, 50);
pub(super) static JPY: Currency = Currency::new("JPY", 190, 100);
pub(super) static AUD: Currency = Currency::new("AUD", 200, 50);

impl Currency {
    const fn new(code: CurrencyCode, rate: i64, step: i64) -> Self {
        Self { code, rate, step }
    }

    pub(super) const fn price(&self, pence: i64) -> Money {
        let amount = pence * self.rate / 100;
        Money {
            amount: (amount + self.step / 2) / self.step * self.step,
            currency: self.code,
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { amount, currency } = self;
        let digits = match *currency {
            "CLP" | "ISK" | "JPY" | "KRW" | "VND" => return write!(f, "{amount} {currency}"),
            "BHD" | "JOD" | "KWD" | "OMR" | "TND" => 3,
            _ => 2,
        };
        let unit = 10_i64.pow(digits);
        let places = digits as usize;
        write!(f, "{}.{:0places$} {currency}", amount / unit, amount % unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_minor_units_and_yen_have_none() {
        let dinner = 2_000;
        assert_eq!(GBP.price(dinner).to_string(), "20.00 GBP");
        assert_eq!(JPY.price(dinner).to_string(), "3800 JPY");
        assert_eq!(EUR.price(2_010).amount, 2_300);
    }
}
