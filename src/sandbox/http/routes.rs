//! Which endpoint or control a request is for.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::header::ALLOW;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;

use super::SandboxService;
use super::control::{self, CONTROLS, Control};
use super::endpoints::{self, ENDPOINTS, Endpoint};
use super::request::Request;
use crate::sandbox::rules::api_error::ApiError;

enum Route {
    Endpoint(&'static Endpoint),
    Control(&'static Control),
}

impl Route {
    fn all() -> impl Iterator<Item = Self> {
        let endpoints = ENDPOINTS.iter().map(Route::Endpoint);
        endpoints.chain(CONTROLS.iter().map(Route::Control))
    }

    fn method(&self) -> &'static str {
        match self {
            Route::Endpoint(it) => it.method,
            Route::Control(it) => it.method,
        }
    }

    fn path(&self) -> &'static str {
        match self {
            Route::Endpoint(it) => it.path,
            Route::Control(it) => it.path,
        }
    }

    /// Whether a path is the route's own. Base URLs are often written without the final slash.
    fn has_path(&self, path: &str) -> bool {
        self.path() == path || self.path().strip_suffix('/') == Some(path)
    }

    /// The parameter in a path, if it is one of the route's.
    fn parameter<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (before, rest) = self.path().split_once('{')?;
        let (_, after) = rest.split_once('}')?;
        let parameter = path.strip_prefix(before)?.strip_suffix(after)?;
        (!parameter.is_empty() && !parameter.contains('/')).then_some(parameter)
    }
}

/// Answers a request. A route without a parameter counts before those with one.
pub(super) async fn answer(service: &Arc<SandboxService>, head: Parts, body: Bytes) -> Response {
    let path = head.uri.path();
    let mut there: Vec<Route> = Route::all().filter(|it| it.has_path(path)).collect();
    if there.is_empty() {
        there.extend(Route::all().filter(|it| it.parameter(path).is_some()));
    }
    let method = if head.method == Method::HEAD { "GET" } else { head.method.as_str() };
    let Some(route) = there.iter().find(|it| it.method() == method) else {
        return refuse(&there);
    };
    let id = percent_decode_str(route.parameter(path).unwrap_or_default()).decode_utf8();
    let id = id.unwrap_or_default().into_owned();
    let request = Request::new(id, head, body);
    match route {
        Route::Endpoint(endpoint) => endpoints::answer(service, endpoint, request).await,
        Route::Control(control) => control::answer(service, control, request).await,
    }
}

/// Refuses a path without a route, or a method that none of the path's routes has.
fn refuse(there: &[Route]) -> Response {
    if there.is_empty() {
        return ApiError::PATH_NOT_FOUND.into_response();
    }
    let methods = there.iter().map(|it| it.method());
    let methods: Vec<_> = methods.map(|it| if it == "GET" { "GET,HEAD" } else { it }).collect();
    let mut refusal = ApiError::METHOD_NOT_ALLOWED.into_response();
    refusal.headers_mut().extend(HeaderValue::try_from(methods.join(",")).map(|it| (ALLOW, it)));
    refusal
}
