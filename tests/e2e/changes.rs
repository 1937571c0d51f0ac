//! Modify and cancel: what they change, what refuses them, and what is known where the answer got
//! lost.

use serde_json::json;

use crate::harness::{Home, Output, has, holds, text};

fn modify(home: &Home, id: &str, changes: &[&str]) -> Output {
    home.run(["modify", id, "--json"].iter().chain(changes))
}

/// "The fields are independent; send only those to change." (spec, Endpoints)
#[test]
fn each_field_is_changed_alone_and_the_rest_stays() {
    let home = Home::new();
    let id = home.booked("ven_confirms", &[], 0);
    let before = home.booking(&id);
    let changed = modify(&home, &id, &["--party", "4"]).exits(0).json();
    holds!(changed, {"party_size": 4, "datetime": before["datetime"]});
    assert_eq!(
        changed["last_modification"]["changes"],
        json!({"party_size": {"from": 2, "to": 4}})
    );
    let changed = modify(&home, &id, &["--seating", "terrace"]).exits(0).json();
    holds!(changed, {"seating_preference": "terrace", "party_size": 4});
    let changed = modify(&home, &id, &["--at", "tomorrow 20:30"]).exits(0).json();
    has(&changed, "datetime", "T20:30:00");
    assert_eq!(home.booking(&id), changed);
}

/// "modify on a booking that is not confirmed" is the 409 (spec, Errors)
#[test]
fn booking_not_confirmed_is_neither_changed_nor_cancelled() {
    let home = Home::new();
    for (venue, code) in [("ven_otp", 10), ("ven_processing", 8), ("ven_provider_fails", 11)] {
        let id = home.booked(venue, &[], code);
        for changes in [["--party", "3"], ["--at", "tomorrow 20:30"]] {
            let error = modify(&home, &id, &changes).refused(7, "http_409");
            assert!(error["hint"].is_string(), "{error}");
        }
        if code == 11 {
            let cancel = ["cancel", &id, "--yes", "--json"];
            home.run(cancel).refused(7, "http_409");
        }
    }
    modify(&home, "bk_nobody", &["--party", "3"]).refused(6, "http_404");
    home.refuses("cancel bk_nobody --yes", 6, "http_404");
}

#[test]
fn a_change_of_nothing_or_of_nonsense_is_a_usage_error() {
    let home = Home::new();
    for changes in [&[][..], &["--party", "0"], &["--at", "whenever"]] {
        modify(&home, "bk_1", changes).refused(2, "usage");
    }
}

/// Exit 2: "`--yes` missing" (command line, Exit codes)
#[test]
fn off_terminal_cancel_wants_its_yes_and_sends_nothing_without() {
    let home = Home::new();
    let id = home.booked("ven_confirms", &[], 0);
    let error = home.run(["cancel", &id, "--json"]).refused(2, "usage");
    has(&error, "hint", "--yes");
    home.feed(["cancel", &id], "y\n").exits(2);
    assert_eq!(home.booking(&id)["status"], "confirmed");
}

/// "a continue, modify or cancel is not repeated blindly: the booking is read first" (design)
#[test]
fn where_answer_to_change_is_lost_booking_tells_what_came_of_it() {
    let home = Home::new();
    let id = home.booked("ven_confirms", &[], 0);
    const MODIFY: &str = "POST /v1/bookings/{id}/modify";
    home.fault(MODIFY, "drop_after", 1);
    let output = modify(&home, &id, &["--party", "3"]).exits(0);
    assert_eq!(output.json()["party_size"], 3);
    output.tells("; the booking shows the change");

    // The same moment, in another zone than the venue's.
    let at = text(&home.booking(&id), "datetime").replace("19:30:00+00:00", "22:30:00+02:00");
    home.fault(MODIFY, "drop_after", 1);
    let changed = modify(&home, &id, &["--at", &at]).exits(0).json();
    has(&changed, "datetime", "T20:30:00+00:00");

    for (kind, party) in [("drop_before", "5"), ("garbage", "6"), ("truncate", "7")] {
        let before = home.booking(&id);
        home.fault(MODIFY, kind, 1);
        let output = modify(&home, &id, &["--party", party]);
        if home.booking(&id) == before {
            let error = output.refused(16, "outcome_unknown");
            let look = format!("bookctl show {id}");
            has(&error, "hint", &look);
        } else {
            output.exits(0);
        }
    }
}

#[test]
fn where_answer_to_cancel_is_lost_booking_tells_what_came_of_it() {
    const CANCEL: &str = "POST /v1/bookings/{id}/cancel";
    let home = Home::new();
    let cancel = |id: &str| home.run(["cancel", id, "--yes", "--json"]);
    let id = home.booked("ven_confirms", &[], 0);
    home.fault(CANCEL, "drop_before", 1);
    cancel(&id).refused(16, "outcome_unknown");
    assert_eq!(home.booking(&id)["status"], "confirmed");
    home.fault(CANCEL, "drop_after", 1);
    assert_eq!(cancel(&id).exits(0).json()["status"], "cancelled");

    // The booking says that its provider cannot cancel: that is an answer too.
    let id = home.booked("ven_confirms_c", &[], 0);
    home.fault(CANCEL, "drop_after", 1);
    let stays = cancel(&id).exits(7).json();
    assert_eq!(stays["error_code"], "cancellation_unsupported");
}
