//! Ids, times, money and providers: what differs in every document alike, by the contract's names.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

/// How times are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Times {
    #[default]
    Rfc3339,
    Epoch,
    EpochMs,
}

/// How amounts are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Money {
    /// In minor units of the currency.
    #[default]
    Minor,
    /// As text with a decimal point.
    Decimal,
    /// As `{"amount": "25.00", "currency": "EUR"}`.
    Object,
}

/// The fields that hold an id of the service.
const IDS: &[&str] = &["id", "venue_id", "availability_id"];
/// How ids of the service begin. Other texts under those names are none.
const ID_PREFIXES: &[&str] = &["bk_", "evt_", "ses_", "slot_", "ven_"];
/// The fields that hold a time at the venue, on the venue's clock.
const VENUE_TIMES: &[&str] = &["datetime", "free_until"];
/// The fields that hold a moment.
const MOMENTS: &[&str] = &[
    "at",
    "created_at",
    "expires_at",
    "server_time",
    "updated_at",
];
/// The fields that hold an amount in the currency beside it.
const AMOUNTS: &[&str] = &["amount", "hold_amount", "fee_amount"];
/// What is the vendor's own, and is passed on as it is.
const VENDORS_OWN: &str = "psp_request";

/// Calls `visit` for every field of a document with its name, the objects' before those inside of them.
fn each_field(value: &mut Value, visit: &mut impl FnMut(&str, &mut Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut().filter(|(name, _)| *name != VENDORS_OWN) {
                visit(name, value);
                each_field(value, visit);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                each_field(element, visit);
            }
        }
        _ => {}
    }
}

fn is_id(name: &str, value: &str) -> bool {
    IDS.contains(&name) && ID_PREFIXES.iter().any(|it| value.starts_with(it))
}

/// The ids in a document.
pub(super) fn ids(document: &mut Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_field(document, &mut |name, value| {
        if let Some(id) = value.as_str().filter(|id| is_id(name, id)) {
            found.insert(id.to_owned());
        }
    });
    found
}

/// Replaces the ids in a document by their numbers.
pub(super) fn number_ids(document: &mut Value, number: impl Fn(&str) -> Option<i64>) {
    each_field(document, &mut |name, value| {
        let id = value.as_str().filter(|id| is_id(name, id));
        if let Some(number) = id.and_then(&number) {
            *value = number.into();
        }
    });
}

/// Replaces the names of providers.
pub(super) fn rename_providers(document: &mut Value, rename: impl Fn(&str) -> Option<String>) {
    let replace = |value: &mut Value| {
        if let Some(name) = value.as_str().and_then(&rename) {
            *value = name.into();
        }
    };
    each_field(document, &mut |name, value| match name {
        "provider" => replace(value),
        "providers" | "providers_failed" => {
            value.as_array_mut().into_iter().flatten().for_each(replace);
        }
        _ => {}
    });
}

/// Rewrites every time in a document. With `local`, times at the venue lose their offset.
pub(super) fn write_times(document: &mut Value, times: Times, local: bool) {
    if times == Times::Rfc3339 && !local {
        return;
    }
    each_field(document, &mut |name, value| {
        let at_venue = VENUE_TIMES.contains(&name);
        if !at_venue && !MOMENTS.contains(&name) {
            return;
        }
        // `{from, to}` in a last_modification.
        if let Value::Object(change) = value {
            change
                .values_mut()
                .for_each(|it| write_time(it, times, local));
        } else {
            write_time(value, times, local && at_venue);
        }
    });
}

fn write_time(value: &mut Value, times: Times, local: bool) {
    let Some((text, at)) = value.as_str().and_then(|it| Some((it, it.parse().ok()?))) else {
        return;
    };
    let at: Timestamp = at;
    *value = match times {
        Times::Epoch => at.as_second().into(),
        Times::EpochMs => at.as_millisecond().into(),
        Times::Rfc3339 if local => text.get(..19).unwrap_or(text).into(),
        Times::Rfc3339 => return,
    };
}

