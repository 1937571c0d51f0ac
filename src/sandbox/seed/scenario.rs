//! Scenarios: every documented outcome, reachable on purpose.

/// The outcome of a booking at a scenario venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// The scenario's name in venue ids and tags.
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
            Self::Confirms => "A booking is confirmed at once.",
            Self::Otp => {
                "A booking waits for the one-time code that the inbox holds, then is confirmed."
            }
            Self::ConfirmDetails => {
                "A booking waits for the further details that its `next_action` lists, then is confirmed."
            }
            Self::Processing => "A booking is processing for 5 seconds, then is confirmed.",
            Self::Payment => {
                "A booking with vendor payment waits for the payment's approval, then is confirmed."
            }
            Self::PaymentDeclines => {
                "A booking with vendor payment fails with `card_declined` once the payment is approved."
            }
            Self::PaymentSetupFails => {
                "A booking with vendor payment fails with `payment_setup_failed` before anything is asked."
            }
            Self::PaymentReplayFails => {
                "A booking with vendor payment fails with `payment_replay_failed` once the payment is approved."
            }
            Self::PaymentOutcomeUnknown => {
                "A booking with vendor payment whose approval comes too late fails with `payment_outcome_unknown`."
            }
            Self::VaultUnavailable => {
                "A booking with vendor payment is refused with 409 `vault_unavailable`, and none is created."
            }
            Self::ProviderFails => "A booking is created and fails, as its provider did.",
            Self::ModifyRefused => {
                "A booking is confirmed at once, and the venue refuses every change of it with 422."
            }
            Self::AvailabilityFails => {
                "Reading the slots is refused with 502 `availability_failed`."
            }
            Self::NoSlots => {
                "No slot is ever offered, so that a booking fails with `no_availability`."
            }
            Self::MultiProvider => {
                "Providers A and C both serve the venue, so that a booking has to name one; then it is confirmed."
            }
            Self::LastTable => {
                "Every slot holds one booking: the first is confirmed, the next fails with `slot_taken`."
            }
        }
    }

    /// Whether the scenario is about vendor payments.
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
