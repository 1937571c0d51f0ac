//! Scenarios: every documented outcome, reachable on purpose.

use serde::Deserialize;

word_table! {
    /// With the name of its venues, and what a booking there does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
    Scenario of 3,
    Confirms ["confirms", "The Sure Thing", "The booking is confirmed immediately."],
    Otp ["otp", "The One-Time Code", "The booking waits for a one-time code, which is in the inbox, and is then confirmed."],
    ConfirmDetails ["confirm_details", "The Further Question", "The booking waits for the details that `next_action` asks for, and is then confirmed."],
    Processing ["processing", "The Patient Kitchen", "The booking is processing for 5 seconds, and is then confirmed."],
    Payment ["payment", "The Paying Guest", "With vendor payment, the booking waits until the payment is approved, and is then confirmed."],
    PaymentDeclines ["payment_declines", "The Declined Card", "With vendor payment, the booking fails with `card_declined` when the payment is approved."],
    PaymentSetupFails ["payment_setup_fails", "The Broken Till", "With vendor payment, the booking fails immediately with `payment_setup_failed`."],
    PaymentReplayFails ["payment_replay_fails", "The Second Swipe", "With vendor payment, the booking fails with `payment_replay_failed` when the payment is approved."],
    PaymentOutcomeUnknown ["payment_outcome_unknown", "The Late Answer", "With vendor payment, the booking fails with `payment_outcome_unknown` when the payment is approved too late."],
    VaultUnavailable ["vault_unavailable", "The Locked Vault", "With vendor payment, the booking request is rejected with 409 `vault_unavailable`."],
    ProviderFails ["provider_fails", "The Failing Provider", "The booking fails with `provider_error`."],
    ModifyRefused ["modify_refused", "The Stubborn Host", "The booking is confirmed immediately, and the venue rejects every change with 422."],
    AvailabilityFails ["availability_fails", "The Unreadable Diary", "Requests for slots fail with 502 `availability_failed`."],
    NoSlots ["no_slots", "The Empty Diary", "The venue never has a free slot. A booking request for any time fails with `no_availability`."],
    MultiProvider ["multi_provider", "The Two Front Doors", "Providers A and C both serve the venue. A booking that names one of them is confirmed."],
    LastTable ["last_table", "The Last Table", "Each slot holds one booking. The first is confirmed, and the next fails with `slot_taken`."],
    ProcessingFails ["processing_fails", "The Second Thought", "The booking is processing for 5 seconds, and then fails with `provider_error`."],
    OtpFails ["otp_fails", "The Code in Vain", "The booking waits for a one-time code, and fails with `provider_error` when the right one comes."],
    DetailsFails ["details_fails", "The Question in Vain", "The booking waits for the details that `next_action` asks for, and fails with `provider_error` when they come."],
    Unforeseen ["unforeseen", "The Newcomer", "The booking has a status, an error code, a field and an action that no list has. Any answer confirms it."],
}

impl Scenario {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::TABLE.iter().map(|row| row.0)
    }

    /// The name of its venues; each adds its provider and the scenario.
    pub(super) const fn title(self) -> &'static str {
        Self::TABLE[self as usize].1[1]
    }

    pub(crate) const fn describe(self) -> &'static str {
        Self::TABLE[self as usize].1[2]
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
    fn each_name_of_the_table_is_that_of_its_scenario() {
        for scenario in Scenario::all() {
            let named = serde_json::from_value::<Scenario>(scenario.name().into());
            assert_eq!(named.unwrap(), scenario);
        }
    }
}
