//! Objects that keep their fields in `attributes`, beside their `id`, as JSON:API writes them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::json::Document;

const INNER: &str = "attributes";
const LINKS: &str = "relationships";
const NON_DATA_KEYS: &str = "included";

/// The document with the members of each `attributes` in the object around it, and what its
/// relationships name in `included` beside them.
pub(crate) fn flattened(document: &Document) -> Cow<'_, Value> {
    // Most documents have none, and are not copied.
    if !document.text().contains(INNER) {
        return Cow::Borrowed(document.value());
    }
    let value = document.value();
    let beside = value.get(NON_DATA_KEYS).and_then(Value::as_array);
    let mut included = Included { objects: beside.map_or(&[], Vec::as_slice), used: Vec::new() };
    let mut flat = flat(value, &mut included);
    if !included.used.is_empty()
        && let Some(Value::Array(rest)) = flat.get_mut(NON_DATA_KEYS)
    {
        let mut places = 0..;
        rest.retain(|_| places.next().is_none_or(|it| !included.used.contains(&it)));
        if rest.is_empty() {
            flat.as_object_mut().map(|object| object.remove(NON_DATA_KEYS));
        }
    }
    if flat == *value { Cow::Borrowed(value) } else { Cow::Owned(flat) }
}

/// The objects beside the document's own, and the places of the named ones.
#[derive(Default)]
struct Included<'a> {
    objects: &'a [Value],
    used: Vec<usize>,
}

impl Included<'_> {
    fn named(&mut self, link: &Value) -> Option<Value> {
        match link.get("data")? {
            Value::Array(ids) if !ids.is_empty() => ids.iter().map(|id| self.one(id)).collect(),
            id => self.one(id),
        }
    }

    fn one(&mut self, id: &Value) -> Option<Value> {
        let name = |of: &Value| Some((of.get("type")?.clone(), of.get("id")?.clone()));
        let wanted = Some(name(id)?);
        let place = self.objects.iter().position(|it| name(it) == wanted)?;
        self.used.push(place);
        let mut found = flat(&self.objects[place], &mut Included::default());
        found.as_object_mut()?.remove("type");
        Some(found)
    }
}

fn flat(value: &Value, included: &mut Included<'_>) -> Value {
    match value {
        Value::Object(object) => {
            let mut merged = Map::new();
            let has_id = object.contains_key("id");
            for (key, value) in object {
                match value {
                    Value::Object(inner) if key == INNER && has_id => {
                        for (key, value) in inner {
                            let value = || flat(value, included);
                            merged.entry(key.clone()).or_insert_with(value);
                        }
                    }
                    Value::Object(links) if key == LINKS => {
                        let mut rest = links.clone();
                        rest.retain(|name, link| match included.named(link) {
                            Some(named) => {
                                merged.entry(name.clone()).or_insert(named);
                                false
                            }
                            None => true,
                        });
                        if !rest.is_empty() {
                            merged.insert(key.clone(), rest.into());
                        }
                    }
                    // What is only named there is not named in the document.
                    Value::Array(_) if key == NON_DATA_KEYS => {
                        merged.insert(key.clone(), flat(value, &mut Included::default()));
                    }
                    _ => {
                        merged.insert(key.clone(), flat(value, included));
                    }
                }
            }
            Value::Object(merged)
        }
        Value::Array(elements) => elements.iter().map(|it| flat(it, included)).collect(),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn attributes_and_what_is_included_join_object_that_has_id() {
        let flattened = |value: Value| flattened(&value.into()).into_owned();
        assert_eq!(
            flattened(
                json!({"data": [{"type": "b", "id": 7, "attributes": {"status": "x", "id": 8}}]})
            ),
            json!({"data": [{"type": "b", "id": 7, "status": "x"}]})
        );
        let fee = json!({"data": {"type": "u", "id": 1}});
        let link = |id| json!({"data": {"type": "t", "id": id}});
        assert_eq!(
            flattened(json!({
                "data": [{"id": 7, "relationships": {"card_terms": link(1), "gone": link(9)}}],
                "included": [
                    {"type": "t", "id": 1, "attributes": {"text": "x"}, "relationships": {"fee": fee}},
                    {"type": "u", "id": 1, "attributes": {"text": "y"}},
                ],
            })),
            json!({
                "data": [{"id": 7, "card_terms": {"id": 1, "text": "x", "relationships": {"fee": fee}}, "relationships": {"gone": link(9)}}],
                "included": [{"type": "u", "id": 1, "text": "y"}],
            })
        );
        let slot = json!({"type": "s", "id": 7, "attributes": {"at": 1}, "relationships": {"terms": link(1)}});
        let nested = json!({"data": {"id": "a", "attributes": {"days": [{"slots": [slot]}]}}, "included": [{"type": "t", "id": 1, "attributes": {"text": "x"}}]});
        assert_eq!(
            flattened(nested),
            json!({"data": {"id": "a", "days": [{"slots": [{"type": "s", "id": 7, "at": 1, "terms": {"id": 1, "text": "x"}}]}]}})
        );
        for same in [json!({"attributes": {"a": 1}}), json!({"id": 1, "attributes": ["a"]})] {
            assert_eq!(flattened(same.clone()), same);
        }
    }
}
