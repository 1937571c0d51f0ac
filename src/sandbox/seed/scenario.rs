//! Scenarios: every documented outcome, reachable on purpose.

use super::city::SANDBOX;
use super::draw::Draw;
use super::programme::Programme;
use super::provider::Provider;
use super::venue::Venue;

/// What a booking at a scenario venue comes to.
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

    /// One sentence: what a booking there does.
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

    /// Whether the scenario is about paying through the vendor.
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

    /// The venue's name, without what tells it from its siblings.
    const fn title(self) -> &'static str {
        match self {
            Self::Confirms => "The Sure Thing",
            Self::Otp => "The One-Time Code",
            Self::ConfirmDetails => "The Further Question",
            Self::Processing => "The Patient Kitchen",
            Self::Payment => "The Paying Guest",
            Self::PaymentDeclines => "The Declined Card",
            Self::PaymentSetupFails => "The Broken Till",
            Self::PaymentReplayFails => "The Second Swipe",
            Self::PaymentOutcomeUnknown => "The Late Answer",
            Self::VaultUnavailable => "The Locked Vault",
            Self::ProviderFails => "The Failing Provider",
            Self::ModifyRefused => "The Stubborn Host",
            Self::AvailabilityFails => "The Unreadable Diary",
            Self::NoSlots => "The Empty Diary",
            Self::MultiProvider => "The Two Front Doors",
            Self::LastTable => "The Last Table",
        }
    }

    /// The providers of each of the scenario's venues: one venue an entry.
    const fn servings(self) -> &'static [&'static [Provider]] {
        match self {
            Self::Confirms | Self::Otp | Self::Processing | Self::ProviderFails => {
                &[&[Provider::A], &[Provider::B], &[Provider::C]]
            }
            Self::MultiProvider => &[&[Provider::A, Provider::C]],
            _ => &[&[Provider::A]],
        }
    }
}

/// Every scenario venue, in the order of [`Scenario::ALL`], a few steps apart from each other.
pub(super) fn scenario_venues() -> impl Iterator<Item = Venue> {
    Scenario::ALL
        .into_iter()
        .flat_map(|scenario| scenario.servings().iter().map(move |it| (scenario, *it)))
        .zip(1_u32..)
        .map(|((scenario, providers), number)| {
            let name = scenario.name();
            let title = scenario.title();
            let (id, name) = match providers {
                [Provider::B] => (format!("ven_{name}_b"), format!("{title} B ({name})")),
                [Provider::C] => (format!("ven_{name}_c"), format!("{title} C ({name})")),
                _ => (format!("ven_{name}"), format!("{title} ({name})")),
            };
            Venue {
                key: Draw::about(&id),
                id,
                name,
                vertical: Programme::Scenario.vertical(),
                providers: providers.to_vec(),
                address: format!("{number} Example Street"),
                city: SANDBOX.name,
                country: SANDBOX.country,
                latitude: f64::from(number) / 1_000.0,
                longitude: f64::from(number) / 1_000.0,
                timezone_name: SANDBOX.timezone_name,
                price_level: Some(2),
                tags: vec![
                    "scenario".to_owned(),
                    format!("scenario:{}", scenario.name()),
                ],
                scenario: Some(scenario),
                programme: Programme::Scenario,
                home: &SANDBOX,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed::venue::venues;
    use crate::sandbox::seed::{Vertical, venue};

    #[test]
    fn every_scenario_of_the_contract_stands_under_its_id_with_its_providers() {
        use Provider::{A, B, C};
        let expected: &[(&str, &[Provider])] = &[
            ("ven_confirms", &[A]),
            ("ven_confirms_b", &[B]),
            ("ven_confirms_c", &[C]),
            ("ven_otp", &[A]),
            ("ven_otp_b", &[B]),
            ("ven_otp_c", &[C]),
            ("ven_confirm_details", &[A]),
            ("ven_processing", &[A]),
            ("ven_processing_b", &[B]),
            ("ven_processing_c", &[C]),
            ("ven_payment", &[A]),
            ("ven_payment_declines", &[A]),
            ("ven_payment_setup_fails", &[A]),
            ("ven_payment_replay_fails", &[A]),
            ("ven_payment_outcome_unknown", &[A]),
            ("ven_vault_unavailable", &[A]),
            ("ven_provider_fails", &[A]),
            ("ven_provider_fails_b", &[B]),
            ("ven_provider_fails_c", &[C]),
            ("ven_modify_refused", &[A]),
            ("ven_availability_fails", &[A]),
            ("ven_no_slots", &[A]),
            ("ven_multi_provider", &[A, C]),
            ("ven_last_table", &[A]),
        ];
        for (id, providers) in expected {
            let venue = venue(id).unwrap_or_else(|| panic!("{id} is missing"));
            let scenario = venue.scenario.unwrap();
            assert_eq!(venue.providers, *providers, "{id}");
            assert_eq!(venue.vertical, Vertical::Dining);
            assert_eq!((venue.city, venue.timezone_name), ("Sandbox", "UTC"));
            assert!(
                venue
                    .tags
                    .contains(&format!("scenario:{}", scenario.name()))
            );
            assert!(id.starts_with(&format!("ven_{}", scenario.name())), "{id}");
        }
        let seeded = venues().iter().filter(|it| it.scenario.is_some()).count();
        assert_eq!(seeded, expected.len());
    }
}
