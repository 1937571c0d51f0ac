//! The body of `POST /v1/bookings/{booking_id}/continue`.

use serde_json::{Map, Value};

use super::api_error::ApiError;
use super::fields::Fields;
use super::state::{Ask, Pause};

/// The guest's answer to a pause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContinueRequest {
    Otp(String),
    /// The payment vendor's response, unchanged.
    PspResponse(Map<String, Value>),
    PspAbort,
    /// The fields of any other body: details that the venue asked for.
    Details(Map<String, Value>),
}

impl ContinueRequest {
    /// Reads the body. More than one answer at once is an error.
    pub(crate) fn read(body: &Map<String, Value>) -> Result<Self, ApiError> {
        let fields = Fields::of(body);
        let otp = fields
            .text("otp")?
            .map(|it| Self::Otp(it.trim().to_owned()));
        let response = fields
            .object("psp_response")?
            .map(|it| Self::PspResponse(it.clone()));
        let abort = match fields.flag("psp_abort")? {
            Some(false) => return Err(ApiError::invalid("psp_abort", "must be true")),
            Some(true) => Some(Self::PspAbort),
            None => None,
        };
        let mut answers = [otp, response, abort].into_iter().flatten();
        match (answers.next(), answers.next()) {
            (None, _) => Ok(Self::Details(body.clone())),
            (Some(answer), None) => Ok(answer),
            (Some(_), Some(_)) => Err(ApiError::invalid(
                "psp_response",
                "send one of otp, psp_response and psp_abort",
            )),
        }
    }

    /// Whether a `psp_response` is exactly the approval that was asked for.
    pub(super) fn approves(given: &Map<String, Value>, approval_id: &str) -> bool {
        given.len() == 2
            && given.get("approval_id").and_then(Value::as_str) == Some(approval_id)
            && given.get("status").and_then(Value::as_str) == Some("approved")
    }

    /// The fields that are still missing, each with an error.
    pub(super) fn unanswered(
        fields: &[String],
        given: &Map<String, Value>,
    ) -> Vec<(String, String)> {
        let is_given = |field: &String| match given.get(field) {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(_) => true,
        };
        fields
            .iter()
            .filter(|field| !is_given(field))
            .map(|field| (field.clone(), "is required".to_owned()))
            .collect()
    }

    /// The fields that a pause asks for, each with an error that it is missing.
    pub(super) fn wanted(ask: &Ask) -> Vec<(String, String)> {
        let message = |field: &str, text: &str| (field.to_owned(), text.to_owned());
        match ask {
            Ask::Otp { .. } => vec![message("otp", "is required")],
            Ask::Payment { .. } => vec![message(
                "psp_response",
                "is required, or psp_abort to give up the payment",
            )],
            Ask::Details { fields } => Self::unanswered(fields, &Map::new()),
        }
    }
}

impl Pause {
    pub(super) fn with_attempts(&self, left: u8) -> Self {
        let mut pause = self.clone();
        if let Ask::Otp { attempts_left, .. } = &mut pause.ask {
            *attempts_left = left;
        }
        pause
    }
}
