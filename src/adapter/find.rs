//! Finds objects in a document by their shape, wherever the service put them.

use std::rc::Rc;

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
    /// How many elements the list has, readable or not.
    pub(crate) elements: usize,
}

#[derive(Debug)]
pub(crate) enum Search<'a> {
    Found(Found<'a>),
    /// Two or more places at the same depth fit, so none of them is taken.
    Ambiguous(Vec<String>),
    Nothing,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ListAt {
    pub(crate) place: String,
    pub(crate) elements: usize,
    pub(crate) has_objects: bool,
}

/// The names of lists that hold something else beside the objects that a document is about.
pub(super) const BESIDE: &str = "_links aggregations categories debug errors facets filters images links messages \
    notices photos providers providers_failed tags warnings";

fn below(place: &str, key: &str) -> String {
    if place.is_empty() {
        key.to_owned()
    } else {
        format!("{place}.{key}")
    }
}

/// The lists of a document that could hold its objects, the shallowest first, but those that stand in another list.
pub(crate) fn lists(document: &Value) -> Vec<ListAt> {
    let mut lists = Vec::new();
    let mut level = vec![(String::new(), document)];
    for _ in 0..=DEEPEST {
        let mut next = Vec::new();
        for (place, value) in level {
            match value {
                Value::Array(elements) => lists.push(ListAt {
                    elements: elements.len(),
                    has_objects: elements.iter().any(Value::is_object),
                    place: if place.is_empty() {
                        "[]".to_owned()
                    } else {
                        place
                    },
                }),
                Value::Object(object) => {
                    let members = object.iter().filter(|(key, _)| !is_one_of(BESIDE, key));
                    next.extend(members.map(|(key, value)| (below(&place, key), value)));
                }
                _ => {}
            }
        }
        level = next;
    }
    lists
}

struct Node<'a> {
    value: &'a Value,
    /// Its path, the elements of an array all alike.
    place: Rc<str>,
    /// The object that has it as a member, with its place. An element of an array has none.
    parent: Option<(Rc<str>, &'a Map<String, Value>)>,
    /// The innermost array around it.
    array: Option<&'a Vec<Value>>,
}

type ObjectAt<'a> = (Node<'a>, &'a Map<String, Value>);

/// The objects that a value is or, through any arrays, holds as elements.
fn objects_of<'a>(node: Node<'a>, found: &mut Vec<ObjectAt<'a>>) {
    match node.value {
        Value::Object(object) => found.push((node, object)),
        Value::Array(elements) => {
            let place: Rc<str> = format!("{}[]", node.place).into();
            for value in elements {
                let (place, parent) = (Rc::clone(&place), None);
                let array = Some(elements);
                objects_of(
                    Node {
                        value,
                        place,
                        parent,
                        array,
                    },
                    found,
                );
            }
        }
        _ => {}
    }
}

/// Finds the objects of a shape at the one shallowest place that has any.
pub(crate) fn shallowest(document: &Value, shape: Shape) -> Search<'_> {
    let mut level = vec![Node {
        value: document,
        place: "".into(),
        parent: None,
        array: None,
    }];
    for _ in 0..=DEEPEST {
        // The elements of arrays are as deep as the array.
        let mut objects = Vec::new();
        for node in level {
            objects_of(node, &mut objects);
        }
        if objects.iter().any(|(_, object)| shape.fits(object)) {
            objects.retain(|(_, object)| shape.fits(object));
            return judge(&objects);
        }
        level = Vec::new();
        for (node, object) in objects {
            let members = object
                .iter()
                .filter(|(_, value)| value.is_object() || value.is_array());
            level.extend(members.map(|(key, value)| Node {
                value,
                place: below(&node.place, key).into(),
                parent: Some((Rc::clone(&node.place), object)),
                array: node.array,
            }));
        }
    }
    Search::Nothing
}

