//! Where the objects of a kind stand in a document: at the profile's place, at the contract's, or wherever their shape is.

use serde_json::{Map, Value};

use super::find::{Search, shallowest};
use super::misread::NotFound;
use super::path::Path;
use super::shape::Shape;

/// The elements of a list, wherever it stands.
pub(super) struct Elements<'a> {
    pub(super) place: String,
    pub(super) objects: Vec<&'a Map<String, Value>>,
    /// How many there are, readable or not.
    pub(super) elements: usize,
}

pub(super) fn elements<'a>(
    value: &'a Value,
    shape: Shape,
    field: &str,
) -> Result<Elements<'a>, NotFound> {
    let named = Path::parse(field).and_then(|path| path.get(value));
    let mut unreadable = None;
    for (place, list) in [(field, named), ("[]", Some(value))] {
        let list = match list {
            Some(Value::Null) if place == field => &[],
            Some(Value::Array(list)) => list.as_slice(),
            _ => continue,
        };
        let objects: Vec<_> = list.iter().filter_map(|it| within(it, shape)).collect();
        if !objects.is_empty() || list.is_empty() {
            return Ok(Elements {
                place: place.to_owned(),
                objects,
                elements: list.len(),
            });
        }
        unreadable.get_or_insert((place.to_owned(), list.len()));
    }
    match shallowest(value, shape) {
        Search::Found(found) => Ok(Elements {
            place: found.place,
            objects: found.objects,
            elements: found.elements,
        }),
        Search::Ambiguous(places) => Err(NotFound::Ambiguous(places)),
        Search::Nothing { lists, is_empty } => {
            match unreadable.or_else(|| lists.into_iter().next()) {
                Some((place, elements)) => Err(NotFound::Unreadable { place, elements }),
                None if is_empty => Ok(Elements {
                    place: String::new(),
                    objects: vec![],
                    elements: 0,
                }),
                None => Err(NotFound::NoList),
            }
        }
    }
}

/// The object of a shape that an element is or holds.
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
        (Some(object), Search::Nothing { .. }) => Ok(object),
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
        Search::Nothing { .. } => Err(format!("nothing in it has {}", shape.mark())),
    }
}
