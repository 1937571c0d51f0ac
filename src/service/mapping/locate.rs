//! Where the objects of a kind stand in a document: at the profile's place, at the contract's, or
//! wherever their shape is.

use serde_json::{Map, Value};

use super::find::{Found, lists, shallowest};
use super::names::{is_one_of, member};
use super::path::Path;
use super::shape::Shape;
use crate::json::plain;
use crate::service::documents::plural;

/// The objects of a list, or what the document has instead; the error is a sentence.
pub(crate) fn elements<'a>(
    value: &'a Value,
    shape: Shape,
    field: &str,
) -> Result<Found<'a>, String> {
    let nouns = shape.nouns()[1];
    let named = Path::parse(field).and_then(|path| path.get(value));
    let (mut empty, mut unreadable) = (None, None);
    for (place, list) in [(field, named), ("[]", Some(value))] {
        let list = match list {
            Some(Value::Null) if place == field => &[],
            Some(Value::Array(list)) => list.as_slice(),
            _ => continue,
        };
        let objects: Vec<_> = list.iter().filter_map(|it| within(it, shape)).collect();
        if !objects.is_empty() {
            return Ok(Found { place: place.to_owned(), objects, elements: list.len() });
        }
        match list.is_empty() {
            true => empty.get_or_insert(place),
            false => unreadable.get_or_insert(place),
        };
    }
    // The contract's name is nobody's choice, so the objects may stand elsewhere.
    if empty == Some(field) && field != nouns {
        return Ok(none_at(field));
    }
    let unclear = "and it is not clear which of them are meant";
    match (empty, shallowest(value, shape)) {
        (None, Ok(found)) => Ok(found),
        (None, Err(places)) if !places.is_empty() => {
            let places = places.join("` and at `");
            Err(format!("the response has {nouns} at `{places}`, {unclear}"))
        }
        (None, Err(_)) => {
            let list = lists(value).into_iter().min_by_key(|list| {
                let is_named = Some(list.place.as_str()) == unreadable;
                (!is_named, list.objects.is_empty(), list.elements == 0)
            });
            list.map(|list| Found { objects: Vec::new(), ..list })
                .ok_or_else(|| format!("the response has no list of {nouns}"))
        }
        // None, only where no element came that could be one.
        (Some(empty), found) => {
            let mut others = match found {
                Ok(found) => vec![found],
                _ => lists(value),
            };
            others.retain(|list| !list.objects.is_empty());
            let at = |it: &Found<'_>| format!("{} at `{}`", counted(it.elements), it.place);
            let lists = others.iter().map(at).collect::<Vec<_>>().join(" and ");
            match others[..] {
                [] => Ok(none_at(empty)),
                _ => {
                    Err(format!("the response has no {nouns} at `{empty}`, and {lists}, {unclear}"))
                }
            }
        }
    }
}

fn none_at<'a>(place: &str) -> Found<'a> {
    Found { place: place.to_owned(), objects: Vec::new(), elements: 0 }
}

pub(crate) fn counted(elements: usize) -> String {
    plural(elements, "element", "elements")
}

fn within(element: &Value, shape: Shape) -> Option<&Map<String, Value>> {
    let object = element.as_object()?;
    if shape.is_usable(object) {
        return Some(object);
    }
    match shallowest(element, shape) {
        Ok(found) if found.objects.len() == 1 => Some(found.objects[0]),
        // `{"booking": {…}}`: what stands where one is expected, in an object of its own.
        _ if object.len() == 1 => {
            object.values().find_map(Value::as_object).filter(|inner| shape.is_usable(inner))
        }
        _ => None,
    }
}

/// The one object of a shape in a document. The error says what is there instead.
pub(crate) fn one(value: &Value, shape: Shape) -> Result<&Map<String, Value>, String> {
    let [noun, nouns] = shape.nouns();
    let root = value.as_object().filter(|it| shape.is_usable(it));
    match (root, shallowest(value, shape)) {
        (Some(object), Err(places)) if places.is_empty() => Ok(object),
        (Some(object), _) if shape.fits(object) => Ok(object),
        // An envelope, and objects in a booking, may have an id and a status of their own.
        (Some(_), Ok(found)) => {
            Err(format!("both it and the object at `{}` may be the {noun}", found.place))
        }
        (_, Ok(found)) => match found.objects[..] {
            [object] => match refusal_around(value, object).flatten() {
                Some(word) => Err(format!("the object around the {noun} reports `{word}`")),
                None => Ok(object),
            },
            _ => Err(format!("it has {} {nouns} in `{}`", found.objects.len(), found.place)),
        },
        (_, Err(places)) if !places.is_empty() => Err(format!(
            "it has a {noun} at `{}`, and it is not clear which of them is meant",
            places.join("` and at `")
        )),
        (_, Err(_)) => Err(format!("nothing in it has {}", shape.mark())),
    }
}

/// Words with which an envelope says that the request was not carried out. What it then holds is
/// another booking, such as the one that stands in the way.
const REFUSALS: &str =
    "conflict declined denied duplicate error fail failed invalid refused rejected unavailable";

/// Whether an object stands in a value, and the word with which an object around it refuses, unless
/// that is the status of the object itself.
fn refusal_around(value: &Value, inner: &Map<String, Value>) -> Option<Option<String>> {
    let Value::Object(object) = value else {
        return value.as_array()?.iter().find_map(|it| refusal_around(it, inner));
    };
    if std::ptr::eq(object, inner) {
        return Some(None);
    }
    let below = object.values().find_map(|it| refusal_around(it, inner))?;
    let status = member(object, "status").filter(|it| Some(*it) != member(inner, "status"));
    let refusal = status.and_then(Value::as_str).filter(|it| is_one_of(REFUSALS, it));
    let is_said = |name: &&str, texts: &[&str]| {
        let text = object.get(*name).map(|it| plain(it).trim().to_lowercase());
        text.is_some_and(|it| texts.contains(&&*it))
    };
    let failed = ["success", "ok"].into_iter().find(|it| is_said(it, &["false"]));
    let none = ["", "[]", "{}", "0", "false"];
    let has_it = |name: &&str| object.contains_key(*name) && !is_said(name, &none);
    let failed = failed.map(|it| format!("{it}: false"));
    let failed = failed.or_else(|| Some(["error", "errors"].into_iter().find(has_it)?.to_owned()));
    let own = refusal.map(str::to_owned).or(failed);
    Some(below.or(own))
}
