//! Bookings that wait: one-time codes, details, payments, processing, and the time that runs out.

use serde_json::{Value, json};

use crate::harness::{Home, Output, has, holds, text};

fn answer(home: &Home, id: &str, code: &str) -> Output {
    home.feed(["continue", id, "--otp-stdin", "--json"], code)
}

/// "8, 10 and 11 print the booking on stdout as 0 does." (command line, Exit codes)
#[test]
fn booking_that_asks_for_code_exits_10() {
    let home = Home::new();
    let booking = home.book("ven_otp", &["--phone", "+44 20 7946 0018"]).exits(10).json();
    assert_eq!(booking["status"], "requires_action");
    assert_eq!(booking["next_action"]["type"], "otp");
    assert!(booking["next_action"]["expires_at"].is_string(), "{booking}");

    let inbox = home.json("sandbox inbox");
    let message = &inbox["messages"][0];
    holds!(message, {"booking_id": booking["id"], "to": "+44 20 7946 0018"});
    let id = text(&booking, "id");
    let code = text(message, "code");
    let confirmed = answer(&home, &id, &format!("{code}\n")).exits(0).json();
    assert_eq!(confirmed["status"], "confirmed");
    assert_eq!(confirmed.get("next_action"), None, "{confirmed}");
    assert_eq!(home.booking(&id), confirmed);
}

/// Wrong OTP: "the booking stays paused; after the 5th the booking is failed with
/// `otp_attempts_exceeded`" (wire contract, Errors)
#[test]
fn wrong_code_says_tries_left_and_fifth_fails_booking() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    for left in [4, 3, 2, 1] {
        let error = answer(&home, &id, "000000").refused(12, "invalid_otp");
        assert_eq!(error["body"]["attempts_left"], left);
        has(&error, "message", &left.to_string());
        assert_eq!(home.booking(&id)["status"], "requires_action");
    }
    // The fifth answer is refused as well; the booking's state decides.
    let fifth = answer(&home, &id, "000000").exits(11).json();
    holds!(fifth, {"status": "failed", "error_code": "otp_attempts_exceeded"});
    home.run(["show", &id, "--exit-status"]).exits(11);
}

#[test]
fn answer_of_wrong_kind_says_what_booking_waits_for() {
    let home = Home::new();
    let pays = home.booked("ven_payment", &["--payment", "vendor"], 10);
    let otp = home.booked("ven_otp", &[], 10);
    #[rustfmt::skip]
    let cases = [
        (
            &pays,
            &["--otp", "123456"][..],
            "a payment response, not for a one-time code",
            "--psp-response @answer.json",
        ),
        (&otp, &["--psp-response", "{\"a\": 1}"], "a one-time code, not for a payment response", "--otp CODE"),
        (&otp, &["--psp-abort"], "a one-time code, not for a payment response", "--otp CODE"),
    ];
    for (id, wrong, kinds, right) in cases {
        let answer = ["continue", id, "--json"];
        let error = home.run(answer.iter().chain(wrong)).refused(12, "http_400");
        let message = format!("booking {id} is waiting for {kinds}");
        assert_eq!(text(&error, "message"), message);
        let command = format!("bookctl continue {id} {right}");
        has(&error, "hint", &command);
        assert!(error["body"]["error"].is_string(), "{error}");
    }
}

/// "any other action: the client prompts for the listed fields" (wire contract); a script gives
/// them as `-F`.
#[test]
fn asked_details_are_given_as_fields() {
    let home = Home::new();
    let booking = home.book("ven_confirm_details", &[]).exits(10).json();
    assert_eq!(booking["next_action"]["type"], "confirm_details");
    let fields = booking["next_action"]["fields"].as_array().unwrap().clone();
    assert!(!fields.is_empty());
    let id = text(&booking, "id");

    let mut arguments = vec!["continue".to_owned(), id.clone(), "--json".to_owned()];
    for field in &fields {
        arguments.push("-F".to_owned());
        arguments.push(format!("{}=eight o'clock", field.as_str().unwrap()));
    }
    let partly = home.run(&arguments[..5]).exits(12).error();
    assert_eq!(partly["http_status"], 400, "one of them is not enough: {partly}");
    assert_eq!(home.booking(&id)["status"], "requires_action");
    let confirmed = home.ok(&arguments).json();
    assert_eq!(confirmed["status"], "confirmed");
}