/// Rewrites every amount in a document.
pub(super) fn write_money(document: &mut Value, money: Money) {
    if money == Money::Minor {
        return;
    }
    if let Value::Object(fields) = document {
        write_amounts(fields, money);
    }
    each_field(document, &mut |_, value| {
        // An array's objects are no fields, and its fields are visited with their arrays.
        match value {
            Value::Object(fields) => write_amounts(fields, money),
            Value::Array(elements) => {
                for fields in elements.iter_mut().filter_map(Value::as_object_mut) {
                    write_amounts(fields, money);
                }
            }
            _ => {}
        }
    });
}

fn write_amounts(fields: &mut Map<String, Value>, money: Money) {
    let Some(currency) = fields.get("currency").and_then(Value::as_str) else {
        return;
    };
    let currency = currency.to_owned();
    let is_money_alone = fields.len() == 2;
    let mut is_nested = false;
    for name in AMOUNTS {
        let Some(amount) = fields.get_mut(*name) else {
            continue;
        };
        let Some(minor) = amount.as_i64() else {
            continue;
        };
        let text = decimal(minor, &currency);
        if money == Money::Object && !is_money_alone {
            *amount = json!({"amount": text, "currency": currency});
            is_nested = true;
        } else {
            *amount = text.into();
        }
    }
    if is_nested {
        fields.shift_remove("currency");
    }
}

/// The amount in the currency's own unit. The yen has no minor unit.
fn decimal(minor: i64, currency: &str) -> String {
    match currency {
        "JPY" => minor.to_string(),
        _ => {
            let sign = if minor < 0 { "-" } else { "" };
            let minor = minor.unsigned_abs();
            format!("{sign}{}.{:02}", minor / 100, minor % 100)
        }
    }
}

