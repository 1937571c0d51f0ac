//! Scenarios: every documented outcome, reachable on purpose.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scenario {
    Confirms,
    Otp,
    ConfirmDetails,
    Processing,
    Payment,
    PaymentDeclines,
    PaymentSetupFails,
    PaymentReplayFails,
    PaymentOutcomeUnknown,
    VaultUnavailable,
    ProviderFails,
    ModifyRefused,
    AvailabilityFails,
    NoSlots,
    MultiProvider,
    LastTable,
    ProcessingFails,
    OtpFails,
    DetailsFails,
    Unforeseen,
}

/// Of each scenario its name, the name of its venues, and what a booking there does.
#[rustfmt::skip]
const TABLE: [(Scenario, &str, &str, &str); 20] = [
    (Scenario::Confirms, "confirms", "The Sure Thing", "The booking is confirmed immediately."),
    (Scenario::Otp, "otp", "The One-Time Code", "The booking waits for a one-time code, which is in the inbox, and is then confirmed."),
    (Scenario::ConfirmDetails, "confirm_details", "The Further Question", "The booking waits for the details that `next_action` asks for, and is then confirmed."),
    (Scenario::Processing, "processing", "The Patient Kitchen", "The booking is processing for 5 seconds, and is then confirmed."),
    (Scenario::Payment, "payment", "The Paying Guest", "With vendor payment, the booking waits until the payment is approved, and is then confirmed."),
    (Scenario::PaymentDeclines, "payment_declines", "The Declined Card", "With vendor payment, the booking fails with `card_declined` when the payment is approved."),
    (Scenario::PaymentSetupFails, "payment_setup_fails", "The Broken Till", "With vendor payment, the booking fails immediately with `payment_setup_failed`."),
    (Scenario::PaymentReplayFails, "payment_replay_fails", "The Second Swipe", "With vendor payment, the booking fails with `payment_replay_failed` when the payment is approved."),
    (Scenario::PaymentOutcomeUnknown, "payment_outcome_unknown", "The Late Answer", "With vendor payment, the booking fails with `payment_outcome_unknown` when the payment is approved too late."),
    (Scenario::VaultUnavailable, "vault_unavailable", "The Locked Vault", "With vendor payment, the booking request is rejected with 409 `vault_unavailable`."),
    (Scenario::ProviderFails, "provider_fails", "The Failing Provider", "The booking fails with `provider_error`."),
    (Scenario::ModifyRefused, "modify_refused", "The Stubborn Host", "The booking is confirmed immediately, and the venue rejects every change with 422."),
    (Scenario::AvailabilityFails, "availability_fails", "The Unreadable Diary", "Requests for slots fail with 502 `availability_failed`."),
    (Scenario::NoSlots, "no_slots", "The Empty Diary", "The venue never has a free slot. A booking request for any time fails with `no_availability`."),
    (Scenario::MultiProvider, "multi_provider", "The Two Front Doors", "Providers A and C both serve the venue. A booking that names one of them is confirmed."),
    (Scenario::LastTable, "last_table", "The Last Table", "Each slot holds one booking. The first is confirmed, and the next fails with `slot_taken`."),
    (Scenario::ProcessingFails, "processing_fails", "The Second Thought", "The booking is processing for 5 seconds, and then fails with `provider_error`."),
    (Scenario::OtpFails, "otp_fails", "The Code in Vain", "The booking waits for a one-time code, and fails with `provider_error` when the right one comes."),
    (Scenario::DetailsFails, "details_fails", "The Question in Vain", "The booking waits for the details that `next_action` asks for, and fails with `provider_error` when they come."),
    (Scenario::Unforeseen, "unforeseen", "The Newcomer", "The booking has a status, an error code, a field and an action that no list has. Any answer confirms it."),
];

impl Scenario {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    pub(crate) const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The name of its venues; each adds its provider and the scenario.
    pub(super) const fn title(self) -> &'static str {
        TABLE[self as usize].2
    }

    pub(crate) const fn describe(self) -> &'static str {
        TABLE[self as usize].3
    }

    pub(crate) const fn is_payment(self) -> bool {
        matches!(
            self,
            Self::Payment
                | Self::PaymentDeclines
                | Self::PaymentSetupFails
                | Self::PaymentReplayFails
                | Self::PaymentOutcomeUnknown
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_that_of_its_scenario() {
        for (place, (scenario, name, ..)) in TABLE.into_iter().enumerate() {
            assert_eq!(scenario as usize, place);
            assert_eq!(serde_json::from_value::<Scenario>(name.into()).unwrap(), scenario);
        }
    }
}
