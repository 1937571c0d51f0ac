//! Objects of expressions, which `write` expressions are made of.

use serde_json::Value;

use super::paths::jq_path;

/// Sets the expression at a path of the tree, and makes the objects on the way.
pub(super) fn put(tree: &mut Value, path: &[String], expression: &str) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let Some(object) = tree.as_object_mut() else {
        return;
    };
    match rest {
        [] => {
            object.insert(first.clone(), Value::from(expression));
        }
        rest => {
            let inner = object
                .entry(first.clone())
                .or_insert_with(|| Value::Object(serde_json::Map::new()));
            put(inner, rest, expression);
        }
    }
}

/// An object of expressions as jq writes it.
pub(super) fn written(tree: &Value) -> String {
    match tree {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let path = jq_path(std::slice::from_ref(name));
                format!("{}: {}", path.trim_start_matches('.'), written(value))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}
