//! A request as its handler reads it.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Query;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{REQUEST_TIMEOUT, SandboxService};
use crate::sandbox::rules::access::{self, ApiKey};
use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::fields::parse_body;
use crate::sandbox::rules::organization::Organization;
use crate::sandbox::store::{SentDelivery, Tx};

/// The largest body that is taken ("Limits", 3).
pub(crate) const BODY_LIMIT: usize = 1_048_576;
/// How much of a larger body is read all the same, so that the client gets to read the response.
const MOST_READ: usize = 64 * BODY_LIMIT;

/// Reads a body to its end, and keeps it unless it will be refused: then it is only counted.
/// Returns it, and its length.
pub(super) async fn read(body: Body, is_kept: bool) -> Result<(Bytes, usize)> {
    // A read has none, and no time limit to set.
    if body.is_end_stream() {
        return Ok((Bytes::new(), 0));
    }
    let broke_off = || ApiError::wrong_type("body", "broke off");
    let mut chunks = body.into_data_stream();
    let reading = async {
        let (mut stored, mut length) = (Bytes::new(), 0);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| broke_off())?;
            length += chunk.len();
            if length > MOST_READ {
                return Err(ApiError::BODY_TOO_LARGE);
            }
            stored = match stored.is_empty() {
                _ if !is_kept || length > BODY_LIMIT => Bytes::new(),
                true if length == chunk.len() => chunk,
                _ => Bytes::from([stored, chunk].concat()),
            };
        }
        Ok((stored, length))
    };
    timeout(REQUEST_TIMEOUT, reading).await.map_err(|_| broke_off())?
}

pub(crate) struct Request {
    pub(super) service: Arc<SandboxService>,
    /// The path's only parameter, decoded; empty if it is missing or not UTF-8.
    pub(crate) id: String,
    pub(super) uri: Uri,
    headers: HeaderMap,
    pub(super) body: Bytes,
    /// The id of the organization that a control is about; `None` if it is about all.
    pub(super) organization: Option<String>,
}

impl Request {
    pub(super) fn new(service: Arc<SandboxService>, id: String, head: Parts, body: Bytes) -> Self {
        Request { service, id, uri: head.uri, headers: head.headers, body, organization: None }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether a control is about this organization, or about all.
    pub(super) fn is_about(&self, organization: &str) -> bool {
        self.organization.as_deref().is_none_or(|it| it == organization)
    }

    /// Judges what the report reads of requests and deliveries, which are about to be forgotten:
    /// the deliveries, and the requests of an organization that is removed.
    pub(super) fn judge_leaving(&self, removed: Option<&str>, deliveries: &[SentDelivery]) {
        if let Some(log) = &self.service.exchanges {
            log.forget(removed, deliveries);
        }
    }

    pub(super) fn queries(&self) -> Vec<(String, String)> {
        let queries = Query::try_from_uri(&self.uri);
        queries.map(|Query(queries)| queries).unwrap_or_default()
    }

    /// The parameter of this name; the last, if it came twice.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        self.queries().into_iter().rev().find_map(|(given, value)| (given == name).then_some(value))
    }

    /// The fields of a body that may be left out.
    pub(crate) fn fields(&self) -> Result<Map<String, Value>> {
        match self.body.trim_ascii() {
            b"" => Ok(Map::new()),
            body => parse_body(body),
        }
    }

    pub(super) fn key(&self) -> Result<ApiKey> {
        access::identify(self.header("authorization"), || self.place_of_a_key())
    }

    /// Where something that looks like a key came, if not in `Authorization`.
    fn place_of_a_key(&self) -> Option<String> {
        let is_key =
            |value: &str| value.split(' ').next_back().is_some_and(|it| it.starts_with("sk_"));
        let header = self.headers.iter().find(|(_, value)| value.to_str().is_ok_and(is_key));
        if let Some((name, _)) = header {
            return Some(format!("the header {name}"));
        }
        let queries = self.queries();
        let (name, _) = queries.iter().find(|(_, value)| is_key(value))?;
        Some(format!("the query parameter {name}"))
    }

    /// The idempotency key; `None` if it is absent or blank. Each byte of one that is not ASCII
    /// becomes one character, so that different keys stay different.
    pub(crate) fn idempotency_key(&self) -> Option<String> {
        let key = self.headers.get("idempotency-key")?.as_bytes();
        let key: String = key.trim_ascii().iter().copied().map(char::from).collect();
        Some(key).filter(|it| !it.is_empty())
    }
}

pub(crate) struct RequestContext<'a> {
    pub(crate) tx: &'a Tx<'a>,
    pub(crate) request: &'a Request,
    pub(crate) key: ApiKey,
    /// The key's organization, as the transaction finds it.
    pub(crate) organization: Organization,
}
