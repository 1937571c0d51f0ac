//! `GET /`: the page on which a person looks into the sandbox.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

use super::service::Service;
use super::speaking;
use crate::sandbox::page::Page;
use crate::sandbox::rules::api_error::ApiError;

static PAGE: LazyLock<Page> = LazyLock::new(Page::assemble);

/// The page, for a client that takes HTML.
pub(super) async fn answer(State(service): State<Arc<Service>>, request: Request) -> Response {
    let accepts = request.headers().get_all(header::ACCEPT).iter();
    let is_browser = accepts
        .filter_map(|it| it.to_str().ok())
        .any(|it| it.contains("text/html"));
    if !is_browser {
        return speaking::refusal(&service, &ApiError::PathNotFound).await;
    }
    let mut response = Response::new(Body::from(PAGE.html.as_str()));
    let policy = HeaderValue::from_str(&PAGE.policy);
    let own = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
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