/// Takes the objects that fit if they all stand at one place.
fn judge<'a>(fitting: &[ObjectAt<'a>]) -> Search<'a> {
    let mut places: Vec<&Node<'a>> = Vec::new();
    for (node, _) in fitting {
        if !places.iter().any(|known| known.place == node.place) {
            places.push(node);
        }
    }
    let named = |place: &str| if place.is_empty() { "." } else { place }.to_owned();
    let objects = fitting.iter().map(|(_, object)| *object).collect();
    if let [only] = places[..] {
        let mut arrays: Vec<&Vec<Value>> =
            fitting.iter().filter_map(|(node, _)| node.array).collect();
        arrays.dedup_by(|one, other| std::ptr::eq(*one, *other));
        let elements: usize = arrays.iter().map(|array| array.len()).sum();
        return Search::Found(Found {
            place: named(&only.place),
            elements: elements.max(fitting.len()),
            objects,
        });
    }
    // An object that holds nothing but such objects is a list with keys.
    let parent = places.first().and_then(|node| node.parent.as_ref());
    if let Some((place, keyed)) = parent
        && keyed.len() == fitting.len()
        && places.iter().all(|node| {
            node.parent
                .as_ref()
                .is_some_and(|(_, it)| std::ptr::eq(*it, *keyed))
        })
    {
        return Search::Found(Found {
            place: format!("{}.*", named(place)),
            elements: keyed.len(),
            objects,
        });
    }
    Search::Ambiguous(places.iter().map(|node| named(&node.place)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arbitrary;
    use proptest::prelude::*;
    use serde_json::json;

    fn place(document: &Value, shape: Shape) -> Option<(String, usize, usize)> {
        match shallowest(document, shape) {
            Search::Found(found) => Some((found.place, found.objects.len(), found.elements)),
            _ => None,
        }
    }

    #[test]
    fn objects_are_found_by_their_shape_at_the_shallowest_place() {
        let venue = json!({"venue_id": 17, "title": "Hut"});
        let attributes = json!([{"type": "venue", "attributes": venue}]);
        for (at, objects, elements, document) in [
            ("[]", 1, 1, json!([venue])),
            ("venues[]", 2, 2, json!({"venues": [venue, venue]})),
            (
                "data.results[]",
                1,
                2,
                json!({"data": {"results": [venue, 3]}}),
            ),
            ("data[].attributes", 1, 1, json!({"data": attributes})),
            (
                "venues.*",
                2,
                2,
                json!({"venues": {"a": venue, "b": venue}}),
            ),
            ("a.b.c.d", 1, 1, json!({"a": {"b": {"c": {"d": venue}}}})),
            (
                "top[]",
                1,
                1,
                json!({"top": [venue], "more": {"deeper": [venue]}}),
            ),
        ] {
            let expected = Some((at.to_owned(), objects, elements));
            assert_eq!(place(&document, Shape::Venue), expected, "{document}");
        }
    }

    #[test]
    fn what_stands_too_deep_or_at_two_places_is_not_taken() {
        let venue = json!({"venue_id": "v"});
        let deep = json!({"a": {"b": {"c": {"d": {"e": venue}}}}});
        assert!(matches!(shallowest(&deep, Shape::Venue), Search::Nothing));
        let two = json!({"near": [venue], "far": [venue]});
        match shallowest(&two, Shape::Venue) {
            Search::Ambiguous(mut places) => {
                places.sort();
                assert_eq!(places, ["far[]", "near[]"]);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_booking_has_an_id_a_status_and_one_field_more_and_is_no_error() {
        for (fits, value) in [
            (
                true,
                json!({"id": 7, "status": "CONFIRMED", "object": "reservation"}),
            ),
            (false, json!({"id": "x", "status": "up"})),
            (
                false,
                json!({"id": "x", "status": "failed", "object": "error"}),
            ),
            (
                false,
                json!({"id": null, "status": "failed", "provider": "a"}),
            ),
        ] {
            assert_eq!(
                Shape::Booking.fits(value.as_object().unwrap()),
                fits,
                "{value}"
            );
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
                Search::Found(found) => prop_assert_eq!(found.objects, [booking.as_object().unwrap()]),
                // `other` may have taken the booking's own key.
                other => prop_assert!(!document.to_string().contains("bk_1"), "{:?}", other),
            }
        }

        #[test]
        fn any_document_is_searched_without_a_fault(value in arbitrary::json()) {
            for shape in [Shape::Venue, Shape::Slot, Shape::Booking, Shape::Session, Shape::Card] {
                shallowest(&value, shape);
            }
        }
    }
}
