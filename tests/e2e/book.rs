//! Booking from a script: one command, one document, one exit code.

use std::collections::BTreeSet;

use serde_json::json;

use crate::harness::{GUEST, Home, Served, has, holds, text, words};

/// "Started with no configuration at all it talks to the embedded sandbox: one line on stderr says
/// so, and that nothing is really booked." (command line, Command tree)
#[test]
fn in_empty_home_and_pipe_one_command_books() {
    let home = Home::new();
    let output = home.ok(["book", "ven_confirms"].iter().chain(&GUEST));
    assert!(output.stdout.starts_with("confirmed\tbk_"), "{output}");
    assert_eq!(output.stderr.lines().count(), 1, "{output}");
    output.says("sandbox").says("nothing is really booked");
}

/// "It keeps its state in a file, so that one command's booking is there for the next, and several
/// commands at once share it safely." (command line, Sandbox from the shell)
#[test]
fn eight_commands_at_once_in_one_empty_home_make_eight_bookings() {
    let home = Home::new();
    // A guest each: the same booking, while another command asks for it, is refused.
    let guests = ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"];
    let running: Vec<_> = guests
        .iter()
        .map(|guest| {
            let name = format!("Ada {guest}");
            let book = ["book", "ven_confirms", "--json", "--name", &name];
            home.start(book.iter().chain(&GUEST[..4]))
        })
        .collect();
    let ids: BTreeSet<String> = running
        .into_iter()
        .map(|running| {
            let output = running.ends(0);
            // What another command is sending is an open attempt, of which each warns.
            let stderr = output.stderr.to_lowercase();
            assert!(!stderr.contains("lock") && !stderr.contains("error"), "{output}");
            text(&output.json(), "id")
        })
        .collect();
    assert_eq!(ids.len(), 8);
    let kept: BTreeSet<String> =
        Served::from_home(&home).bookings().iter().map(|booking| text(booking, "id")).collect();
    assert_eq!(kept, ids);
}

/// Exit 7: "no slot at that time" (command line, Exit codes); nothing is booked at another one.
#[test]
fn venue_without_slot_at_that_time_lists_nearest() {
    let home = Home::new();
    let arguments = ["book", "ven_confirms", "--at", "tomorrow 19:40"];
    let output = home.run(arguments.iter().chain(&GUEST[2..])).exits(7);
    assert_eq!(output.stdout, "", "{output}");
    let (nearest, next) = (output.stderr.find("19:30"), output.stderr.find("20:00"));
    assert!(nearest.is_some(), "nearest first: {output}");
    assert!(nearest < next, "nearest first: {output}");
    output.tells("--slot slot_");

    let json = home.run(arguments.iter().chain(&GUEST[2..]).chain(&["--json"]));
    json.refused(7, "no_slot");
    assert!(Served::from_home(&home).bookings().is_empty());
}

/// "`@1`, `@2` stand for the rows of the last list." (command line, Command tree)
#[test]
fn row_of_last_search_names_venue_and_row_of_last_slots_slot() {
    let home = Home::new();
    let search = "search dining --near Sandbox --at 'tomorrow 19:30'";
    let venues = home.ok(words(format!("{search} --json"))).json();
    let first = text(&venues["venues"][0], "venue_id");
    let slots = words("slots @1 --at 'tomorrow 19:30' --party 4 --json");
    let slots = home.ok(slots).json();
    assert_eq!(slots["venue_id"], json!(first));

    let second = &slots["slots"][1];
    let book = ["book", "--slot", "@2", "--name", "Ada Lovelace", "--json"];
    let booking = home.ok(book).json();
    holds!(booking, {"venue_id": first, "datetime": second["datetime"], "party_size": 4});
}

#[test]
fn a_slot_that_was_never_listed_needs_its_venue_and_its_time() {
    let home = Home::new();
    let slots = ["slots", "ven_confirms", "--at", "tomorrow 18:00", "--json"];
    let slots = Home::new().ok(slots).json();
    let id = text(&slots["slots"][0], "availability_id");
    let alone = home.run(words(format!("book --slot {id} --party 2 --name 'Ada Lovelace' --json")));
    alone.refused(2, "usage");
    let datetime = text(&slots["slots"][0], "datetime");
    let whole = words(format!(
        "book ven_confirms --slot {id} --at '{datetime}' --party 2 --name 'Ada Lovelace' \
             --json"
    ));
    let booking = home.ok(whole).json();
    assert_eq!(booking["datetime"], json!(datetime));
}

#[test]
fn a_slot_of_another_venue_is_refused_before_anything_is_sent() {
    let home = Home::new();
    let slots = ["slots", "ven_confirms", "--at", "tomorrow 18:00", "--json"];
    let slots = home.ok(slots).json();
    let id = text(&slots["slots"][0], "availability_id");
    let book = words(format!("book ven_otp --slot {id} --name 'Ada Lovelace' --json"));
    let error = home.run(book).refused(2, "usage");
    has(&error, "message", "ven_confirms");
    assert!(Served::from_home(&home).bookings().is_empty());
}

/// The slots that `book` looks up for itself are shown to nobody, so they are no list that rows
/// stand for.
#[test]
fn booking_by_time_leaves_the_rows_of_the_list_that_was_shown() {
    let home = Home::new();
    let slots = ["slots", "ven_otp", "--at", "tomorrow 19:30", "--json"];
    home.ok(slots);
    home.booked("ven_confirms", &[], 0);
    let book = ["book", "--slot", "@1", "--name", "Ada Lovelace", "--json"];
    let booking = home.run(book).json();
    assert_eq!(booking["venue_id"], "ven_otp");
}

#[test]
fn a_row_that_the_last_list_does_not_have_is_refused() {
    let home = Home::new();
    let slots = ["slots", "ven_confirms", "--at", "tomorrow 19:30"];
    home.ok(slots);
    for row in ["@99", "@0", "@-1", "@x", "@"] {
        let book = ["book", "--slot", row, "--name", "Ada Lovelace", "--json"];
        let error = home.run(book).refused(2, "usage");
        has(&error, "message", row);
        // No search was made yet, so no row names a venue.
        let slots = ["slots", row, "--at", "tomorrow 19:30", "--json"];
        home.run(slots).refused(2, "usage");
    }
}

#[test]
fn what_is_said_of_guest_stands_in_booking_as_it_was_written() {
    let home = Home::new();
    let booking = home.json(
        "book ven_confirms --at 'tomorrow 19:30' --party 20 --name 'Zoë Ångström-東京' \
         --email zoe@example.org --phone '+81 3 1234 5678'",
    );
    assert_eq!(
        booking["customer"],
        json!({"name": "Zoë Ångström-東京", "email": "zoe@example.org", "phone": "+81 3 1234 5678"})
    );
    assert_eq!(booking["party_size"], 20);
}
