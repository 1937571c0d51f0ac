//! Where the objects of a kind stand in a document: at the profile's place, at the contract's, or wherever their shape is.

use serde_json::{Map, Value};

use super::find::{Found, Search, lists, shallowest};
use super::misread::NotFound;
use super::path::Path;
use super::shape::Shape;

pub(super) fn elements<'a>(
    value: &'a Value,
    shape: Shape,
    field: &str,
) -> Result<Found<'a>, NotFound> {
    let named = Path::parse(field).and_then(|path| path.get(value));
    let mut unreadable = None;
    let mut empty = None;
    for (place, list) in [(field, named), ("[]", Some(value))] {
        let list = match list {
            Some(Value::Null) if place == field => &[],
            Some(Value::Array(list)) => list.as_slice(),
            _ => continue,
        };
        let objects: Vec<_> = list.iter().filter_map(|it| within(it, shape)).collect();
        if !objects.is_empty() {
            let (place, elements) = (place.to_owned(), list.len());
            return Ok(Found {
                place,
                objects,
                elements,
            });
        }
        match list {
            [] => empty = empty.or(Some(place)),
            _ => unreadable = unreadable.or(Some(place)),
        }
    }
    // The contract's name is nobody's choice, so the objects may stand elsewhere.
    let is_chosen = field != shape.nouns().1;
    match (empty, shallowest(value, shape)) {
        (Some(place), _) if is_chosen && place == field => Ok(none(place)),
        (None, Search::Found(found)) => Ok(found),
        (None, Search::Ambiguous(places)) => Err(NotFound::Ambiguous(places)),
        (Some(place), Search::Found(found)) => Err(NotFound::Elsewhere {
            empty: place.to_owned(),
            lists: vec![(found.place, found.elements)],
        }),
        (empty, _) => nothing_in(value, empty, unreadable),
    }
}

fn none<'a>(place: &str) -> Found<'a> {
    Found {
        place: place.to_owned(),
        objects: Vec::new(),
        elements: 0,
    }
}

/// What a document without a readable element says: none, only where no element came that could be one.
fn nothing_in<'a>(
    value: &Value,
    empty: Option<&str>,
    unreadable: Option<&str>,
) -> Result<Found<'a>, NotFound> {
    let lists = lists(value);
    let (full, empties): (Vec<_>, Vec<_>) = lists.iter().partition(|list| list.elements > 0);
    let named = full
        .iter()
        .find(|list| Some(list.place.as_str()) == unreadable);
    let with_objects = || full.iter().find(|list| list.has_objects);
    match (empty, named.or_else(with_objects).or(full.first())) {
        (Some(place), Some(_)) if full.iter().any(|list| list.has_objects) => {
            let others = full.iter().filter(|list| list.has_objects);
            let lists = others
                .map(|list| (list.place.clone(), list.elements))
                .collect();
            Err(NotFound::Elsewhere {
                empty: place.to_owned(),
                lists,
            })
        }
        (Some(place), _) => Ok(none(place)),
        (None, Some(list)) => Err(NotFound::Unreadable {
            place: list.place.clone(),
            elements: list.elements,
        }),
        (None, None) => match empties.first() {
            Some(list) => Ok(none(&list.place)),
            None => Err(NotFound::NoList),
        },
    }
}

fn within(element: &Value, shape: Shape) -> Option<&Map<String, Value>> {
    let object = element.as_object()?;
    if shape.is_usable(object) {
        return Some(object);
    }
    match shallowest(element, shape) {
        Search::Found(found) if found.objects.len() == 1 => Some(found.objects[0]),
        // `{"booking": {…}}`: what stands where one is expected, in an object of its own.
        _ if object.len() == 1 => object
            .values()
            .find_map(Value::as_object)
            .filter(|inner| shape.is_usable(inner)),
        _ => None,
    }
}

/// The one object of a shape in a document. The error says what is there instead.
pub(super) fn one(value: &Value, shape: Shape) -> Result<&Map<String, Value>, String> {
    let root = value.as_object().filter(|it| shape.is_usable(it));
    match (root, shallowest(value, shape)) {
        (Some(object), _) if shape.fits(object) => Ok(object),
        (Some(object), Search::Nothing) => Ok(object),
        // An envelope may have an id and a status of its own, and a booking may hold objects that have them.
        (Some(_), Search::Found(found)) => Err(format!(
            "both it and what stands at `{}` may be the {}",
            found.place,
            shape.nouns().0
        )),
        (_, search) => the_one(search, shape),
    }
}

fn the_one(search: Search<'_>, shape: Shape) -> Result<&Map<String, Value>, String> {
    let (noun, nouns) = shape.nouns();
    match search {
        Search::Found(found) => match found.objects[..] {
            [object] => Ok(object),
            _ => Err(format!(
                "it has {} {nouns} in `{}`",
                found.objects.len(),
                found.place
            )),
        },
        Search::Ambiguous(places) => Err(format!(
            "it has a {noun} at `{}`, and nothing says which of them is meant",
            places.join("` and at `")
        )),
        Search::Nothing => Err(format!("nothing in it has {}", shape.mark())),
    }
}
