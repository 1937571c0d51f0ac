//! The venues of the scenarios, in the made-up city.

use super::city::SANDBOX;
use super::scenario::Scenario;
use super::schedule::Schedule;
use super::seeded_random::SeededRandom;
use super::venue::{Offer, Provider, Venue};

impl Scenario {
    /// The name of the scenario's venues; each adds its provider and the scenario.
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

    /// The providers of each of the scenario's venues, one entry a venue.
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

/// Every scenario venue, in the order of [`Scenario::ALL`], each a little apart from the others.
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
                random: SeededRandom::from_text(&id),
                id,
                name,
                vertical: Schedule::Scenario.vertical(),
                providers: providers.to_vec(),
                address: format!("{number} Example Street"),
                city: SANDBOX.name.into(),
                country: SANDBOX.country.into(),
                latitude: f64::from(number) / 1_000.0,
                longitude: f64::from(number) / 1_000.0,
                timezone_name: SANDBOX.timezone_name.into(),
                price_level: Some(2),
                tags: vec![
                    "scenario".to_owned(),
                    format!("scenario:{}", scenario.name()),
                ],
                scenario: Some(scenario),
                offer: Offer::Seeded {
                    schedule: Schedule::Scenario,
                    home: &SANDBOX,
                },
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::seed::venues::venues;
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
            assert_eq!((&*venue.city, &*venue.timezone_name), ("Sandbox", "UTC"));
            assert!(
                venue
                    .tags
                    .contains(&format!("scenario:{}", scenario.name()))
            );
            assert!(id.starts_with(&format!("ven_{}", scenario.name())), "{id}");
        }
        let seeded = venues().filter(|it| it.scenario.is_some()).count();
        assert_eq!(seeded, expected.len());
    }
}
