//! Amounts and the currencies of the seeded cities.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// An amount in minor units of its currency: pence, cents, and whole yen (the yen has no minor unit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

/// Reads a currency by its code.
pub(super) fn currency<'de, D: Deserializer<'de>>(source: D) -> Result<CurrencyCode, D::Error> {
    let code = String::deserialize(source)?;
    let demand = "it must be an ISO 4217 code in capitals, such as EUR";
    let known = CODES.iter().copied().find(|it| *it == code);
    known.ok_or_else(|| de::Error::custom(demand))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Currency {
    Gbp,
    Usd,
    Eur,
    Jpy,
    Aud,
}

impl Currency {
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Gbp => "GBP",
            Self::Usd => "USD",
            Self::Eur => "EUR",
            Self::Jpy => "JPY",
            Self::Aud => "AUD",
        }
    }

    /// Converts pence into this currency at a fixed rate, rounded to half a unit, or to a hundred yen.
    pub(super) const fn price(self, pence: i64) -> Money {
        let (percent, step) = match self {
            Self::Gbp => (100, 50),
            Self::Usd => (130, 50),
            Self::Eur => (115, 50),
            Self::Jpy => (190, 100),
            Self::Aud => (200, 50),
        };
        let amount = pence * percent / 100;
        Money {
            amount: (amount + step / 2) / step * step,
            currency: self.code(),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { amount, currency } = self;
        if *currency == Currency::Jpy.code() {
            write!(f, "{amount} {currency}")
        } else {
            write!(f, "{}.{:02} {currency}", amount / 100, amount % 100)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_minor_units_and_yen_have_none() {
        let dinner = 2_000;
        assert_eq!(Currency::Gbp.price(dinner).to_string(), "20.00 GBP");
        assert_eq!(Currency::Jpy.price(dinner).to_string(), "3800 JPY");
        assert_eq!(Currency::Eur.price(2_010).amount, 2_300);
    }
}
