//! What a request brings along.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;

use axum::RequestPartsExt;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Query, RawPathParams, Request};
use axum::http::{HeaderMap, Uri, header};
use serde_json::{Map, Value};

use super::line::Scissors;
use crate::sandbox::rules::fields::parse_body;
use crate::sandbox::rules::refusal::Refusal;

/// The largest body that is read ("Limits", 3).
const BODY_LIMIT: usize = 1_048_576;
/// How much of a larger one is taken off the line, so that its sender gets to read the answer.
const DRAIN_LIMIT: usize = 64 * BODY_LIMIT;

/// A request, taken apart.
pub(crate) struct Call {
    /// The path's one parameter, decoded.
    id: Option<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    /// What cuts the connection it came on.
    line: Option<Scissors>,
}

impl Call {
    pub(crate) async fn of(request: Request) -> Result<Self, Refusal> {
        let (mut parts, body) = request.into_parts();
        let body = read(body).await?;
        // What is no text when it is decoded is nobody's id.
        let params = parts.extract::<RawPathParams>().await.ok();
        let id = params.and_then(|it| Some(it.iter().next()?.1.to_owned()));
        let line = parts.extensions.remove::<ConnectInfo<Scissors>>();
        let line = line.map(|ConnectInfo(line)| line);
        if let Some(line) = &line {
            line.hear();
        }
        Ok(Self {
            line,
            id,
            uri: parts.uri,
            headers: parts.headers,
            body,
        })
    }

    pub(super) fn line(&self) -> Option<&Scissors> {
        self.line.as_ref()
    }

    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    /// The `{id}` of the path.
    pub(crate) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.headers.get(header::AUTHORIZATION)?.to_str().ok()
    }

    /// The idempotency key, where one came that is not blank. Each byte is a character, so that no
    /// two keys are the same.
    pub(crate) fn idempotency_key(&self) -> Option<String> {
        let key = self.headers.get("idempotency-key")?.as_bytes().trim_ascii();
        Some(key.iter().copied().map(char::from).collect()).filter(|it: &String| !it.is_empty())
    }

    /// The body's fields.
    pub(crate) fn fields(&self) -> Result<Map<String, Value>, Refusal> {
        parse_body(&self.body)
    }

    /// The value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let Query(mut query) = Query::<HashMap<String, String>>::try_from_uri(&self.uri).ok()?;
        query.remove(name)
    }
}

async fn read(mut body: Body) -> Result<Bytes, Refusal> {
    let mut first = Bytes::new();
    let mut rest = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Refusal::wrong_type("body", "broke off"))?;
        // Trailers are none of the body.
        let Ok(data) = frame.into_data() else {
            break;
        };
        length = length.saturating_add(data.len());
        if length > DRAIN_LIMIT {
            break;
        } else if length > BODY_LIMIT {
            rest.clear();
        } else if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
    }
    if length > BODY_LIMIT {
        Err(Refusal::BodyTooLarge)
    } else if rest.is_empty() {
        Ok(first)
    } else {
        Ok([first.as_ref(), &rest].concat().into())
    }
}
