//! Every booking status and error code of the service: what it means, whether trying again is safe, what to
//! do next, and the exit code that a script sees. Errors, hints and cards all speak from this table.

use crate::outcome::Exit;

/// Where a name is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A booking's `status` (spec, States and transitions).
    Status,
    /// A non-2xx answer's code: `error_code`, or `error` in older refusals (spec, Errors).
    Refusal,
    /// A booking's own `error_code`, carried by a normal answer.
    Outcome,
    /// A non-2xx answer without a code: the HTTP status speaks.
    Http,
    /// bookctl's own: nothing, or no answer, came from the service.
    Own,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Status => "booking status",
            Refusal => "refusal",
            Outcome => "booking error",
            Http => "HTTP status",
            Own => "bookctl",
        }
    }
}

/// Whether sending the same thing again is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// There is nothing to try again.
    NotNeeded,
    /// Trying again is safe: nothing was done.
    Safe,
    /// Trying again does not help until something else has changed.
    Useless,
    /// Safe once the request was corrected: nothing was done.
    Corrected,
    /// Dangerous: something may have happened. Check first.
    CheckFirst,
}

impl Retry {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Retry::NotNeeded => "not_needed",
            Retry::Safe => "safe",
            Retry::Useless => "useless",
            Retry::Corrected => "once_corrected",
            Retry::CheckFirst => "check_first",
        }
    }

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

/// One row of the catalog.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) code: &'static str,
    pub(crate) kind: Kind,
    /// What it means, as a sentence without its full stop.
    pub(crate) meaning: &'static str,
    pub(crate) retry: Retry,
    /// What to do next, as a sentence without its full stop.
    pub(crate) next: &'static str,
    pub(crate) exit: Exit,
}

/// The row for `code`, if the service's documents name it.
pub(crate) fn entry(code: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.code == code)
}

/// The exit code of a refusal: the service's own code outranks the HTTP status.
///
/// A code that a failed booking carries says less where a change was refused with it: that booking has not failed.
pub(crate) fn exit_for_refusal(code: Option<&str>, http_status: u16) -> Exit {
    let documented = code.and_then(entry).filter(|entry| match entry.kind {
        Status => false,
        Outcome => entry.exit != Exit::Failed,
        Refusal | Http | Own => true,
    });
    documented.map_or_else(|| exit_for_status(http_status), |entry| entry.exit)
}

/// The exit code of an HTTP status that came without a code of its own.
fn exit_for_status(http_status: u16) -> Exit {
    match http_status {
        401 => Exit::Unauthorized,
        402 | 403 => Exit::NotAllowed,
        404 => Exit::NotFound,
        409 | 422 => Exit::Refused,
        429 => Exit::RateLimited,
        // Whatever else a 4xx says, it is the request that the service does not take.
        400..=499 => Exit::Invalid,
        500..=599 => Exit::Service,
        _ => Exit::Unclassified,
    }
}

/// Whether a 5xx answer with this code says that nothing was done (spec, Errors: 503 rows).
pub(crate) fn says_nothing_was_done(code: &str) -> bool {
    entry(code).is_some_and(|entry| entry.kind == Refusal && entry.exit == Exit::Service)
}

const fn row(
    code: &'static str,
    kind: Kind,
    exit: Exit,
    retry: Retry,
    meaning: &'static str,
    next: &'static str,
) -> Entry {
    Entry {
        code,
        kind,
        meaning,
        retry,
        next,
        exit,
    }
}

use Kind::{Http, Outcome, Own, Refusal, Status};

