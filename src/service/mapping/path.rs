//! Where a field stands: `results`, or `data.results` inside other objects.

use serde_json::{Map, Value};

/// The names from the outermost object to a field. There is at least one, and none is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(Vec<String>);

impl Path {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let names: Vec<String> = text.split('.').map(|name| name.trim().to_owned()).collect();
        names.iter().all(|name| !name.is_empty()).then_some(Path(names))
    }

    /// Why a text cannot be a path, as a sentence. An expression can do what a path cannot.
    pub(crate) fn refusal(text: &str) -> Option<&'static str> {
        let is_syntax = |name: &str| {
            name.contains(['*', '[', ']', '(', ')', '|', '"', '\'']) || name.starts_with('$')
        };
        if text.chars().any(char::is_control) {
            return Some("it has a control character");
        }
        let is_path = |path: Path| !path.0.iter().any(|name| is_syntax(name));
        (!Path::parse(text).is_some_and(is_path)).then_some(
            "a path is names with dots between them, such as data.results; a read.KIND or write.KIND expression takes jq",
        )
    }

    pub(crate) fn get<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |value, name| value.get(name))
    }

    /// Puts a value at this path, with the objects on the way. The error is the taken path.
    pub(crate) fn set(&self, object: &mut Map<String, Value>, to: Value) -> Result<(), String> {
        let (last, way) = self.0.split_last().ok_or_else(String::new)?;
        let mut at = object;
        for (depth, name) in way.iter().enumerate() {
            let inner = at.entry(name).or_insert_with(|| Map::new().into());
            let up_to_it = || self.0[..=depth].join(".");
            at = inner.as_object_mut().ok_or_else(up_to_it)?;
        }
        if at.contains_key(last) {
            return Err(self.0.join("."));
        }
        at.insert(last.clone(), to);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_is_read_and_written_through_the_objects_on_its_way() {
        let path = Path::parse("data.results").unwrap();
        assert_eq!(path.get(&json!({"data": {"results": 3}})), Some(&json!(3)));
        assert_eq!(path.get(&json!({"data": []})), None);
        let mut body = Map::new();
        path.set(&mut body, json!(1)).unwrap();
        Path::parse("data.other").unwrap().set(&mut body, json!(2)).unwrap();
        assert_eq!(Value::Object(body.clone()), json!({"data": {"results": 1, "other": 2}}));
        let through = Path::parse("data.results.deep").unwrap();
        assert_eq!(through.set(&mut body, json!(3)), Err("data.results".to_owned()));
        for empty in ["", ".", "a.", ".a", "a..b"] {
            assert_eq!(Path::parse(empty), None, "{empty:?}");
        }
    }
}
