//! Finds objects in a document by their shape, wherever the service put them.

use serde_json::{Map, Value};

use super::names::same_words;
use super::shape::Shape;

/// How many objects deep a document is searched. Arrays do not count.
const DEEPEST: usize = 4;

/// The objects of one kind that stand at one place.
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
pub(super) const BESIDE: &[&str] = &[
    "_links",
    "aggregations",
    "categories",
    "debug",
    "errors",
    "facets",
    "filters",
    "images",
    "links",
    "messages",
    "notices",
    "photos",
    "providers",
    "providers_failed",
    "tags",
    "warnings",
];

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
                    let members = object
                        .iter()
                        .filter(|(key, _)| !BESIDE.iter().any(|beside| same_words(beside, key)));
                    next.extend(members.map(|(key, value)| match place.is_empty() {
                        true => (key.clone(), value),
                        false => (format!("{place}.{key}"), value),
                    }));
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
    /// Its parent and its key in it; `None` for the document itself.
    parent: Option<(usize, Step<'a>)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Step<'a> {
    Key(&'a str),
    Element,
}

/// The way down to each value that was visited.
struct Tree<'a>(Vec<Node<'a>>);

impl<'a> Tree<'a> {
    fn push(&mut self, value: &'a Value, parent: Option<(usize, Step<'a>)>) -> usize {
        self.0.push(Node { value, parent });
        self.0.len() - 1
    }

    /// The path to a value, the elements of an array all alike.
    fn place(&self, mut node: usize) -> String {
        let mut steps = Vec::new();
        while let Some((parent, step)) = self.0[node].parent {
            steps.push(step);
            node = parent;
        }
        let mut place = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Key(key) if place.is_empty() => place.push_str(key),
                Step::Key(key) => {
                    place.push('.');
                    place.push_str(key);
                }
                Step::Element => place.push_str("[]"),
            }
        }
        match place.is_empty() {
            true => ".".to_owned(),
            false => place,
        }
    }

    /// Whether two nodes stand at one place: the same keys, through any elements.
    fn same_place(&self, mut one: usize, mut other: usize) -> bool {
        loop {
            if one == other {
                return true;
            }
            match (self.0[one].parent, self.0[other].parent) {
                (Some((up, step)), Some((other_up, other_step))) if step == other_step => {
                    (one, other) = (up, other_up);
                }
                _ => return false,
            }
        }
    }

    /// The innermost array around a node, if any.
    fn array_around(&self, mut node: usize) -> Option<usize> {
        while let Some((parent, step)) = self.0[node].parent {
            if step == Step::Element {
                return Some(parent);
            }
            node = parent;
        }
        None
    }
}

/// Finds the objects of a shape at the one shallowest place that has any.
pub(crate) fn shallowest(document: &Value, shape: Shape) -> Search<'_> {
    let mut tree = Tree(Vec::new());
    let root = tree.push(document, None);
    let mut level = vec![root];
    for _ in 0..=DEEPEST {
        // The elements of arrays are as deep as the array.
        let mut objects = Vec::new();
        let mut open = level;
        open.reverse();
        while let Some(node) = open.pop() {
            match tree.0[node].value {
                Value::Object(object) => objects.push((node, object)),
                Value::Array(elements) => {
                    for element in elements.iter().rev() {
                        if element.is_object() || element.is_array() {
                            open.push(tree.push(element, Some((node, Step::Element))));
                        }
                    }
                }
                _ => {}
            }
        }
        let fitting: Vec<(usize, &Map<String, Value>)> = objects
            .iter()
            .filter(|(_, object)| shape.fits(object))
            .copied()
            .collect();
        if !fitting.is_empty() {
            return judge(&tree, fitting);
        }
        level = Vec::new();
        for (node, object) in objects {
            for (key, value) in object {
                if value.is_object() || value.is_array() {
                    level.push(tree.push(value, Some((node, Step::Key(key)))));
                }
            }
        }
    }
    Search::Nothing
}

/// Takes the objects that fit if they all stand at one place.
fn judge<'a>(tree: &Tree<'a>, fitting: Vec<(usize, &'a Map<String, Value>)>) -> Search<'a> {
    let first = fitting[0].0;
    let mut places = vec![first];
    for (node, _) in &fitting {
        if !places.iter().any(|place| tree.same_place(*place, *node)) {
            places.push(*node);
        }
    }
    let objects = fitting.iter().map(|(_, object)| *object).collect();
    if let [_] = places[..] {
        let mut arrays: Vec<usize> = fitting
            .iter()
            .filter_map(|(node, _)| tree.array_around(*node))
            .collect();
        arrays.dedup();
        let lengths = arrays.iter().map(|array| match tree.0[*array].value {
            Value::Array(elements) => elements.len(),
            _ => 0,
        });
        return Search::Found(Found {
            place: tree.place(first),
            elements: lengths.sum::<usize>().max(fitting.len()),
            objects,
        });
    }
    // An object that holds nothing but such objects is a list with keys.
    let parents: Vec<Option<usize>> = places
        .iter()
        .map(|place| tree.0[*place].parent.map(|(parent, _)| parent))
        .collect();
    if let Some(Some(parent)) = parents.first()
        && parents.iter().all(|other| other == &Some(*parent))
        && let Value::Object(keyed) = tree.0[*parent].value
        && keyed.len() == fitting.len()
    {
        return Search::Found(Found {
            place: format!("{}.*", tree.place(*parent)),
            elements: keyed.len(),
            objects,
        });
    }
    Search::Ambiguous(places.iter().map(|place| tree.place(*place)).collect())
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
        for (document, expected) in [
            (json!([venue]), ("[]", 1, 1)),
            (json!({"venues": [venue, venue]}), ("venues[]", 2, 2)),
            (
                json!({"data": {"results": [venue, 3]}}),
                ("data.results[]", 1, 2),
            ),
            (
                json!({"data": [{"type": "venue", "attributes": venue}]}),
                ("data[].attributes", 1, 1),
            ),
            (
                json!({"venues": {"a": venue, "b": venue}}),
                ("venues.*", 2, 2),
            ),
            (json!({"a": {"b": {"c": {"d": venue}}}}), ("a.b.c.d", 1, 1)),
            (
                json!({"top": [{"venueId": "x"}], "more": {"deeper": [venue]}}),
                ("top[]", 1, 1),
            ),
        ] {
            let (at, objects, elements) = expected;
            assert_eq!(
                place(&document, Shape::Venue),
                Some((at.to_owned(), objects, elements)),
                "{document}"
            );
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
    fn lists_are_counted_where_they_stand() {
        let document =
            json!({"data": {"items": [{"place": 1, "x": []}, 2], "tags": [], "more": []}});
        let found = lists(&document);
        let found: Vec<(&str, usize, bool)> = found
            .iter()
            .map(|list| (list.place.as_str(), list.elements, list.has_objects))
            .collect();
        assert_eq!(found, [("data.items", 2, true), ("data.more", 0, false)]);
    }

    #[test]
    fn a_booking_has_an_id_a_status_and_one_field_more_and_is_no_error() {
        let fits = |value: Value| Shape::Booking.fits(value.as_object().unwrap());
        assert!(fits(
            json!({"id": 7, "status": "CONFIRMED", "object": "reservation"})
        ));
        assert!(!fits(json!({"id": "x", "status": "up"})));
        assert!(!fits(
            json!({"id": "x", "status": "failed", "object": "error"})
        ));
        assert!(!fits(
            json!({"id": null, "status": "failed", "provider": "a"})
        ));
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
                document = match is_scalar {
                    true => json!({ name: document, "other": beside }),
                    false => json!({ name: document }),
                };
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
