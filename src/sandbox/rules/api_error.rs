//! Every error that the service responds with: one table of status and body ("Errors").

use serde_json::{Value, json};

use super::state::BookingErrorCode;
use super::state::BookingStatus;
use crate::sandbox::seed::Provider;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessScope {
    VenuesRead,
    BookingsRead,
    BookingsCreate,
    BookingsWrite,
    SessionsRead,
    SessionsWrite,
}

impl AccessScope {
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

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApiError {
    /// One of the constants below: status, text, code (empty if there is none) and reason.
    Fixed(u16, &'static str, &'static str, &'static str),
    /// With the reason, which says what came instead of a key.
    Unauthorized(String),
    OrgSuspended {
        reason: Option<String>,
    },
    InsufficientScope(AccessScope),
    BillingRequired,
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
    SearchFailed(Vec<Provider>),
    AvailabilityFailed(Provider),
    RateLimited {
        limit: u32,
        retry_after: u64,
    },
    /// With the summaries of the organization's unfinished bookings of the last day.
    BookingNotFound {
        open_bookings: Vec<Value>,
    },
    NotPaused(BookingStatus),
    NotConfirmed(BookingStatus),
    InvalidOtp {
        attempts_left: u8,
    },
    /// With the unchanged booking.
    VenueRefused {
        code: BookingErrorCode,
        booking: Value,
    },
    ForeignHost {
        named: Option<String>,
        port: u16,
    },
    /// The sandbox itself failed; the text says how.
    Broken(String),
}

/// The errors in which nothing depends on the request.
#[rustfmt::skip]
impl ApiError {
    pub(crate) const BODY_TOO_LARGE: Self = Self::Fixed(413, "body too large: the limit is 1 MB", "", "The body is larger than 1 MB (Limits, 3).");
    pub(crate) const WRONG_KEY_ENVIRONMENT: Self = Self::Fixed(403, "this key belongs to the beta (v3) environment; use a live or a test key", "wrong_key_environment", "The key is a beta (v3) key, and /v1 accepts live and test keys (Authentication, 1).");
    pub(crate) const BILLING_CHECK_UNAVAILABLE: Self = Self::Fixed(503, "billing could not be checked", "billing_check_unavailable", "The organization's setting billing_check is unavailable (Errors, codes by condition).");
    pub(crate) const ENTITLEMENT_CHECK_UNAVAILABLE: Self = Self::Fixed(503, "the entitlement could not be checked", "entitlement_check_unavailable", "The organization's setting entitlement_check is unavailable (Errors, codes by condition).");
    pub(crate) const LOCATION_UNRESOLVED: Self = Self::Fixed(400, "the location could not be resolved; send a more specific location, or latitude and longitude", "", "No place of the sandbox has the name in location (Errors, codes by condition).");
    pub(crate) const UNKNOWN_SEARCH_PROVIDER: Self = Self::Fixed(400, "one of the named providers is unknown, or none of them can search", "no_search_provider", "None of the providers in the request can search (Errors, codes by condition).");
    pub(crate) const NO_SEARCH_PROVIDER: Self = Self::Fixed(503, "no provider that can search is configured", "no_search_provider", "The organization's setting search_providers is empty (Errors, codes by condition).");
    pub(crate) const VENUE_NOT_FOUND: Self = Self::Fixed(404, "venue not found; run venue search first", "", "No search of this organization has returned the venue_id (Errors, codes by condition).");
    pub(crate) const PROVIDER_NEEDED: Self = Self::Fixed(400, "the venue is served by several providers; name one in provider", "", "Several providers serve the venue, and provider is missing (Errors, body shapes).");
    pub(crate) const PLACEHOLDER_CUSTOMER: Self = Self::Fixed(400, "customer.name must be the real guest, not a placeholder", "placeholder_customer", "customer.name is one of the placeholders, or has no letter (Errors, body shapes).");
    pub(crate) const MISSING_LAST_NAME: Self = Self::Fixed(400, "this provider needs first and last name in customer.name", "missing_last_name", "Provider A needs a first and a last name in customer.name (Errors, codes by condition).");
    pub(crate) const SLOT_NOT_OFFERED: Self = Self::Fixed(400, "datetime differs from the time at which the availability_id was offered", "slot_not_offered", "The availability_id was offered for another datetime (Errors, codes by condition).");
    pub(crate) const VAULT_UNAVAILABLE: Self = Self::Fixed(409, "this venue cannot be paid through the vendor; nothing was created", "vault_unavailable", "The venue cannot be paid through the vendor (Errors, vendor payment codes).");
    pub(crate) const VENDOR_DISABLED: Self = Self::Fixed(503, "vendor payments are switched off", "vendor_disabled", "The organization's setting vendor_payments is off (Errors, vendor payment codes).");
    pub(crate) const RECONNECT_REQUIRED: Self = Self::Fixed(409, "the guest's provider account is not connected, or no longer", "reconnect_required", "The guest has no active session at this provider (Errors, session codes).");
    pub(crate) const LIVE_KEY_REQUIRED: Self = Self::Fixed(403, "sessions need a live key", "live_key_required", "Session calls need a live key (Authentication, 7).");
    pub(crate) const SESSION_NOT_FOUND: Self = Self::Fixed(404, "session not found", "", "The organization has no session with this id (Endpoints, sessions).");
    pub(crate) const INVALID_CODE: Self = Self::Fixed(400, "the code is wrong", "invalid_code", "The code is not the one in the inbox, is older than 10 minutes, or was wrong 5 times (Errors, session codes).");
    pub(crate) const SESSION_ACTIVE: Self = Self::Fixed(409, "the session is active already", "", "The session is active already (States and transitions).");
    pub(crate) const MALFORMED_APPROVAL: Self = Self::Fixed(400, "malformed psp_response: send the approval_id of psp_request and status approved", "", "psp_response must be {\"approval_id\": that of psp_request, \"status\": \"approved\"} (Errors, vendor payment codes).");
    pub(crate) const LATE_ANSWER: Self = Self::Fixed(400, "the answer arrived after expires_at; read the booking", "", "The answer came after expires_at (States and transitions, vendor payment).");
    pub(crate) const MODIFY_UNSUPPORTED: Self = Self::Fixed(422, "this provider cannot modify; nothing was attempted", "modify_unsupported", "Only provider A can modify (States and transitions).");
    pub(crate) const PATH_NOT_FOUND: Self = Self::Fixed(404, "no such path", "", "The service has no such path (Endpoints).");
    pub(crate) const METHOD_NOT_ALLOWED: Self = Self::Fixed(405, "this path does not accept that method", "", "The path exists, but does not accept this method (Endpoints).");
    pub(crate) const CROSS_ORIGIN: Self = Self::Fixed(403, "a page of another origin may not write to the sandbox", "", "A page of another origin may not write; this protects the sandbox, and is not a rule of the service.");
    pub(crate) const ORGANIZATION_UNKNOWN: Self = Self::Fixed(404, "organization not found", "", "The sandbox has no organization with this id.");
    pub(crate) const ORGANIZATION_BUILT_IN: Self = Self::Fixed(409, "every sandbox has this organization, and it cannot be removed", "", "Every sandbox has this organization; POST /sandbox/reset restores it.");
    pub(crate) const DELIVERY_NOT_FOUND: Self = Self::Fixed(404, "delivery not found", "", "No event with this id has a delivery.");
    pub(crate) const NOTHING_DUE: Self = Self::Fixed(409, "nothing is due: no booking and no webhook waits for a time", "", "No booking and no webhook of the sandbox waits for a time.");
    pub(crate) const FAULT_NOT_FOUND: Self = Self::Fixed(404, "fault not found", "", "No fault with this id is left.");
    pub(crate) const REQUEST_NOT_FOUND: Self = Self::Fixed(404, "request not found; the sandbox keeps the last 1,000", "", "No request with this id is kept.");
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
            Self::Fixed(status, text, code, _) => body(*status, text, code),
            Self::Unauthorized(_) => (401, json!({"error": "unauthorized"})),
            Self::OrgSuspended { reason } => with(body(403, "the organization is suspended", "org_suspended"), "reason", json!(reason)),
            Self::InsufficientScope(scope) => (403, json!({"error": "insufficient_scope", "required_scope": scope.as_str()})),
            Self::BillingRequired => {
                let message = "Live keys need billing to be set up for the organization.";
                (402, json!({"error": "billing_required", "message": message}))
            }
            Self::FreeTierExhausted { limit } => {
                let message = format!("The {limit} free confirmed test bookings are used up.");
                (402, json!({"error": "free_tier_exhausted", "limit": limit, "message": message}))
            }
            Self::WrongType { field, detail } => (400, json!({"error": "invalid request body", "field": field, "detail": detail})),
            Self::Missing(names) => (400, json!({"error": "required fields are missing", "missing": names})),
            Self::Invalid(errors) => (400, validation_failed(errors)),
            Self::SearchFailed(providers) => with(body(502, "every provider failed", "search_failed"), "providers_failed", json!(providers)),
            Self::AvailabilityFailed(provider) => with(body(502, "the provider failed to read the availability", "availability_failed"), "provider", json!(provider)),
            Self::RateLimited { limit, retry_after } => {
                let message = format!("More than {limit} requests in 5 minutes.");
                (429, json!({"error": "rate_limited", "message": message, "limit": limit, "retry_after_seconds": retry_after}))
            }
            Self::BookingNotFound { open_bookings } => (404, json!({"error": "booking not found", "open_bookings": open_bookings})),
            Self::NotPaused(status) => body(409, &format!("the booking is {status} and waits for nothing"), ""),
            Self::NotConfirmed(status) => body(409, &format!("the booking is {status}, and only a confirmed one can be changed or cancelled"), ""),
            Self::InvalidOtp { attempts_left } => with(body(400, "the one-time code is wrong", "invalid_otp"), "attempts_left", json!(attempts_left)),
            Self::VenueRefused { code, booking } => with(body(422, code.message(), code.as_str()), "booking", booking.clone()),
            Self::ForeignHost { named, port } => body(403, &format!("the {}", foreign_host(named.as_deref(), *port)), ""),
            Self::Broken(detail) => (500, json!({"error": "internal error", "detail": detail})),
        }
    }

