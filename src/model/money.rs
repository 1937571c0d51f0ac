//! Amounts as the service sends them.

use serde_json::Value;

use super::certainty::Certainty;
use crate::json::plain;

/// An amount with its currency, for people: `12.50 EUR`. Returns `None` for what is no number.
///
/// A whole number is in the currency's minor unit where the contract is known to hold. Elsewhere it may be either unit,
/// so it is written as it came, with the currency in brackets: `7300 (USD)`. A number with a decimal point, also as text,
/// is never in minor units.
pub(crate) fn money(
    amount: &Value,
    currency: Option<&str>,
    certainty: Certainty,
) -> Option<String> {
    let currency = currency.unwrap_or_default();
    let number = match amount {
        Value::Number(number) => match (number.as_i64(), certainty) {
            (Some(minor), Certainty::Contract) => major(minor, currency),
            _ => decimal(&number.to_string())?,
        },
        Value::String(text) => decimal(text.trim())?,
        _ => return None,
    };
    Some(match currency.is_empty() {
        true => number,
        false if is_unit_known(amount, certainty) => format!("{number} {currency}"),
        false => format!("{number} ({currency})"),
    })
}

/// Whether it is certain that an amount is in the currency's main unit or in its minor unit.
pub(crate) fn is_unit_known(amount: &Value, certainty: Certainty) -> bool {
    certainty == Certainty::Contract || plain(amount).contains('.')
}

/// An amount in minor units, in the currency's main unit.
fn major(minor: i64, currency: &str) -> String {
    match has_minor_unit(currency) {
        true => format!(
            "{}{}.{:02}",
            if minor < 0 { "-" } else { "" },
            minor.unsigned_abs() / 100,
            minor.unsigned_abs() % 100
        ),
        false => minor.to_string(),
    }
}

/// A number as it is written, with a second place after its point.
fn decimal(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    Some(match digits.contains('.') && fraction.len() == 1 {
        true => format!("{text}0"),
        false => text.to_owned(),
    })
}

/// Whether the name of a field says that its number is in minor units.
pub(crate) fn names_minor_units(field: &str) -> bool {
    let field = field.to_lowercase();
    ["minor", "cents", "pence"]
        .iter()
        .any(|word| field.contains(word))
}

/// The ISO 4217 currencies without a minor unit.
fn has_minor_unit(currency: &str) -> bool {
    !matches!(
        currency,
        "JPY" | "KRW" | "VND" | "CLP" | "ISK" | "XAF" | "XOF"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn minor_units_become_an_amount_in_the_currency() {
        let money = |amount, currency| money(&amount, currency, Certainty::Contract);
        assert_eq!(
            money(json!(1250), Some("EUR")).as_deref(),
            Some("12.50 EUR")
        );
        assert_eq!(money(json!(1250), Some("JPY")).as_deref(), Some("1250 JPY"));
        assert_eq!(money(json!(5), None).as_deref(), Some("0.05"));
        assert_eq!(money(json!("a lot"), Some("EUR")), None);
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
