//! A service that shows another guest's booking under the id that was asked for: it is never taken
//! for the one of the journal.

use serde_json::{Value, json};

use crate::harness::{Home, Reply, Scripted, words};

const BOOK: &str = "book ven_1 --slot slot_1 --at 2026-12-01T19:30:00Z --party 2 --name 'Ada Lovelace' \
                    --email ada@x.example --yes --idempotency-key k";

fn booking(status: &str, guest: &Value) -> Value {
    json!({
        "id": "bk_1", "object": "booking", "status": status, "provider": "a", "venue_id": "ven_1",
        "datetime": "2026-12-01T19:30:00Z", "party_size": 2, "customer": guest,
    })
}

fn ada() -> Value {
    json!({"name": "Ada Lovelace", "email": "ada@x.example"})
}

fn eve() -> Value {
    json!({"name": "Eve Other", "email": "eve@x.example"})
}

/// Answers a create with one booking, and everything else with another one.
fn home(created: Value, later: Value) -> (Scripted, Home) {
    let server = Scripted::start(move |request| match request.is("POST", "/v1/bookings") {
        true => Reply::json(201, &created),
        false => Reply::json(200, &later),
    });
    let home = Home::new()
        .with_profile("acme", server.base_url(), "")
        .with("BOOKCTL_API_KEY", "sk_test_another_0001");
    (server, home)
}

fn row() -> Value {
    json!({"venue_id": "ven_1", "availability_id": "slot_1", "datetime": "2026-12-01T19:30:00Z",
           "party_size": 2, "customer": ada(), "idempotency_key": "own"})
}

/// Runs a batch of one row, which is not confirmed.
#[track_caller]
fn batch_ends_with(home: &Home, row: &Value, more: &[&str], parts: &[&str]) {
    let batch = ["batch", "-", "--name", "b", "--yes", "--json"];
    let output = home.feed([&batch, more].concat(), &row.to_string()).exits(18);
    parts.iter().for_each(|part| output.shows(part));
}

/// "an answer that is not one taken for success" (design): the first answer shows nothing by which
/// the booking can be told.
#[test]
fn sparse_answer_to_create_is_compared_once_booking_shows_more() {
    let sparse =
        json!({"id": "bk_1", "object": "booking", "status": "processing", "provider": "a"});
    let mut moved = booking("confirmed", &ada());
    moved["datetime"] = json!("2026-12-01T21:30:00Z");
    let other = "customer.name is Eve Other, not Ada Lovelace";
    for (later, says) in [
        (booking("confirmed", &eve()), other),
        (booking("failed", &eve()), other),
        (moved, "datetime is 2026-12-01T21:30:00Z, not"),
    ] {
        let (_server, home) = home(sparse.clone(), later.clone());
        let booked = home.run(words(format!("{BOOK} --wait"))).exits(16);
        booked.says(says);
        let (_server, home) = self::home(sparse.clone(), later);
        batch_ends_with(&home, &row(), &["--wait"], &["\"exit_code\":16", says]);
    }
    let (_server, home) = home(sparse, booking("confirmed", &ada()));
    home.ok(words(format!("{BOOK} --wait")));
}

#[test]
fn change_answered_with_another_guests_booking_is_no_success() {
    for (command, status) in [
        ("cancel bk_1 --yes", "cancelled"),
        ("modify bk_1 --party 2", "confirmed"),
        ("continue bk_1 --otp 774411", "confirmed"),
    ] {
        let (_server, home) = home(booking("confirmed", &ada()), booking(status, &eve()));
        home.ok(words(BOOK));
        let changed = home.run(words(command)).exits(16);
        changed
            .prints("bk_1")
            .says("is not the one that was asked for: customer.name is Eve Other");
        home.run(words(format!("{command} --json"))).refused(16, "outcome_unknown");
        home.ok(["show", "bk_1"]).prints("Eve Other").says("not the one that was asked for");
        home.ok(["bookings", "ada lovelace"]).prints("Ada Lovelace");
    }
}

