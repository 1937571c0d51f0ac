//! What a document holds: paths, kinds of values, and the beginning of a read expression.

use serde_json::{Map, Value};

use super::find::NON_DATA_KEYS;
use super::kind::ReadKind;
use super::names::{is_one_of, key_of, member};
use super::shape::Shape;
use crate::service::time::zone;

/// What stands where a person has to say a name or a value. jq does not take it, so that no command works
/// before it is filled in.
pub(crate) const HOLE: &str = "<?>";

impl ReadKind {
    /// The fields of the specification that such a document shows, identifying ones first.
    pub(crate) fn wanted(self) -> impl Iterator<Item = &'static str> {
        let names = match self {
            ReadKind::Index => "name version server_time",
            ReadKind::Venues => "venue_id name provider timezone address",
            ReadKind::Slots => "availability_id datetime card_terms cancellation_terms",
            ReadKind::Booking => "id status provider datetime party_size venue_name customer",
            ReadKind::Session | ReadKind::Sessions => "id state provider end_user",
            ReadKind::Card => "has_card",
            ReadKind::Error => "error error_code",
            ReadKind::Event => "id type data",
        };
        names.split(' ')
    }

    fn is_list(self) -> bool {
        matches!(self, ReadKind::Venues | ReadKind::Slots | ReadKind::Sessions)
    }

    fn shape(self) -> Option<Shape> {
        Some(match self {
            ReadKind::Venues => Shape::Venue,
            ReadKind::Slots => Shape::Slot,
            ReadKind::Booking => Shape::Booking,
            ReadKind::Session | ReadKind::Sessions => Shape::Session,
            ReadKind::Card => Shape::Card,
            ReadKind::Index | ReadKind::Error | ReadKind::Event => return None,
        })
    }
}

/// The paths and objects of a document. A key that is a date, a number or an id is an element, as
/// one of a list is.
#[derive(Default)]
pub(crate) struct Outline<'a> {
    /// The paths as jq writes them, in order, with the kinds of their values, never a value.
    pub(crate) paths: Vec<(String, Vec<&'static str>)>,
    objects: Vec<(String, &'a Map<String, Value>)>,
}

impl<'a> Outline<'a> {
    pub(crate) fn from_document(document: &'a Value) -> Self {
        let mut outline = Outline::default();
        outline.visit(document, String::new());
        outline
    }

    fn visit(&mut self, value: &'a Value, path: String) {
        let root = if path.is_empty() { "." } else { "" };
        let element = format!("{root}{path}[]");
        match value {
            Value::Array(elements) if !elements.is_empty() => {
                elements.iter().for_each(|inner| self.visit(inner, element.clone()))
            }
            Value::Object(object) if is_keyed(object, path.ends_with("[]")) => {
                object.values().for_each(|inner| self.visit(inner, element.clone()))
            }
            Value::Object(object) if !object.is_empty() => {
                self.objects.push((path.clone(), object));
                for (key, inner) in object {
                    self.visit(inner, format!("{path}{}", jq_key(key)));
                }
            }
            end => match self.paths.iter_mut().find(|(known, _)| *known == path) {
                Some((_, kinds)) if kinds.contains(&kind_of(end)) => {}
                Some((_, kinds)) => kinds.push(kind_of(end)),
                None => self.paths.push((path, vec![kind_of(end)])),
            },
        }
    }

    fn found(&self, kind: ReadKind) -> (&str, Option<&'a Map<String, Value>>) {
        let depth = |path: &str| path.matches('.').count();
        let fits = |object: &Map<String, Value>| kind.shape().is_some_and(|it| it.fits(object));
        let is_beside = |path: &str| {
            let key = path.trim_end_matches("[]").rsplit('.').next();
            key.is_some_and(|key| is_one_of(NON_DATA_KEYS, key))
        };
        let is_scalar = |it: &&Value| !it.is_object() && !it.is_array();
        let scalars = |object: &Map<String, Value>| object.values().filter(is_scalar).count();
        let objects = self.objects.iter().filter(|(path, _)| !is_beside(path));
        let found = objects.min_by_key(|(path, object)| {
            let in_list = path.ends_with("[]");
            let in_form = in_list == kind.is_list();
            let least = usize::MAX - if in_list { 0 } else { scalars(object) };
            // An envelope has few values of its own.
            let is_envelope = !in_list && scalars(object) < 3;
            (!fits(object), !in_form, is_envelope, depth(path), least)
        });
        found.map_or(("", None), |(path, object)| (path, Some(object)))
    }

    /// The beginning of the expression that reads such a document: holes stand for the names that
    /// only a person knows.
    pub(crate) fn skeleton(&self, kind: ReadKind) -> String {
        let (place, object) = self.found(kind);
        let field = |name| match object.and_then(|it| key_of(it, name)) {
            Some(key) if key == name => key.to_owned(),
            Some(key) => format!("{name}: {}", jq_key(key)),
            None => format!("{name}: .{HOLE}"),
        };
        let fields = kind.wanted().map(field).collect::<Vec<_>>().join(", ");
        match (place, kind.is_list()) {
            ("", true) => format!("{{{}: [.{HOLE}[] | {{{fields}}}]}}", kind.as_str()),
            (place, true) => format!("{{{}: [{place} | {{{fields}}}]}}", kind.as_str()),
            ("", false) => format!("{{{fields}}}"),
            (place, false) => format!("{place} | {{{fields}}}"),
        }
    }
}

pub(crate) fn jq_key(key: &str) -> String {
    let is_word = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_word && key.starts_with(|c: char| !c.is_ascii_digit()) {
        format!(".{key}")
    } else {
        format!(".{}", Value::from(key))
    }
}

/// Whether the keys of an object are values: dates, numbers, ids, or names of lists.
fn is_keyed(object: &Map<String, Value>, is_element: bool) -> bool {
    let is_value = |key: &String| {
        let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
        is_number || key.parse::<jiff::civil::Date>().is_ok() || uuid::Uuid::parse_str(key).is_ok()
    };
    let holds_objects = |value: &Value| match value {
        Value::Array(elements) => elements.iter().all(Value::is_object),
        _ => false,
    };
    let has_digit = |key: &String| key.bytes().any(|byte| byte.is_ascii_digit());
    !object.is_empty()
        && (object.keys().all(is_value)
            || object.values().all(|it| it.is_object() || it.is_array())
                && object.keys().all(has_digit)
            || is_element && object.values().all(holds_objects))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Array(_) => "empty list",
        Value::Object(_) => "empty object",
        Value::Number(number) => match number.as_u64() {
            // Seconds have ten digits until the year 2286.
            Some(1_000_000_000..=9_999_999_999) => "number like seconds since 1970",
            Some(1_000_000_000_000..=9_999_999_999_999) => "number like milliseconds since 1970",
            _ => "number",
        },
        Value::String(text) if text.is_empty() => "empty text",
        Value::String(text) if text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok() => {
            "date"
        }
        Value::String(text) if text.parse::<jiff::Timestamp>().is_ok() => "time",
        Value::String(text) if text.len() > 12 && text.parse::<jiff::civil::DateTime>().is_ok() => {
            "time without an offset"
        }
        Value::String(text) if text.contains(':') && text.parse::<jiff::civil::Time>().is_ok() => {
            "time of day"
        }
        Value::String(text) if text.contains('/') && zone::of_name(text).is_some() => "time zone",
        Value::String(text) if text.parse::<f64>().is_ok() => "text of digits",
        Value::String(_) => "text",
    }
}

