//! Every error that the service responds with: one table of status and body ("Errors").

use serde_json::{Value, json};

use super::error_code::ErrorCode;
use super::state::Status;
use crate::sandbox::seed::Provider;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    VenuesRead,
    BookingsRead,
    BookingsCreate,
    BookingsWrite,
    SessionsRead,
    SessionsWrite,
}

impl Scope {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::VenuesRead => "venues:read",
            Self::BookingsRead => "bookings:read",
            Self::BookingsCreate => "bookings:create",
            Self::BookingsWrite => "bookings:write",
            Self::SessionsRead => "sessions:read",
            Self::SessionsWrite => "sessions:write",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The header is missing or not text.
    Missing,
    /// `Authorization` is missing, and this other part of the request has a key.
    Elsewhere(String),
    /// The header has one word, which may be the key itself.
    NoScheme,
    SchemeAlone,
    SchemeTwice,
    WebhookSecret,
    OtherScheme(String),
    /// No key of this sandbox; the key, masked.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiError {
    BodyTooLarge,
    Unauthorized(NoKey),
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
    /// The body is not a JSON object, or a field has the wrong type.
    WrongType {
        field: String,
        detail: String,
    },
    Missing(Vec<&'static str>),
    /// "validation failed": each field with what is wrong with it.
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
    LiveKeyRequired,
    SessionNotFound,
    /// The session's code is wrong, too old, or was wrong too often.
    InvalidCode,
    SessionActive,
    /// With the summaries of the organization's unfinished bookings of the last day.
    BookingNotFound {
        open_bookings: Vec<Value>,
    },
    NotPaused(Status),
    NotConfirmed(Status),
    InvalidOtp {
        attempts_left: u8,
    },
    MalformedApproval,
    LateAnswer,
    ModifyUnsupported,
    /// With the unchanged booking.
    VenueRefused {
        code: ErrorCode,
        booking: Value,
    },
    PathNotFound,
    MethodNotAllowed,
    ForeignHost {
        named: Option<String>,
        port: u16,
    },
    CrossOrigin,
    OrganizationUnknown,
    OrganizationBuiltIn,
    DeliveryNotFound,
    /// The clock was to be moved to the next thing that is due.
    NothingDue,
    FaultNotFound,
    RequestNotFound,
    /// The sandbox itself failed; the text says how.
    Broken(String),
}

impl ApiError {
    pub(crate) fn wrong_type(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::WrongType {
            field: field.into(),
            detail: detail.into(),
        }
    }

