//! Where a field stands: `results`, or `data.results` inside other objects.

use serde_json::{Map, Value};

/// The names from the outermost object to a field. There is at least one, and none is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<String>);

impl Path {
    /// Parses names with dots between them; `None` if one of them is empty.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let names: Vec<String> = text.split('.').map(|it| it.trim().to_owned()).collect();
        names.iter().all(|it| !it.is_empty()).then_some(Self(names))
    }

    /// Whether it is this name alone.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(&self.0[..], [only] if only == name)
    }

    /// Whether one of two paths leads to the other or beyond it, so that one object cannot have both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other)
    }

    /// Takes the value out of an object, with the objects on the way that it leaves empty.
    pub(super) fn take(&self, from: &mut Map<String, Value>) -> Option<Value> {
        take(&self.0, from)
    }

    /// Puts a value into an object, with the objects on the way. Whatever stands in the way is replaced.
    pub(super) fn put(&self, into: &mut Map<String, Value>, value: Value) {
        put(&self.0, into, value);
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

fn take(names: &[String], from: &mut Map<String, Value>) -> Option<Value> {
    match names {
        [] => None,
        [last] => from.shift_remove(last),
        [first, rest @ ..] => {
            let inner = from.get_mut(first)?.as_object_mut()?;
            let taken = take(rest, inner)?;
            if inner.is_empty() {
                from.shift_remove(first);
            }
            Some(taken)
        }
    }
}

fn put(names: &[String], into: &mut Map<String, Value>, value: Value) {
    match names {
        [] => {}
        [last] => {
            into.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = into
                .entry(first.clone())
                .or_insert_with(|| Map::new().into());
            if !inner.is_object() {
                *inner = Map::new().into();
            }
            if let Some(inner) = inner.as_object_mut() {
                put(rest, inner, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_put_and_taken_with_the_objects_on_its_way() {
        let path = Path::parse("data.results").unwrap();
        let mut object = Map::new();
        path.put(&mut object, json!([1]));
        assert_eq!(json!(object), json!({"data": {"results": [1]}}));
        assert_eq!(path.take(&mut object), Some(json!([1])));
        assert!(object.is_empty());
        assert_eq!(path.take(&mut object), None);
        object.insert("data".to_owned(), json!("in the way"));
        assert_eq!(path.take(&mut object), None);
        path.put(&mut object, json!(2));
        assert_eq!(json!(object), json!({"data": {"results": 2}}));
        for empty in ["", ".", "a.", ".a", "a..b"] {
            assert_eq!(Path::parse(empty), None, "{empty:?}");
        }
    }

    #[test]
    fn paths_of_which_one_leads_through_the_other_meet() {
        let meet = |one, other| {
            let [one, other] = [one, other].map(|it| Path::parse(it).unwrap());
            one.meets(&other)
        };
        assert!(meet("a", "a.b") && meet("a.b", "a") && meet("a", "a"));
        assert!(!meet("a.b", "a.c") && !meet("ab", "a"));
    }
}