pub(crate) fn missing(kind: ReadKind, objects: &[Value]) -> Vec<&'static str> {
    let has = |name: &str| {
        objects.iter().filter_map(|it| member(it.as_object()?, name)).any(|it| !it.is_null())
    };
    let is_missing = |name: &&str| !(has(name) || *name == "provider" && has("providers"));
    kind.wanted().filter(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::documents::rows;
    use serde_json::json;

    #[test]
    fn a_document_is_shown_as_paths_with_kinds_and_never_a_value() {
        let document = json!({"data": {"results": [
            {"ref": "V1", "zone": "Europe/Paris", "at": "2026-12-01T19:30:00Z", "on": "2026-12-01", "till": "19:30", "n": 2},
            {"ref": null, "zone": "Europe/Paris", "at": "2026-12-01T19:30", "on": "", "till": "19:30", "n": 1_795_721_400},
        ], "display-name": "4.50", "tags": []}});
        let paths = Outline::from_document(&document).paths;
        let displayed = paths.iter().map(|(path, kinds)| format!("{path} {}", kinds.join(" or ")));
        let displayed: Vec<String> = displayed.collect();
        assert_eq!(
            displayed,
            [
                ".data.results[].ref text or null",
                ".data.results[].zone time zone",
                ".data.results[].at time or time without an offset",
                ".data.results[].on date or empty text",
                ".data.results[].till time of day",
                ".data.results[].n number or number like seconds since 1970",
                ".data.\"display-name\" text of digits",
                ".data.tags empty list",
            ]
        );
    }

    #[test]
    fn a_key_that_is_a_date_a_number_or_an_id_is_an_element() {
        for [place, document] in rows(
            r#"
               .data.days[][]   | {"data": {"days": {"2026-11-24": [SLOT, SLOT]}}}
               .data.days[][][] | {"data": {"days": {"2026-11-24": {"room": [SLOT]}}}}
               .times[]         | {"times": {"1": SLOT, "2": SLOT}}
               .times[]         | {"times": {"t_35y": SLOT, "t_36z": SLOT}}
               .[]              | [SLOT]
               .list.found[]    | {"providers": [{"id": 1}], "list": {"found": [SLOT, SLOT]}}"#,
        ) {
            let slot = r#"{"ref": "a", "from": "19:30"}"#;
            let document = document.replace("SLOT", slot).parse().unwrap();
            let skeleton = Outline::from_document(&document).skeleton(ReadKind::Slots);
            let expected = format!(
                "{{slots: [{place} | {{availability_id: .<?>, datetime: .<?>, card_terms: .<?>, \
                 cancellation_terms: .<?>}}]}}"
            );
            assert_eq!(skeleton, expected, "{document}");
        }
    }

    #[test]
    fn a_skeleton_has_the_names_that_came_and_holes_for_the_others() {
        let booking = json!({"data": {"ref": "b", "Status": "x", "provider": "p", "visit": {"id": 1}}, "meta": {"id": "r"}});
        let skeleton = Outline::from_document(&booking).skeleton(ReadKind::Booking);
        assert!(
            skeleton.starts_with(".data | {id: .<?>, status: .Status, provider, datetime: .<?>"),
            "{skeleton}"
        );
        let venues =
            json!({"venues": [{"venue_id": 1, "title": "x", "photos": [{"a": 1}, {"a": 2}]}]});
        let missing = missing(ReadKind::Venues, &[venues["venues"][0].clone()]);
        assert_eq!(missing, ["name", "provider", "timezone", "address"]);
    }
}