    pub(crate) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![(field.to_owned(), message.into())])
    }

    /// The HTTP status and the body: one line a variant, as a table is read.
    #[rustfmt::skip]
    pub(crate) fn answer(&self) -> (u16, Value) {
        match self {
            Self::BodyTooLarge => error(413, "body too large: the limit is 1 MB"),
            Self::Unauthorized(_) => error(401, "unauthorized"),
            Self::WrongKeyEnvironment => coded(403, "this key belongs to the beta (v3) environment; use a live or a test key", "wrong_key_environment"),
            Self::OrgSuspended { reason } => with(coded(403, "the organization is suspended", "org_suspended"), "reason", json!(reason)),
            Self::InsufficientScope(scope) => (403, json!({"error": "insufficient_scope", "required_scope": scope.as_str()})),
            Self::BillingRequired => {
                let message = "Live keys need billing to be set up for the organization.";
                (402, json!({"error": "billing_required", "message": message}))
            }
            Self::FreeTierExhausted { limit } => {
                let message = format!("The {limit} free confirmed test bookings are used up.");
                (402, json!({"error": "free_tier_exhausted", "limit": limit, "message": message}))
            }
            Self::BillingCheckUnavailable => coded(503, "billing could not be checked", "billing_check_unavailable"),
            Self::EntitlementCheckUnavailable => coded(503, "the entitlement could not be checked", "entitlement_check_unavailable"),
            Self::WrongType { field, detail } => (400, json!({"error": "invalid request body", "field": field, "detail": detail})),
            Self::Missing(names) => (400, json!({"error": "required fields are missing", "missing": names})),
            Self::Invalid(errors) => (400, validation_failed(errors)),
            Self::LocationUnresolved => error(400, "the location could not be resolved; send a more specific location, or latitude and longitude"),
            Self::NoSearchProvider { named: true } => coded(400, "one of the named providers is unknown, or none of them can search", "no_search_provider"),
            Self::NoSearchProvider { named: false } => coded(503, "no provider that can search is configured", "no_search_provider"),
            Self::SearchFailed(providers) => with(coded(502, "every provider failed", "search_failed"), "providers_failed", json!(providers)),
            Self::VenueNotFound => error(404, "venue not found; run venue search first"),
            Self::AvailabilityFailed(provider) => with(coded(502, "the provider failed to read the availability", "availability_failed"), "provider", json!(provider)),
            Self::ProviderNeeded => error(400, "the venue is served by several providers; name one in provider"),
            Self::PlaceholderCustomer => coded(400, "customer.name must be the real guest, not a placeholder", "placeholder_customer"),
            Self::MissingLastName => coded(400, "this provider needs first and last name in customer.name", "missing_last_name"),
            Self::SlotNotOffered => coded(400, "datetime differs from the time at which the availability_id was offered", "slot_not_offered"),
            Self::VaultUnavailable => coded(409, "this venue cannot be paid through the vendor; nothing was created", "vault_unavailable"),
            Self::VendorDisabled => coded(503, "vendor payments are switched off", "vendor_disabled"),
            Self::ReconnectRequired => coded(409, "the person's provider account is not connected, or no longer", "reconnect_required"),
            Self::RateLimited { limit, retry_after } => {
                let message = format!("More than {limit} requests in 5 minutes.");
                (429, json!({"error": "rate_limited", "message": message, "limit": limit, "retry_after_seconds": retry_after}))
            }
            Self::LiveKeyRequired => coded(403, "sessions need a live key", "live_key_required"),
            Self::SessionNotFound => error(404, "session not found"),
            Self::InvalidCode => coded(400, "the code is wrong", "invalid_code"),
            Self::SessionActive => error(409, "the session is active already"),
            Self::BookingNotFound { open_bookings } => (404, json!({"error": "booking not found", "open_bookings": open_bookings})),
            Self::NotPaused(status) => error(409, &format!("the booking is {status} and waits for nothing")),
            Self::NotConfirmed(status) => error(409, &format!("the booking is {status}, and only a confirmed one can be changed or cancelled")),
            Self::InvalidOtp { attempts_left } => with(coded(400, "the one-time code is wrong", "invalid_otp"), "attempts_left", json!(attempts_left)),
            Self::MalformedApproval => error(400, "malformed psp_response: send the approval_id of psp_request and status approved"),
            Self::LateAnswer => error(400, "the answer arrived after expires_at; read the booking"),
            Self::ModifyUnsupported => coded(422, "this provider cannot modify; nothing was attempted", "modify_unsupported"),
            Self::VenueRefused { code, booking } => with(coded(422, code.message(), code.as_str()), "booking", booking.clone()),
            Self::PathNotFound => error(404, "no such path"),
            Self::MethodNotAllowed => error(405, "this path does not take that method"),
            Self::ForeignHost { named, port } => error(403, &format!("the {}", foreign_host(named.as_deref(), *port))),
            Self::CrossOrigin => error(403, "a page of another origin may not write to the sandbox"),
            Self::OrganizationUnknown => error(404, "organization not found"),
            Self::OrganizationBuiltIn => error(409, "every sandbox has this organization, and it cannot be removed"),
            Self::NothingDue => error(409, "nothing is due: no booking and no webhook waits for a time"),
            Self::DeliveryNotFound => error(404, "delivery not found"),
            Self::FaultNotFound => error(404, "fault not found"),
            Self::RequestNotFound => error(404, "request not found; the sandbox keeps the last 1,000"),
            Self::Broken(detail) => (500, json!({"error": "internal error", "detail": detail})),
        }
    }
}

/// What the `Host` header must be instead, with the flag that allows the name in it; the sentence goes on after "the".
pub(super) fn foreign_host(named: Option<&str>, port: u16) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
    let named = named.filter(|it| it.len() <= 100 && it.chars().all(is_plain));
    let without_port = |host: &str| match host.rsplit_once(':') {
        Some((name, digits)) if !digits.ends_with(']') => name.to_owned(),
        _ => host.to_owned(),
    };
    let name = named.map(without_port).filter(|it| !it.is_empty());
    format!(
        "Host header{} must be localhost, 127.0.0.1 or [::1], or a name that `bookctl sandbox serve --host {}` allows, with the port {port}",
        named.map_or(String::new(), |it| format!(" is {it:?}, and")),
        name.as_deref().unwrap_or("NAME"),
    )
}

fn error(status: u16, text: &str) -> (u16, Value) {
    (status, json!({"error": text}))
}

fn coded(status: u16, text: &str, code: &str) -> (u16, Value) {
    (status, json!({"error": text, "error_code": code}))
}

/// The same with a further field, unless that is null.
fn with((status, mut body): (u16, Value), field: &str, value: Value) -> (u16, Value) {
    if !value.is_null() {
        body[field] = value;
    }
    (status, body)
}

fn validation_failed(errors: &[(String, String)]) -> Value {
    let fields: serde_json::Map<String, Value> = errors
        .iter()
        .map(|(field, message)| (field.clone(), json!(message)))
        .collect();
    json!({"error": "validation failed", "fields": fields})
}
