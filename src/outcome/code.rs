//! All booking statuses and error codes: meaning, retry, what to do next, exit code.

use super::Exit;
pub(crate) use super::exit::Retry;

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

pub(crate) struct CodeEntry {
    pub(crate) code: Code,
    pub(crate) name: &'static str,
    pub(crate) kind: CodeKind,
    /// The meaning, as a sentence without a full stop.
    pub(crate) meaning: &'static str,
    pub(crate) retry: Retry,
    /// What to do next, as a sentence without a full stop.
    pub(crate) next: &'static str,
    pub(crate) exit: Exit,
}

pub(crate) fn entry(code: &str) -> Option<&'static CodeEntry> {
    ALL.iter().find(|entry| entry.name == code)
}

/// The exit code of a rejection: of the service's code, else of the HTTP status. The status also
/// decides if a change is rejected with a failed booking's code: the booking itself has not failed.
pub(crate) fn exit_for_refusal(code: Option<&str>, http_status: u16) -> Exit {
    let documented = code.and_then(entry).filter(|entry| match entry.kind {
        CodeKind::Status => false,
        CodeKind::Outcome => entry.exit != Exit::Failed,
        CodeKind::Refusal | CodeKind::Http | CodeKind::Own => true,
    });
    match (documented.or_else(|| entry(&format!("http_{http_status}"))), http_status) {
        (Some(entry), _) => entry.exit,
        // Any other 4xx refuses the request as it is.
        (None, 400..=499) => Exit::Invalid,
        (None, 500..=599) => Exit::Service,
        (None, _) => Exit::Unclassified,
    }
}

/// Whether a 5xx with this code proves that nothing was done (spec, Errors: 503 rows).
pub(crate) fn says_nothing_was_done(code: &str) -> bool {
    entry(code).is_some_and(|it| {
        it.kind == CodeKind::Refusal
            && (it.exit == Exit::Service || it.code == Code::NoSearchProvider)
    })
}

macro_rules! codes {
    ($($code:ident = $name:literal, $kind:ident, $exit:ident, $retry:ident, $meaning:literal, $next:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(clippy::enum_variant_names, reason = "the names are the codes' own")]
        pub(crate) enum Code {
            $(#[doc = $meaning] $code,)*
        }

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
    pub(crate) fn entry(self) -> &'static CodeEntry {
        // The rows are in the order of the enum.
        &ALL[self as usize]
    }

    pub(crate) fn name(self) -> &'static str {
        self.entry().name
    }

    /// What to tell the guest where money may have moved.
    pub(crate) fn for_the_guest(self) -> Option<&'static str> {
        match self {
            Code::PaymentOutcomeUnknown => Some(
                "The venue may have your card and your table. We ask the venue first; please do not book again until we call back.",
            ),
            Code::PaymentReplayFailed => Some(
                "An amount may be held on your card although no table is certain. We ask the venue first, and call you back.",
            ),
            _ => None,
        }
    }
}

