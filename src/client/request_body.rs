//! The bodies of requests: written by the adapter, with the fields that have no name here.

use serde_json::{Map, Value, json};

use super::call::Call;
use super::written_names::WrittenNames;
use crate::adapter::{Adapter, WriteKind, same_words};
use crate::outcome::{Error, Result};

/// A body as the service wants it.
///
/// # Errors
/// Configuration (3) where the profile's expression does not work; nothing is sent then.
pub(super) fn written(
    adapter: &Adapter,
    kind: WriteKind,
    body: Map<String, Value>,
) -> Result<Value> {
    adapter.request(kind, body).map_err(|why| {
        Error::config(format!("{why}; nothing was sent"))
            .hint("look at the profile with `bookctl profile show`, and correct it with `bookctl profile set`")
    })
}

/// A POST of a body as the service wants it, with the names that it was given.
///
/// # Errors
/// Like [`written`].
pub(super) fn posted(
    adapter: &Adapter,
    kind: WriteKind,
    path: impl Into<String>,
    body: Map<String, Value>,
) -> Result<Call> {
    let names = WrittenNames::new(adapter, kind, &body);
    let mut call = Call::post(path, written(adapter, kind, body)?);
    call.written = Some(names);
    Ok(call)
}

/// Adds fields to a request's body; objects are merged.
///
/// # Errors
///
/// `usage` (2) if the request already has the field. Otherwise what is sent would differ from what was looked up and
/// shown.
pub(crate) fn with_fields(body: Value, fields: &Map<String, Value>) -> Result<Value> {
    let Value::Object(mut body) = body else {
        return Ok(body);
    };
    for (name, field) in fields {
        let joined = match (body.get_mut(name).map(Value::take), field) {
            (Some(held @ Value::Object(_)), Value::Object(fields)) => with_fields(held, fields)?,
            (Some(_), _) => {
                return Err(Error::usage(format!(
                    "-F sets {}, which the request already has",
                    name.escape_debug()
                ))
                .hint("use its flag or argument instead"));
            }
            (None, field) => field.clone(),
        };
        body.insert(name.clone(), joined);
    }
    Ok(Value::Object(body))
}

impl Call {
    pub(crate) fn with_fields(mut self, fields: &Map<String, Value>) -> Result<Self> {
        self.body = match self.body {
            Some(body) => Some(with_fields(body, fields)?),
            None => None,
        };
        Ok(self)
    }
}

/// Adds the page to a request: under its own name, or for an expression as `.cursor` or `.page`. It takes the place of a
/// field of that name, with which the first page was asked for.
pub(super) fn insert_page(
    adapter: &Adapter,
    kind: WriteKind,
    body: &mut Map<String, Value>,
    fields: &mut Map<String, Value>,
    page: Option<&(String, Value)>,
) {
    let Some((name, value)) = page else { return };
    if adapter.write.contains_key(&kind) {
        let is_number = same_words(name, "page") || same_words(name, "page_number");
        let name = if is_number { "page" } else { "cursor" };
        body.insert(name.to_owned(), value.clone());
    } else {
        fields.insert(name.clone(), value.clone());
    }
}

pub(super) fn insert_some<T: serde::Serialize>(
    object: &mut Map<String, Value>,
    key: &str,
    value: Option<T>,
) {
    if let Some(value) = value {
        object.insert(key.to_owned(), json!(value));
    }
}
