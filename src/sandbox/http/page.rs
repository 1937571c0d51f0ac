//! `GET /`: the page on which a person looks into the sandbox.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::response::Response;

use crate::sandbox::page::Page;

static PAGE: LazyLock<Page> = LazyLock::new(Page::assemble);

/// Whether a browser asks for the page. Other clients get what the route answers.
pub(super) fn is_wanted(request: &Request) -> bool {
    let accepts = request.headers().get_all(header::ACCEPT).iter();
    request.uri().path() == "/"
        && request.method() == Method::GET
        && accepts
            .filter_map(|it| it.to_str().ok())
            .any(|it| it.contains("text/html"))
}

pub(super) fn answer() -> Response {
    let mut response = Response::new(Body::from(PAGE.html.as_str()));
    let policy = HeaderValue::from_str(&PAGE.policy);
    let own = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
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
    let headers = response.headers_mut();
    for (name, value) in own {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = policy {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