codes! {
    // Booking statuses.
    RequiresAction = "requires_action", Status, ActionNeeded, NotNeeded,
        "the booking is waiting for an answer; without one it expires after 20 minutes, and a payment fails at its deadline",
        "answer with `bookctl continue ID`";
    Processing = "processing", Status, Processing, NotNeeded,
        "the provider is still working on it",
        "check again with `bookctl show ID`, or wait with `bookctl watch ID`";
    Confirmed = "confirmed", Status, Done, NotNeeded,
        "the venue is expecting this guest",
        "nothing to do";
    Failed = "failed", Status, Failed, AfterCheck,
        "the provider or the payment failed",
        "look up error_code with `bookctl explain CODE`, then book again if that is safe";
    Cancelled = "cancelled", Status, Failed, NotNeeded,
        "the booking was cancelled at the venue",
        "book again if the guest still wants to come";
    Expired = "expired", Status, Failed, Yes,
        "no valid answer came within 20 minutes; nothing is held at the venue",
        "book again";

    // Refusals by key, organization and limit.
    Unauthorized = "unauthorized", Refusal, Unauthorized, No,
        "the API key is missing or wrong",
        "check BOOKCTL_API_KEY, or store another key with `bookctl auth login`";
    WrongKeyEnvironment = "wrong_key_environment", Refusal, Unauthorized, No,
        "a beta (v3) key was sent to /v1",
        "use a live or a test key";
    InsufficientScope = "insufficient_scope", Refusal, NotAllowed, No,
        "the API key lacks a scope that this call needs",
        "use a key with that scope";
    OrgSuspended = "org_suspended", Refusal, NotAllowed, No,
        "the organization is suspended",
        "ask an administrator of the organization to lift the suspension";
    BillingRequired = "billing_required", Refusal, NotAllowed, No,
        "the organization has not set up billing, which a live key needs",
        "ask an administrator of the organization to set up billing in the service's dashboard, or use a test key";
    FreeTierExhausted = "free_tier_exhausted", Refusal, NotAllowed, No,
        "the test key's free confirmed bookings are used up",
        "ask an administrator of the organization to set up billing in the service's dashboard, then use a live key";
    RateLimited = "rate_limited", Refusal, RateLimited, Yes,
        "too many requests in five minutes",
        "wait until the rate limit resets, or let `--max-wait 5m` wait for you";
    BillingCheckUnavailable = "billing_check_unavailable", Refusal, Service, Yes,
        "billing could not be checked; nothing was done",
        "try again shortly";
    EntitlementCheckUnavailable = "entitlement_check_unavailable", Refusal, Service, Yes,
        "the organization's entitlement could not be checked; nothing was done",
        "try again shortly";

    // Refusals of a search or of slots.
    SearchFailed = "search_failed", Refusal, Providers, Yes,
        "no provider answered the search",
        "try again";
    AvailabilityFailed = "availability_failed", Refusal, Providers, Yes,
        "the provider could not list its slots",
        "try again";
    NoSearchProvider = "no_search_provider", Refusal, Providers, No,
        "no provider can run this search: none is configured, or none of the named ones can search",
        "name other providers with --provider, or contact the service's support";

    // Refusals of a booking.
    PlaceholderCustomer = "placeholder_customer", Refusal, Invalid, AfterFix,
        "the guest's name is a placeholder; the venue needs a real name",
        "pass the guest's real name with --name (in a batch: customer.name)";
    MissingLastName = "missing_last_name", Refusal, Invalid, AfterFix,
        "this venue needs the guest's first and last name; nothing was booked",
        "pass both with --name (in a batch: customer.name)";
    SlotNotOffered = "slot_not_offered", Refusal, Invalid, AfterFix,
        "the slot was offered for another time",
        "list the slots again with `bookctl slots`, and book one at its own time";
    VaultUnavailable = "vault_unavailable", Refusal, Refused, No,
        "this venue cannot be paid through the payment vendor; nothing was booked",
        "book it without --payment vendor, or choose another venue";
    VendorDisabled = "vendor_disabled", Refusal, Service, No,
        "payments through the vendor are switched off; nothing was booked",
        "book without --payment vendor";
    InvalidOtp = "invalid_otp", Refusal, Invalid, AfterFix,
        "the one-time code is wrong",
        "check the text message, and enter its code again";
    ModifyUnsupported = "modify_unsupported", Refusal, Refused, No,
        "this provider cannot change bookings; the booking is unchanged",
        "call the venue to change it";

    ModificationRefused = "modification_refused", Refusal, Refused, AfterFix,
        "the venue rejected the change; the booking is unchanged",
        "ask for another change, or call the venue";

    // Refusals of a session.
    LiveKeyRequired = "live_key_required", Refusal, NotAllowed, No,
        "this call needs a live key",
        "use a live key";
    InvalidCode = "invalid_code", Refusal, Invalid, AfterFix,
        "the code is wrong or has expired",
        "check the text message, or request a new code with `bookctl session connect`";
    ReconnectRequired = "reconnect_required", Refusal, Refused, AfterFix,
        "the guest's saved sign-in is missing or has expired",
        "connect the account again with `bookctl session connect`";

    // What a booking's own error_code says.
    CancellationUnsupported = "cancellation_unsupported", Outcome, Refused, No,
        "this provider cannot cancel bookings; the booking is still confirmed",
        "call the venue to cancel it";
    OtpAttemptsExceeded = "otp_attempts_exceeded", Outcome, Failed, Yes,
        "a wrong one-time code was entered too many times",
        "book again, and ask the guest for the new code";
    SlotTaken = "slot_taken", Outcome, Failed, Yes,
        "another guest booked the last place in this slot",
        "choose another slot";
    NoAvailability = "no_availability", Outcome, Failed, Yes,
        "the venue has no slot at that time",
        "choose another time";
    ProviderError = "provider_error", Outcome, Failed, Yes,
        "the provider could not complete the booking; nothing is held at the venue",
        "book again, or choose another venue";
    PaymentDeclined = "payment_declined", Outcome, Failed, Yes,
        "the payment was aborted",
        "book again when the guest is ready to pay";
    PaymentApprovalExpired = "payment_approval_expired", Outcome, Failed, Yes,
        "the payment was not approved in time",
        "book again, and approve the payment before its deadline";
    PaymentOutcomeUnknown = "payment_outcome_unknown", Outcome, OutcomeUnknown, AfterCheck,
        "the venue may have received the guest's card",
        "check with the venue before booking again";
    PaymentSetupFailed = "payment_setup_failed", Outcome, Failed, Yes,
        "the payment could not be prepared for this venue",
        "book again, or choose another venue";
    PaymentReplayFailed = "payment_replay_failed", Outcome, OutcomeUnknown, AfterCheck,
        "the payment processor may hold the guest's card",
        "check with the venue before booking again";
    CardDeclined = "card_declined", Outcome, Failed, AfterFix,
        "the payment processor declined the guest's card",
        "book again with another card";

    // What a status says where no code came with it (spec, Errors).
    Http400 = "http_400", Http, Invalid, AfterFix,
        "the request is invalid; nothing was done",
        "correct the fields that the message names";
    Http401 = "http_401", Http, Unauthorized, No,
        "the API key is missing or wrong",
        "check BOOKCTL_API_KEY, or store another key with `bookctl auth login`";
    Http402 = "http_402", Http, NotAllowed, No,
        "payment is required",
        "ask an administrator of the organization to set up billing in the service's dashboard";
    Http403 = "http_403", Http, NotAllowed, No,
        "the API key is not allowed to do this",
        "use another key, or contact the service's support";
    Http404 = "http_404", Http, NotFound, No,
        "this organization has no such booking, venue or session",
        "check the id and the API key; a venue must be searched first with `bookctl search`";
    Http405 = "http_405", Http, Invalid, No,
        "this path does not support this method",
        "list the endpoints with `bookctl status`";
    Http409 = "http_409", Http, Refused, No,
        "the booking's status does not allow this",
        "check its status with `bookctl show ID`";
    Http413 = "http_413", Http, Invalid, AfterFix,
        "the request is larger than 1 MB",
        "send a smaller request";
    Http422 = "http_422", Http, Refused, AfterFix,
        "the venue rejected the change; the booking is unchanged",
        "ask for something else, or call the venue";
    Http429 = "http_429", Http, RateLimited, Yes,
        "too many requests in five minutes",
        "wait until the rate limit resets, or let `--max-wait 5m` wait for you";
    Http500 = "http_500", Http, Service, AfterCheck,
        "the service failed; it is unknown whether a booking request succeeded (exit code 16)",
        "check first; send a booking request again only with the same idempotency key";
    Http502 = "http_502", Http, Service, AfterCheck,
        "a gateway in front of the service failed; it is unknown whether a booking request succeeded (exit code 16)",
        "check first; send a booking request again only with the same idempotency key";
    Http503 = "http_503", Http, Service, AfterCheck,
        "the service is unavailable; it is unknown whether a booking request succeeded (exit code 16)",
        "check first; send a booking request again only with the same idempotency key";
    Http504 = "http_504", Http, Service, AfterCheck,
        "a gateway in front of the service got no response in time; it is unknown whether a booking request succeeded (exit code 16)",
        "check first; send a booking request again only with the same idempotency key";

    // bookctl's own.
    Usage = "usage", Own, Usage, AfterFix,
        "the arguments are invalid, or required input is missing and prompts are off",
        "see `bookctl COMMAND --help`";
    NotFound = "not_found", Own, NotFound, No,
        "this computer knows nothing under this name; nothing was sent",
        "list what it knows with the command in the hint";
    Config = "config", Own, Config, AfterFix,
        "the configuration cannot be used; nothing was sent",
        "fix the problem that the message names";
    NoKey = "no_key", Own, Unauthorized, AfterFix,
        "there is no API key for this service; nothing was sent",
        "set BOOKCTL_API_KEY, or store a key with `bookctl auth login`";
    NoSecret = "no_secret", Own, Config, AfterFix,
        "there is no webhook secret for this service",
        "set BOOKCTL_WEBHOOK_SECRET, or store one with `bookctl auth login --webhook-secret-stdin`";
    Signature = "signature", Own, BadSignature, No,
        "the signature of a delivery is invalid; with --json, `cause` is the reason in one word",
        "find the cause with `bookctl webhook verify --explain`";
    Keyring = "keyring", Own, Config, AfterFix,
        "the system keyring does not respond, or does not store secrets; nothing was sent",
        "unlock or start the keyring, set BOOKCTL_API_KEY, or use `bookctl auth login --storage file`";
    Journal = "journal", Own, Config, AfterFix,
        "the journal cannot be written; bookctl books nothing without it",
        "make its folder writable, or set BOOKCTL_HOME";
    Webhooks = "webhooks", Own, Config, AfterFix,
        "the file of received deliveries, webhooks.db, cannot be used; the service sends unanswered deliveries again",
        "follow the hint: another process may be using the file, its folder may be read-only, or it may have to be moved";
    Network = "network", Own, Network, Yes,
        "the service could not be reached",
        "check the base URL and the network";
    UnexpectedAnswer = "unexpected_answer", Own, Network, Yes,
        "the response does not come from the booking service",
        "check the base URL: another program may be responding there";
    AnotherBooking = "another_booking", Own, Refused, No,
        "the idempotency key was already used for a different booking or request; nothing new was booked",
        "use a new idempotency key";
    Timeout = "timeout", Own, Network, Yes,
        "the service did not respond in time",
        "try again, or allow more time with --timeout";
    Unsent = "unsent", Own, NotFound, Yes,
        "no request was sent for this row of a batch, so it has no booking",
        "run the batch again to book it";
    Abandoned = "abandoned", Own, Refused, No,
        "the booking request was abandoned, so it is not sent again",
        "to book it all the same, pass its key: `bookctl book --idempotency-key KEY`";
    AlreadyBooked = "already_booked", Own, Refused, AfterFix,
        "the row of a batch was corrected after it was booked; nothing was sent",
        "change the booking with `bookctl modify ID`, or give the row an idempotency_key to book a second time";
    OutcomeUnknown = "outcome_unknown", Own, OutcomeUnknown, AfterCheck,
        "a request was sent, and it is unknown whether it succeeded",
        "for a booking request, run `bookctl attempts resume KEY`; for a booking, run `bookctl show ID`";
    ChangeNotShown = "change_not_shown", Own, Refused, AfterCheck,
        "the service accepted a change that the booking does not show, even when it is read again",
        "check with the venue; if the service names the field otherwise, set its name with `bookctl profile set`";
    Declined = "declined", Own, Declined, Yes,
        "declined at a prompt; nothing was sent",
        "run the command again to do it";
    Interrupted = "interrupted", Own, Interrupted, AfterCheck,
        "Ctrl-C or another signal (SIGTERM, SIGHUP, SIGQUIT; on Windows Ctrl-Break or a closed console) ended the command",
        "the message shows what happened so far, and the hint how to continue";
    PartlyFailed = "partly_failed", Own, PartialBatch, AfterCheck,
        "part of a batch, a replay or a drill failed; stdout has the result of each part",
        "look at the parts that failed, each with its own `retry`";
    NoSlot = "no_slot", Own, Refused, AfterFix,
        "the venue has no slot at that time; nothing was booked",
        "book another slot: `bookctl slots VENUE --at TIME` lists them";
    UnknownEvent = "unknown_event", Own, NotFound, No,
        "no listener on this computer received an event with this id from this service",
        "list the received events with `bookctl webhook events list`";
    Io = "io", Own, Unclassified, AfterCheck,
        "a file or stream on this computer failed",
        "fix the problem that the message names";

    Filter = "filter", Own, Unclassified, AfterCheck,
        "the --jq filter failed on the result; the command itself was carried out",
        "fix the filter; --json prints what it was applied to";
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
    fn the_services_own_code_outranks_the_http_status() {
        assert_eq!(exit_for_refusal(Some("wrong_key_environment"), 403), Exit::Unauthorized);
        assert_eq!(exit_for_refusal(Some("no_search_provider"), 400), Exit::Providers);
        assert_eq!(exit_for_refusal(Some("vendor_disabled"), 503), Exit::Service);
        assert_eq!(exit_for_refusal(Some("never_heard_of"), 409), Exit::Refused);
        assert_eq!(exit_for_refusal(Some("no_availability"), 422), Exit::Refused);
        assert_eq!(exit_for_refusal(None, 413), Exit::Invalid);
    }
}
