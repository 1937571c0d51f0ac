//! One request, before it is sent, written by the mapping, with unnamed fields.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, Url};
use serde::Serialize;
use serde_json::{Map, Value};

use super::draft::Draft;
use crate::json::Document;
use crate::outcome::{Error, Result};
use crate::service::mapping::{Mapping, WriteKind};

const NOT_UNRESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The path below the base URL, with its segments encoded.
    pub(crate) path: String,
    pub(crate) body: Option<Document>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    /// How the body was written, for what a refusal says of it.
    pub(crate) draft: Option<Draft>,
    /// Whether the call is a sandbox's control, which books nothing. Only set at a sandbox.
    pub(crate) is_control: bool,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Call { path: path.into(), ..Call::default() }
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Call { method: Method::POST, path: path.into(), body: Some(body.into()), ..Call::default() }
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        Call { method: Method::PUT, ..Call::post(path, body) }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Call { method: Method::DELETE, ..Call::get(path) }
    }

    pub(crate) fn written(
        mapping: &Mapping,
        kind: WriteKind,
        path: impl Into<String>,
        body: Map<String, Value>,
    ) -> Result<Self> {
        let draft = Draft::new(mapping, kind, |name| body.contains_key(name));
        let mut call = Call::post(path, written(mapping, kind, body)?);
        call.draft = Some(draft);
        Ok(call)
    }

    pub(crate) fn with_fields(mut self, fields: &Map<String, Value>) -> Result<Self> {
        if let Some(body) = self.body.take() {
            self.body = Some(with_fields(body.value().clone(), fields)?.into());
        }
        Ok(self)
    }

    /// Whether the call may change something at the service: it is not one of the documented reads.
    pub(crate) fn is_write(&self) -> bool {
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        let is_search = matches!(path, "/v1/venues/search" | "/v1/availability/search");
        let is_read = self.method == Method::GET || self.method == Method::POST && is_search;
        !is_read && !self.is_control
    }

    pub(crate) fn is_of_a_sandbox(&self) -> bool {
        self.path.starts_with("/sandbox/")
    }

    /// Encodes an id as exactly one path segment, whatever it contains.
    pub(crate) fn segment(id: &str) -> String {
        // No ids: `.`, `..` and an empty segment would change the path.
        match id {
            "" | "." | ".." => "%20".to_owned(),
            _ => utf8_percent_encode(id, NOT_UNRESERVED).to_string(),
        }
    }

    pub(crate) fn query_value(text: &str) -> String {
        let url = Url::parse_with_params("http://x", [("", text)]).ok();
        url.as_ref().and_then(Url::query).unwrap_or_default().trim_start_matches('=').to_owned()
    }

    /// A path with these parameters in its query, as far as they have values.
    pub(crate) fn query(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
        let set = parameters.iter().filter_map(|(name, it)| Some((name, (*it)?)));
        set.fold(path.to_owned(), |path, (name, value)| {
            with_parameter(&path, name, &Call::query_value(value))
        })
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// A path with a parameter more in its query. Both its name and its value are encoded.
pub(crate) fn with_parameter(path: &str, name: &str, value: &str) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{name}={value}")
}

/// The fields of a request's body, without those that are not set.
pub(crate) fn fields_of(body: &impl Serialize) -> Map<String, Value> {
    fn keep_set(fields: &mut Map<String, Value>) {
        fields.retain(|_, field| !field.is_null());
        fields.values_mut().filter_map(Value::as_object_mut).for_each(keep_set);
    }
    let Ok(Value::Object(mut fields)) = serde_json::to_value(body) else {
        return Map::new();
    };
    keep_set(&mut fields);
    fields
}

pub(crate) fn written(
    mapping: &Mapping,
    kind: WriteKind,
    body: Map<String, Value>,
) -> Result<Value> {
    mapping.request(kind, body).map_err(|why| {
        Error::config(format!("{why}; nothing was sent"))
            .hint("look at the profile with `bookctl profile show`, and correct it with `bookctl profile set`")
    })
}

/// Adds fields to a request's body; objects are merged. A field that is there already is an error:
/// what is sent would differ from what was looked up and shown.
pub(crate) fn with_fields(mut body: Value, fields: &Map<String, Value>) -> Result<Value> {
    merge(&mut body, fields).map_err(|path| {
        let path = path.escape_debug();
        Error::usage(format!("-F sets {path}, which the request already has"))
            .hint("use its flag or argument instead")
    })?;
    Ok(body)
}

/// The error is the path of a field that is there already.
fn merge(body: &mut Value, fields: &Map<String, Value>) -> Result<(), String> {
    let Value::Object(body) = body else { return Ok(()) };
    for (name, field) in fields {
        match (body.get_mut(name), field) {
            (None, field) => _ = body.insert(name.clone(), field.clone()),
            (Some(held @ Value::Object(_)), Value::Object(fields)) => {
                merge(held, fields).map_err(|inner| format!("{name}.{inner}"))?;
            }
            (Some(_), _) => return Err(name.clone()),
        }
    }
    Ok(())
}