    /// Why a request is refused, for the sandbox's log of requests: the rule that answered, and its section of the
    /// specification. The answer itself says less.
    #[rustfmt::skip]
    pub(crate) fn reason(&self) -> String {
        let fixed = match self {
            Self::Fixed(.., reason) => reason,
            Self::Unauthorized(reason) => return reason.clone(),
            Self::OrgSuspended { .. } => "The key's organization is suspended (Authentication, 6).",
            Self::InsufficientScope(scope) => return format!("The key lacks the scope {} (Authentication, 3).", scope.as_str()),
            Self::BillingRequired => "The key is live and its organization has no billing (Authentication, 4).",
            Self::FreeTierExhausted { limit } => return format!("The organization has used its {limit} free test bookings (Authentication, 5; Limits, 4); `--no-limits` switches the limit off."),
            Self::WrongType { field, detail } => return format!("{field} {detail} (Errors, body shapes)."),
            Self::Missing(names) => return format!("A venue search needs {} (Venues).", names.join(", ")),
            Self::Invalid(errors) => return format!("{} (Errors, codes by condition: validation failed).", listed(errors)),
            Self::SearchFailed(_) => "Every provider failed at this place, as near \"Outage\" (Errors, codes by condition).",
            Self::AvailabilityFailed(_) => "The provider fails to read availability at this venue (Errors, codes by condition).",
            Self::RateLimited { limit, retry_after } => return format!(
                "The organization has sent more than {limit} such requests in 5 minutes (Limits, 1); `--no-limits` switches the limits off, \
                 and `bookctl sandbox clock --advance {retry_after}s` ends the window."),
            Self::BookingNotFound { .. } => "The key's organization has no booking with this id (Errors, codes by condition).",
            Self::NotPaused(status) => return format!("The booking is {status}, and continue answers one that waits for something (States and transitions)."),
            Self::NotConfirmed(status) => return format!("The booking is {status}, and only a confirmed one can be changed or cancelled (States and transitions)."),
            Self::InvalidOtp { attempts_left } => return format!("The code is not the one in the inbox; {attempts_left} tries are left (Bookings, continue)."),
            Self::VenueRefused { code, .. } => return format!("The venue rejected the change: {} (Errors, codes by condition).", code.as_str()),
            Self::ForeignHost { named, port } => return format!("The {}; this protects the sandbox, and is not a rule of the service.", foreign_host(named.as_deref(), *port)),
            Self::Broken(detail) => return format!("The sandbox itself failed: {detail}."),
        };
        fixed.to_owned()
    }
}

/// What the `Host` header must be instead, with the flag that allows the name in it; the sentence goes on after "the".
fn foreign_host(named: Option<&str>, port: u16) -> String {
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

fn body(status: u16, error: &str, code: &str) -> (u16, Value) {
    let mut body = json!({"error": error});
    if !code.is_empty() {
        body["error_code"] = json!(code);
    }
    (status, body)
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

/// `party_size must be 1 to 20; datetime must be in the future`
fn listed(errors: &[(String, String)]) -> String {
    let errors = errors
        .iter()
        .map(|(field, message)| format!("{field} {message}"));
    errors.collect::<Vec<_>>().join("; ")
}
