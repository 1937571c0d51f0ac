//! What becomes of each row of a batch: its slot, its failure, and who tries it again.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use serde_json::json;

use super::batch::{file, lines, row, rows};
use crate::harness::{Home, Output, Reply, Running, Scripted, Served, holds, text, words};

/// "A row that somebody abandoned is not sent (7, `abandoned`)" (command line, Forms)
#[test]
fn row_that_was_abandoned_is_sent_by_its_person_alone() {
    for (own, more) in
        [(false, &[][..]), (false, &["--name", "n"]), (true, &[]), (false, &["--retry-failed"])]
    {
        let (served, home) = Served::with_home();
        home.fault("POST /v1/bookings", "drop_before", 3);
        let mut row = row(0, "Ada Lovelace");
        if own {
            row["idempotency_key"] = json!("own");
        }
        let file = file(&home, "friday.jsonl", &row.to_string());
        let batch = [&["batch", &file, "--json"], more].concat();
        let lost = home.run(&batch).exits(18);
        let key = text(&lines(&lost)[0], "idempotency_key");
        home.ok(["attempts", "abandon", &key]);
        let left = lines(&home.run(&batch).exits(18)).remove(0);
        assert_eq!(left["exit_code"], 7, "{left}");
        holds!(&left["error"], {"code": "abandoned", "idempotency_key": key.as_str()});
        home.refuses(&format!("attempts resume {key}"), 7, "abandoned");
        assert!(served.bookings().is_empty());
        let hint = text(&left["error"], "hint");
        let (_, book) = hint.split_once("all the same: bookctl ").unwrap();
        home.ok(words(book));
        home.ok(&batch);
        assert_eq!(served.bookings().len(), 1);
    }
}

