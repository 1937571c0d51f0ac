//! Searching: where, what, at which providers.

use crate::harness::{Home, Output, text};

fn search(home: &Home, more: &[&str]) -> Output {
    let arguments = ["search", "--at", "tomorrow 19:30", "--json"];
    home.run(arguments.iter().chain(more))
}

/// "`--near TEXT | --lat N --lon N`" (command line, Command tree)
#[test]
fn a_place_is_named_in_one_way_and_whole() {
    let home = Home::new();
    for place in [
        &["--near", "London", "--lat", "51", "--lon", "0"][..],
        &["--near", "91,0"],
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
    home.ok(["sandbox", "clock", "--to", "2031-05-04T12:00:00Z"]);
    let found = home.json("search dining --near Sandbox");
    assert_eq!(found["venues"][0]["venue_id"], "ven_confirms");
    let slots = home.json("slots @1");
    let slots = slots["slots"].as_array().unwrap();
    assert!(!slots.is_empty());
    for slot in slots {
        assert_eq!(text(slot, "datetime")[..10], *"2031-05-04");
    }
}