/// Some services write the id of a booking otherwise once it is read.
#[test]
fn booking_whose_id_is_written_otherwise_is_compared_all_the_same() {
    for form in ["BK_1", "urn:booking:bk_1", "https://x.example/v1/bookings/bk_1"] {
        let (mut other, mut same) = (booking("confirmed", &eve()), booking("confirmed", &ada()));
        (other["id"], same["id"]) = (form.into(), form.into());
        let (_server, home) = home(booking("confirmed", &ada()), other);
        home.ok(words(BOOK));
        for command in ["cancel bk_1 --yes", "modify bk_1 --party 2", "attempts resume k"] {
            home.run(words(command)).exits(16).says("customer.name is Eve Other, not Ada Lovelace");
        }
        home.ok(["show", "bk_1"]).says("customer.name is Eve Other");
        let (_server, home) = self::home(same.clone(), same);
        home.ok(words(BOOK));
        home.ok(words(BOOK));
        home.ok(["show", "bk_1"]);
        assert_eq!(home.json("bookings")["bookings"].as_array().unwrap().len(), 1, "{form}");
    }
}

/// A script books elsewhere after an 11, and the first booking stands.
#[test]
fn key_that_brings_another_booking_than_before_ends_with_16() {
    let (_server, home) = Scripted::with_home(move |request| {
        let mut other = booking("failed", &ada());
        other["id"] = json!("bk_2");
        let first = booking("confirmed", &ada());
        Reply::json(201, if request.number == 0 { &first } else { &other })
    });
    home.ok(words(BOOK));
    home.run(words(BOOK)).exits(16).says("both may exist");
}

#[test]
fn a_guest_whose_name_the_venue_has_corrected_is_the_same_guest() {
    let corrected = json!({"name": "Ada King Lovelace", "email": "ada@x.example"});
    let (_server, home) = home(booking("confirmed", &ada()), booking("cancelled", &corrected));
    home.ok(words(BOOK));
    let cancelled = home.ok(["cancel", "bk_1", "--yes"]);
    assert!(!cancelled.stderr.contains("asked for"), "{cancelled}");
    home.ok(["bookings", "ada king"]).prints("bk_1");
    home.ok(["bookings", "ada lovelace"]).prints("bk_1");
    let (_server, home) = self::home(booking("confirmed", &ada()), booking("confirmed", &eve()));
    home.ok(words(BOOK));
    home.ok(["modify", "bk_1", "-F", "customer[name]=Eve Other"]);
    home.ok(["continue", "bk_1", "--otp", "774411"]);
}

/// "Nothing is booked twice": the failed booking is somebody else's, and the row's own may stand.
#[test]
fn row_is_not_rebooked_after_another_guests_failure() {
    let (server, home) = home(booking("processing", &ada()), booking("failed", &eve()));
    batch_ends_with(&home, &row(), &[], &["\"exit_code\":8"]);
    for more in [&["--retry-failed"][..], &[]] {
        let parts = ["\"exit_code\":16", "customer.name is Eve Other"];
        batch_ends_with(&home, &row(), more, &parts);
    }
    assert_eq!(server.creates().len(), 1);
    // The key is another row's.
    let mut other = row();
    other["customer"] = eve();
    let none = "no request has been sent for this row";
    batch_ends_with(&home, &other, &["--results"], &[none]);
}

/// Two rows for one guest are usually a mistake of whoever made the list.
#[test]
fn a_guest_who_stands_in_two_rows_for_a_day_is_warned_of() {
    let (server, home) = home(booking("confirmed", &ada()), booking("confirmed", &ada()));
    let rows = "venue_id,datetime,availability_id,party_size,customer.name,customer.email\n\
                ven_1,2026-12-01T19:30:00Z,s,2,Ada Lovelace,ada@x.example\n\
                ven_1,2026-12-01T20:30:00Z,s,2,ADA LOVELACE,\n\
                ven_1,2026-12-02T19:30:00Z,s,2,Ada Lovelace,ada@x.example\n\
                ven_1,2026-12-01T19:30:00Z,s,2,A. Lovelace,Ada@x.example\n";
    let batch =
        |more: &[&str]| home.feed([&["batch", "-", "--name", "b", "--json"], more].concat(), rows);
    let warning =
        "row 2: row 1 books this guest at this venue that day, too; the same holds for row 4";
    batch(&[]).says(warning);
    let meant = batch(&["--equal-rows"]);
    assert!(!meant.stderr.contains("books this guest"), "{meant}");
    assert!(!server.creates().is_empty());
}
