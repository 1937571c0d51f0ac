//! Searching: where, what, at which providers.

use serde_json::Value;

use crate::harness::{Home, Output, text};

fn search(home: &Home, more: &[&str]) -> Output {
    let arguments = ["search", "--at", "tomorrow 19:30", "--json"];
    home.run(arguments.iter().chain(more))
}

fn venues(output: Output) -> Vec<Value> {
    output.exits(0).json()["venues"].as_array().unwrap().clone()
}

/// "location (text; or latitude and longitude instead)" (spec, Venues)
#[test]
fn coordinates_find_what_the_place_finds() {
    let home = Home::new();
    let ids = |output: Output| -> Vec<String> {
        let mut ids: Vec<String> = venues(output)
            .iter()
            .map(|it| text(it, "venue_id"))
            .collect();
        ids.sort();
        ids
    };
    let by_name = ids(search(&home, &["travel", "--near", "Sydney"]));
    let by_place = ids(search(
        &home,
        &["travel", "--lat", "-33.8688", "--lon", "151.2093"],
    ));
    assert!(!by_name.is_empty());
    assert!(
        by_name.iter().all(|id| by_place.contains(id)),
        "{by_name:?} {by_place:?}"
    );
}

/// "optional naming of the providers to use" (spec, Venues)
#[test]
fn naming_providers_narrows_the_search_to_theirs() {
    let home = Home::new();
    let everywhere = venues(search(&home, &["dining", "--near", "Sandbox"]));
    for providers in [&["provider_b"][..], &["provider_a", "provider_c"]] {
        let mut arguments = vec!["dining", "--near", "Sandbox"];
        arguments.extend(
            providers
                .iter()
                .flat_map(|provider| ["--provider", provider]),
        );
        let found = venues(search(&home, &arguments));
        assert!(!found.is_empty() && found.len() < everywhere.len());
        for venue in found {
            let serves = |name: &&str| {
                venue["provider"] == **name
                    || venue["providers"]
                        .as_array()
                        .is_some_and(|all| all.iter().any(|it| it == *name))
            };
            assert!(providers.iter().any(serves), "{venue}");
        }
    }
}

/// no_search_provider: "400 when the caller named providers" (spec, Errors); exit 13: "`no_search_provider` with any
/// status" (command line, Exit codes)
#[test]
fn a_provider_that_there_is_not_serves_nothing() {
    let error = search(
        &Home::new(),
        &["dining", "--near", "London", "--provider", "provider_x"],
    );
    assert_eq!(error.refused(13, "no_search_provider")["http_status"], 400);
}

/// "`--near TEXT | --lat N --lon N`" (command line, Command tree)
#[test]
fn a_place_is_named_in_one_way_and_whole() {
    let home = Home::new();
    for place in [
        &["--near", "London", "--lat", "51", "--lon", "0"][..],
        &["--lat", "51"],
        &["--lon", "0"],
        &["--near", ""],
    ] {
        let arguments: Vec<&str> = ["dining"].iter().chain(place).copied().collect();
        let output = search(&home, &arguments);
        assert!(matches!(output.code, Some(2 | 12)), "{output}");
        output.error();
    }
}

/// Without a time, a list is of now and of today.
#[test]
fn a_search_and_a_list_of_slots_without_a_time_are_of_now() {
    let home = Home::new();
    home.run(["sandbox", "clock", "--to", "2031-05-04T12:00:00Z"])
        .exits(0);
    let found = home.json("search dining --near Sandbox");
    assert_eq!(found["venues"][0]["venue_id"], "ven_confirms");
    let slots = home.run(["slots", "@1", "--json"]).exits(0).json();
    let slots = slots["slots"].as_array().unwrap();
    assert!(!slots.is_empty());
    for slot in slots {
        assert_eq!(text(slot, "datetime")[..10], *"2031-05-04");
    }
}
