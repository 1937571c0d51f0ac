//! What an integration has to live with, from the specification: one table.

use super::Situation;
use crate::sandbox::http::endpoints::ENDPOINTS;

const BODIES: &str = "Body shapes";
const CODES: &str = "Codes by condition";
const STATES: &str = "States and transitions";
const PAYMENT: &str = "Vendor payment codes";
const FAULT: &str = "Limits, 7";

/// The code, title, section of the specification, why it hurts, and what brings it about.
#[rustfmt::skip]
const TABLE: &[[&str; 5]] = &[
    // How a booking goes on.
    ["otp", "A booking waits for a one-time code", STATES, "A client that treats 201 as confirmed promises the guest a table too early.", "book ven_otp"],
    ["otp_confirmed", "A one-time code confirms the booking", "Continue", "Without it, no such booking is ever finished.", "book ven_otp, and send the code from GET /sandbox/inbox"],
    ["invalid_otp", "400 invalid_otp", "Continue", "A guest mistypes the code, and has only five tries.", "book ven_otp, and send 000000"],
    ["otp_attempts_exceeded", "The code is wrong five times", STATES, "The booking has failed; asking for a sixth code leads nowhere.", "book ven_otp, and send 000000 five times; read it"],
    ["confirm_details", "A booking waits for details", STATES, "The fields differ by venue, so a fixed form is not enough.", "book ven_confirm_details"],
    ["details_confirmed", "The details confirm the booking", "Continue", "Without it, no such booking is ever finished.", "book ven_confirm_details, and send each field of next_action"],
    ["payment_approval", "A booking waits for a payment", STATES, "The guest has 15 minutes to approve it.", "book ven_payment with payment_collection"],
    ["payment_confirmed", "An approved payment confirms the booking", "Continue", "Without it, no paid booking is ever finished.", "book ven_payment with payment_collection, and send psp_response"],
    ["payment_declined", "The guest aborts the payment", PAYMENT, "The booking has failed, and the table is free again.", "book ven_payment with payment_collection, and send psp_abort"],
    ["payment_approval_expired", "The payment is not approved in time", PAYMENT, "The booking fails although no request was sent.", "book ven_payment with payment_collection; bookctl sandbox clock --advance 16m; read it"],
    ["late_answer", "400 on an answer after expires_at", STATES, "The response has no code, so only a read shows what became of the booking.", "book ven_payment with payment_collection; bookctl sandbox clock --advance 16m; send psp_response"],
    ["payment_outcome_unknown", "payment_outcome_unknown", PAYMENT, "The card may be charged; booking again may charge it twice.", "book ven_payment_outcome_unknown with payment_collection; bookctl sandbox clock --advance 16m; send psp_response; read it"],
    ["card_declined", "card_declined", PAYMENT, "The approval was accepted, and the booking fails all the same.", "book ven_payment_declines with payment_collection, and send psp_response"],
    ["payment_replay_failed", "payment_replay_failed", PAYMENT, "The processor may hold the card; booking again may charge it twice.", "book ven_payment_replay_fails with payment_collection, and send psp_response"],
    ["payment_setup_failed", "payment_setup_failed", PAYMENT, "The booking fails before the guest sees a payment.", "book ven_payment_setup_fails with payment_collection"],
    ["malformed_answer", "400 on a malformed psp_response", STATES, "The booking still waits, and the right answer still counts.", "book ven_payment with payment_collection, and send psp_response {}"],
    ["processing", "A booking is processing", STATES, "It is neither confirmed nor failed; a client has to read it again.", "book ven_processing"],
    ["processed", "A booking is confirmed by time alone", STATES, "Only a read or a webhook shows it.", "book ven_processing; bookctl sandbox clock --advance 5s; read it"],
    ["processing_failed", "A booking fails after processing", STATES, "The guest already waits, and only a read or a webhook shows that there is no table.", "book ven_processing_fails; bookctl sandbox clock --advance 5s; read it"],
    ["otp_failed", "A booking fails after the right code", STATES, "The code was right, the response is 200, and the guest has no table.", "book ven_otp_fails, and send the code from GET /sandbox/inbox"],
    ["details_failed", "A booking fails after its details", STATES, "The details were right, the response is 200, and the guest has no table.", "book ven_details_fails, and send each field of next_action"],
    ["expired", "A booking expires", "Events", "No webhook reports it; a client that waits for one waits forever.", "book ven_otp; bookctl sandbox clock --advance 21m; read it"],
    ["failed_after_201", "A booking fails after 201", "Overview", "201 is not a success: the guest has no table.", "book ven_provider_fails"],
    ["provider_error", "provider_error", STATES, "The provider failed, and another venue may work.", "book ven_provider_fails"],
    ["slot_taken", "slot_taken", STATES, "Between search and booking, another guest was faster.", "book the same slot of ven_last_table twice"],
    ["no_availability", "no_availability", STATES, "The time was never offered; another one may be.", "book ven_no_slots"],
    ["repeated_create", "200 for a key that was used before", FAULT, "The response is the first booking, and not a new one.", "send the same booking request twice with one Idempotency-Key"],
    ["cancelled", "A booking is cancelled", STATES, "Its table is free, and the booking can no longer be changed.", "book ven_confirms, and cancel it"],
    ["cancellation_unsupported", "cancellation_unsupported", STATES, "The response is 200, and the booking is still confirmed.", "book ven_confirms_b, and cancel it"],
    // Refusals.
    ["unauthorized", "401 unauthorized", "Authentication, 2", "A key is missing, mistyped or revoked, and no retry helps.", "send a request with the key sk_live_nobody"],
    ["wrong_key_environment", "403 wrong_key_environment", "Authentication, 1", "A key of the beta does not work here.", "use the key sk_v3_sandbox"],
    ["insufficient_scope", "403 insufficient_scope", "Authentication, 3", "The key may read and not book.", "book with the key sk_live_readonly"],
    ["org_suspended", "403 org_suspended", "Authentication, 6", "Nothing works any more, and a retry does not help.", "use the key sk_live_suspended"],
    ["live_key_required", "403 live_key_required", "Authentication, 7", "Sessions work in production and not with a test key.", "connect a session with the key sk_test_sandbox"],
    ["billing_required", "402 billing_required", "Authentication, 4", "The first request of a new organization is rejected.", "use the key sk_live_nobilling"],
    ["free_tier_exhausted", "402 free_tier_exhausted", "Authentication, 5", "A test key stops working after three confirmed bookings.", "book four times with the key sk_test_sandbox"],
    ["missing_fields", "400 with missing", BODIES, "The names are in a list, not in a sentence.", "search venues without datetime"],
    ["invalid_body", "400 invalid request body", BODIES, "A field has another type than the service expects.", "book with party_size \"two\""],
    ["validation_failed", "400 validation failed", BODIES, "Each wrong field has a reason that you can show to the guest.", "book a time in the past"],
    ["placeholder_customer", "400 placeholder_customer", CODES, "A default name is not a guest.", "book for Test User"],
    ["provider_needed", "400 without a provider", CODES, "Several providers serve the venue, and one has to be named.", "book ven_multi_provider without provider"],
    ["missing_last_name", "400 missing_last_name", CODES, "A guest with one name cannot book at provider A.", "book ven_confirms for Ada"],
    ["slot_not_offered", "400 slot_not_offered", CODES, "A rounded or converted time is a different time.", "book an availability_id at another datetime"],
    ["location_unresolved", "400 on an unknown location", CODES, "A guest types a place that the service does not know.", "search venues near Atlantis"],
    ["no_search_provider", "400 or 503 no_search_provider", CODES, "No provider of the organization can search.", "bookctl sandbox organization -F search_providers=[]"],
    ["search_failed", "502 search_failed", CODES, "Every provider failed, which is not the same as no venue.", "search venues near Outage"],
    ["availability_failed", "502 availability_failed", CODES, "The provider failed, which is not the same as no slot.", "read the slots of ven_availability_fails"],
    ["venue_not_found", "404 on a venue", CODES, "A venue is known only after a search returned it.", "book ven_nowhere"],
    ["booking_not_found", "404 on a booking", CODES, "The id is another organization's or wrong; open_bookings may have the right one.", "read bk_0000000000000"],
    ["not_paused", "409 on continue", STATES, "The booking waits for nothing: it was answered, or it expired.", "book ven_confirms, and send a code"],
    ["not_confirmed", "409 on modify or cancel", STATES, "Only a confirmed booking can be changed.", "book ven_otp, and cancel it"],
    ["body_too_large", "413", "Limits, 3", "A long note or an attachment makes the request too large.", "send a body of more than 1 MB"],
    ["modify_unsupported", "422 modify_unsupported", CODES, "Most providers cannot modify; the client has to cancel and book again.", "book ven_confirms_b, and modify it"],
    ["modification_refused", "422: the venue rejects a change", CODES, "The booking is unchanged: tell the guest.", "book ven_modify_refused, and modify it"],
    ["vault_unavailable", "409 vault_unavailable", PAYMENT, "The venue cannot be paid this way, and nothing was created.", "book ven_vault_unavailable with payment_collection"],
    ["vendor_disabled", "503 vendor_disabled", PAYMENT, "Payments are off; a retry does not help.", "bookctl sandbox organization -F vendor_payments=false; book ven_payment with payment_collection"],
    ["billing_check_unavailable", "503 billing_check_unavailable", CODES, "It is temporary: retry shortly.", "bookctl sandbox organization -F billing_check=unavailable"],
    ["entitlement_check_unavailable", "503 entitlement_check_unavailable", CODES, "It is temporary: retry shortly.", "bookctl sandbox organization -F entitlement_check=unavailable"],
    ["invalid_code", "400 invalid_code", "Session codes", "A guest mistypes the code of a session.", "connect a session, and verify it with 000000"],
    ["reconnect_required", "409 reconnect_required", "Session codes", "The saved sign-in is gone, and only the guest can renew it.", "book ven_confirms_b with an end_user who has no session"],
    ["session_not_found", "404 on a session", "Sessions", "The session was disconnected.", "read ses_0000000000000"],
    ["rate_limited", "429 with Retry-After", "Limits, 2", "All keys of the organization share the limit, so a busy hour stops every client.", "bookctl sandbox faults add --preset rate_limited"],
    // The network.
    ["server_error", "5xx", FAULT, "The booking may exist: only the same key finds out.", "bookctl sandbox faults add --on 'POST /v1/bookings' --kind status --status 503"],
    ["lost_response", "A response is lost", FAULT, "The booking exists, and the client does not know.", "bookctl sandbox faults add --on 'POST /v1/bookings' --kind drop_after"],
    ["cut_response", "A response breaks off", FAULT, "Half a document is not a response.", "bookctl sandbox faults add --on 'POST /v1/bookings' --kind truncate"],
    ["garbage", "A response is not JSON", FAULT, "A proxy's page with status 200 is not a booking.", "bookctl sandbox faults add --on 'POST /v1/bookings' --kind garbage"],
    ["slow_response", "A response is slow", FAULT, "A timeout is not a rejection: the booking may exist.", "bookctl sandbox faults add --on 'POST /v1/bookings' --kind delay --delay 30s"],
    // Webhooks.
    ["webhook_delivered", "A webhook is delivered", "Delivery", "Without a handler, a change is seen only by reading.", "bookctl sandbox organization -F webhook_url=URL; book ven_confirms"],
    ["webhook_late", "A webhook comes late", "Delivery", "The booking has changed since, so the event is a hint.", "bookctl sandbox faults add --on webhook --kind delay"],
    ["webhook_twice", "A webhook comes twice", "Delivery", "A handler that does not look at the id acts twice.", "bookctl sandbox faults add --on webhook --kind duplicate"],
    ["webhook_reordered", "Webhooks come out of order", "Delivery", "The last event is not the latest status.", "bookctl sandbox faults add --on webhook --kind reorder"],
    ["webhook_unsigned", "A webhook is not signed", "Headers", "Anyone can post to a handler.", "bookctl sandbox faults add --on webhook --kind unsigned"],
    ["webhook_old", "A webhook has an old signature", "Headers", "A recorded delivery can be sent again by a stranger.", "bookctl sandbox faults add --on webhook --kind old"],
    ["webhook_failed", "The handler fails", "Delivery", "The service sends the event again, up to three times.", "bookctl sandbox organization -F webhook_url=http://127.0.0.1:9/; book ven_confirms"],
    ["webhook_abandoned", "A delivery is abandoned", "Delivery", "After the fourth failure the service never sends it again.", "let the handler fail; after each of three failures, bookctl sandbox clock --advance 10m"],
];

