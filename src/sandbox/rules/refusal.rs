//! Every way the service says no: one table of status and body ("Errors").

use serde_json::{Value, json};

use super::access::Scope;
use super::code::ErrorCode;
use super::transition::Denial;
use crate::sandbox::seed::Provider;

/// A refused request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    BodyTooLarge,
    Unauthorized,
    WrongKeyEnvironment,
    OrgSuspended {
        reason: Option<String>,
    },
    InsufficientScope(Scope),
    BillingRequired,
    BillingCheckUnavailable,
    EntitlementCheckUnavailable,
    FreeTierExhausted {
        limit: u32,
    },
    /// The body is no JSON object, or a field has the wrong type.
    WrongType {
        field: String,
        detail: String,
    },
    /// A venue search without its required fields.
    Missing(Vec<&'static str>),
    /// "validation failed": each field with its complaint.
    Invalid(Vec<(String, String)>),
    LocationUnresolved,
    NoSearchProvider {
        named: bool,
    },
    SearchFailed(Vec<Provider>),
    VenueNotFound,
    AvailabilityFailed(Provider),
    /// The venue has no provider mapping and the request names none.
    ProviderNeeded,
    PlaceholderCustomer,
    MissingLastName,
    SlotNotOffered,
    VaultUnavailable,
    VendorDisabled,
    ReconnectRequired,
    RateLimited {
        limit: u32,
        retry_after: u64,
    },
    /// A session operation with a key that is not live.
    LiveKeyRequired,
    SessionNotFound,
    /// The session's code is wrong, too old, or was wrong too often.
    InvalidCode,
    /// The session needs no code any more.
    SessionActive,
    /// With the summaries of the organization's unfinished bookings of the last day.
    BookingNotFound {
        open_bookings: Vec<Value>,
    },
    /// The booking's state does not allow it.
    Denied(Denial),
    /// The venue refused the change of this booking.
    VenueRefused {
        code: ErrorCode,
        booking: Value,
    },
    PathNotFound,
    MethodNotAllowed,
    ForeignHost,
    CrossOrigin,
    OrganizationUnknown,
    DeliveryNotFound,
    /// The sandbox itself broke; the text is for who looks into it.
    Broken(String),
}

impl Refusal {
    /// One field with the wrong type.
    pub(crate) fn wrong_type(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::WrongType {
            field: field.into(),
            detail: detail.into(),
        }
    }

    /// One field with a value that will not do.
    pub(crate) fn invalid(field: &str, complaint: impl Into<String>) -> Self {
        Self::Invalid(vec![(field.to_owned(), complaint.into())])
    }