/// The time in a request as RFC 3339. The error says what it must be instead.
pub(super) fn read_time(
    value: &Value,
    times: Times,
    zone: impl FnOnce() -> TimeZone,
) -> Result<Value, &'static str> {
    let moment = match times {
        Times::Rfc3339 => {
            let local = value.as_str().filter(|it| it.len() <= 19).and_then(|it| {
                let local: DateTime = it.parse().ok()?;
                it.contains(['T', 't']).then_some(local)
            });
            let Some(local) = local else {
                return Ok(value.clone());
            };
            let Ok(zoned) = local.to_zoned(zone()) else {
                return Err("must be a time that the venue's clock shows");
            };
            return Ok(zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string().into());
        }
        Times::Epoch => value.as_i64().map(Timestamp::from_second),
        Times::EpochMs => value.as_i64().map(Timestamp::from_millisecond),
    };
    match (moment, times) {
        (Some(Ok(at)), _) => Ok(at.to_string().into()),
        (_, Times::EpochMs) => Err("must be milliseconds since 1970"),
        _ => Err("must be seconds since 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booking() -> Value {
        json!({
            "id": "bk_1", "provider": "provider_a", "venue_id": "ven_otp", "datetime": "2026-12-01T19:30:00+01:00",
            "next_action": {
                "type": "payment_approval", "amount": 2500, "currency": "EUR", "expires_at": "2026-11-21T12:00:00.040Z",
                "psp_request": {"amount": 2500, "currency": "EUR", "id": "bk_9"},
            },
            "last_modification": {
                "at": "2026-11-21T12:00:00.000Z",
                "changes": {"datetime": {"from": "2026-12-01T18:00:00+01:00", "to": "2026-12-01T19:30:00+01:00"}},
            },
        })
    }

    #[test]
    fn ids_become_numbers_where_they_are_ids() {
        let mut document = json!({
            "open_bookings": [booking()], "fields": {"venue_id": "is required", "id": "is not known"},
        });
        let expected = BTreeSet::from(["bk_1".to_owned(), "ven_otp".to_owned()]);
        assert_eq!(ids(&mut document), expected);
        number_ids(&mut document, |id| Some(if id == "bk_1" { 1 } else { 2 }));
        assert_eq!(document["open_bookings"][0]["id"], 1);
        assert_eq!(document["open_bookings"][0]["venue_id"], 2);
        assert_eq!(document["fields"]["venue_id"], "is required");
        let vendors_own = &document["open_bookings"][0]["next_action"]["psp_request"]["id"];
        assert_eq!(vendors_own, "bk_9");
    }

    #[test]
    fn times_become_numbers_or_lose_the_venues_offset() {
        let written = |times, local| {
            let mut document = booking();
            write_times(&mut document, times, local);
            document
        };
        let epoch = written(Times::Epoch, false);
        assert_eq!(epoch["datetime"], 1_796_149_800);
        assert_eq!(
            epoch["last_modification"]["changes"]["datetime"]["to"],
            1_796_149_800
        );
        assert_eq!(epoch["next_action"]["expires_at"], 1_795_262_400);
        let ms = written(Times::EpochMs, false);
        assert_eq!(ms["next_action"]["expires_at"], 1_795_262_400_040_i64);
        let local = written(Times::Rfc3339, true);
        assert_eq!(local["datetime"], "2026-12-01T19:30:00");
        assert_eq!(
            local["last_modification"]["changes"]["datetime"]["from"],
            "2026-12-01T18:00:00"
        );
        assert_eq!(
            local["next_action"]["expires_at"],
            "2026-11-21T12:00:00.040Z"
        );
        assert_eq!(written(Times::Rfc3339, false), booking());
    }

    #[test]
    fn a_time_of_a_request_is_read_as_the_service_writes_it() {
        let paris = || TimeZone::get("Europe/Paris").unwrap();
        let read = |value: Value, times| read_time(&value, times, paris);
        let evening = json!("2026-12-01T19:30:00+01:00");
        assert_eq!(
            read(json!("2026-12-01T19:30:00"), Times::Rfc3339),
            Ok(evening.clone())
        );
        assert_eq!(
            read(json!("2026-12-01T19:30"), Times::Rfc3339),
            Ok(evening.clone())
        );
        assert_eq!(read(evening.clone(), Times::Rfc3339), Ok(evening.clone()));
        // What is no time is for the rules of the service to refuse.
        assert_eq!(read(json!("soon"), Times::Rfc3339), Ok(json!("soon")));
        let instant = Ok(json!("2026-12-01T18:30:00Z"));
        assert_eq!(read(json!(1_796_149_800), Times::Epoch), instant);
        assert_eq!(read(json!(1_796_149_800_000_i64), Times::EpochMs), instant);
        assert_eq!(
            read(evening, Times::EpochMs),
            Err("must be milliseconds since 1970")
        );
        assert!(read(json!(i64::MAX), Times::Epoch).is_err());
    }

    #[test]
    fn money_becomes_text_or_an_object_but_not_in_what_the_vendor_needs() {
        let written = |document: &Value, money| {
            let mut document = document.clone();
            write_money(&mut document, money);
            document
        };
        let slots = json!({"slots": [{
            "price": {"amount": 3800, "currency": "JPY"},
            "card_terms": {"required": true, "hold_amount": 1005, "currency": "GBP", "text": "x"},
        }]});
        let decimal = written(&slots, Money::Decimal);
        assert_eq!(
            decimal["slots"][0]["price"],
            json!({"amount": "3800", "currency": "JPY"})
        );
        assert_eq!(decimal["slots"][0]["card_terms"]["hold_amount"], "10.05");
        let object = written(&slots, Money::Object);
        assert_eq!(
            object["slots"][0]["price"],
            json!({"amount": "3800", "currency": "JPY"})
        );
        assert_eq!(
            object["slots"][0]["card_terms"],
            json!({"required": true, "hold_amount": {"amount": "10.05", "currency": "GBP"}, "text": "x"})
        );
        let booking = written(&booking(), Money::Object);
        assert_eq!(
            booking["next_action"]["amount"],
            json!({"amount": "25.00", "currency": "EUR"})
        );
        assert_eq!(booking["next_action"]["psp_request"]["amount"], 2500);
    }

    #[test]
    fn providers_are_renamed_wherever_they_are_named() {
        let mut document = json!({"provider": "provider_a", "venues": [{"providers": ["provider_a", "provider_c"]}]});
        rename_providers(&mut document, |name| {
            (name == "provider_a").then(|| "alpha".to_owned())
        });
        assert_eq!(
            document,
            json!({"provider": "alpha", "venues": [{"providers": ["alpha", "provider_c"]}]})
        );
    }
}
