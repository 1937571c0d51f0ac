//! Which endpoint or control a request is for.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::header::ALLOW;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;

use super::control::{self, CONTROLS, Control};
use super::endpoints::{ENDPOINTS, Endpoint};
use super::request::Request;
use super::{SandboxService, answer};
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fault::matches_path;

struct Route {
    method: &'static str,
    path: &'static str,
    to: Destination,
}

enum Destination {
    Endpoint(&'static Endpoint),
    Control(&'static Control),
}

fn routes() -> impl Iterator<Item = Route> {
    let endpoints = ENDPOINTS.iter().map(|it| (it.method, it.path, Destination::Endpoint(it)));
    let controls = CONTROLS.iter().map(|it| (it.method, it.path, Destination::Control(it)));
    endpoints.chain(controls).map(|(method, path, to)| Route { method, path, to })
}

impl Route {
    /// Whether a path is the route's own. A base URL is often written without the final slash.
    fn is_at(&self, path: &str) -> bool {
        self.path == path || self.path.strip_suffix('/') == Some(path)
    }

    fn find(method: &str, path: &str) -> Option<Self> {
        // Each request comes by here: patterns are compared last, and only those that begin alike.
        let is_service = |path: &str| path.starts_with("/v1");
        let fits = |it: &Route| it.method == method && is_service(it.path) == is_service(path);
        if routes().any(|it| it.is_at(path)) {
            return routes().find(|it| fits(it) && it.is_at(path));
        }
        routes().find(|it| fits(it) && matches_path(it.path, path))
    }
}

pub(super) async fn answer(service: Arc<SandboxService>, head: Parts, body: Bytes) -> Response {
    let path = head.uri.path();
    let method = if head.method == Method::HEAD { "GET" } else { head.method.as_str() };
    let Some(route) = Route::find(method, path) else {
        return refuse(path);
    };
    let mut parts = route.path.split('/').zip(path.split('/'));
    let parameter = parts.find_map(|(name, value)| name.starts_with('{').then_some(value));
    let id = percent_decode_str(parameter.unwrap_or_default()).decode_utf8();
    let request = Request::new(service, id.unwrap_or_default().into_owned(), head, body);
    match route.to {
        Destination::Endpoint(endpoint) => answer::answer(endpoint, request).await,
        Destination::Control(control) => control::answer(control, request).await,
    }
}

/// Refuses a path without a route, or a method that none of the path's routes has.
fn refuse(path: &str) -> Response {
    let mut there: Vec<Route> = routes().filter(|it| it.is_at(path)).collect();
    if there.is_empty() {
        there.extend(routes().filter(|it| matches_path(it.path, path)));
    }
    if there.is_empty() {
        return ApiError::PATH_NOT_FOUND.into_response();
    }
    let methods = there.iter().map(|it| it.method);
    let methods: Vec<_> = methods.map(|it| if it == "GET" { "GET,HEAD" } else { it }).collect();
    let mut refusal = ApiError::METHOD_NOT_ALLOWED.into_response();
    refusal.headers_mut().extend(HeaderValue::try_from(methods.join(",")).map(|it| (ALLOW, it)));
    refusal
}
