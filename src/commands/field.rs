//! `key=value` and `Name: value`, as `-F` and `-H` take them.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::api::{Call, with_fields};

/// A field and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Value,
}

/// Reads `key=value`; the value is typed as `gh api -F` does: true, false, null and numbers, else text.
pub(crate) fn field(text: &str) -> Result<Field, String> {
    let field = raw_field(text)?;
    let typed = field
        .value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    Ok(match typed {
        Some(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => Field { value, ..field },
        _ => field,
    })
}

/// Reads `key=value`; the value is text as it stands.
pub(crate) fn raw_field(text: &str) -> Result<Field, String> {
    let parts = text
        .split_once('=')
        .filter(|(key, _)| !key.trim().is_empty());
    let (key, value) = parts.ok_or_else(|| "write it as key=value".to_owned())?;
    Ok(Field {
        key: key.trim().to_owned(),
        value: Value::String(value.to_owned()),
    })
}

/// Fields of a request's body that have no flag: every call that has a body takes them.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Extra {
    /// A field of the request's body that has no flag; true, false, null and numbers are typed, anything else is text
    #[arg(short = 'F', long = "field", value_name = "KEY=VALUE", value_parser = field)]
    fields: Vec<Field>,
}

impl Extra {
    /// The fields as an object.
    pub(crate) fn body(self) -> Map<String, Value> {
        body_of(self.fields)
    }

    /// The call with the fields in its body.
    pub(crate) fn add_to(self, mut call: Call) -> Call {
        let fields = self.body();
        call.body = call.body.map(|body| with_fields(body, fields));
        call
    }
}

/// Fields as the object that they make.
pub(crate) fn body_of(fields: Vec<Field>) -> Map<String, Value> {
    let fields = fields.into_iter();
    fields.map(|field| (field.key, field.value)).collect()
}

/// Reads `Name: value`, as a header can carry it.
pub(crate) fn header(text: &str) -> Result<(String, String), String> {
    let parts = text
        .split_once(':')
        .map(|(name, value)| (name.trim(), value.trim()));
    match parts {
        Some((name, value)) if HeaderName::try_from(name).is_ok() => {
            match HeaderValue::try_from(value) {
                Ok(_) => Ok((name.to_owned(), value.to_owned())),
                Err(_) => Err("the value cannot travel in a header".to_owned()),
            }
        }
        _ => Err("write it as 'Name: value'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, field};
    use serde_json::json;

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
        ] {
            let key = key.to_owned();
            assert_eq!(field(text).unwrap(), Field { key, value });
        }
        assert!(field("no value").is_err() && field("=x").is_err());
    }
}
