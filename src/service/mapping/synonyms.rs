//! Names of a booking's fields that services use and that cannot mean anything else.

use serde_json::{Map, Value};

use super::names::member;
use crate::json::plain;

const TIMES: [&str; 2] = ["starts_at", "start_time"];
const GIVEN: [&str; 3] = ["first_name", "given_name", "first"];
const FAMILY: [&str; 3] = ["last_name", "family_name", "last"];

/// Moves what stands under another name to the contract's, where that is missing.
pub(crate) fn with_own_names(booking: &mut Map<String, Value>) {
    rename(booking, "datetime", &TIMES);
    let is_guest = |value: &Value| match value {
        Value::Object(guest) => ["name", "first_name", "given_name", "email", "phone"]
            .iter()
            .any(|name| member(guest, name).is_some()),
        Value::String(name) => name.contains(' ') && !name.contains(|it: char| it.is_ascii_digit()),
        _ => false,
    };
    if lacks(booking, "customer") && booking.get("guest").is_some_and(is_guest) {
        rename(booking, "customer", &["guest"]);
    }
    for name in ["name", "email", "phone"] {
        let flat = [format!("guest_{name}"), format!("customer_{name}")];
        let lacks_it = match booking.get("customer") {
            Some(Value::Object(guest)) => lacks(guest, name),
            other => other.is_none_or(Value::is_null),
        };
        let found = flat.iter().find_map(|flat| take(booking, flat)).filter(|_| lacks_it);
        if let Some(value) = found {
            let guest = booking.entry("customer").or_insert_with(|| Value::Object(Map::new()));
            if let Some(guest) = guest.as_object_mut() {
                guest.insert(name.to_owned(), value);
            }
        }
    }
    let Some(guest) = booking.get_mut("customer").and_then(Value::as_object_mut) else {
        return;
    };
    rename(guest, "email", &["email_address"]);
    rename(guest, "phone", &["phone_number"]);
    rename(guest, "name", &["full_name"]);
    let parts = guest.get("name").and_then(Value::as_object).unwrap_or(guest);
    let part = |names: &[&str]| names.iter().find_map(|name| member(parts, name)).map(plain);
    let parts: Vec<String> = [part(&GIVEN), part(&FAMILY)].into_iter().flatten().collect();
    let has_name = guest.get("name").is_some_and(|name| !name.is_null() && !name.is_object());
    if !has_name && !parts.is_empty() {
        guest.insert("name".to_owned(), parts.join(" ").into());
    }
}

fn lacks(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).is_none_or(Value::is_null)
}

fn rename(object: &mut Map<String, Value>, own: &str, others: &[&str]) {
    if lacks(object, own)
        && let Some(value) = others.iter().find_map(|other| take(object, other))
    {
        object.insert(own.to_owned(), value);
    }
}

fn take(object: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let key = super::names::key_of(object, name)?.to_owned();
    object.remove(&key).filter(|value| !value.is_null())
}
