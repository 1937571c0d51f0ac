//! What an exchange shows of the situations of a report, by their codes. It is worked out for each
//! request that the log drops, so it reads no more of a body than it has to.

use serde::Deserialize;

use super::exchange::Exchange;
use crate::sandbox::rules::access::BOOKINGS_CREATE;
use crate::sandbox::rules::api_error::ApiError;
use crate::sandbox::rules::fault::FaultKind;

/// A booking request without a key: a finding, which outlives the request in the log.
pub(in super::super) const NO_KEY: &str = "no_idempotency_key";

/// A key that was used before, with another booking request: a finding.
pub(in super::super) const OTHER_BOOKING: &str = "key_for_another_booking";

/// The errors without a code that one text tells apart.
const BY_TEXT: [(ApiError, &str); 7] = [
    (ApiError::BODY_TOO_LARGE, "body_too_large"),
    (ApiError::LATE_ANSWER, "late_answer"),
    (ApiError::LOCATION_UNRESOLVED, "location_unresolved"),
    (ApiError::MALFORMED_APPROVAL, "malformed_answer"),
    (ApiError::PROVIDER_NEEDED, "provider_needed"),
    (ApiError::SESSION_NOT_FOUND, "session_not_found"),
    (ApiError::VENUE_NOT_FOUND, "venue_not_found"),
];

/// The parts of a response that tell what it is.
#[derive(Default, Deserialize)]
struct Told<'a> {
    status: Option<&'a str>,
    error: Option<&'a str>,
    error_code: Option<&'a str>,
    #[serde(borrow)]
    next_action: Option<Action<'a>>,
}

#[derive(Deserialize)]
struct Action<'a> {
    r#type: &'a str,
}

impl Exchange {
    /// Whether it asked for a booking, with a key that the sandbox knows.
    pub(in super::super) fn is_create(&self) -> bool {
        let scope = self.endpoint.and_then(|it| it.scope);
        self.status != 401 && scope == Some(BOOKINGS_CREATE)
    }

    pub(in super::super) fn idempotency_key(&self) -> Option<&str> {
        let key = self.request.header("idempotency-key")?.trim();
        Some(key).filter(|it| !it.is_empty())
    }

    /// Whether its client cannot know what became of it.
    pub(in super::super) fn is_in_doubt(&self) -> bool {
        use FaultKind::{DropAfter, DropBefore, Garbage, Truncate};
        let fault = self.fault_kind();
        let is_lost = matches!(fault, Some(DropAfter | DropBefore | Garbage | Truncate));
        is_lost || self.status >= 500
    }

    /// The codes of what it met. An endpoint's is its summary.
    pub(in super::super) fn met(&self) -> Vec<&str> {
        let endpoint = self.endpoint;
        let is_lost = self.is_in_doubt() && self.status < 500;
        let is_done = matches!(self.status, 200..=299) && !self.service_answer().is_empty();
        let is_done = is_done && !is_lost;
        let mut met = Vec::new();
        if is_done {
            met.extend(endpoint.map(|it| it.summary));
        }
        if self.is_create() && self.idempotency_key().is_none() {
            met.push(NO_KEY);
        }
        met.extend(self.fault_kind().and_then(|kind| match kind {
            FaultKind::Delay => Some("slow_response"),
            FaultKind::DropBefore | FaultKind::DropAfter => Some("lost_response"),
            FaultKind::Truncate => Some("cut_response"),
            FaultKind::Garbage => Some("garbage"),
            _ => None,
        }));
        let is_booking = endpoint.is_some_and(|it| it.path.starts_with("/v1/bookings"));
        let is_plain = (self.method == "GET" || self.status == 201) && self.is_confirmed();
        if !is_lost && (!is_done || is_booking && !is_plain) {
            self.told(&mut met);
        }
        met
    }

    /// Whether the response begins as a confirmed booking's does.
    fn is_confirmed(&self) -> bool {
        let confirmed = b"\"status\":\"confirmed\"";
        let body = &self.response.body;
        let first = body.get(..96).unwrap_or(body);
        first.windows(confirmed.len()).any(|it| it == confirmed)
    }

    fn told<'a>(&'a self, met: &mut Vec<&'a str>) {
        let told: Told<'_> = serde_json::from_slice(&self.response.body).unwrap_or_default();
        if self.status >= 400 {
            if self.status >= 500 {
                met.push("server_error");
            }
            let text = told.error.unwrap_or_default();
            let is_it =
                |error: &ApiError| matches!(error, ApiError::Fixed(_, it, ..) if *it == text);
            let by_text = BY_TEXT.iter().find(|(error, _)| is_it(error));
            met.push(match (by_text, told.error_code, self.status, text) {
                (Some((_, code)), ..) => code,
                (_, Some(code), ..) => code,
                (_, _, 409, _) if self.path().ends_with("/continue") => "not_paused",
                (_, _, 409, _) => "not_confirmed",
                (.., "booking not found") => "booking_not_found",
                (.., "invalid request body") => "invalid_body",
                (.., "required fields are missing") => "missing_fields",
                (.., "validation failed") => "validation_failed",
                // Older refusals have their code there.
                (.., text) => text,
            });
            return;
        }
        if self.is_create() {
            match (self.status, told.status) {
                (200, _) if !self.differing().is_empty() => met.push(OTHER_BOOKING),
                (200, _) => met.push("repeated_create"),
                (_, Some("failed")) => met.push("failed_after_201"),
                _ => {}
            }
        }
        let asked = |name: &str| {
            let body = self.request.body.windows(name.len());
            self.path().ends_with("/continue") && body.into_iter().any(|it| it == name.as_bytes())
        };
        match told.status {
            Some("confirmed") if asked("\"otp\"") => met.push("otp_confirmed"),
            Some("confirmed") if asked("\"psp_response\"") => met.push("payment_confirmed"),
            Some("confirmed") if asked("{") => met.push("details_confirmed"),
            Some("requires_action") => met.extend(told.next_action.map(|it| it.r#type)),
            Some(status) => met.push(status),
            None => {}
        }
        met.extend(told.error_code);
    }
}