/// "exit 18 when some failed, and which"
#[test]
fn a_row_that_fails_does_not_keep_the_others_and_is_named() {
    let (served, home) = Served::with_home();
    let mut fails = row(1, "Ada Lovelace");
    fails["venue_id"] = json!("ven_provider_fails");
    let all = [row(0, "Ada Lovelace"), fails, row(2, "Test User"), row(3, "Grace Hopper")];
    let all: String = all.iter().map(|row| format!("{row}\n")).collect();
    let file = file(&home, "mixed.jsonl", &all);
    let output = home.run(["batch", &file, "--json"]).exits(18);
    let codes: Vec<_> = lines(&output).iter().map(|line| line["exit_code"].clone()).collect();
    assert_eq!(codes, [0, 11, 12, 0]);
    assert_eq!(lines(&output)[2]["error"]["code"], "placeholder_customer");
    let hint = text(&lines(&output)[2]["error"], "hint");
    assert_eq!(hint, "check the value of customer.name");
    let output = output.says("2 of 4 rows not confirmed (rows 2-3)");
    let known = home.run(["batch", &file, "--results", "--json"]).exits(18);
    assert_eq!(known.stdout, output.stdout, "as it was printed");
    assert_eq!(known.stderr.lines().last(), output.stderr.lines().last(), "{known}");
    let last = known.stderr.lines().last().unwrap();
    assert!(last.starts_with(r#"{"error":{"code":"partly_failed""#), "{known}");
    let fixed = fs::read_to_string(&file).unwrap().replace("Test User", "Hedy Lamarr");
    fs::write(&file, fixed.replace("ven_provider_fails", "ven_confirms")).unwrap();
    home.ok(["batch", &file]);
    assert_eq!(served.bookings().len(), 5);
}

/// "`--retry-failed` gives rows that ended failed a new one" (command line, Forms)
#[test]
fn a_failed_row_is_tried_anew_only_where_that_is_asked_for() {
    let (served, home) = Served::with_home();
    let mut fails = row(1, "Ada Lovelace");
    fails["venue_id"] = json!("ven_provider_fails");
    let file = file(&home, "fails.jsonl", &format!("{}\n{fails}\n", row(0, "Ada Lovelace")));
    let key = |output: &Output| text(&lines(output)[1], "idempotency_key");
    let run = |more: &[&str]| {
        let arguments = ["batch", &file, "--json"];
        home.run(arguments.iter().chain(more)).exits(18)
    };
    let first = key(&run(&[]));
    assert_eq!(key(&run(&[])), first, "as it ended");
    let retried = key(&run(&["--retry-failed"]));
    assert_ne!(retried, first);
    assert_eq!(key(&run(&[])), retried, "the new try is the row's now");
    assert_eq!(served.bookings().len(), 3);
    // Another machine finds the same tries, one after the other.
    let elsewhere = served.home();
    let there = elsewhere.run(["batch", &file, "--json", "--retry-failed"]).exits(18);
    let keys = HashSet::from([first, retried]);
    assert!(!keys.contains(&key(&there)));
    assert_eq!(served.bookings().len(), 4);
}

/// Its booking is read again before another is made beside it, and so is that of a corrected row.
#[test]
fn failed_row_is_read_before_it_is_tried_anew() {
    let booking = |id: String, status: &str, code: &str| json!({"id": id, "object": "booking", "status": status, "error_code": code, "party_size": 2});
    let shown = |id: &str, status, code| Reply::json(200, &booking(id.to_owned(), status, code));
    let doubt = "payment_outcome_unknown";
    for (made, now, retried, corrected) in [
        ("x", shown("bk_1", "failed", "x"), 11, 11),
        (doubt, shown("bk_1", "failed", doubt), 16, 16),
        ("x", shown("bk_1", "failed", doubt), 16, 16),
        ("x", shown("bk_1", "confirmed", ""), 0, 7),
        ("x", shown("bk_9", "failed", "x"), 15, 15),
        ("x", Reply::json(404, &json!({"error": "booking not found"})), 6, 6),
    ] {
        for (more, party, exit) in [(&["--retry-failed"][..], 2, retried), (&[], 3, corrected)] {
            let now = now.clone();
            let (server, home) = Scripted::with_home(move |request| {
                if request.method == "GET" {
                    return now.clone();
                }
                let is_grace = request.body.contains("Grace");
                let (status, code) = if is_grace { ("confirmed", "") } else { ("failed", made) };
                let mut booking = booking(format!("bk_{}", request.posted + 1), status, code);
                booking["party_size"] = request.json()["party_size"].clone();
                Reply::json(201, &booking)
            });
            let run = |party: u32, more: &[&str]| {
                let mut rows = [row(0, "Ada Lovelace"), row(1, "Grace Hopper")];
                rows.iter_mut().for_each(|row| row["availability_id"] = json!("slot_1"));
                rows[0]["party_size"] = json!(party);
                let file = file(&home, "rows.jsonl", &rows.map(|it| it.to_string()).join("\n"));
                home.run([&["batch", &file, "--json"], more].concat())
            };
            run(2, &[]).exits(18);
            let output = run(party, more);
            let codes: Vec<_> = lines(&output).iter().map(|it| it["exit_code"].clone()).collect();
            assert_eq!(codes, [exit, 0], "{more:?} {output}");
            assert_eq!(output.stdout.contains("bk_1 stands"), exit == 7, "{output}");
            assert_eq!(server.creates().len(), if exit == 11 { 3 } else { 2 }, "{output}");
        }
    }
}

/// A change whose outcome is unknown may have been made.
#[test]
fn booking_that_a_change_left_in_doubt_is_read() {
    let booking = |status: &str| {
        Reply::json(
            201,
            &json!({"id": "bk_1", "object": "booking", "status": status, "party_size": 2}),
        )
    };
    let (_server, home) = Scripted::with_home(move |request| match request.earlier {
        _ if request.path.ends_with("cancel") => Reply::Close,
        1 if request.method == "GET" => booking("cancelled"),
        _ => booking("confirmed"),
    });
    let mut row = row(0, "Ada Lovelace");
    row["availability_id"] = json!("slot_1");
    let file = file(&home, "rows.jsonl", &row.to_string());
    home.ok(["batch", &file]);
    home.run(["cancel", "bk_1", "--yes"]).exits(16);
    let line = &lines(&home.run(["batch", &file, "--json"]).exits(18))[0];
    assert_eq!(line["booking"]["status"], "cancelled", "{line}");
}

/// What would refuse every row ends the batch: a key that is gone is told once, not a thousand
/// times.
#[test]
fn what_refuses_every_row_stops_the_batch_at_the_first() {
    let served = Served::start();
    let file_home = served.home();
    let file = file(&file_home, "friday.jsonl", &rows(3));
    for (key, exit, code) in [
        ("sk_live_nobody", 4, "unauthorized"),
        ("sk_live_readonly", 5, "insufficient_scope"),
        ("sk_live_nobilling", 5, "billing_required"),
    ] {
        let output = served.home_with(key).run(["batch", &file, "--json"]);
        assert_eq!(output.code, Some(exit), "{output}");
        assert_eq!(output.error()["code"], code);
    }
    let gone = Home::pointing_to("http://127.0.0.1:9", "sk_live_sandbox");
    let output = gone.run(["batch", &file, "--json"]);
    assert_eq!(output.code, Some(15));
    assert_eq!(output.error()["code"], "network");
    output.says(format!("bookctl batch {file}"));
}

/// Whoever has seen enough (`| head -1`) ends the batch: it does not go on behind their back.
#[test]
fn batch_whose_results_nobody_takes_stops_and_says_how_to_go_on() {
    let served = Served::start();
    for to in ["| head -1 >/dev/null", ">/dev/full"] {
        let home = served.home();
        let file = file(&home, "friday.jsonl", &rows(6));
        let before = served.bookings().len();
        let mut shell = Command::new("bash");
        home.enter(&mut shell);
        let script = format!("set -o pipefail; \"$0\" batch \"$1\" --name '{to}' {to}");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_bookctl"), &file]);
        let output = Running::start(shell).ends(18);
        assert!(served.bookings().len() < before + 6, "{output}");
        let name = if to.contains('|') { "'| head -1 >/dev/null'" } else { "'>/dev/full'" };
        let output = output.says(format!("bookctl batch {file} --name {name}"));
        // Each row up to that one is done.
        let done = served.bookings().len() - before;
        output.says(format!("batch stopped after row {done} of 6"));
    }
}

/// "`availability_id`: the slot; the default is the one at that time" (batches)
#[test]
fn row_is_booked_at_slot_that_venue_offers_or_not_at_all() {
    let (served, home) = Served::with_home();
    let mut odd = row(1, "Grace Hopper");
    odd["datetime"] = json!("2038-02-01T19:40:00Z");
    let both = format!("{}\n{odd}\n", row(0, "Ada Lovelace"));
    let both = file(&home, "both.jsonl", &both);
    home.run(["batch", &both, "--dry-run"]).exits(7).says("row 2: ven_confirms has no slot at");
    for _ in 0..2 {
        let output = home.run(["batch", &both, "--json"]).exits(18);
        let results = lines(&output);
        assert_eq!(results[0]["exit_code"], 0, "{output}");
        assert_eq!(results[1]["error"]["code"], "no_slot", "{output}");
        assert!(text(&results[1]["error"], "hint").contains("availability_id"));
    }
    assert_eq!(served.bookings().len(), 1);
    let attempt = &home.json("attempts list --all")["attempts"][0];
    let sent = &attempt["request"];
    assert!(sent["availability_id"].is_string() && sent["provider"].is_string());
}

#[test]
fn row_with_slot_has_time_at_which_it_was_offered_or_is_refused() {
    let (served, home) = Served::with_home();
    let slots = ["slots", "ven_confirms", "--at", "2038-02-01 19:30", "--json"];
    let slot = home.ok(slots).json()["slots"][0].clone();
    let offered = text(&slot, "datetime");
    let mut own = row(0, "Ada Lovelace");
    own["availability_id"] = slot["availability_id"].clone();
    own["datetime"] = json!(format!("{}Z", &offered[..19]));
    let rows = file(&home, "own.jsonl", &own.to_string());
    let shown = lines(&home.ok(["batch", &rows, "--dry-run", "--json"]));
    assert_eq!(shown[0]["body"]["datetime"], offered);
    own["datetime"] = json!("2038-02-01T23:30:00Z");
    let rows = file(&home, "other.jsonl", &own.to_string());
    let ended = home.run(["batch", &rows, "--json"]).exits(18);
    let error = &lines(&ended)[0]["error"];
    assert!(text(error, "message").contains("which is not the time to book"), "{ended}");
    assert!(served.bookings().is_empty());
}

/// A row whose result is not known is sent again as it was, whatever the venue offers by then.
#[test]
fn row_that_may_have_booked_is_sent_again_with_its_slot() {
    for own in [None, Some("own-key")] {
        let (served, home) = Served::with_home();
        home.fault("POST /v1/bookings", "drop_after", 3);
        let mut last = row(0, "Ada Lovelace");
        last["venue_id"] = json!("ven_last_table");
        if let Some(own) = own {
            last["idempotency_key"] = json!(own);
        }
        let rows = file(&home, "rows.jsonl", &last.to_string());
        home.run(["batch", &rows]).exits(18);
        home.ok(["batch", &rows]);
        assert_eq!(served.bookings().len(), 1);
    }
}

#[test]
fn what_row_was_waited_for_is_its_result() {
    let home = Home::new();
    let mut row = row(1, "Ada Lovelace");
    row["venue_id"] = "ven_processing".into();
    let batch = file(&home, "rows.jsonl", &row.to_string());
    home.ok(["batch", &batch, "--wait"]);
    let known = lines(&home.ok(["batch", &batch, "--results", "--json"]));
    assert_eq!(known[0]["booking"]["status"], "confirmed");
    let wrong = file(&home, "wrong.jsonl", &row.to_string().replace("Ada Lovelace", "Test User"));
    for results in [&[][..], &["--results"]] {
        let command = [&["batch", &wrong, "--json"], results].concat();
        let results = lines(&home.run(command).exits(18));
        assert_eq!(results[0]["error"]["code"], "placeholder_customer");
    }
    let again = row["datetime"].as_str().unwrap().replace("T19", "T20");
    let book = format!("book ven_processing --party 2 --name 'Ada Lovelace' --wait --at {again}");
    home.ok(words(book));
    // The row has its booking, so nothing is to be asked.
    let repeated = home.ok(["batch", &batch]);
    assert!(!repeated.stderr.contains("already"), "{}", repeated.stderr);
    home.ok(["sandbox", "reset", "--yes"]);
    home.ok(["batch", &batch, "--wait"]);
    let bookings = home.json("sandbox bookings");
    assert_eq!(bookings["bookings"].as_array().unwrap().len(), 1);
}
