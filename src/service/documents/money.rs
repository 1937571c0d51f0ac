//! Amounts as the service sends them.

use serde_json::Value;

use super::certainty::Certainty;
use crate::json::plain;

/// An amount with its currency, for people: `12.50 EUR`. Returns `None` for what is no number. A
/// whole number is in the currency's minor unit where the contract is known to hold. Elsewhere it
/// may be either unit, so it is written as it came, with the currency in brackets: `7300 (USD)`. A
/// number with a decimal point is never in minor units.
pub(crate) fn money(
    amount: &Value,
    currency: Option<&str>,
    certainty: Certainty,
) -> Option<String> {
    let currency = currency.unwrap_or_default();
    let number = number(amount, currency, certainty)?;
    Some(match currency {
        "" => number,
        currency if is_unit_known(amount, currency, certainty) => format!("{number} {currency}"),
        currency => format!("{number} ({currency})"),
    })
}

fn number(amount: &Value, currency: &str, certainty: Certainty) -> Option<String> {
    match amount {
        Value::Number(number) => match (number.as_i64(), certainty) {
            (Some(minor), Certainty::Contract) => Some(major(minor, currency)),
            _ => decimal(&number.to_string()),
        },
        Value::String(text) => decimal(text.trim()),
        _ => None,
    }
}

/// An amount in its currency's main unit with the currency, as two columns; empty where the unit
/// is not certain.
pub(crate) fn money_columns(
    amount: &Value,
    currency: Option<&str>,
    certainty: Certainty,
) -> [String; 2] {
    let currency = currency.unwrap_or_default();
    let number = number(amount, currency, certainty);
    match number.filter(|_| is_unit_known(amount, currency, certainty)) {
        Some(number) => [number, currency.to_owned()],
        None => Default::default(),
    }
}

pub(crate) fn is_unit_known(amount: &Value, currency: &str, certainty: Certainty) -> bool {
    certainty == Certainty::Contract || plain(amount).contains('.') || minor_digits(currency) == 0
}

/// An amount for each guest, and for a party: `23.00 EUR per guest`, `92.00 EUR for 4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GuestMoney {
    pub(crate) each: String,
    /// `None` for a party of one, or if it is not certain what the amount is for.
    pub(crate) all: Option<String>,
    /// The amount, its currency and what it is for, in columns; empty where that is not certain.
    pub(crate) columns: [String; 3],
}

impl GuestMoney {
    /// Our amounts are for each guest. Those of another service are uncertain.
    pub(crate) fn from_amount(
        amount: &Value,
        currency: Option<&str>,
        certainty: Certainty,
        party: u32,
    ) -> Option<Self> {
        let each = money(amount, currency, certainty)?;
        let [number, unit] = money_columns(amount, currency, certainty);
        let columns = |per: &str| [number, unit, per.to_owned()];
        if certainty != Certainty::Contract {
            return Some(GuestMoney { each, all: None, columns: columns("") });
        }
        let all = amount.as_i64().filter(|_| party > 1);
        let all = all.and_then(|each| each.checked_mul(party.into()));
        let all = all.and_then(|all| money(&all.into(), currency, certainty));
        Some(GuestMoney {
            each: format!("{each} per guest"),
            all: all.map(|all| format!("{all} for {party}")),
            columns: columns("guest"),
        })
    }

    /// `23.00 EUR per guest (92.00 EUR for 4)`
    pub(crate) fn words(&self) -> String {
        match &self.all {
            Some(all) => format!("{} ({all})", self.each),
            None => self.each.clone(),
        }
    }
}

fn major(minor: i64, currency: &str) -> String {
    let digits = minor_digits(currency);
    if digits == 0 {
        return minor.to_string();
    }
    let (sign, minor) = (if minor < 0 { "-" } else { "" }, minor.unsigned_abs());
    let unit = 10_u64.pow(digits);
    let places = digits as usize;
    format!("{sign}{}.{:0places$}", minor / unit, minor % unit)
}

/// A number as it is written, with a second place after its point.
fn decimal(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let has_one_place = digits.contains('.') && fraction.len() == 1;
    Some(format!("{text}{}", if has_one_place { "0" } else { "" }))
}

/// A document with decimals of the main unit for amounts in minor units: those named so
/// (`amount_minor`), and whole numbers that an expression wrote under our names.
pub(crate) fn in_main_units(value: &mut Value, is_own: bool) {
    const AMOUNTS: [&str; 3] = ["amount", "hold_amount", "fee_amount"];
    let Value::Object(object) = value else {
        return value.as_array_mut().into_iter().flatten().for_each(|it| in_main_units(it, is_own));
    };
    let currency = object.get("currency").and_then(Value::as_str).map(str::to_owned);
    for name in AMOUNTS {
        let stated = format!("{name}_minor");
        let minor = object.get(&stated).or(object.get(name).filter(|_| is_own));
        if let (Some(currency), Some(minor)) = (&currency, minor.and_then(Value::as_i64))
            && (is_own || !object.contains_key(name))
        {
            let amount = major(minor, currency).into();
            object.remove(&stated);
            object.insert(name.to_owned(), amount);
        }
    }
    object.values_mut().for_each(|it| in_main_units(it, is_own));
}

pub(crate) fn names_minor_units(field: &str) -> bool {
    let field = field.to_lowercase();
    ["minor", "cents", "pence"].into_iter().any(|word| field.contains(word))
}

fn minor_digits(currency: &str) -> u32 {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX"
        | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn minor_units_become_an_amount_in_the_currency() {
        for (amount, currency, text) in [
            (json!(1250), Some("EUR"), Some("12.50 EUR")),
            (json!(1250), Some("JPY"), Some("1250 JPY")),
            (json!(5), None, Some("0.05")),
            (json!(-1250), Some("KWD"), Some("-1.250 KWD")),
            (json!("a lot"), Some("EUR"), None),
        ] {
            let money = money(&amount, currency, Certainty::Contract);
            assert_eq!(money.as_deref(), text, "{amount}");
        }
    }

    #[test]
    fn amount_of_the_contract_is_shown_for_each_guest_and_all() {
        let words = |certainty, party| {
            let money = GuestMoney::from_amount(&json!(2300), Some("EUR"), certainty, party);
            money.unwrap().words()
        };
        let contract = Certainty::Contract;
        assert_eq!(words(contract, 4), "23.00 EUR per guest (92.00 EUR for 4)");
        assert_eq!(words(contract, 1), "23.00 EUR per guest");
        assert_eq!(words(Certainty::Specification, 4), "2300 (EUR)");
    }

    #[test]
    fn a_whole_number_of_an_unknown_unit_stays_as_it_came() {
        let money = |amount| money(&amount, Some("EUR"), Certainty::Specification);
        for (amount, text) in [
            (json!(1250), Some("1250 (EUR)")),
            (json!("1250"), Some("1250 (EUR)")),
            (json!(12.5), Some("12.50 EUR")),
            (json!("12.50"), Some("12.50 EUR")),
            (json!("-0.125"), Some("-0.125 EUR")),
            (json!("12,50"), None),
            (json!("EUR 12"), None),
            (json!(true), None),
        ] {
            assert_eq!(money(amount.clone()).as_deref(), text, "{amount}");
        }
        assert!(names_minor_units("amountMinor") && names_minor_units("price_cents"));
        assert!(!names_minor_units("amount"));
    }
}
