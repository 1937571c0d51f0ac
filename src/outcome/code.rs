//! The table of all booking statuses and error codes: what each means, whether trying again is safe, what to do next,
//! and the exit code. Errors, hints, cards, `explain` and docs/errors.md all use it.

use super::Exit;

/// Where a code occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeKind {
    /// A booking's `status` (spec, States and transitions).
    Status,
    /// A non-2xx answer's code: `error_code`, or `error` in older refusals (spec, Errors).
    Refusal,
    /// A booking's own `error_code`, carried by a normal answer.
    Outcome,
    /// A non-2xx answer without a code; the HTTP status stands in for it.
    Http,
    /// bookctl's own codes, for errors that did not come from the service.
    Own,
}

impl CodeKind {
    /// The name of the kind, as `explain` shows it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CodeKind::Status => "booking status",
            CodeKind::Refusal => "refusal",
            CodeKind::Outcome => "booking error",
            CodeKind::Http => "HTTP status",
            CodeKind::Own => "bookctl",
        }
    }
}

/// Whether the same request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// There is nothing to send again.
    NotNeeded,
    /// Safe: nothing was done.
    Safe,
    /// Useless until something else has changed.
    Useless,
    /// Safe after the request was corrected: nothing was done.
    Corrected,
    /// Dangerous: something may have been done. Check first.
    CheckFirst,
}

impl Retry {
    /// The word that `explain --json` uses.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Retry::NotNeeded => "not_needed",
            Retry::Safe => "safe",
            Retry::Useless => "useless",
            Retry::Corrected => "once_corrected",
            Retry::CheckFirst => "check_first",
        }
    }

    /// The advice for a person, as a sentence.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Retry::NotNeeded => "nothing to repeat",
            Retry::Safe => "trying again is safe",
            Retry::Useless => "trying again does not help by itself",
            Retry::Corrected => "safe to send again once corrected; nothing was done",
            Retry::CheckFirst => "not safe to repeat: check first",
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct CodeEntry {
    pub(crate) code: Code,
    /// The code in scripts and in the service's documents.
    pub(crate) name: &'static str,
    pub(crate) kind: CodeKind,
    /// The meaning, as a sentence without a full stop.
    pub(crate) meaning: &'static str,
    pub(crate) retry: Retry,
    /// What to do next, as a sentence without a full stop.
    pub(crate) next: &'static str,
    pub(crate) exit: Exit,
}

/// The row for `code`, if the service's documents name it.
pub(crate) fn entry(code: &str) -> Option<&'static CodeEntry> {
    ALL.iter().find(|entry| entry.name == code)
}

/// The exit code of a refusal. The service's code takes precedence over the HTTP status.
///
/// A code of failed bookings on a refused change counts for less, because the booking has not failed.
pub(crate) fn exit_for_refusal(code: Option<&str>, http_status: u16) -> Exit {
    let documented = code.and_then(entry).filter(|entry| match entry.kind {
        CodeKind::Status => false,
        CodeKind::Outcome => entry.exit != Exit::Failed,
        CodeKind::Refusal | CodeKind::Http | CodeKind::Own => true,
    });
    documented.map_or_else(|| exit_for_status(http_status), |entry| entry.exit)
}

/// The exit code of an HTTP status without a code.
fn exit_for_status(http_status: u16) -> Exit {
    match http_status {
        401 => Exit::Unauthorized,
        402 | 403 => Exit::NotAllowed,
        404 => Exit::NotFound,
        409 | 422 => Exit::Refused,
        429 => Exit::RateLimited,
        // Any other 4xx refuses the request as it is.
        400..=499 => Exit::Invalid,
        500..=599 => Exit::Service,
        _ => Exit::Unclassified,
    }
}

/// Whether a 5xx with this code proves that nothing was done (spec, Errors: 503 rows).
pub(crate) fn says_nothing_was_done(code: &str) -> bool {
    entry(code).is_some_and(|entry| entry.kind == CodeKind::Refusal && entry.exit == Exit::Service)
}

macro_rules! codes {
    ($($code:ident = $name:literal, $kind:ident, $exit:ident, $retry:ident, $meaning:literal, $next:literal;)*) => {
        /// A booking status, or an error code of the service or of bookctl.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(clippy::enum_variant_names, reason = "the names are the codes' own")]
        pub(crate) enum Code {
            $(#[doc = $meaning] $code,)*
        }

        /// Every row, in the order of the table.
        pub(crate) const ALL: &[CodeEntry] = &[$(CodeEntry {
            code: Code::$code,
            name: $name,
            kind: CodeKind::$kind,
            meaning: $meaning,
            retry: Retry::$retry,
            next: $next,
            exit: Exit::$exit,
        },)*];
    };
}

impl Code {
    /// The row of this code.
    pub(crate) fn entry(self) -> &'static CodeEntry {
        // The rows are in the order of the enum.
        &ALL[self as usize]
    }

    /// The name of the code in scripts.
    pub(crate) fn name(self) -> &'static str {
        self.entry().name
    }
}

