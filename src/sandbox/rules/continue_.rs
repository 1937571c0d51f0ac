//! The body of `POST /v1/bookings/{booking_id}/continue`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::api_error::{ApiError, Result};
use super::fields;
use super::state::Ask;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContinueRequest {
    Otp(String),
    PspResponse(Map<String, Value>),
    PspAbort,
    /// The fields of any other body: details that the venue asked for.
    Details(Map<String, Value>),
}

#[derive(Deserialize)]
struct ContinueBody {
    otp: Option<String>,
    psp_response: Option<Map<String, Value>>,
    psp_abort: Option<bool>,
}

impl ContinueRequest {
    pub(crate) fn read(body: &[u8]) -> Result<Self> {
        let answers: ContinueBody = fields::read(body)?;
        if answers.psp_abort == Some(false) {
            return Err(ApiError::invalid("psp_abort", "must be true"));
        }
        match (answers.otp, answers.psp_response, answers.psp_abort) {
            (None, None, None) => Ok(Self::Details(fields::parse_body(body)?)),
            (Some(otp), None, None) => Ok(Self::Otp(otp.trim().to_owned())),
            (None, Some(response), None) => Ok(Self::PspResponse(response)),
            (None, None, Some(_)) => Ok(Self::PspAbort),
            _ => {
                let demand = "send one of otp, psp_response and psp_abort";
                Err(ApiError::invalid("psp_response", demand))
            }
        }
    }

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

    /// The error that names the fields which a pause asks for.
    pub(super) fn wanted(ask: &Ask) -> ApiError {
        match ask {
            Ask::Otp { .. } => ApiError::invalid("otp", "is required"),
            Ask::Payment { .. } => {
                let demand = "is required, or psp_abort to give up the payment";
                ApiError::invalid("psp_response", demand)
            }
            Ask::Details { fields } => ApiError::all_invalid(Self::unanswered(fields, &Map::new())),
        }
    }
}
