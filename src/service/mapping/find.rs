//! Finds objects in a document by their shape, wherever the service put them.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::names::is_one_of;
use super::shape::Shape;

/// How many objects deep a document is searched. Arrays do not count.
const DEEPEST: usize = 4;

#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// Where they stand: `data.results[]`, or `.` for the document itself.
    pub(crate) place: String,
    pub(crate) objects: Vec<&'a Map<String, Value>>,
    pub(crate) elements: usize,
}

pub(crate) const NON_DATA_KEYS: &str = "_links aggregations categories debug errors facets filters images links messages \
    notices photos providers providers_failed tags warnings";

fn below(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}

/// The lists of a document that could hold its objects, shallowest first, none nested.
pub(crate) fn lists(document: &Value) -> Vec<Found<'_>> {
    let mut lists = Vec::new();
    let mut level = vec![(String::new(), document)];
    for _ in 0..=DEEPEST {
        for (place, value) in std::mem::take(&mut level) {
            if let Value::Array(elements) = value {
                lists.push(Found {
                    elements: elements.len(),
                    objects: elements.iter().filter_map(Value::as_object).collect(),
                    place: if place.is_empty() { "[]".to_owned() } else { place },
                });
            } else if let Value::Object(object) = value {
                let members = object.iter().filter(|(key, _)| !is_one_of(NON_DATA_KEYS, key));
                level.extend(members.map(|(key, value)| (below(&place, key), value)));
            }
        }
    }
    lists
}

/// The objects of a shape by depth and place, and how many elements the lists at each place have.
#[derive(Default)]
struct Places<'a> {
    objects: BTreeMap<(usize, String), Vec<&'a Map<String, Value>>>,
    elements: HashMap<String, usize>,
}

impl<'a> Places<'a> {
    /// The elements of an array all have the same place, and are as deep as the array.
    fn collect(&mut self, value: &'a Value, shape: Shape, place: &str, depth: usize) {
        if let Value::Array(elements) = value {
            let place = format!("{place}[]");
            elements.iter().for_each(|it| self.collect(it, shape, &place, depth));
            *self.elements.entry(place).or_default() += elements.len();
        } else if let Value::Object(object) = value {
            if shape.fits(object) {
                self.objects.entry((depth, place.to_owned())).or_default().push(object);
            }
            let inner = object.iter().filter(|(_, it)| it.is_object() || it.is_array());
            for (key, value) in inner.filter(|_| depth < DEEPEST) {
                self.collect(value, shape, &below(place, key), depth + 1);
            }
        }
    }
}

/// The error is the places at the smallest depth that fit: none, or several, of which none is taken.
pub(crate) fn shallowest(document: &Value, shape: Shape) -> Result<Found<'_>, Vec<String>> {
    let mut places = Places::default();
    places.collect(document, shape, "", 0);
    let depth = places.objects.keys().next().map(|it| it.0);
    let found = places.objects.into_iter().take_while(|it| Some(it.0.0) == depth);
    let mut found: Vec<_> = found.map(|((_, place), objects)| (place, objects)).collect();
    match (found.pop(), &found[..]) {
        (None, _) => Err(Vec::new()),
        (Some((place, objects)), []) => {
            let list = place.rfind("[]").and_then(|at| places.elements.get(&place[..at + 2]));
            let elements = list.copied().unwrap_or_default().max(objects.len());
            let place = if place.is_empty() { ".".to_owned() } else { place };
            Ok(Found { place, objects, elements })
        }
        (last, _) => {
            let all = found.into_iter().chain(last);
            Err(all.map(|(place, _)| place).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use crate::service::documents::rows;
    use proptest::prelude::*;
    use serde_json::json;

    fn place(document: &Value, shape: Shape) -> Option<(String, usize, usize)> {
        let found = shallowest(document, shape).ok()?;
        Some((found.place, found.objects.len(), found.elements))
    }

    #[test]
    fn objects_are_found_by_their_shape_at_the_shallowest_place() {
        for [at, objects, elements, document] in rows(
            r#"
               []                | 1 | 1 | [VENUE]
               venues[]          | 2 | 2 | {"venues": [VENUE, VENUE]}
               data.results[]    | 1 | 2 | {"data": {"results": [VENUE, 3]}}
               data[].attributes | 1 | 1 | {"data": [{"type": "venue", "attributes": VENUE}]}
               a.b.c.d           | 1 | 1 | {"a": {"b": {"c": {"d": VENUE}}}}
               top[]             | 1 | 1 | {"top": [VENUE], "more": {"deeper": [VENUE]}}"#,
        ) {
            let venue = r#"{"venue_id": 17, "title": "Hut"}"#;
            let document = document.replace("VENUE", venue).parse().unwrap();
            let count = |text: &str| text.parse().unwrap();
            let expected = Some((at.to_owned(), count(objects), count(elements)));
            assert_eq!(place(&document, Shape::Venue), expected, "{document}");
        }
    }

    #[test]
    fn value_too_deep_or_at_two_places_is_not_read() {
        let venue = json!({"venue_id": "v"});
        let deep = json!({"a": {"b": {"c": {"d": {"e": venue}}}}});
        assert_eq!(shallowest(&deep, Shape::Venue).unwrap_err(), Vec::<String>::new());
        let two = json!({"near": [venue], "far": [venue]});
        let mut places = shallowest(&two, Shape::Venue).unwrap_err();
        places.sort();
        assert_eq!(places, ["far[]", "near[]"]);
    }

    #[test]
    fn booking_has_id_status_and_one_field_more_and_is_no_error() {
        for [value, fits] in rows(
            r#"
               {"id": 7, "status": "CONFIRMED", "object": "reservation"} | true
               {"id": "x", "status": "up"}                              | false
               {"id": "x", "status": "failed", "object": "error"}       | false
               {"id": null, "status": "failed", "provider": "a"}        | false"#,
        ) {
            let document: Value = value.parse().unwrap();
            let is_booking = Shape::Booking.fits(document.as_object().unwrap());
            assert_eq!(is_booking.to_string(), fits, "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_booking_is_found_in_any_three_envelopes(
            names in prop::collection::vec("[a-z]{1,8}", 0..4), beside in arbitrary::json(),
        ) {
            let booking = json!({"id": "bk_1", "status": "confirmed", "object": "booking", "provider": "a"});
            let mut document = booking.clone();
            let is_scalar = !beside.is_object() && !beside.is_array();
            for name in names {
                document = json!({ name: document });
                if is_scalar {
                    document["other"] = beside.clone();
                }
            }
            match shallowest(&document, Shape::Booking) {
                Ok(found) => prop_assert_eq!(found.objects, [booking.as_object().unwrap()]),
                // `other` may have taken the booking's own key.
                other => prop_assert!(!document.to_string().contains("bk_1"), "{:?}", other),
            }
        }

        #[test]
        fn any_document_is_searched_without_a_fault(value in arbitrary::json()) {
            for shape in [Shape::Venue, Shape::Slot, Shape::Booking, Shape::Session, Shape::Card] {
                let _ = shallowest(&value, shape);
            }
        }
    }
}