codes! {
    // Booking statuses.
    RequiresAction = "requires_action", Status, ActionNeeded, NotNeeded,
        "the booking waits for an answer; it expires after 20 minutes without one, a payment at its own deadline",
        "answer with `bookctl continue ID`";
    Processing = "processing", Status, Processing, NotNeeded,
        "the provider is working on it",
        "look again with `bookctl show ID`";
    Confirmed = "confirmed", Status, Done, NotNeeded,
        "the venue expects the guest",
        "nothing has to be done";
    Failed = "failed", Status, Failed, Safe,
        "the provider or the payment failed; its error_code says why",
        "look at the error_code, then book again if it allows that";
    Cancelled = "cancelled", Status, Failed, NotNeeded,
        "the booking was cancelled at the venue",
        "book again if the guest still wants to come";
    Expired = "expired", Status, Failed, Safe,
        "nobody answered within 20 minutes; nothing is held at the venue",
        "book again";

    // Refusals by key, organization and limit.
    Unauthorized = "unauthorized", Refusal, Unauthorized, Useless,
        "the API key is missing or wrong",
        "check BOOKCTL_API_KEY or the profile's key";
    WrongKeyEnvironment = "wrong_key_environment", Refusal, Unauthorized, Useless,
        "a beta (v3) key was sent to /v1",
        "use a live or a test key";
    InsufficientScope = "insufficient_scope", Refusal, NotAllowed, Useless,
        "the API key lacks a scope that this call needs",
        "use a key with that scope";
    OrgSuspended = "org_suspended", Refusal, NotAllowed, Useless,
        "the organization is suspended",
        "whoever administers the organization at the service has to lift it there; trying again does not help";
    BillingRequired = "billing_required", Refusal, NotAllowed, Useless,
        "a live key needs billing, and the organization has none set up",
        "whoever administers the organization sets up billing in the service's dashboard; a test key needs none";
    FreeTierExhausted = "free_tier_exhausted", Refusal, NotAllowed, Useless,
        "the test key's free confirmed bookings are used up",
        "whoever administers the organization sets up billing in the service's dashboard; then use a live key";
    RateLimited = "rate_limited", Refusal, RateLimited, Safe,
        "too many requests in this five-minute window",
        "wait until the window resets";
    BillingCheckUnavailable = "billing_check_unavailable", Refusal, Service, Safe,
        "billing could not be checked; nothing was done",
        "try again shortly";
    EntitlementCheckUnavailable = "entitlement_check_unavailable", Refusal, Service, Safe,
        "the organization's entitlement could not be checked; nothing was done",
        "try again shortly";

    // Refusals of a search or of slots.
    SearchFailed = "search_failed", Refusal, Providers, Safe,
        "every provider failed to answer the search",
        "try again";
    AvailabilityFailed = "availability_failed", Refusal, Providers, Safe,
        "the provider failed to read its availability",
        "try again";
    NoSearchProvider = "no_search_provider", Refusal, Providers, Useless,
        "no provider that can search is configured, or none of those named",
        "name other providers, or ask the service's support";

    // Refusals of a booking.
    PlaceholderCustomer = "placeholder_customer", Refusal, Invalid, Corrected,
        "the guest's name is a placeholder; the venue needs the real guest",
        "give the guest's real name (--name; in a batch customer.name)";
    MissingLastName = "missing_last_name", Refusal, Invalid, Corrected,
        "this provider needs the guest's first and last name; nothing was created",
        "give both (--name; in a batch customer.name)";
    SlotNotOffered = "slot_not_offered", Refusal, Invalid, Corrected,
        "the time differs from the one at which the slot was offered",
        "look up the slots again with `bookctl slots`, and book one as it is offered";
    VaultUnavailable = "vault_unavailable", Refusal, Refused, Useless,
        "this venue cannot be paid through the payment vendor; nothing was created",
        "book it without --payment vendor, or choose another venue";
    VendorDisabled = "vendor_disabled", Refusal, Service, Useless,
        "payments through the vendor are switched off; nothing was created",
        "book without --payment vendor, or try later";
    InvalidOtp = "invalid_otp", Refusal, Invalid, Corrected,
        "the one-time code is wrong",
        "read the message again, and answer with the code in it";
    ModifyUnsupported = "modify_unsupported", Refusal, Refused, Useless,
        "this provider cannot change a booking; nothing was attempted",
        "call the venue: only there can it be changed";

    ModificationRefused = "modification_refused", Refusal, Refused, Corrected,
        "the venue refused the change; the booking stands as it was",
        "ask for another change, or call the venue";

    // Refusals of a session.
    LiveKeyRequired = "live_key_required", Refusal, NotAllowed, Useless,
        "this call needs a live key",
        "use a live key";
    InvalidCode = "invalid_code", Refusal, Invalid, Corrected,
        "the code is wrong or too old",
        "read the message again, or connect anew";
    ReconnectRequired = "reconnect_required", Refusal, Refused, Corrected,
        "the person's saved sign-in is missing or has lapsed",
        "connect the person's account again";

    // What a booking's own error_code says.
    CancellationUnsupported = "cancellation_unsupported", Outcome, Refused, Useless,
        "this provider cannot cancel; the booking is still confirmed",
        "call the venue";
    OtpAttemptsExceeded = "otp_attempts_exceeded", Outcome, Failed, Safe,
        "the one-time code was wrong too often",
        "book again, and have the guest read the code";
    SlotTaken = "slot_taken", Outcome, Failed, Safe,
        "somebody else took the last place of this slot",
        "choose another slot";
    NoAvailability = "no_availability", Outcome, Failed, Safe,
        "the venue has no slot at that time",
        "choose another time";
    ProviderError = "provider_error", Outcome, Failed, Safe,
        "the provider could not complete the booking; nothing is held at the venue",
        "book again, or choose another venue";
    PaymentDeclined = "payment_declined", Outcome, Failed, Safe,
        "the payment was abandoned",
        "book again when the guest wants to pay";
    PaymentApprovalExpired = "payment_approval_expired", Outcome, Failed, Safe,
        "nobody approved the payment in time",
        "book again, and answer before the deadline";
    PaymentOutcomeUnknown = "payment_outcome_unknown", Outcome, OutcomeUnknown, CheckFirst,
        "the card may have reached the venue",
        "check with the venue before booking again";
    PaymentSetupFailed = "payment_setup_failed", Outcome, Failed, Safe,
        "the payment could not be prepared for this venue",
        "book again, or choose another venue";
    PaymentReplayFailed = "payment_replay_failed", Outcome, OutcomeUnknown, CheckFirst,
        "the processor may hold the card",
        "check with the venue before booking again";
    CardDeclined = "card_declined", Outcome, Failed, Corrected,
        "the processor declined the guest's card",
        "book again with another card";

    // What a status says where no code came with it (spec, Errors).
    Http400 = "http_400", Http, Invalid, Corrected,
        "the request is invalid; nothing was done",
        "correct what the answer names";
    Http401 = "http_401", Http, Unauthorized, Useless,
        "the API key is missing or wrong",
        "check BOOKCTL_API_KEY or the profile's key";
    Http402 = "http_402", Http, NotAllowed, Useless,
        "this has to be paid for",
        "whoever administers the organization sets up billing in the service's dashboard";
    Http403 = "http_403", Http, NotAllowed, Useless,
        "this key may not do this",
        "use another key, or ask the service's support";
    Http404 = "http_404", Http, NotFound, Useless,
        "the booking, venue or session is not known to this organization",
        "check the id and the key's organization; search for a venue before it is used";
    Http405 = "http_405", Http, Invalid, Useless,
        "the path is known, but not with this method",
        "see the endpoints with `bookctl status`";
    Http409 = "http_409", Http, Refused, Useless,
        "the booking's state does not allow this",
        "look at its state with `bookctl show ID`";
    Http413 = "http_413", Http, Invalid, Corrected,
        "the request is larger than 1 MB",
        "send less";
    Http422 = "http_422", Http, Refused, Corrected,
        "the venue refused; the booking stands as it was",
        "ask for something else, or call the venue";
    Http429 = "http_429", Http, RateLimited, Safe,
        "too many requests in this five-minute window",
        "wait until the window resets";
    Http500 = "http_500", Http, Service, CheckFirst,
        "the service failed; a booking request then has no known outcome (16)",
        "look first; repeat a booking request with its own idempotency key only";
    Http502 = "http_502", Http, Service, CheckFirst,
        "something before the service failed; a booking request then has no known outcome (16)",
        "look first; repeat a booking request with its own idempotency key only";
    Http503 = "http_503", Http, Service, CheckFirst,
        "the service is not available; a booking request then has no known outcome (16)",
        "look first; repeat a booking request with its own idempotency key only";

    // bookctl's own.
    Usage = "usage", Own, Usage, Corrected,
        "the arguments do not fit, or input is missing where nothing may be asked",
        "see `bookctl COMMAND --help`";
    Config = "config", Own, Config, Corrected,
        "the configuration cannot be used; nothing was sent",
        "correct what the message names";
    NoKey = "no_key", Own, Unauthorized, Corrected,
        "there is no API key for this service; nothing was sent",
        "set BOOKCTL_API_KEY, or store a key with `bookctl auth login`";
    NoSecret = "no_secret", Own, Config, Corrected,
        "there is no webhook secret for this service",
        "set BOOKCTL_WEBHOOK_SECRET, or store one with `bookctl auth login --webhook-secret-stdin`";
    Signature = "signature", Own, BadSignature, Useless,
        "a delivery's signature does not verify; under --json `cause` says why in one word",
        "find out what happened to it with `bookctl webhook verify --explain`";
    Keyring = "keyring", Own, Config, Corrected,
        "the system's keyring does not answer, or does not keep what it is given; nothing was sent",
        "unlock or start it, set BOOKCTL_API_KEY, or `bookctl auth login --storage file`";
    Journal = "journal", Own, Config, Corrected,
        "the journal cannot be kept, and nothing is booked without one",
        "make its folder writable, or set BOOKCTL_HOME";
    Webhooks = "webhooks", Own, Config, Corrected,
        "the file of received deliveries, webhooks.db, cannot be used; the service sends again what was not taken",
        "follow the hint: another process may hold it, its folder may be read-only, or it may have to be moved aside";
    Network = "network", Own, Network, Safe,
        "the service was not reached",
        "check the base URL and the network";
    UnexpectedAnswer = "unexpected_answer", Own, Network, Safe,
        "a read got an answer that is not one of the service's documents",
        "check the base URL: perhaps something else answered than the booking service";
    AnotherBooking = "another_booking", Own, Refused, Useless,
        "the service knows the idempotency key for another booking than was asked for; nothing new was booked",
        "give a new idempotency key; look at the other booking with `bookctl show ID`";
    Timeout = "timeout", Own, Network, Safe,
        "a read got no answer in time",
        "try again, or allow more with --timeout";
    OutcomeUnknown = "outcome_unknown", Own, OutcomeUnknown, CheckFirst,
        "a write was sent, and nothing proves what came of it",
        "find out about a booking request with `bookctl attempts resume KEY`; look at a booking with `bookctl show ID`";
    Declined = "declined", Own, Declined, NotNeeded,
        "declined at a prompt; nothing was sent",
        "start again when it is wanted";
    Interrupted = "interrupted", Own, Interrupted, CheckFirst,
        "Ctrl-C or SIGTERM ended the command",
        "the message says what is certain, and the hint how to go on";
    NoSlot = "no_slot", Own, Refused, Corrected,
        "the venue offers no slot at that time; nothing was booked",
        "book one of the nearest, which the message lists";
    UnknownEvent = "unknown_event", Own, NotFound, Useless,
        "no listener of this machine received an event with this id from this service",
        "list those that were received with `bookctl webhook events list`";
    Io = "io", Own, Unclassified, Corrected,
        "a file or stream of this machine failed",
        "see what the message names";

    Filter = "filter", Own, Unclassified, Corrected,
        "the --jq filter failed on the result; the call itself was carried out",
        "correct the filter; look at what came with --json";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_once() {
        for entry in ALL {
            let same = ALL.iter().filter(|other| other.name == entry.name).count();
            assert_eq!(same, 1, "{} stands {same} times", entry.name);
        }
    }

    #[test]
    fn each_row_stands_at_the_place_of_its_code() {
        assert!(
            ALL.iter()
                .all(|entry| entry.code.entry().name == entry.name)
        );
    }

    #[test]
    fn the_services_own_code_outranks_the_http_status() {
        assert_eq!(
            exit_for_refusal(Some("wrong_key_environment"), 403),
            Exit::Unauthorized
        );
        assert_eq!(
            exit_for_refusal(Some("no_search_provider"), 400),
            Exit::Providers
        );
        assert_eq!(
            exit_for_refusal(Some("vendor_disabled"), 503),
            Exit::Service
        );
        assert_eq!(exit_for_refusal(Some("never_heard_of"), 409), Exit::Refused);
        assert_eq!(
            exit_for_refusal(Some("no_availability"), 422),
            Exit::Refused
        );
        assert_eq!(exit_for_refusal(None, 413), Exit::Invalid);
    }
}
