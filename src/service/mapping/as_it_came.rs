//! The objects of an answer that are about its booking, as the service wrote them.

use serde_json::{Map, Value};

use super::locate::one;
use super::resource::flattened;
use super::shape::{Shape, with_contract_names};
use crate::service::documents::booking::Booking;
use crate::service::documents::id::token;

/// How many objects deep the booking is looked for. Arrays do not count.
const DEEPEST: usize = 4;

/// The object that is the booking or has its id, and those around it, from the inside out, in the contract's names. A profile's expression may drop fields, and a service may write the venue or the guest beside the booking.
pub(crate) fn as_it_came(booking: &Booking) -> Vec<Value> {
    let value = flattened(&booking.document);
    let by_shape = one(&value, Shape::Booking).ok();
    let has_its_id = |value: &Value| token(value).as_deref() == Some(booking.id());
    let is_it = |object: &Map<String, Value>| match by_shape {
        Some(found) => std::ptr::eq(found, object),
        None => object.values().any(has_its_id),
    };
    let way = (0..=DEEPEST).find_map(|depth| way_to(&value, depth, &is_it));
    let named = |object| with_contract_names(object, Shape::Booking);
    way.unwrap_or_default().into_iter().map(named).collect()
}

/// The first object that is meant within `depth`, and those around it, from the inside out.
fn way_to<'a>(
    value: &'a Value,
    depth: usize,
    is_it: &impl Fn(&Map<String, Value>) -> bool,
) -> Option<Vec<&'a Map<String, Value>>> {
    match value {
        Value::Object(object) if is_it(object) => Some(vec![object]),
        Value::Object(object) if depth > 0 => {
            let mut way = object.values().find_map(|inner| way_to(inner, depth - 1, is_it))?;
            way.push(object);
            Some(way)
        }
        Value::Array(elements) => elements.iter().find_map(|element| way_to(element, depth, is_it)),
        _ => None,
    }
}