/// Every situation: each endpoint's success, then the table, each with its code.
pub(super) fn all() -> impl Iterator<Item = (&'static str, Situation)> {
    let endpoints = ENDPOINTS.iter().map(|it| {
        let call = format!("{} {}", it.method, it.path);
        let (title, how) = (format!("{call} works"), format!("send {call}"));
        let why = "No test called it, so it is unknown whether it works.";
        (it.summary, situation([&call, &title, "Endpoints", why, &how]))
    });
    endpoints.chain(TABLE.iter().map(|row| (row[0], situation(*row))))
}

fn situation(row: [&str; 5]) -> Situation {
    let [code, title, section, why, how] = row.map(str::to_owned);
    Situation { code, title, section, why, how, met: false, remark: None, requests: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_situation_has_a_code_of_its_own_and_a_sentence() {
        let mut codes = std::collections::HashSet::new();
        let specification = include_str!("../../../../docs/spec.md");
        let headings = || specification.lines().filter(|it| it.starts_with('#'));
        for (_, it) in all() {
            let heading = it.section.split(',').next().unwrap_or_default();
            let is_heading = |line: &str| line.ends_with(&format!(" {heading}"));
            assert!(headings().any(is_heading), "{}", it.section);
            let is_whole = it.why.ends_with('.') && !it.how.is_empty() && !it.title.is_empty();
            assert!(is_whole && codes.insert(it.code.clone()), "{}", it.code);
        }
    }
}
