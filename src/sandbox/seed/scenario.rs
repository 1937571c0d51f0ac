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
}

impl Scenario {
    pub(crate) const ALL: [Self; 16] = [
        Self::Confirms,
        Self::Otp,
        Self::ConfirmDetails,
        Self::Processing,
        Self::Payment,
        Self::PaymentDeclines,
        Self::PaymentSetupFails,
        Self::PaymentReplayFails,
        Self::PaymentOutcomeUnknown,
        Self::VaultUnavailable,
        Self::ProviderFails,
        Self::ModifyRefused,
        Self::AvailabilityFails,
        Self::NoSlots,
        Self::MultiProvider,
        Self::LastTable,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Confirms => "confirms",
            Self::Otp => "otp",
            Self::ConfirmDetails => "confirm_details",
            Self::Processing => "processing",
            Self::Payment => "payment",
            Self::PaymentDeclines => "payment_declines",
            Self::PaymentSetupFails => "payment_setup_fails",
            Self::PaymentReplayFails => "payment_replay_fails",
            Self::PaymentOutcomeUnknown => "payment_outcome_unknown",
            Self::VaultUnavailable => "vault_unavailable",
            Self::ProviderFails => "provider_fails",
            Self::ModifyRefused => "modify_refused",
            Self::AvailabilityFails => "availability_fails",
            Self::NoSlots => "no_slots",
            Self::MultiProvider => "multi_provider",
            Self::LastTable => "last_table",
        }
    }

    /// What a booking there does, in one sentence.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Confirms => "The booking is confirmed at once.",
            Self::Otp => {
                "The booking waits for a one-time code, which is in the inbox, and is then confirmed."
            }
            Self::ConfirmDetails => {
                "The booking waits for the details that `next_action` asks for, and is then confirmed."
            }
            Self::Processing => "The booking is processing for 5 seconds, and is then confirmed.",
            Self::Payment => {
                "With vendor payment, the booking waits until the payment is approved, and is then confirmed."
            }
            Self::PaymentDeclines => {
                "With vendor payment, the booking fails with `card_declined` when the payment is approved."
            }
            Self::PaymentSetupFails => {
                "With vendor payment, the booking fails at once with `payment_setup_failed`."
            }
            Self::PaymentReplayFails => {
                "With vendor payment, the booking fails with `payment_replay_failed` when the payment is approved."
            }
            Self::PaymentOutcomeUnknown => {
                "With vendor payment, the booking fails with `payment_outcome_unknown` when the payment is approved too late."
            }
            Self::VaultUnavailable => {
                "With vendor payment, the booking request is refused with 409 `vault_unavailable`."
            }
            Self::ProviderFails => "The booking fails with `provider_error`.",
            Self::ModifyRefused => {
                "The booking is confirmed at once, and the venue refuses every change with 422."
            }
            Self::AvailabilityFails => "Requests for slots fail with 502 `availability_failed`.",
            Self::NoSlots => {
                "The venue never has a free slot. A booking request for any time fails with `no_availability`."
            }
            Self::MultiProvider => {
                "Providers A and C both serve the venue. A booking that names one of them is confirmed."
            }
            Self::LastTable => {
                "Each slot takes one booking. The first is confirmed, and the next fails with `slot_taken`."
            }
        }
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
