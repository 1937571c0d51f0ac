//! Why a request is refused, for the sandbox's log of requests: the rule that answered, and its section of the
//! specification. The answers themselves say less.

use super::api_error::{ApiError, NoKey, foreign_host};

impl ApiError {
    #[rustfmt::skip]
    pub(crate) fn reason(&self) -> String {
        let fixed = match self {
            Self::BodyTooLarge => "The body is larger than 1 MB (Limits, 3).",
            Self::Unauthorized(no_key) => return unauthorized(no_key),
            Self::WrongKeyEnvironment => "The key is a beta (v3) key, and /v1 takes live and test keys (Authentication, 1).",
            Self::OrgSuspended { .. } => "The key's organization is suspended (Authentication, 6).",
            Self::InsufficientScope(scope) => return format!("The key lacks the scope {} (Authentication, 3).", scope.as_str()),
            Self::BillingRequired => "The key is live and its organization has no billing (Authentication, 4).",
            Self::BillingCheckUnavailable => "The organization's setting billing_check is unavailable (Errors, codes by condition).",
            Self::EntitlementCheckUnavailable => "The organization's setting entitlement_check is unavailable (Errors, codes by condition).",
            Self::FreeTierExhausted { limit } => return format!("The organization has used its {limit} free test bookings (Authentication, 5; Limits, 4); `--no-limits` switches the limit off."),
            Self::WrongType { field, detail } => return format!("{field} {detail} (Errors, body shapes)."),
            Self::Missing(names) => return format!("A venue search needs {} (Venues).", names.join(", ")),
            Self::Invalid(errors) => return format!("{} (Errors, codes by condition: validation failed).", listed(errors)),
            Self::LocationUnresolved => "No place of the sandbox has the name in location (Errors, codes by condition).",
            Self::NoSearchProvider { named: true } => "None of the providers in the request can search (Errors, codes by condition).",
            Self::NoSearchProvider { named: false } => "The organization's setting search_providers is empty (Errors, codes by condition).",
            Self::SearchFailed(_) => "Every provider failed at this place, as near \"Outage\" (Errors, codes by condition).",
            Self::VenueNotFound => "No search of this organization has returned the venue_id (Errors, codes by condition).",
            Self::AvailabilityFailed(_) => "The provider fails to read availability at this venue (Errors, codes by condition).",
            Self::ProviderNeeded => "Several providers serve the venue, and provider is missing (Errors, body shapes).",
            Self::PlaceholderCustomer => "customer.name is one of the placeholders, or has no letter (Errors, body shapes).",
            Self::MissingLastName => "Provider A needs a first and a last name in customer.name (Errors, codes by condition).",
            Self::SlotNotOffered => "The availability_id was offered for another datetime (Errors, codes by condition).",
            Self::VaultUnavailable => "The venue cannot be paid through the vendor (Errors, vendor payment codes).",
            Self::VendorDisabled => "The organization's setting vendor_payments is off (Errors, vendor payment codes).",
            Self::ReconnectRequired => "The person has no active session at this provider (Errors, session codes).",
            Self::RateLimited { limit, retry_after } => return format!(
                "The organization has sent more than {limit} such requests in 5 minutes (Limits, 1); `--no-limits` switches the limits off, \
                 and `bookctl sandbox clock --advance {retry_after}s` ends the window."),
            Self::LiveKeyRequired => "Session calls need a live key (Authentication, 7).",
            Self::SessionNotFound => "The organization has no session with this id (Endpoints, sessions).",
            Self::InvalidCode => "The code is not the one in the inbox, is older than 10 minutes, or was wrong 5 times (Errors, session codes).",
            Self::SessionActive => "The session is active already (States and transitions).",
            Self::BookingNotFound { .. } => "The key's organization has no booking with this id (Errors, codes by condition).",
            Self::NotPaused(status) => return format!("The booking is {status}, and continue answers one that waits for something (States and transitions)."),
            Self::NotConfirmed(status) => return format!("The booking is {status}, and only a confirmed one can be changed or cancelled (States and transitions)."),
            Self::InvalidOtp { attempts_left } => return format!("The code is not the one in the inbox; {attempts_left} tries are left (Bookings, continue)."),
            Self::MalformedApproval => "psp_response must be {\"approval_id\": that of psp_request, \"status\": \"approved\"} (Errors, vendor payment codes).",
            Self::LateAnswer => "The answer came after expires_at (States and transitions, vendor payment).",
            Self::ModifyUnsupported => "Only provider A can modify (States and transitions).",
            Self::VenueRefused { code, .. } => return format!("The venue refused the change: {} (Errors, codes by condition).", code.as_str()),
            Self::PathNotFound => "The service has no such path (Endpoints).",
            Self::MethodNotAllowed => "The path exists, but does not take this method (Endpoints).",
            Self::ForeignHost { named, port } => return format!("The {}; this protects the sandbox, and is no rule of the service.", foreign_host(named.as_deref(), *port)),
            Self::CrossOrigin => "A page of another origin may not write; this protects the sandbox, and is no rule of the service.",
            Self::OrganizationUnknown => "The sandbox has no organization with this id.",
            Self::OrganizationBuiltIn => "Every sandbox has this organization; POST /sandbox/reset takes it back to where it began.",
            Self::NothingDue => "No booking and no webhook of the sandbox waits for a time.",
            Self::DeliveryNotFound => "No event with this id has a delivery.",
            Self::FaultNotFound => "No fault with this id is left.",
            Self::RequestNotFound => "No request with this id is kept.",
            Self::Broken(detail) => return format!("The sandbox itself failed: {detail}."),
        };
        fixed.to_owned()
    }
}

#[rustfmt::skip]
fn unauthorized(no_key: &NoKey) -> String {
    let what = match no_key {
        NoKey::Missing => "Authorization is missing",
        NoKey::Elsewhere(place) => &format!("Authorization is missing, and a key came in {place}: send Authorization: Bearer and the key"),
        NoKey::SchemeAlone => "nothing follows the word Bearer",
        NoKey::SchemeTwice => "the word Bearer came twice",
        NoKey::WebhookSecret => "a webhook secret came, which signs deliveries; a key begins with sk_",
        NoKey::NoScheme => "the word Bearer is missing: send Authorization: Bearer and the key",
        NoKey::OtherScheme(scheme) => &format!("the scheme is {scheme}, and must be Bearer"),
        NoKey::Unknown(key) => return format!("The sandbox has no key {key} (Authentication, 2)."),
    };
    format!("No key: {what} (Authentication, 2).")
}

/// `party_size must be 1 to 20; datetime must be in the future`
fn listed(errors: &[(String, String)]) -> String {
    let errors = errors
        .iter()
        .map(|(field, message)| format!("{field} {message}"));
    errors.collect::<Vec<_>>().join("; ")
}
