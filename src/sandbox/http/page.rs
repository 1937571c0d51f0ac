//! `GET /`: the page on which a person looks into the sandbox, or where programs find what; and the OpenAPI documents.

use std::sync::LazyLock;

use axum::http::request::Parts;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::reply::{Outcome, Reply};
use super::request::Request;
use crate::sandbox::page::Page;
use crate::sandbox::store::Tx;

/// OpenAPI 3.1 of everything under `/v1`, and of the webhook events.
pub(super) const SERVICE: &str = include_str!("../../../docs/openapi.json");
const CONTROLS: &str = include_str!("../../../docs/sandbox-openapi.json");

static PAGE: LazyLock<Page> = LazyLock::new(Page::assemble);

pub(super) fn service_document(_tx: &Tx<'_>, _request: &Request) -> Outcome {
    Ok(Reply::new(StatusCode::OK, SERVICE.into()))
}

pub(super) fn controls_document(_tx: &Tx<'_>, _request: &Request) -> Outcome {
    Ok(Reply::new(StatusCode::OK, CONTROLS.into()))
}

pub(super) fn index(_tx: &Tx<'_>, request: &Request) -> Outcome {
    let host = request.header("host").unwrap_or_default();
    Reply::ok(&json!({
        "page": format!("http://{host}/"),
        "openapi_url": format!("http://{host}/openapi.json"),
        "controls_openapi_url": format!("http://{host}/sandbox/openapi.json"),
        "docs": "bookctl help sandbox",
    }))
}

/// Whether a browser asks for the page. Other clients get the index.
pub(super) fn is_wanted(request: &Parts) -> bool {
    let mut accepts = request.headers.get_all(header::ACCEPT).iter();
    request.uri.path() == "/"
        && request.method == Method::GET
        && accepts.any(|it| it.to_str().is_ok_and(|it| it.contains("text/html")))
}

pub(super) fn answer() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, PAGE.policy.as_str()),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "accept"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    (headers, PAGE.html.as_str()).into_response()
}

#[cfg(test)]
mod tests;