    /// The HTTP status and the body.
    pub(crate) fn answer(&self) -> (u16, Value) {
        match self {
            Self::BodyTooLarge => (413, error("body too large: the limit is 1 MB")),
            Self::Unauthorized => (401, error("unauthorized")),
            Self::WrongKeyEnvironment => (
                403,
                coded(
                    "this key belongs to the beta (v3) environment; use a live or a test key",
                    "wrong_key_environment",
                ),
            ),
            Self::OrgSuspended { reason } => {
                let mut body = coded("the organization is suspended", "org_suspended");
                if let Some(reason) = reason {
                    body["reason"] = json!(reason);
                }
                (403, body)
            }
            Self::InsufficientScope(scope) => (
                403,
                json!({"error": "insufficient_scope", "required_scope": scope.as_str()}),
            ),
            Self::BillingRequired => (
                402,
                json!({
                    "error": "billing_required",
                    "message": "Live keys need billing to be set up for the organization.",
                }),
            ),
            Self::FreeTierExhausted { limit } => (
                402,
                json!({
                    "error": "free_tier_exhausted",
                    "limit": limit,
                    "message": format!("The {limit} free confirmed test bookings are used up."),
                }),
            ),
            Self::BillingCheckUnavailable => (
                503,
                coded(
                    "billing could not be checked; try again shortly",
                    "billing_check_unavailable",
                ),
            ),
            Self::EntitlementCheckUnavailable => (
                503,
                coded(
                    "the entitlement could not be checked; try again shortly",
                    "entitlement_check_unavailable",
                ),
            ),
            Self::WrongType { field, detail } => (
                400,
                json!({"error": "invalid request body", "field": field, "detail": detail}),
            ),
            Self::Missing(names) => (
                400,
                json!({"error": "required fields are missing", "missing": names}),
            ),
            Self::Invalid(complaints) => (400, validation_failed(complaints)),
            Self::LocationUnresolved => (
                400,
                error(
                    "the location could not be resolved; send a more specific location, or latitude and longitude",
                ),
            ),
            Self::NoSearchProvider { named: true } => (
                400,
                coded(
                    "none of the named providers can search",
                    "no_search_provider",
                ),
            ),
            Self::NoSearchProvider { named: false } => (
                503,
                coded(
                    "no provider that can search is configured",
                    "no_search_provider",
                ),
            ),
            Self::SearchFailed(providers) => {
                let mut body = coded("every provider failed; try again", "search_failed");
                body["providers_failed"] = providers.iter().map(|it| it.id()).collect();
                (502, body)
            }
            Self::VenueNotFound => (404, error("venue not found; run venue search first")),
            Self::AvailabilityFailed(provider) => {
                let mut body = coded(
                    "the provider failed to read the availability; try again",
                    "availability_failed",
                );
                body["provider"] = json!(provider.id());
                (502, body)
            }
            Self::ProviderNeeded => (
                400,
                error("the venue is served by several providers; name one in provider"),
            ),
            Self::PlaceholderCustomer => (
                400,
                coded(
                    "customer.name must be the real guest, not a placeholder",
                    "placeholder_customer",
                ),
            ),
            Self::MissingLastName => (
                400,
                coded(
                    "this provider needs first and last name in customer.name",
                    "missing_last_name",
                ),
            ),
            Self::SlotNotOffered => (
                400,
                coded(
                    "datetime differs from the time at which the availability_id was offered",
                    "slot_not_offered",
                ),
            ),
            Self::VaultUnavailable => (
                409,
                coded(
                    "this venue cannot be paid through the vendor; nothing was created",
                    "vault_unavailable",
                ),
            ),
            Self::VendorDisabled => (
                503,
                coded("vendor payments are switched off", "vendor_disabled"),
            ),
            Self::ReconnectRequired => (
                409,
                coded(
                    "the person's provider account is not connected, or no longer; connect it again",
                    "reconnect_required",
                ),
            ),
            Self::RateLimited { limit, retry_after } => (
                429,
                json!({
                    "error": "rate_limited",
                    "message": format!("More than {limit} requests in 5 minutes."),
                    "limit": limit,
                    "retry_after_seconds": retry_after,
                }),
            ),
            Self::LiveKeyRequired => (403, coded("sessions need a live key", "live_key_required")),
            Self::SessionNotFound => (404, error("session not found")),
            Self::InvalidCode => (400, coded("the code is wrong", "invalid_code")),
            Self::SessionActive => (409, error("the session is active already")),
            Self::BookingNotFound { open_bookings } => (
                404,
                json!({"error": "booking not found", "open_bookings": open_bookings}),
            ),
            Self::Denied(denial) => denied(denial),
            Self::VenueRefused { code, booking } => {
                let mut body = coded(code.message(), code.as_str());
                body["booking"] = booking.clone();
                (422, body)
            }
            Self::PathNotFound => (404, error("no such path")),
            Self::MethodNotAllowed => (405, error("this path does not take that method")),
            Self::ForeignHost => (
                403,
                error("the Host header is not a loopback name and the port of this sandbox"),
            ),
            Self::CrossOrigin => (
                403,
                error("a page of another origin may not write to the sandbox"),
            ),
            Self::OrganizationUnknown => (404, error("organization not found")),
            Self::DeliveryNotFound => (404, error("delivery not found")),
            Self::Broken(detail) => (500, json!({"error": "internal error", "detail": detail})),
        }
    }
}

/// The rows about a booking whose state stands in the way.
fn denied(denial: &Denial) -> (u16, Value) {
    match denial {
        Denial::NotPaused(status) => (
            409,
            error(&format!(
                "the booking is {} and waits for nothing",
                status.as_str()
            )),
        ),
        Denial::NotConfirmed(status) => (
            409,
            error(&format!(
                "the booking is {}, and only a confirmed one can be changed or cancelled",
                status.as_str()
            )),
        ),
        Denial::InvalidOtp { attempts_left } => {
            let mut body = coded("the one-time code is wrong", "invalid_otp");
            body["attempts_left"] = json!(attempts_left);
            (400, body)
        }
        Denial::Unanswered(complaints) => (400, validation_failed(complaints)),
        Denial::MalformedApproval => (
            400,
            error(
                "malformed psp_response: send the approval_id of psp_request and status approved",
            ),
        ),
        Denial::Late => (
            400,
            error("the answer arrived after expires_at; read the booking"),
        ),
        Denial::ModifyUnsupported => (
            422,
            coded(
                "this provider cannot modify; nothing was attempted",
                "modify_unsupported",
            ),
        ),
        Denial::VenueRefused(code) => (422, coded(code.message(), code.as_str())),
    }
}

fn error(text: &str) -> Value {
    json!({"error": text})
}

fn coded(text: &str, code: &str) -> Value {
    json!({"error": text, "error_code": code})
}

fn validation_failed(complaints: &[(String, String)]) -> Value {
    let fields: serde_json::Map<String, Value> = complaints
        .iter()
        .map(|(field, complaint)| (field.clone(), json!(complaint)))
        .collect();
    json!({"error": "validation failed", "fields": fields})
}
