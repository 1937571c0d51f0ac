//! The OpenAPI documents, and where to find them.

use serde_json::json;

use super::parsed_request::ParsedRequest;
use super::reply::{Outcome, Reply};
use crate::sandbox::store::Tx;

/// OpenAPI 3.1 of everything under `/v1`, and of the webhook events.
pub(super) const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
/// OpenAPI 3.1 of the controls.
const CONTROLS: &str = include_str!("../../../docs/sandbox-openapi.json");

pub(super) fn document(_tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Ok(Reply::text(DOCUMENT))
}

/// `GET /sandbox/openapi.json`.
pub(super) fn controls(_tx: &Tx<'_>, _request: &ParsedRequest) -> Outcome {
    Ok(Reply::text(CONTROLS))
}

/// `GET /`: where the documents are, under the name that the request used.
pub(super) fn index(_tx: &Tx<'_>, request: &ParsedRequest) -> Outcome {
    let host = request.header("host").unwrap_or_default();
    Reply::ok(&json!({
        "page": format!("http://{host}/"),
        "openapi_url": format!("http://{host}/openapi.json"),
        "controls_openapi_url": format!("http://{host}/sandbox/openapi.json"),
        "docs": "bookctl help sandbox",
    }))
}

#[cfg(test)]
mod tests;
