//! Every error that the service responds with: one table of status and body ("Errors").

use serde_json::{Map, Value, json};

use super::state::BookingErrorCode;
use crate::sandbox::seed::Provider;

pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiError {
    /// One of the constants below: status, text, code (empty if there is none), situation of the
    /// report that it is without a code, and reason.
    Fixed(u16, &'static str, &'static str, &'static str, &'static str),
    /// One in which something depends on the request: status, situation of the report, body and
    /// reason.
    Told(u16, &'static str, Value, String),
    /// The sandbox itself failed; the text says how.
    Broken(String),
}

/// The errors in which nothing depends on the request.
#[rustfmt::skip]
impl ApiError {
    pub(crate) const BODY_TOO_LARGE: Self = Self::Fixed(413, "body too large: the limit is 1 MB", "", "body_too_large", "The body is larger than 1 MB (Limits, 3).");
    pub(crate) const WRONG_KEY_ENVIRONMENT: Self = Self::Fixed(403, "this key belongs to the beta (v3) environment", "wrong_key_environment", "", "The key is a beta (v3) key, and /v1 accepts live and test keys (Authentication, 1).");
    pub(crate) const BILLING_CHECK_UNAVAILABLE: Self = Self::Fixed(503, "billing could not be checked", "billing_check_unavailable", "", "The organization's setting billing_check is unavailable (Codes by condition).");
    pub(crate) const ENTITLEMENT_CHECK_UNAVAILABLE: Self = Self::Fixed(503, "the entitlement could not be checked", "entitlement_check_unavailable", "", "The organization's setting entitlement_check is unavailable (Codes by condition).");
    pub(crate) const LOCATION_UNRESOLVED: Self = Self::Fixed(400, "the location could not be resolved; send a more specific location, or latitude and longitude", "", "location_unresolved", "No place of the sandbox has the name in location (Codes by condition).");
    pub(crate) const UNKNOWN_SEARCH_PROVIDER: Self = Self::Fixed(400, "one of the named providers is unknown, or none of them can search", "no_search_provider", "", "None of the providers in the request can search (Codes by condition).");
    pub(crate) const NO_SEARCH_PROVIDER: Self = Self::Fixed(503, "no provider that can search is configured", "no_search_provider", "", "The organization's setting search_providers is empty (Codes by condition).");
    pub(crate) const VENUE_NOT_FOUND: Self = Self::Fixed(404, "venue not found; run venue search first", "", "venue_not_found", "No search of this organization has returned the venue_id (Codes by condition).");
    pub(crate) const PROVIDER_NEEDED: Self = Self::Fixed(400, "the venue is served by several providers; name one in provider", "", "provider_needed", "Several providers serve the venue, and provider is missing (Codes by condition).");
    pub(crate) const PLACEHOLDER_CUSTOMER: Self = Self::Fixed(400, "customer.name must be the real guest, not a placeholder", "placeholder_customer", "", "customer.name is one of the placeholders, or has no letter (Codes by condition).");
    pub(crate) const MISSING_LAST_NAME: Self = Self::Fixed(400, "this provider needs first and last name in customer.name", "missing_last_name", "", "Provider A needs a first and a last name in customer.name (Codes by condition).");
    pub(crate) const SLOT_NOT_OFFERED: Self = Self::Fixed(400, "datetime differs from the time at which the availability_id was offered", "slot_not_offered", "", "The availability_id was offered for another datetime (Codes by condition).");
    pub(crate) const VAULT_UNAVAILABLE: Self = Self::Fixed(409, "this venue cannot be paid through the vendor; nothing was created", "vault_unavailable", "", "The venue cannot be paid through the vendor (Vendor payment codes).");
    pub(crate) const VENDOR_DISABLED: Self = Self::Fixed(503, "vendor payments are switched off", "vendor_disabled", "", "The organization's setting vendor_payments is off (Vendor payment codes).");
    pub(crate) const RECONNECT_REQUIRED: Self = Self::Fixed(409, "the guest's account at the provider is not connected", "reconnect_required", "", "The guest has no active session at this provider (Session codes).");
    pub(crate) const LIVE_KEY_REQUIRED: Self = Self::Fixed(403, "sessions need a live key", "live_key_required", "", "Session calls need a live key (Authentication, 7).");
    pub(crate) const SESSION_NOT_FOUND: Self = Self::Fixed(404, "session not found", "", "session_not_found", "The organization has no session with this id (Sessions).");
    pub(crate) const INVALID_CODE: Self = Self::Fixed(400, "the code is wrong", "invalid_code", "", "The code is not the one in the inbox, is older than 10 minutes, or was wrong 5 times (Session codes).");
    pub(crate) const SESSION_ACTIVE: Self = Self::Fixed(409, "the session is active already", "", "", "The session is active already (States and transitions).");
    pub(crate) const MALFORMED_APPROVAL: Self = Self::Fixed(400, "malformed psp_response: send the approval_id of psp_request and status approved", "", "malformed_answer", "psp_response must be {\"approval_id\": that of psp_request, \"status\": \"approved\"} (Transitions).");
    pub(crate) const LATE_ANSWER: Self = Self::Fixed(400, "the answer arrived after expires_at; read the booking", "", "late_answer", "The answer came after expires_at (Transitions).");
    pub(crate) const MODIFY_UNSUPPORTED: Self = Self::Fixed(422, "this provider cannot change bookings; nothing was attempted", "modify_unsupported", "", "Only provider A can modify (States and transitions).");
    pub(crate) const PATH_NOT_FOUND: Self = Self::Fixed(404, "no such path", "", "", "The service has no such path (Endpoints).");
    pub(crate) const METHOD_NOT_ALLOWED: Self = Self::Fixed(405, "this path does not accept that method", "", "", "The path exists, but does not accept this method (Endpoints).");
    pub(crate) const CROSS_ORIGIN: Self = Self::Fixed(403, "a page of another origin may not write to the sandbox", "", "", "A page of another origin may not write; this protects the sandbox, and is not a rule of the service.");
    pub(crate) const ORGANIZATION_UNKNOWN: Self = Self::Fixed(404, "organization not found", "", "", "The sandbox has no organization with this id.");
    pub(crate) const ORGANIZATION_BUILT_IN: Self = Self::Fixed(409, "every sandbox has this organization, and it cannot be removed", "", "", "Every sandbox has this organization; POST /sandbox/reset restores it.");
    pub(crate) const DELIVERY_NOT_FOUND: Self = Self::Fixed(404, "delivery not found", "", "", "No event with this id has a delivery.");
    pub(crate) const NOTHING_DUE: Self = Self::Fixed(409, "nothing is due: no booking and no webhook waits for a time", "", "", "No booking and no webhook of the sandbox waits for a time.");
    pub(crate) const FAULT_NOT_FOUND: Self = Self::Fixed(404, "fault not found", "", "", "No fault with this id is left.");
    pub(crate) const NO_REPORT: Self = Self::Fixed(409, "the sandbox keeps no report, because it was started with --no-report or --no-request-log", "", "", "The sandbox was started with --no-report or --no-request-log.");
    pub(crate) const REQUEST_NOT_FOUND: Self = Self::Fixed(404, "request not found; the sandbox keeps the last 1,000", "", "", "No request with this id is kept.");
}

/// The others.
#[rustfmt::skip]
impl ApiError {
    /// The reason says what came instead of a key.
    pub(crate) fn unauthorized(reason: String) -> Self {
        Self::Told(401, "unauthorized", json!({"error": "unauthorized"}), reason)
    }

    pub(crate) fn org_suspended(why: Option<&str>) -> Self {
        let mut body = json!({"error": "the organization is suspended", "error_code": "org_suspended"});
        if let Some(why) = why {
            body["reason"] = json!(why);
        }
        Self::Told(403, "org_suspended", body, "The key's organization is suspended (Authentication, 6).".to_owned())
    }

    pub(crate) fn insufficient_scope(scope: &str) -> Self {
        let reason = format!("The key lacks the scope {scope} (Authentication, 3).");
        Self::Told(403, "insufficient_scope", json!({"error": "insufficient_scope", "required_scope": scope}), reason)
    }

    pub(crate) fn billing_required() -> Self {
        let message = "Live keys need billing to be set up for the organization.";
        let reason = "The key is live and its organization has no billing (Authentication, 4).".to_owned();
        Self::Told(402, "billing_required", json!({"error": "billing_required", "message": message}), reason)
    }

    pub(crate) fn free_tier_exhausted(limit: u32) -> Self {
        let message = format!("The {limit} free confirmed test bookings are used up.");
        let reason = format!("The organization has used its {limit} free test bookings (Authentication, 5; Limits, 4); `--no-limits` switches the limit off.");
        Self::Told(402, "free_tier_exhausted", json!({"error": "free_tier_exhausted", "limit": limit, "message": message}), reason)
    }

    /// The body is not a JSON object, or a field has the wrong type.
    pub(crate) fn wrong_type(field: &str, detail: &str) -> Self {
        let reason = format!("{field} {detail} (Body shapes).");
        Self::Told(400, "invalid_body", json!({"error": "invalid request body", "field": field, "detail": detail}), reason)
    }

    pub(crate) fn missing(names: &[&str]) -> Self {
        let reason = format!("A venue search needs {} (Venue search).", names.join(", "));
        Self::Told(400, "missing_fields", json!({"error": "required fields are missing", "missing": names}), reason)
    }

    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::all_invalid(vec![(field.to_owned(), message.into())])
    }

    /// "validation failed": each field with what is wrong with it.
    pub(crate) fn all_invalid(errors: Vec<(String, String)>) -> Self {
        let wording: Vec<String> = errors.iter().map(|(field, why)| format!("{field} {why}")).collect();
        let reason = format!("{} (Body shapes: validation failed).", wording.join("; "));
        let fields: Map<String, Value> = errors.into_iter().map(|(field, why)| (field, json!(why))).collect();
        Self::Told(400, "validation_failed", json!({"error": "validation failed", "fields": fields}), reason)
    }

    pub(crate) fn search_failed(providers: &[Provider]) -> Self {
        let body = json!({"error": "every provider failed", "error_code": "search_failed", "providers_failed": providers});
        Self::Told(502, "search_failed", body, "Every provider failed at this place, as near \"Outage\" (Codes by condition).".to_owned())
    }

    pub(crate) fn availability_failed(provider: Provider) -> Self {
        let error = "the provider failed to read the availability";
        let body = json!({"error": error, "error_code": "availability_failed", "provider": provider});
        Self::Told(502, "availability_failed", body, "The provider fails to read availability at this venue (Codes by condition).".to_owned())
    }

    pub(crate) fn rate_limited(limit: u32, retry_after: u64) -> Self {
        let message = format!("More than {limit} requests in 5 minutes (sandbox: --no-limits, or clock --advance {retry_after}s).");
        let reason = format!(
            "The organization has sent more than {limit} such requests in 5 minutes (Limits, 1); `--no-limits` switches the limits off, \
             and `bookctl sandbox clock --advance {retry_after}s` ends the window.");
        Self::Told(429, "rate_limited", json!({"error": "rate_limited", "message": message, "limit": limit, "retry_after_seconds": retry_after}), reason)
    }

    /// With the summaries of the organization's unfinished bookings of the last day.
    pub(crate) fn booking_not_found(open_bookings: &[Value]) -> Self {
        let reason = "The key's organization has no booking with this id (Codes by condition).".to_owned();
        Self::Told(404, "booking_not_found", json!({"error": "booking not found", "open_bookings": open_bookings}), reason)
    }

    pub(crate) fn not_paused(status: &str) -> Self {
        let reason = format!("The booking is {status}, and continue answers one that waits for something (States and transitions).");
        Self::Told(409, "not_paused", json!({"error": format!("the booking has status {status} and is not waiting")}), reason)
    }

    pub(crate) fn not_confirmed(status: &str) -> Self {
        let wording = format!("booking has status {status}; only a confirmed booking can be changed or cancelled");
        Self::Told(409, "not_confirmed", json!({"error": format!("the {wording}")}), format!("The {wording} (States and transitions)."))
    }

    pub(crate) fn invalid_otp(attempts_left: u8) -> Self {
        let body = json!({"error": "the one-time code is wrong", "error_code": "invalid_otp", "attempts_left": attempts_left});
        Self::Told(400, "invalid_otp", body, format!("The code is not the one in the inbox; {attempts_left} tries are left (Continue)."))
    }

    /// With the unchanged booking.
    pub(crate) fn venue_refused(code: BookingErrorCode, booking: &Value) -> Self {
        let name = code.name();
        let body = json!({"error": code.message(), "error_code": name, "booking": booking});
        Self::Told(422, name, body, format!("The venue rejected the change: {name} (Codes by condition)."))
    }

    /// With what the `Host` header must be instead, and the flag that allows the name in it.
    pub(crate) fn foreign_host(named: Option<&str>, port: u16) -> Self {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
        let named = named.filter(|it| it.len() <= 100 && it.chars().all(is_plain));
        let name = named.map(|host| match host.rsplit_once(':') {
            Some((name, digits)) if !digits.ends_with(']') => name,
            _ => host,
        });
        let wording = format!(
            "Host header{} must be localhost, 127.0.0.1 or [::1], or a name that `bookctl sandbox serve --host {}` allows, with the port {port}",
            named.map_or(String::new(), |it| format!(" is {it:?}, and")),
            name.filter(|it| !it.is_empty()).unwrap_or("NAME"),
        );
        let reason = format!("The {wording}; this protects the sandbox, and is not a rule of the service.");
        Self::Told(403, "", json!({"error": format!("the {wording}")}), reason)
    }

    /// The HTTP status and the body.
    pub(crate) fn answer(&self) -> (u16, Value) {
        match self {
            Self::Fixed(status, error, "", ..) => (*status, json!({"error": error})),
            Self::Fixed(status, error, code, ..) => (*status, json!({"error": error, "error_code": code})),
            Self::Told(status, _, body, _) => (*status, body.clone()),
            Self::Broken(detail) => (500, json!({"error": "internal error", "detail": detail})),
        }
    }

    /// The code of the report's situation that it is; empty if it is none.
    pub(crate) fn situation(&self) -> &'static str {
        match self {
            Self::Fixed(_, _, "", situation, _) | Self::Told(_, situation, ..) => situation,
            Self::Fixed(_, _, code, ..) => code,
            Self::Broken(_) => "",
        }
    }

    /// Why a request is refused, for the sandbox's log of requests: the rule that answered, and its
    /// section of the specification. The answer itself says less.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Fixed(.., reason) => (*reason).to_owned(),
            Self::Told(.., reason) => reason.clone(),
            Self::Broken(detail) => format!("The sandbox itself failed: {detail}."),
        }
    }
}
