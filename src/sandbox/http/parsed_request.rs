//! A request as the handlers read it.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;

use axum::RequestPartsExt;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Query, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderName, Uri, header};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::REQUEST_TIMEOUT;
use super::connection::CutHandle;
use crate::sandbox::rules::access::{self, ApiKey};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fields::parse_body;
use crate::sandbox::rules::no_key::NoKey;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::store::Tx;

/// The largest body that is read ("Limits", 3).
pub(crate) const BODY_LIMIT: usize = 1_048_576;
/// How much of a larger body is read and discarded, so that the client gets to read the response.
const DRAIN_LIMIT: usize = 64 * BODY_LIMIT;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

pub(crate) struct ParsedRequest {
    /// The path's only parameter, decoded.
    id: Option<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    connection: Option<CutHandle>,
}

impl ParsedRequest {
    /// Reads the whole request. Fails if the body is too large or breaks off, with the first bytes that came.
    pub(crate) async fn of(request: Request) -> Result<Self, (ApiError, Bytes)> {
        let (mut parts, body) = request.into_parts();
        let body = timeout(REQUEST_TIMEOUT, read(body))
            .await
            .unwrap_or_else(|_| Err((broke_off(), Bytes::new())))?;
        // A parameter that does not decode to UTF-8 cannot be an id.
        let params = parts.extract::<RawPathParams>().await.ok();
        let id = params.and_then(|it| Some(it.iter().next()?.1.to_owned()));
        let connection = parts.extensions.remove::<ConnectInfo<CutHandle>>();
        let connection = connection.map(|ConnectInfo(connection)| connection);
        Ok(Self {
            connection,
            id,
            uri: parts.uri,
            headers: parts.headers,
            body,
        })
    }

    pub(super) fn body(&self) -> &Bytes {
        &self.body
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(super) fn queries(&self) -> HashMap<String, String> {
        let queries = Query::try_from_uri(&self.uri);
        queries.map(|Query(queries)| queries).unwrap_or_default()
    }

    pub(super) fn connection(&self) -> Option<&CutHandle> {
        self.connection.as_ref()
    }

    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    pub(crate) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.headers.get(header::AUTHORIZATION)?.to_str().ok()
    }

    pub(super) fn key(&self) -> Result<ApiKey, ApiError> {
        access::identify(self.authorization()).map_err(|error| match error {
            ApiError::Unauthorized(NoKey::Missing) => {
                let place = self.place_of_a_key();
                ApiError::Unauthorized(place.map_or(NoKey::Missing, NoKey::Elsewhere))
            }
            other => other,
        })
    }

    /// Where something that looks like a key came, if not in `Authorization`.
    fn place_of_a_key(&self) -> Option<String> {
        let is_key = |value: &str| {
            value
                .rsplit(' ')
                .next()
                .is_some_and(|it| it.starts_with("sk_"))
        };
        let mut headers = self.headers.iter();
        let header = headers.find(|(_, value)| value.to_str().is_ok_and(is_key));
        if let Some((name, _)) = header {
            return Some(format!("the header {name}"));
        }
        let queries = self.queries();
        let query = queries.iter().find(|(_, value)| is_key(value))?;
        Some(format!("the query parameter {}", query.0))
    }

    /// The idempotency key; `None` if it is absent or blank. Each byte becomes one character, so that
    /// different keys stay different.
    pub(crate) fn idempotency_key(&self) -> Option<String> {
        let key = self.headers.get(IDEMPOTENCY_KEY)?.as_bytes().trim_ascii();
        let key = match str::from_utf8(key) {
            Ok(key) if key.is_ascii() => key.to_owned(),
            _ => key.iter().copied().map(char::from).collect(),
        };
        Some(key).filter(|it| !it.is_empty())
    }

    pub(crate) fn fields(&self) -> Result<Map<String, Value>, ApiError> {
        parse_body(&self.body)
    }

    pub(crate) fn query(&self, name: &str) -> Option<String> {
        self.queries().remove(name)
    }
}

/// An authenticated request, with the transaction in which it is answered.
pub(crate) struct RequestContext<'a, 't> {
    pub(crate) tx: &'a Tx<'t>,
    pub(crate) request: &'a ParsedRequest,
    pub(crate) key: ApiKey,
    /// The key's organization, as the transaction finds it.
    pub(crate) organization: Organization,
}

fn broke_off() -> ApiError {
    ApiError::wrong_type("body", "broke off")
}

async fn read(mut body: Body) -> Result<Bytes, (ApiError, Bytes)> {
    let mut first = Bytes::new();
    let mut rest = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(frame) = frame else {
            return Err((broke_off(), first));
        };
        // Trailers are not part of the body.
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
        Err((ApiError::BodyTooLarge, first))
    } else if rest.is_empty() {
        Ok(first)
    } else {
        Ok([first.as_ref(), &rest].concat().into())
    }
}