/// "`book` returns with the create's answer (`processing`: 8) unless `--wait`" (command line, Exit
/// codes)
#[test]
fn booking_in_processing_exits_8() {
    let (home, id) = Home::with_booking("ven_processing", 8);
    assert_eq!(home.booking(&id)["status"], "processing");
    home.advance("5s");
    assert_eq!(home.booking(&id)["status"], "confirmed");
    home.ok(["show", &id, "--exit-status"]);
}

#[test]
fn a_wait_that_is_over_leaves_the_booking_in_processing() {
    let home = Home::new();
    let booking = home.book("ven_processing", &["--wait=0s"]).exits(8).json();
    assert_eq!(booking["status"], "processing");
}

/// What a payment pause of this venue asks for.
fn paying(home: &Home, venue: &str) -> (String, Value) {
    let booking = home.book(venue, &["--payment", "vendor"]).exits(10).json();
    assert_eq!(booking["payment_collection"], "vendor_external");
    let action = booking["next_action"].clone();
    assert_eq!(action["type"], "payment_approval");
    (text(&booking, "id"), action)
}

fn approval(action: &Value) -> String {
    json!({"approval_id": action["psp_request"]["approval_id"], "status": "approved"}).to_string()
}

fn pay(home: &Home, id: &str, answer: &str) -> Output {
    home.feed(["continue", id, "--psp-response", "-", "--json"], answer)
}

#[test]
fn approved_payment_confirms_from_argument_file() {
    let home = Home::new();
    for way in ["argument", "file", "file of PowerShell", "stdin"] {
        let (id, action) = paying(&home, "ven_payment");
        let answer = approval(&action);
        let output = match way {
            "argument" => home.run(["continue", &id, "--psp-response", &answer, "--json"]),
            "file" => {
                std::fs::write(home.folder().join("answer.json"), &answer).unwrap();
                home.run(["continue", &id, "--psp-response", "@answer.json", "--json"])
            }
            // `>` of Windows PowerShell writes UTF-16.
            "file of PowerShell" => {
                let units = format!("\u{feff}{answer}\r\n");
                let bytes: Vec<u8> = units.encode_utf16().flat_map(u16::to_le_bytes).collect();
                std::fs::write(home.folder().join("answer.json"), bytes).unwrap();
                home.run(["continue", &id, "--psp-response", "@answer.json", "--json"])
            }
            _ => pay(&home, &id, &answer),
        };
        assert_eq!(output.exits(0).json()["status"], "confirmed", "{way}");
    }
}

/// "malformed psp_response; booking stays paused; retry before expires_at" (spec, Vendor payment
/// codes)
#[test]
fn malformed_payment_answer_is_refused_and_booking_still_waits() {
    let home = Home::new();
    let (id, action) = paying(&home, "ven_payment");
    let error = pay(&home, &id, r#"{"approval_id": "another", "status": "approved"}"#)
        .refused(12, "http_400");
    has(&error, "hint", "still waiting");
    assert_eq!(home.booking(&id)["status"], "requires_action");
    // What is no JSON object at all never leaves this machine.
    for answer in ["approved", "[1]", ""] {
        pay(&home, &id, answer).refused(2, "usage");
    }
    pay(&home, &id, &approval(&action)).exits(0);
}

#[test]
fn rebooking_after_a_costly_failure_warns() {
    let home = Home::new();
    let (id, action) = paying(&home, "ven_payment_replay_fails");
    pay(&home, &id, &approval(&action)).exits(16);
    let again = home.book("ven_payment_replay_fails", &["-q", "--payment", "vendor"]);
    again.tells(format!("check with the venue first: {id}"));
}

#[test]
fn without_an_answer_a_script_is_told_which_flags_give_one() {
    let (home, id) = Home::with_booking("ven_otp", 10);
    let error = home.run(["continue", &id, "--json"]).refused(2, "usage");
    has(&error, "hint", "--otp-stdin");
    home.refuses(&format!("continue {id} --otp-stdin"), 2, "usage");
    let both = ["continue", &id, "--otp", "1", "--psp-abort", "--json"];
    home.run(both).refused(2, "usage");
    assert_eq!(home.booking(&id)["status"], "requires_action");
}
