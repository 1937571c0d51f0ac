//! Answers on the wire.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;

use crate::sandbox::rules::limits::Meter;
use crate::sandbox::rules::refusal::Refusal;

/// What a call is answered with.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    body: Vec<u8>,
}

/// A call's end: an answer or a refusal.
pub(crate) type Outcome = Result<Reply, Refusal>;

impl Reply {
    /// 200 with a document.
    pub(crate) fn ok(document: &impl Serialize) -> Outcome {
        Self::json(200, document)
    }

    /// 201 with a document.
    pub(crate) fn created(document: &impl Serialize) -> Outcome {
        Self::json(201, document)
    }

    /// 200 with JSON that is written already.
    pub(crate) fn text(json: &str) -> Self {
        Self {
            status: 200,
            body: json.as_bytes().to_vec(),
        }
    }

    fn json(status: u16, document: &impl Serialize) -> Outcome {
        match serde_json::to_vec(document) {
            Ok(body) => Ok(Self { status, body }),
            Err(error) => Err(Refusal::Broken(error.to_string())),
        }
    }
}

/// The response to a call that came to its end.
pub(crate) fn respond(outcome: Outcome) -> Response {
    match outcome {
        Ok(Reply { status, body }) => response(status, body),
        Err(refusal) => refuse(&refusal),
    }
}

/// The response to a call that may have been counted, with what is left of its rate limit.
pub(crate) fn metered(outcome: Outcome, meter: Option<Meter>) -> Response {
    let mut response = respond(outcome);
    if let Some(meter) = meter {
        let headers = response.headers_mut();
        headers.insert("ratelimit-limit", meter.limit.into());
        headers.insert("ratelimit-remaining", meter.remaining.into());
        headers.insert("ratelimit-reset", meter.reset.into());
        if meter.is_over {
            headers.insert(header::RETRY_AFTER, meter.reset.into());
        }
    }
    response
}

/// A response that is none of the service's.
pub(crate) fn garbage(status: StatusCode) -> Response {
    let page = "<!doctype html><title>Welcome</title><p>This is not the answer you look for.";
    let mut response = Response::new(Body::from(page));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
    response
}

/// The response to a refused call.
pub(crate) fn refuse(refusal: &Refusal) -> Response {
    let (status, body) = refusal.answer();
    response(status, body.to_string().into_bytes())
}

/// A response of JSON.
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
