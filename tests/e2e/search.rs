//! Searching: where, what, at which providers.

use crate::harness::{Home, Output, Served, text, words};

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

/// `tomorrow` is the venue's where a venue is known; a search says which day it meant.
#[test]
fn search_says_its_day_where_tomorrow_is_another_there() {
    let home = Home::new();
    home.ok(["sandbox", "clock", "--to", "2031-05-04T22:10:00Z"]);
    let search =
        |near: &str| home.ok(["search", "dining", "--near", near, "--at", "tomorrow 19:30"]).stderr;
    assert!(search("Tokyo").contains("Searched for Mon 5 May 2031, 19:30 (+00:00)"));
    assert!(
        !search("London").contains("Searched for Mon"),
        "it is the same day there or a known one"
    );
}

/// "--wait (30m): until a slot at that time is free, …; 7 where none came" (command line, Command
/// tree)
#[test]
fn slots_wait_until_one_is_free_at_that_time() {
    let (_served, home) = Served::with_home();
    let id = home.booked("ven_last_table", &[], 0);
    let wait = |at: &str, longest: &str| {
        words(format!("slots ven_last_table --at '{at}' --wait={longest} --json"))
    };
    let waiting = home.start(wait("tomorrow 19:30", "1m"));
    let looks = || home.json("sandbox requests").to_string().matches("/v1/availability").count();
    while looks() < 2 {}
    home.ok(["cancel", &id, "--yes"]);
    let output = waiting.ends(0);
    assert!(
        output.stderr.contains("has no slot at") && !output.stderr.contains("booked;"),
        "{output}"
    );
    let free = output.json()["slots"].to_string();
    assert!(free.contains("T19:30:00"), "{free}");
    for (at, when) in [("tomorrow", "on "), ("tomorrow 19:30", "at ")] {
        let none = format!("slots ven_no_slots --at '{at}' --wait=1ms");
        let message = text(&home.refuses(&none, 7, "no_slot"), "message");
        assert!(message.contains(&format!("has no slot {when}")), "{message}");
        assert!(!message.contains("booked") && !message.contains("12:00"), "{message}");
    }
}

/// Without a time, a list is of now and of today.
#[test]
fn a_search_and_a_list_of_slots_without_a_time_are_of_now() {
    let home = Home::new();
    home.ok(["sandbox", "clock", "--to", "2031-05-04T12:00:00Z"]);
    let found = home.json("search dining --near Sandbox");
    assert_eq!(found["venues"][0]["venue_id"], "ven_confirms");
    let slots = home.list("slots @1");
    assert!(!slots.is_empty());
    for slot in slots {
        assert_eq!(text(&slot, "datetime")[..10], *"2031-05-04");
    }
}
