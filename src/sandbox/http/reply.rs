//! Responses.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;

use crate::sandbox::rules::api_error::{ApiError, Result};
use crate::sandbox::rules::booking::StoredBooking;
use crate::sandbox::wire::booking::BookingDocument;

#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    body: Vec<u8>,
    situations: Situations,
}

/// The codes of the report's situations that a response shows: an extension of the response.
#[derive(Clone, Debug, Default)]
pub(super) struct Situations(pub(super) Vec<String>);

/// Why a request was refused, for the log of requests: an extension of the response.
#[derive(Clone)]
pub(super) struct RefusalReason(pub(super) String);

/// When it was answered, by the clock of the organization: an extension of the response.
#[derive(Clone, Copy)]
pub(super) struct AnsweredAt(pub(super) Timestamp);

pub(crate) type HandlerResult = Result<Reply>;

impl Reply {
    pub(crate) const fn new(status: StatusCode, body: Vec<u8>) -> Self {
        Self { status, body, situations: Situations(Vec::new()) }
    }

    pub(super) fn showing(mut self, situation: Option<&str>) -> Self {
        self.situations.0.extend(situation.map(str::to_owned));
        self
    }

    pub(crate) fn ok(document: &impl Serialize) -> HandlerResult {
        Self::json(StatusCode::OK, document)
    }

    pub(crate) fn created(document: &impl Serialize) -> HandlerResult {
        Self::json(StatusCode::CREATED, document)
    }

    pub(crate) fn booking(booking: &StoredBooking) -> HandlerResult {
        let reply = Self::ok(&BookingDocument(booking))?;
        Ok(reply.showing(booking.state.situation()))
    }

    fn json(status: StatusCode, document: &impl Serialize) -> HandlerResult {
        match serde_json::to_vec(document) {
            Ok(body) => Ok(Self::new(status, body)),
            Err(error) => Err(ApiError::Broken(error.to_string())),
        }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let json = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (self.status, json, self.body).into_response();
        response.extensions_mut().insert(self.situations);
        response
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, body) = self.answer();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(body)).into_response();
        let extensions = response.extensions_mut();
        extensions.insert(RefusalReason(self.reason()));
        let situation = Some(self.situation()).filter(|it| !it.is_empty());
        extensions.insert(Situations(situation.map(str::to_owned).into_iter().collect()));
        response
    }
}