/// The whole catalog.
#[rustfmt::skip]
pub(crate) const CATALOG: &[Entry] = &[
    // Booking statuses.
    row("requires_action", Status, Exit::ActionNeeded, Retry::NotNeeded,
        "the booking waits for an answer; it expires after 20 minutes without one, a payment at its own deadline",
        "answer with `bookctl continue ID`"),
    row("processing", Status, Exit::Processing, Retry::NotNeeded,
        "the provider is working on it",
        "look again with `bookctl show ID`"),
    row("confirmed", Status, Exit::Done, Retry::NotNeeded,
        "the venue expects the guest",
        "nothing has to be done"),
    row("failed", Status, Exit::Failed, Retry::Safe,
        "the provider or the payment failed; its error_code says why",
        "look at the error_code, then book again if it allows that"),
    row("cancelled", Status, Exit::Failed, Retry::NotNeeded,
        "the booking was cancelled at the venue",
        "book again if the guest still wants to come"),
    row("expired", Status, Exit::Failed, Retry::Safe,
        "nobody answered within 20 minutes; nothing is held at the venue",
        "book again"),

    // Refusals by key, organization and limit.
    row("unauthorized", Refusal, Exit::Unauthorized, Retry::Useless,
        "the API key is missing or wrong",
        "check BOOKCTL_API_KEY or the profile's key"),
    row("wrong_key_environment", Refusal, Exit::Unauthorized, Retry::Useless,
        "a beta (v3) key was sent to /v1",
        "use a live or a test key"),
    row("insufficient_scope", Refusal, Exit::NotAllowed, Retry::Useless,
        "the API key lacks a scope that this call needs",
        "use a key with that scope"),
    row("org_suspended", Refusal, Exit::NotAllowed, Retry::Useless,
        "the organization is suspended",
        "whoever administers the organization at the service has to lift it there; trying again does not help"),
    row("billing_required", Refusal, Exit::NotAllowed, Retry::Useless,
        "a live key needs billing, and the organization has none set up",
        "whoever administers the organization sets up billing in the service's dashboard; a test key needs none"),
    row("free_tier_exhausted", Refusal, Exit::NotAllowed, Retry::Useless,
        "the test key's free confirmed bookings are used up",
        "whoever administers the organization sets up billing in the service's dashboard; then use a live key"),
    row("rate_limited", Refusal, Exit::RateLimited, Retry::Safe,
        "too many requests in this five-minute window",
        "wait until the window resets"),
    row("billing_check_unavailable", Refusal, Exit::Service, Retry::Safe,
        "billing could not be checked; nothing was done",
        "try again shortly"),
    row("entitlement_check_unavailable", Refusal, Exit::Service, Retry::Safe,
        "the organization's entitlement could not be checked; nothing was done",
        "try again shortly"),

    // Refusals of a search or of slots.
    row("search_failed", Refusal, Exit::Providers, Retry::Safe,
        "every provider failed to answer the search",
        "try again"),
    row("availability_failed", Refusal, Exit::Providers, Retry::Safe,
        "the provider failed to read its availability",
        "try again"),
    row("no_search_provider", Refusal, Exit::Providers, Retry::Useless,
        "no provider that can search is configured, or none of those named",
        "name other providers, or ask the service's support"),

    // Refusals of a booking.
    row("placeholder_customer", Refusal, Exit::Invalid, Retry::Corrected,
        "the guest's name is a placeholder; the venue needs the real guest",
        "give the guest's real name (--name; in a batch customer.name)"),
    row("missing_last_name", Refusal, Exit::Invalid, Retry::Corrected,
        "this provider needs the guest's first and last name; nothing was created",
        "give both (--name; in a batch customer.name)"),
    row("slot_not_offered", Refusal, Exit::Invalid, Retry::Corrected,
        "the time differs from the one at which the slot was offered",
        "look up the slots again with `bookctl slots`, and book one as it is offered"),
    row("vault_unavailable", Refusal, Exit::Refused, Retry::Useless,
        "this venue cannot be paid through the payment vendor; nothing was created",
        "book it without --payment vendor, or choose another venue"),
    row("vendor_disabled", Refusal, Exit::Service, Retry::Useless,
        "payments through the vendor are switched off; nothing was created",
        "book without --payment vendor, or try later"),
    row("invalid_otp", Refusal, Exit::Invalid, Retry::Corrected,
        "the one-time code is wrong",
        "read the message again, and answer with the code in it"),
    row("modify_unsupported", Refusal, Exit::Refused, Retry::Useless,
        "this provider cannot change a booking; nothing was attempted",
        "call the venue: only there can it be changed"),

    row("modification_refused", Refusal, Exit::Refused, Retry::Corrected,
        "the venue refused the change; the booking stands as it was",
        "ask for another change, or call the venue"),

    // Refusals of a session.
    row("live_key_required", Refusal, Exit::NotAllowed, Retry::Useless,
        "this call needs a live key",
        "use a live key"),
    row("invalid_code", Refusal, Exit::Invalid, Retry::Corrected,
        "the code is wrong or too old",
        "read the message again, or connect anew"),
    row("reconnect_required", Refusal, Exit::Refused, Retry::Corrected,
        "the person's saved sign-in is missing or has lapsed",
        "connect the person's account again"),

    // What a booking's own error_code says.
    row("cancellation_unsupported", Outcome, Exit::Refused, Retry::Useless,
        "this provider cannot cancel; the booking is still confirmed",
        "call the venue"),
    row("otp_attempts_exceeded", Outcome, Exit::Failed, Retry::Safe,
        "the one-time code was wrong too often",
        "book again, and have the guest read the code"),
    row("slot_taken", Outcome, Exit::Failed, Retry::Safe,
        "somebody else took the last place of this slot",
        "choose another slot"),
    row("no_availability", Outcome, Exit::Failed, Retry::Safe,
        "the venue has no slot at that time",
        "choose another time"),
    row("provider_error", Outcome, Exit::Failed, Retry::Safe,
        "the provider could not complete the booking; nothing is held at the venue",
        "book again, or choose another venue"),
    row("payment_declined", Outcome, Exit::Failed, Retry::Safe,
        "the payment was abandoned",
        "book again when the guest wants to pay"),
    row("payment_approval_expired", Outcome, Exit::Failed, Retry::Safe,
        "nobody approved the payment in time",
        "book again, and answer before the deadline"),
    row("payment_outcome_unknown", Outcome, Exit::OutcomeUnknown, Retry::CheckFirst,
        "the card may have reached the venue",
        "check with the venue before booking again"),
    row("payment_setup_failed", Outcome, Exit::Failed, Retry::Safe,
        "the payment could not be prepared for this venue",
        "book again, or choose another venue"),
    row("payment_replay_failed", Outcome, Exit::OutcomeUnknown, Retry::CheckFirst,
        "the processor may hold the card",
        "check with the venue before booking again"),
    row("card_declined", Outcome, Exit::Failed, Retry::Corrected,
        "the processor declined the guest's card",
        "book again with another card"),

    // What a status says where no code came with it (spec, Errors).
    row("http_400", Http, Exit::Invalid, Retry::Corrected,
        "the request is invalid; nothing was done",
        "correct what the answer names"),
    row("http_401", Http, Exit::Unauthorized, Retry::Useless,
        "the API key is missing or wrong",
        "check BOOKCTL_API_KEY or the profile's key"),
    row("http_402", Http, Exit::NotAllowed, Retry::Useless,
        "this has to be paid for",
        "whoever administers the organization sets up billing in the service's dashboard"),
    row("http_403", Http, Exit::NotAllowed, Retry::Useless,
        "this key may not do this",
        "use another key, or ask the service's support"),
    row("http_404", Http, Exit::NotFound, Retry::Useless,
        "the booking, venue or session is not known to this organization",
        "check the id and the key's organization; search for a venue before it is used"),
    row("http_405", Http, Exit::Invalid, Retry::Useless,
        "the path is known, but not with this method",
        "see the endpoints with `bookctl status`"),
    row("http_409", Http, Exit::Refused, Retry::Useless,
        "the booking's state does not allow this",
        "look at its state with `bookctl show ID`"),
    row("http_413", Http, Exit::Invalid, Retry::Corrected,
        "the request is larger than 1 MB",
        "send less"),
    row("http_422", Http, Exit::Refused, Retry::Corrected,
        "the venue refused; the booking stands as it was",
        "ask for something else, or call the venue"),
    row("http_429", Http, Exit::RateLimited, Retry::Safe,
        "too many requests in this five-minute window",
        "wait until the window resets"),
    row("http_500", Http, Exit::Service, Retry::CheckFirst,
        "the service failed; after a create a booking may exist",
        "read first; repeat a create with its own idempotency key only"),
    row("http_502", Http, Exit::Service, Retry::CheckFirst,
        "something before the service failed; after a create a booking may exist",
        "read first; repeat a create with its own idempotency key only"),
    row("http_503", Http, Exit::Service, Retry::CheckFirst,
        "the service is not available; after a create a booking may exist",
        "read first; repeat a create with its own idempotency key only"),

    // bookctl's own.
    row("usage", Own, Exit::Usage, Retry::Corrected,
        "the arguments do not fit, or input is missing where nothing may be asked",
        "see `bookctl COMMAND --help`"),
    row("config", Own, Exit::Config, Retry::Corrected,
        "the configuration cannot be used; nothing was sent",
        "correct what the message names"),
    row("no_key", Own, Exit::Unauthorized, Retry::Corrected,
        "there is no API key for this service; nothing was sent",
        "set BOOKCTL_API_KEY, or store a key with `bookctl auth login`"),
    row("no_secret", Own, Exit::Config, Retry::Corrected,
        "there is no webhook secret for this service",
        "set BOOKCTL_WEBHOOK_SECRET, or store one with `bookctl auth login --webhook-secret-stdin`"),
    row("signature", Own, Exit::BadSignature, Retry::Useless,
        "a delivery's signature does not verify; under --json `cause` says why in one word",
        "find out what happened to it with `bookctl webhook verify --explain`"),
    row("keyring", Own, Exit::Config, Retry::Corrected,
        "the system's keyring does not answer, or does not keep what it is given; nothing was sent",
        "unlock or start it, set BOOKCTL_API_KEY, or `bookctl auth login --storage file`"),
    row("journal", Own, Exit::Config, Retry::Corrected,
        "the journal cannot be kept, and nothing is booked without one",
        "make its folder writable, or set BOOKCTL_HOME"),
    row("webhooks", Own, Exit::Config, Retry::Corrected,
        "the file of received deliveries, webhooks.db, cannot be used; the service sends again what was not taken",
        "follow the hint: another process may hold it, its folder may be read-only, or it may have to be moved aside"),
    row("network", Own, Exit::Network, Retry::Safe,
        "the service was not reached",
        "check the base URL and the network"),
    row("unexpected_answer", Own, Exit::Network, Retry::Safe,
        "a read got an answer that is not one of the service's documents",
        "check the base URL: perhaps something else answered than the booking service"),
    row("another_booking", Own, Exit::Refused, Retry::Useless,
        "the service knows the idempotency key for another booking than was asked for; nothing new was booked",
        "give a new idempotency key; look at the other booking with `bookctl show ID`"),
    row("timeout", Own, Exit::Network, Retry::Safe,
        "a read got no answer in time",
        "try again, or allow more with --timeout"),
    row("outcome_unknown", Own, Exit::OutcomeUnknown, Retry::CheckFirst,
        "a write was sent, and nothing proves what came of it",
        "settle a create with `bookctl attempts resume KEY`; look at a booking with `bookctl show ID`"),
    row("declined", Own, Exit::Declined, Retry::NotNeeded,
        "declined at a prompt; nothing was sent",
        "start again when it is wanted"),
    row("interrupted", Own, Exit::Interrupted, Retry::CheckFirst,
        "Ctrl-C or SIGTERM ended the command",
        "the message says what is certain, and the hint how to go on"),
    row("no_slot", Own, Exit::Refused, Retry::Corrected,
        "the venue offers no slot at that time; nothing was booked",
        "book one of the nearest, which the message lists"),
    row("unknown_event", Own, Exit::NotFound, Retry::Useless,
        "no listener of this machine received an event with this id from this service",
        "list those that were received with `bookctl webhook events list`"),
    row("io", Own, Exit::Unclassified, Retry::Corrected,
        "a file or stream of this machine failed",
        "see what the message names"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_once() {
        for entry in CATALOG {
            let same = CATALOG
                .iter()
                .filter(|other| other.code == entry.code)
                .count();
            assert_eq!(same, 1, "{} stands {same} times", entry.code);
        }
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
