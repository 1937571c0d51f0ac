//! Amounts as the service sends them.

use serde_json::Value;

/// An `amount` in the currency's minor unit with its ISO 4217 code, for people: `12.50 EUR`.
pub(crate) fn money(amount: &Value, currency: Option<&str>) -> Option<String> {
    let minor = amount.as_i64()?;
    let currency = currency.unwrap_or_default();
    let number = if has_minor_unit(currency) {
        format!(
            "{}{}.{:02}",
            if minor < 0 { "-" } else { "" },
            minor.unsigned_abs() / 100,
            minor.unsigned_abs() % 100
        )
    } else {
        minor.to_string()
    };
    Some(if currency.is_empty() {
        number
    } else {
        format!("{number} {currency}")
    })
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
    use super::money;
    use serde_json::json;

    #[test]
    fn minor_units_become_an_amount_in_the_currency() {
        assert_eq!(
            money(&json!(1250), Some("EUR")).as_deref(),
            Some("12.50 EUR")
        );
        assert_eq!(
            money(&json!(1250), Some("JPY")).as_deref(),
            Some("1250 JPY")
        );
        assert_eq!(money(&json!(5), None).as_deref(), Some("0.05"));
        assert_eq!(money(&json!("a lot"), Some("EUR")), None);
    }
}
