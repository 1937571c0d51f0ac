//! Responses.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

use super::exchanges::Refusal;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::booking::Booking;
use crate::sandbox::rules::rate_limit::RateLimitStatus;
use crate::sandbox::wire::booking::BookingDocument;

/// A successful response: status and JSON body.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    body: Vec<u8>,
}

pub(crate) type Outcome = Result<Reply, ApiError>;

impl Reply {
    pub(crate) fn ok(document: &impl Serialize) -> Outcome {
        Self::json(200, document)
    }

    pub(crate) fn created(document: &impl Serialize) -> Outcome {
        Self::json(201, document)
    }

    pub(crate) fn booking(status: u16, booking: &Booking) -> Outcome {
        Self::json(status, &BookingDocument::of(booking))
    }

    /// 200 with text that is JSON already.
    pub(crate) fn text(json: impl Into<String>) -> Self {
        Self {
            status: 200,
            body: json.into().into_bytes(),
        }
    }

    fn json(status: u16, document: &impl Serialize) -> Outcome {
        match serde_json::to_vec(document) {
            Ok(body) => Ok(Self { status, body }),
            Err(error) => Err(ApiError::Broken(error.to_string())),
        }
    }
}

pub(crate) fn respond(outcome: Outcome) -> Response {
    match outcome {
        Ok(Reply { status, body }) => response(status, body),
        Err(refused) => error(&refused),
    }
}

/// The same, with the `RateLimit-*` headers if the request was counted.
pub(crate) fn with_rate_limit(outcome: Outcome, status: Option<RateLimitStatus>) -> Response {
    let mut response = respond(outcome);
    if let Some(status) = status {
        let headers = response.headers_mut();
        headers.insert("ratelimit-limit", status.limit.into());
        headers.insert("ratelimit-remaining", status.remaining.into());
        headers.insert("ratelimit-reset", status.reset.into());
        if status.is_over {
            headers.insert(header::RETRY_AFTER, status.reset.into());
        }
    }
    response
}

/// A page that is no response of the service, for the fault `garbage`.
pub(crate) fn garbage(status: StatusCode) -> Response {
    let page = "<!doctype html><title>Welcome</title><p>This is not the answer you look for.";
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
    response
}

/// A text that is no response of the service, such as the error page of a proxy.
pub(crate) fn text(status: u16, text: &str) -> Response {
    let kind = if text.trim_start().starts_with('<') {
        "text/html; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    };
    let mut response = response(status, text.as_bytes().to_vec());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub(crate) fn error(error: &ApiError) -> Response {
    let (status, body) = error.answer();
    let mut response = response(status, body.to_string().into_bytes());
    response.extensions_mut().insert(Refusal(error.reason()));
    response
}

pub(crate) fn response(status: u16, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}
