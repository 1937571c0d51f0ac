//! Parses `key=value` and `Name: value` arguments (`-F` and `-H`), and builds a body from fields.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Number, Value};

use crate::client::Call;
use crate::flows::DEFAULT_LIMIT;
use crate::json::plain;
use crate::outcome::{Error, Result};

/// The deepest nesting of a field's brackets.
const DEEPEST: usize = 32;

/// A field and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Value,
}

/// Parses `key=value`. Types the value as `gh api -F` does: true, false, null and numbers, else text.
pub(crate) fn field(text: &str) -> Result<Field, String> {
    let field = raw_field(text)?;
    let typed = field
        .value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    Ok(match typed {
        // A number that would lose digits or leading zeros is an id, and stays text.
        Some(Value::Number(number)) if !is_kept(&number, &field.value) => field,
        Some(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => Field { value, ..field },
        _ => field,
    })
}

/// Whether a number is written exactly as it was given. With a fraction or an exponent, the value decides.
fn is_kept(number: &Number, given: &Value) -> bool {
    let given = given.as_str().unwrap_or_default();
    given.contains(['.', 'e', 'E']) || number.to_string() == given
}

/// Parses `key=value`, with the value as text.
pub(crate) fn raw_field(text: &str) -> Result<Field, String> {
    let parts = text
        .split_once('=')
        .filter(|(key, _)| !key.trim().is_empty());
    let (key, value) = parts.ok_or_else(|| "must be key=value".to_owned())?;
    Ok(Field {
        key: key.trim().to_owned(),
        value: Value::String(value.to_owned()),
    })
}

/// `-F`, for every command whose call has a body.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct ExtraFields {
    /// Add a field without a flag to the request; true, false, null and numbers are typed, anything else is text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

impl ExtraFields {
    /// The fields as an object.
    ///
    /// # Errors
    ///
    /// `usage` (2) if two fields contradict each other.
    pub(crate) fn body(self) -> Result<Map<String, Value>> {
        body(self.fields)
    }

    /// Adds the fields to the call's body.
    pub(crate) fn add_to(self, call: Call) -> Result<Call> {
        call.with_fields(&self.body()?)
    }
}

/// Parses `Name: value`, as HTTP permits it.
pub(crate) fn header(text: &str) -> Result<(String, String), String> {
    let parts = text
        .split_once(':')
        .map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if HeaderName::try_from(name).is_ok() => {
            match HeaderValue::try_from(value) {
                Ok(_) => Ok((name.to_owned(), value.to_owned())),
                Err(_) => Err("the value is not valid in a header".to_owned()),
            }
        }
        _ => Err("must be 'Name: value'".to_owned()),
    }
}

/// Builds an object from fields.
///
/// Brackets nest as in `gh api`: `customer[name]` is a field of an object, `tags[]` appends to an array, and
/// `guests[][name]` belongs to the array's last object unless that has a name already.
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

/// The path in a field's key; an empty step is the end of an array. `None` if the brackets are wrong.
fn steps(key: &str) -> Option<Vec<&str>> {
    let (name, mut rest) = key.split_at(key.find('[').unwrap_or(key.len()));
    let mut steps = vec![name];
    while !rest.is_empty() {
        let (step, after) = rest.strip_prefix('[')?.split_once(']')?;
        steps.push(step);
        rest = after;
    }
    let fits =
        steps.len() <= DEEPEST && !name.is_empty() && steps.iter().all(|step| !step.contains('['));
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

/// `held` with the value set at the rest of the path.
fn nested(held: Option<Value>, steps: &[&str], value: Value) -> Option<Value> {
    match (steps, held) {
        ([], None) => Some(value),
        (["", rest @ ..], held @ (None | Some(Value::Array(_)))) => {
            let mut items = match held {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            let goes_on = |last: &mut Value| {
                let last = last.as_object();
                last.zip(rest.first())
                    .is_some_and(|(last, name)| !last.contains_key(*name))
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
            Value::Array(items) => items
                .iter()
                .flat_map(|item| flatten(format!("{key}[]"), item))
                .collect(),
            value => vec![(key, plain(value))],
        }
    }
    let pairs = body.iter();
    pairs
        .flat_map(|(name, value)| flatten(name.clone(), value))
        .collect()
}

/// How much of a list is read.
#[derive(clap::Args, Debug)]
pub(super) struct Limit {
    /// Show at most this many; pages of the service are read until then
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT as u32, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

impl Limit {
    /// The number.
    pub(super) fn get(&self) -> usize {
        self.limit as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, body, field, pairs};
    use serde_json::{Value, json};

    fn made(fields: &[&str]) -> Option<Value> {
        let fields = fields.iter().map(|text| field(text).unwrap());
        body(fields).ok().map(Value::Object)
    }

    #[test]
    fn brackets_nest() {
        for (fields, made_of_them) in [
            (&["a=1", "b=x"][..], json!({"a": 1, "b": "x"})),
            (
                &["a[b]=1", "a[c][d]=2"],
                json!({"a": {"b": 1, "c": {"d": 2}}}),
            ),
            (&["a[]=1", "a[]=x"], json!({"a": [1, "x"]})),
            (&["a[b][]=1", "a[b][]=2"], json!({"a": {"b": [1, 2]}})),
            (
                &["a[][n]=1", "a[][m]=2", "a[][n]=3"],
                json!({"a": [{"n": 1, "m": 2}, {"n": 3}]}),
            ),
            (&["a=null", "b]=1"], json!({"a": null, "b]": 1})),
        ] {
            assert_eq!(made(fields), Some(made_of_them), "{fields:?}");
        }
    }

    #[test]
    fn what_contradicts_itself_or_has_broken_brackets_is_refused() {
        for fields in [
            &["a=1", "a[b]=2"][..],
            &["a[b]=1", "a=2"],
            &["a[]=1", "a[b]=2"],
            &["a[b]=1", "a[]=2"],
            &["a=null", "a=1"],
            &["a[b=1"],
            &["a[b]c=1"],
            &["[a]=1"],
            &["a[[b]]=1"],
        ] {
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
    fn a_field_is_typed_where_its_value_is_a_json_scalar() {
        for (text, key, value) in [
            ("a=1", "a", json!(1)),
            ("a=true", "a", json!(true)),
            ("a=null", "a", json!(null)),
            ("a=two words", "a", json!("two words")),
            ("a=", "a", json!("")),
            ("a=x=y", "a", json!("x=y")),
            ("a=[1]", "a", json!("[1]")),
            ("a=1.50", "a", json!(1.5)),
            (
                "a=12345678901234567890123",
                "a",
                json!("12345678901234567890123"),
            ),
            ("a=-0", "a", json!("-0")),
        ] {
            let key = key.to_owned();
            assert_eq!(field(text).unwrap(), Field { key, value });
        }
        assert!(field("no value").is_err() && field("=x").is_err());
    }
}
