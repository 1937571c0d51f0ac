//! `GET /`: the sandbox's page, or the addresses for programs; and the OpenAPI documents.

use std::sync::LazyLock;

use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::reply::{HandlerResult, Reply};
use super::request::Request;
use crate::platform::crypto::sha256;
use crate::sandbox::store::Tx;

/// OpenAPI 3.1 of everything under `/v1`, and of the webhook events.
pub(super) const SERVICE: &str = include_str!("../../../docs/openapi.json");
pub(super) const CONTROLS: &str = include_str!("../../../docs/sandbox-openapi.json");

const HTML: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");
/// One script in several files: they share a scope.
const SCRIPT: &str = concat!(
    include_str!("../page/base.js"),
    include_str!("../page/state.js"),
    include_str!("../page/table.js"),
    include_str!("../page/diagram.js"),
    include_str!("../page/bookings.js"),
    include_str!("../page/requests.js"),
    include_str!("../page/webhooks.js"),
    include_str!("../page/setup.js"),
    include_str!("../page/report.js"),
    include_str!("../page/main.js"),
);

static PAGE: LazyLock<String> =
    LazyLock::new(|| HTML.replace("/* style */", STYLE).replace("/* script */", SCRIPT));

/// Its `Content-Security-Policy`.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        STANDARD.encode(sha256([SCRIPT.as_bytes()])),
        STANDARD.encode(sha256([STYLE.as_bytes()])),
    )
});

pub(super) fn document(text: &str) -> HandlerResult {
    Ok(Reply::new(StatusCode::OK, text.into()))
}

pub(super) fn index(_tx: &Tx<'_>, request: &Request) -> HandlerResult {
    let host = request.header("host").unwrap_or_default();
    Reply::ok(&json!({
        "page": format!("http://{host}/"),
        "openapi_url": format!("http://{host}/openapi.json"),
        "controls_openapi_url": format!("http://{host}/sandbox/openapi.json"),
        "docs": "bookctl help outcomes",
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
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", POLICY.as_str()),
        ("cache-control", "no-store"),
        ("vary", "accept"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    (headers, PAGE.as_str()).into_response()
}

#[cfg(test)]
mod tests;
