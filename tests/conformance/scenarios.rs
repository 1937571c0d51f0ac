//! Scenario venues and seeded venues: every documented outcome is reachable.

use serde_json::{Value, json};

use crate::service::{Service, list};

const NAMES: &str = "confirms otp confirm_details processing payment payment_declines payment_setup_fails \
    payment_replay_fails payment_outcome_unknown vault_unavailable provider_fails modify_refused availability_fails \
    no_slots multi_provider last_table";

#[test]
fn scenario_1_every_outcome_has_its_venue_in_the_city_sandbox() {
    let service = Service::start(&[]);
    let venues = service.venues("dining", "Sandbox");
    for name in NAMES.split(' ') {
        let id = format!("ven_{name}");
        let venue = venues.iter().find(|it| it["venue_id"] == id.as_str());
        let venue = venue.unwrap_or_else(|| panic!("no {id}"));
        assert_eq!(venue["city"], "Sandbox");
        assert_eq!(venue["vertical"], "dining");
        assert_eq!(venue["timezone"], "UTC");
        let tag = json!(format!("scenario:{name}"));
        assert!(list(venue, "tags").contains(&tag), "{venue}");
    }
}

#[test]
fn scenario_2_four_of_them_exist_for_all_three_providers() {
    let service = Service::start(&[]);
    let venues = service.venues("dining", "Sandbox");
    for name in ["confirms", "otp", "processing", "provider_fails"] {
        for (suffix, provider) in [("", "provider_a"), ("_b", "provider_b"), ("_c", "provider_c")] {
            let id = format!("ven_{name}{suffix}");
            let venue = venues.iter().find(|it| it["venue_id"] == id.as_str());
            assert_eq!(venue.expect(&id)["provider"], provider);
        }
    }
}

#[test]
fn scenario_3_a_slot_every_half_hour_from_17_to_22_for_a_year() {
    let service = Service::start(&["--no-limits"]);
    for days in [1, 180, 364] {
        let slots = service.slots_on("ven_confirms", &service.evening(days));
        let times: Vec<String> =
            slots.iter().map(|it| it["datetime"].as_str().unwrap()[11..16].to_owned()).collect();
        let expected = [
            "17:00", "17:30", "18:00", "18:30", "19:00", "19:30", "20:00", "20:30", "21:00",
            "21:30", "22:00",
        ];
        assert_eq!(times, expected, "in {days} days");
    }
}

#[test]
fn scenario_4_a_slot_holds_at_least_3_and_of_the_last_table_1() {
    let service = Service::start(&[]);
    for _ in 0..3 {
        assert_eq!(service.book("ven_confirms")["status"], "confirmed");
    }
    assert_eq!(service.book("ven_last_table")["status"], "confirmed");
    let full = service.book("ven_last_table");
    assert_eq!((&full["status"], &full["error_code"]), (&json!("failed"), &json!("slot_taken")));
}

#[test]
fn scenario_6_no_slots_offers_none_and_a_booking_fails() {
    let service = Service::start(&[]);
    assert!(service.slots("ven_no_slots").is_empty());
    let booking = service.book("ven_no_slots");
    assert_eq!(booking["status"], "failed");
    assert_eq!(booking["error_code"], "no_availability");
}

#[test]
fn scenario_7_outages_fail_a_search_in_whole_or_in_part() {
    let service = Service::start(&[]);
    let search = |place: &str, providers: Value| {
        let mut body = service.search("dining", place);
        body["providers"] = providers;
        service.post("/v1/venues/search", body)
    };
    search("Outage", json!(null)).refused(502, "search_failed");
    let partial = search("Partial Outage", json!(null));
    let failed = list(partial.is(200), "providers_failed");
    assert_eq!(failed.len(), 1);
    for venue in list(&partial.body, "venues") {
        assert_ne!(venue["provider"], failed[0]);
    }
    // Asked alone, the one that fails is every one.
    let alone = search("Partial Outage", json!(failed));
    let body = alone.refused(502, "search_failed");
    assert_eq!(list(body, "providers_failed"), failed);
}

#[test]
fn seed_1_each_vertical_has_6_venues_in_each_city() {
    let service = Service::start(&["--no-limits"]);
    for vertical in ["dining", "fitness", "entertainment", "travel"] {
        for city in ["London", "New York", "Paris", "Tokyo", "Sydney"] {
            let venues = service.venues(vertical, city);
            assert!(venues.len() >= 6, "{vertical} in {city}");
            for provider in ["provider_a", "provider_b", "provider_c"] {
                let serves = |it: &Value| it["provider"] == provider;
                assert!(venues.iter().any(serves), "{vertical} {city} {provider}");
            }
        }
    }
}

#[test]
fn seed_2_slots_are_equal_for_each_time_and_place_of_reading() {
    let (one, two) = (Service::start(&[]), Service::start(&[]));
    let mut answers = Vec::new();
    for service in [&one, &one, &two] {
        let venue = service.search_then("dining", "Paris", "provider_c");
        answers.push((venue["venue_id"].clone(), {
            let id = venue["venue_id"].as_str().unwrap();
            service.slots(id)
        }));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}
