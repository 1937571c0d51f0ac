//! Parses `key=value` as typed at a prompt or after `-F`, and builds a body from such fields.

use serde_json::{Map, Value};

use crate::json::plain;
use crate::outcome::{Error, Result};

const DEEPEST: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Value,
}

impl Field {
    /// The field with the JSON value that its text spells, if it spells one. A text in quotes is
    /// one, whatever it spells.
    pub(crate) fn typed(self) -> Self {
        let value = serde_json::from_str(self.value.as_str().unwrap_or_default());
        Field { value: value.unwrap_or(self.value), ..self }
    }
}

/// Parses `key=value`. The value is JSON, else text.
///
/// `VALUE`, a placeholder in printed commands, is refused: it would be sent.
pub(crate) fn field(text: &str) -> Result<Field, String> {
    let field = raw_field(text)?;
    if field.value == "VALUE" {
        return Err("VALUE is a placeholder; write your own value in its place".to_owned());
    }
    Ok(field.typed())
}

pub(crate) fn raw_field(text: &str) -> Result<Field, String> {
    let (key, value) = text.split_once('=').unwrap_or_default();
    if key.trim().is_empty() {
        return Err("must be key=value".to_owned());
    }
    Ok(Field { key: key.trim().to_owned(), value: Value::String(value.to_owned()) })
}

/// Brackets nest as in `gh api`: `customer[name]` is a field of an object, `tags[]` appends to an
/// array, and `guests[][name]` belongs to the array's last object unless that has a name already.
/// So do dots: `customer.name`.
pub(crate) fn body(fields: impl IntoIterator<Item = Field>) -> Result<Map<String, Value>> {
    let mut body = Map::new();
    for Field { key, value } in fields {
        let refuse = |why: &str| {
            Error::usage(format!("field {} {why}", key.escape_debug())).hint(
                "use brackets to nest: 'customer[name]=Ada' for an object, 'tags[]=x' for an array",
            )
        };
        let steps = steps(&key).ok_or_else(|| refuse("has unbalanced brackets"))?;
        put(&mut body, &steps, value)
            .ok_or_else(|| refuse("is given twice, or as two different types"))?;
    }
    Ok(body)
}

/// The path in a field's key; an empty step ends an array. `None` for wrong brackets.
fn steps(key: &str) -> Option<Vec<&str>> {
    let (name, mut rest) = key.split_at(key.find('[').unwrap_or(key.len()));
    let mut steps: Vec<&str> = name.split('.').collect();
    while !rest.is_empty() {
        let (step, after) = rest.strip_prefix('[')?.split_once(']')?;
        steps.push(step);
        rest = after;
    }
    let is_named = name.split('.').all(|name| !name.is_empty());
    let fits = steps.len() <= DEEPEST && is_named && steps.iter().all(|step| !step.contains('['));
    fits.then_some(steps)
}

/// Sets the value at a path; `None` if something else is in the way.
fn put(object: &mut Map<String, Value>, steps: &[&str], value: Value) -> Option<()> {
    let (name, rest) = steps.split_first()?;
    match object.get_mut(*name) {
        Some(held) => *held = nested(Some(held.take()), rest, value)?,
        None => drop(object.insert((*name).to_owned(), nested(None, rest, value)?)),
    }
    Some(())
}

fn nested(held: Option<Value>, steps: &[&str], value: Value) -> Option<Value> {
    match (steps, held) {
        ([], None) => Some(value),
        (["", rest @ ..], held @ (None | Some(Value::Array(_)))) => {
            let mut items = if let Some(Value::Array(items)) = held { items } else { Vec::new() };
            let goes_on = |last: &mut Value| {
                let last = last.as_object();
                last.zip(rest.first()).is_some_and(|(last, name)| !last.contains_key(*name))
            };
            let last = items.pop_if(goes_on);
            items.push(nested(last, rest, value)?);
            Some(Value::Array(items))
        }
        ([name, ..], held @ (None | Some(Value::Object(_)))) if !name.is_empty() => {
            let mut object = match held {
                Some(Value::Object(object)) => object,
                _ => Map::new(),
            };
            put(&mut object, steps, value)?;
            Some(Value::Object(object))
        }
        _ => None,
    }
}

/// The fields as pairs of a query string, with brackets for nested ones.
pub(crate) fn pairs(body: &Map<String, Value>) -> Vec<(String, String)> {
    fn flatten(key: String, value: &Value) -> Vec<(String, String)> {
        match value {
            Value::Object(fields) => fields
                .iter()
                .flat_map(|(name, value)| flatten(format!("{key}[{name}]"), value))
                .collect(),
            Value::Array(items) => {
                items.iter().flat_map(|item| flatten(format!("{key}[]"), item)).collect()
            }
            value => vec![(key, plain(value))],
        }
    }
    let pair = |(name, value): (&String, _)| flatten(name.clone(), value);
    body.iter().flat_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::{Field, body, field, pairs};
    use crate::service::documents::rows;
    use serde_json::{Value, json};

    fn made(fields: &[&str]) -> Option<Value> {
        let fields = fields.iter().map(|text| field(text).unwrap());
        body(fields).ok().map(Value::Object)
    }

    #[test]
    fn brackets_nest() {
        for [fields, made_of_them] in rows(
            r#"
            a=1 b=x                 | {"a": 1, "b": "x"}
            a[b]=1 a[c][d]=2        | {"a": {"b": 1, "c": {"d": 2}}}
            a[]=1 a[]=x             | {"a": [1, "x"]}
            a[b][]=1 a[b][]=2       | {"a": {"b": [1, 2]}}
            a[][n]=1 a[][m]=2 a[][n]=3 | {"a": [{"n": 1, "m": 2}, {"n": 3}]}
            a.b=1 a.c[d]=2          | {"a": {"b": 1, "c": {"d": 2}}}
            a=null b]=1             | {"a": null, "b]": 1}"#,
        ) {
            let made_of_them = made_of_them.parse().unwrap();
            let fields: Vec<&str> = fields.split(' ').collect();
            assert_eq!(made(&fields), Some(made_of_them), "{fields:?}");
        }
    }

    #[test]
    fn contradictions_and_broken_brackets_are_refused() {
        let wrong = "a=1 a[b]=2|a[b]=1 a=2|a[]=1 a[b]=2|a[b]=1 a[]=2|a=null a=1|a[b=1|a[b]c=1|[a]=1|a[[b]]=1";
        for fields in wrong.split('|') {
            let fields: &[&str] = &fields.split(' ').collect::<Vec<_>>();
            assert_eq!(made(fields), None, "{fields:?}");
        }
    }

    #[test]
    fn a_query_keeps_the_brackets() {
        let body = json!({"a": {"b": [1, "x"]}, "c": true});
        let pairs = pairs(body.as_object().unwrap());
        let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(pairs, ["a[b][]=1", "a[b][]=x", "c=true"]);
    }

    #[test]
    fn a_field_is_json_where_its_value_is() {
        for [text, value] in rows(
            r#"
            1                       | 1
            true                    | true
            "271828"                | "271828"
            null                    | null
            two words               | "two words"
                                    | ""
            x=y                     | "x=y"
            [1]                     | [1]
            {"b": 1}                | {"b": 1}
            [draft]                 | "[draft]"
            1.50                    | 1.50
            007                     | "007"
            12345678901234567890123 | 12345678901234567890123"#,
        ) {
            let (key, value) = ("a".to_owned(), value.parse().unwrap());
            assert_eq!(field(&format!("a={text}")).unwrap(), Field { key, value });
        }
        assert!(field("no value").is_err() && field("=x").is_err());
    }
}
