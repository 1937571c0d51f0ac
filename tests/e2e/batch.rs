//! Many bookings at once: each row once, whoever starts the batch again and where.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::docs::has_described_fields;
use crate::harness::{Home, Output, Reply, Running, Scripted, Served, has, holds, text, words};

/// A row that the sandbox confirms: `day` days from 2038-01-10, so that no slot is full.
fn row(day: u32, guest: &str) -> Value {
    json!({
        "venue_id": "ven_confirms",
        "datetime": format!("2038-{:02}-{:02}T19:30:00Z", 1 + day / 28, 1 + day % 28),
        "party_size": 2,
        "customer": {"name": guest},
    })
}

fn rows(count: u32) -> String {
    let rows = (0..count).map(|day| format!("{}\n", row(day, "Ada Lovelace")));
    rows.collect()
}

fn file(home: &Home, name: &str, text: &str) -> String {
    let path = home.folder().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The result lines of a batch.
fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// "A result line is `{"row", "idempotency_key", "exit_code", "booking"?|"error"?}`" (command line,
/// Forms)
#[test]
fn restarted_batch_prints_each_row_and_books_nothing_twice() {
    let served = Served::start();
    let home = served.home();
    let file = file(&home, "friday.jsonl", &rows(3));
    let requests = lines(&home.ok(["batch", &file, "--dry-run", "--json"]));
    assert!(served.bookings().is_empty());
    let first = lines(&home.ok(["batch", &file, "--json"]));
    assert_eq!(first.len(), 3);
    for ((line, number), request) in first.iter().zip(1..).zip(&requests) {
        assert_eq!(request["headers"]["Idempotency-Key"], line["idempotency_key"]);
        assert_eq!(request["body"]["customer"], line["booking"]["customer"]);
        assert!(request["body"]["availability_id"].is_string(), "{request}");
        holds!(line, {"row": number, "exit_code": 0});
        assert_eq!(line["booking"]["status"], "confirmed", "{line}");
        has_described_fields(&home, "batch", line);
    }
    let again = lines(&home.ok(["batch", &file, "--json"]));
    assert_eq!(again, first);
    // On another machine, too, where nothing is known of the first run.
    let elsewhere = served.home();
    let there = lines(&elsewhere.ok(["batch", &file, "--json"]));
    assert_eq!(there, first);
    assert_eq!(served.bookings().len(), 3);
    let other = home.with("BOOKCTL_BASE_URL", "http://127.0.0.1:1");
    let there = other.run(["batch", &file, "--results", "--json"]).exits(18);
    assert_eq!(lines(&there)[0]["error"]["code"], "unsent", "{there}");
}

/// "the same rows in another file, order or notation are the same bookings" (command line, Forms)
#[test]
fn rows_in_other_files_and_notations_are_the_same_bookings() {
    let served = Served::start();
    let home = served.home();
    let csv = "venue_id,datetime,party_size,customer.name\n\
               ven_confirms,2038-01-01T19:30:00Z,2,Ada Lovelace\n\
               ven_confirms,2038-01-02T19:30:00Z,2,Ada Lovelace\n";
    let quoted = csv.replace("Ada Lovelace", "\"Ada Lovelace\"");
    let turned: Vec<&str> = csv.lines().collect();
    let turned = [turned[0], turned[2], turned[1], ""].join("\n");
    let columns = csv.lines().map(|line| line.rsplit(',').collect::<Vec<_>>().join(","));
    let columns = columns.collect::<Vec<_>>().join("\n");
    for (number, again) in [
        csv.to_owned(),
        format!("\u{feff}{}", csv.replace('\n', "\r\n")),
        csv.replace(',', ";"),
        quoted.trim_end().to_owned(),
        turned,
        columns,
        csv.replace("Ada Lovelace", "LOVELACE  ada"),
        csv.replace("19:30:00Z", "20:30:00+01:00"),
        rows(2),
    ]
    .iter()
    .enumerate()
    {
        let file = file(&home, &format!("friday-{number}"), again);
        home.ok(["batch", &file]);
        home.feed(["batch", "-"], again).exits(0);
        assert_eq!(served.bookings().len(), 2, "{again}");
    }
    let contact = csv.replace(".name\n", ".name,customer.email\n");
    let contact = contact.replace("Lovelace\n", "Lovelace,ada@example.com\n");
    let piped = home.feed(["batch", "-"], &contact).exits(0);
    piped.says("row 1 was sent with another email or phone");
    home.feed(["batch", "-", "--name", "friday"], csv).exits(0).says("already has a booking");
    assert_eq!(served.bookings().len(), 4, "on purpose, under a name");
    let row = |provider: &str| {
        csv.replace("_id,", "_id,provider,")
            .replace("confirms,", &format!("multi_provider,{provider},"))
    };
    home.feed(["batch", "-"], &row("provider_c")).exits(0);
    let other = home.feed(["batch", "-"], &row("provider_a")).exits(0);
    other.says("row 1 was sent with another provider");
    home.feed(["batch", "-", "--json", "--name", " "], csv).refused(2, "usage");
}

/// "`datetime` may be what `book --at` takes with a date" (command line, Forms)
#[test]
fn row_has_the_time_and_the_columns_that_people_write() {
    let served = Served::start();
    let home = served.home();
    let csv = "venue_id,datetime,party_size,customer.name,notes\n\
               ven_confirms,2038-01-01 19:30,2,Ada Lovelace,window\n";
    let unknown = file(&home, "unknown.csv", csv);
    let error = home.refuses(&format!("batch '{unknown}'"), 2, "usage");
    has(&error, "message", "unknown column `notes`; the columns are venue_id, provider");
    for (time, zone) in [
        ("2038-01-01 19:30", &[][..]),
        ("2038-01-01T19:30:00Z", &[]),
        ("2038-01-02 04:30", &["--tz", "Asia/Tokyo"]),
        ("Fri 1 Jan 2038; 19:30", &["--tz", "UTC"]),
    ] {
        let csv = csv.replace("2038-01-01 19:30", time).replace(',', "\t").replace(';', ",");
        let file = file(&home, "friday.csv", &csv);
        let batch = ["batch", &file, "--ignore-columns", "notes"];
        home.ok(batch.iter().chain(zone));
        assert_eq!(served.bookings().len(), 1, "{time}");
    }
}

/// A venue that shows no clock is the matter of its own row, and a day that is over hides no booking.
#[test]
fn rows_at_venue_times_are_booked_beside_others_and_known_later() {
    let mut served = Served::start();
    let home = served.home();
    let now_is = |time: &str| home.ok(["sandbox", "clock", "--to", time]);
    let csv = "venue_id,datetime,party_size,customer.name\n\
               ven_nope,2038-01-01 19:30,2,Ada Lovelace\n\
               ven_no_slots,2038-01-01 19:30,2,Ada Lovelace\n\
               ven_confirms,2038-01-01 19:30,2,Ada Lovelace\n";
    now_is("2037-12-31T12:00:00Z");
    let file = file(&home, "friday.csv", csv);
    let run = |more: &[&str]| {
        let ended = home.run(["batch", &file, "--json"].iter().chain(more)).exits(18);
        lines(&ended)
    };
    let first = run(&[]);
    let codes: Vec<_> = first.iter().map(|line| line["exit_code"].as_u64().unwrap()).collect();
    assert_eq!(codes, [6, 7, 0], "{first:?}");
    now_is("2038-01-03T12:00:00Z");
    assert_eq!(run(&[])[2], first[2]);
    let results = run(&["--results"]);
    served.terminate();
    assert_eq!(run(&["--results"]), results);
}

/// "if its booking has ended, it is sent; if that booking is by now as the row asks, it is done;
/// else it is not sent" (command line, Forms)
#[test]
fn corrected_row_is_not_booked_beside_what_it_was() {
    let served = Served::start();
    let home = served.home();
    let run = |text: &str, more: &[&str], exit| {
        let file = file(&home, "friday.jsonl", text);
        let book = ["batch", &file, "--json"];
        home.run(book.iter().chain(more)).exits(exit)
    };
    let at = |time: &str| rows(1).replace("19:30", time);
    let other = row(5, "Grace Hopper").to_string();
    run(&format!("{}{other}", at("19:30")), &[], 0);
    let id = text(&served.bookings()[0], "id");
    let corrected = at("20:00").replace("\"party_size\":2", "\"party_size\":3");
    let moved = format!("{corrected}{other}\n{}", row(6, "Eve Other"));
    let stopped = run(&moved, &[], 18);
    let results = lines(&stopped);
    let codes = results.iter().map(|line| line["exit_code"].as_u64().unwrap());
    assert_eq!(codes.collect::<Vec<_>>(), [7, 0, 0], "{stopped}");
    holds!(&results[0]["error"], {"code": "already_booked", "exit_code": 7});
    assert_eq!(results[0]["booking"]["id"], id.as_str());
    assert_eq!(lines(&run(&moved, &["--results"], 18)), results);
    let hint = text(&results[0]["error"], "hint");
    let (_, modify) = hint.split_once("change it: bookctl ").unwrap();
    home.ok(words(modify));
    run(&moved, &[], 0);
    assert_eq!(served.bookings().len(), 3);
    home.ok(["modify", &text(&results[2]["booking"], "id"), "--at", "21:00"]);
    // It is moved once more, and cancelled: the row is a booking of its own then.
    let moved = format!("{}{other}", at("21:00"));
    let stderr = run(&moved, &["-q"], 18).stderr;
    assert!(stderr.contains("no row is left for booking bk_"), "{stderr}");
    assert!(!stderr.contains("Eve") && stderr.contains(", 21:00 (+00:00)), which"), "{stderr}");
    home.ok(["cancel", &id, "--yes"]);
    run(&moved, &[], 0);
    assert_eq!(served.bookings().len(), 4);
    // Another phone and another email are another guest, and a row's own key books it all the same.
    let guest = |contact: &str, time: &str| {
        let guest =
            json!({"name": "Ada Byron", "email": format!("{contact}@b.example"), "phone": contact});
        let mut row = row(8, "");
        row["customer"] = guest;
        row.to_string().replace("19:30", time)
    };
    run(&guest("1", "19:30"), &[], 0);
    run(&guest("2", "20:00"), &[], 0);
    let own = guest("2", "20:30").replacen('{', "{\"idempotency_key\":\"k\",", 1);
    run(&own, &[], 0);
    assert_eq!(served.bookings().len(), 7);
    home.fault("POST /v1/bookings", "drop_before", 3);
    run(&row(9, "Ada Byron").to_string(), &[], 18);
    let again = run(&row(9, "Ada Byron").to_string().replace("19:30", "20:00"), &[], 18);
    assert_eq!(lines(&again)[0]["exit_code"], 16, "{again}");
    has(&lines(&again)[0]["error"], "hint", "attempts resume");
    // Nor beside what standard input had before.
    let piped = row(20, "Pi Pe").to_string();
    home.feed(words("batch - --json"), &piped).exits(0);
    let corrected = piped.replace("19:30", "20:00");
    let again = home.feed(words("batch - --json"), &corrected).exits(18);
    holds!(&lines(&again)[0]["error"], {"code": "already_booked", "exit_code": 7});
}

/// "A row that somebody abandoned is not sent (7, `abandoned`)" (command line, Forms)
#[test]
fn row_that_was_abandoned_is_sent_by_its_person_alone() {
    for (own, more) in
        [(false, &[][..]), (false, &["--name", "n"]), (true, &[]), (false, &["--retry-failed"])]
    {
        let served = Served::start();
        let home = served.home();
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

/// A row that stands in the file twice is more often a slip than a guest with two tables.
#[test]
fn equal_rows_are_refused_with_their_numbers() {
    let served = Served::start();
    let home = served.home();
    let four = format!("{}{}", rows(2), rows(2));
    let twice = file(&home, "twice.jsonl", &four);
    for more in [&[][..], &["--dry-run"]] {
        let book = ["batch", &twice, "--name", "a", "--json"];
        let error = home.run(book.iter().chain(more)).refused(2, "usage");
        let message = text(&error, "message");
        assert!(message.contains("rows 1, 3 are equal; rows 2, 4 are equal"), "{message}");
        has(&error, "hint", "--equal-rows");
    }
    assert!(served.bookings().is_empty());
    let keys = four.lines().zip(["k1", "k2", "k3", "k4"]).map(|(row, key)| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        row["idempotency_key"] = key.into();
        format!("{row}\n")
    });
    let keys = file(&home, "keys.jsonl", &keys.collect::<String>());
    home.ok(["batch", &keys]);
    assert_eq!(served.bookings().len(), 4);
}

/// "its occurrence among equal rows" (command line, Forms)
#[test]
fn equal_rows_meant_are_as_many_bookings() {
    let served = Served::start();
    let home = served.home();
    let twice = file(&home, "twice.jsonl", &rows(1).repeat(2));
    let book = |name| home.ok(["batch", &twice, "--equal-rows", "--name", name]);
    book("a");
    // What the batch itself has booked is no second booking of these guests.
    assert!(!book("a").stderr.contains("warning"));
    assert_eq!(served.bookings().len(), 2);
    let other = book("b");
    assert_eq!(served.bookings().len(), 4);
    other
        .says("row 1: this guest already has a booking at this venue that day: bk_")
        .says("the same holds for row 2");
}

/// "exit 18 when some failed, and which"
#[test]
fn a_row_that_fails_does_not_keep_the_others_and_is_named() {
    let served = Served::start();
    let home = served.home();
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
    let served = Served::start();
    let home = served.home();
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

#[test]
fn a_row_whose_card_the_venue_may_hold_is_not_tried_anew() {
    let (server, home) = Scripted::with_home(|_| {
        let code = "payment_outcome_unknown";
        let failed = json!({"id": "bk_1", "status": "failed", "party_size": 2, "error_code": code});
        Reply::json(201, &failed)
    });
    let mut row = row(0, "Ada Lovelace");
    row["availability_id"] = json!("slot_1");
    let file = file(&home, "card.jsonl", &row.to_string());
    for more in [None, Some("--retry-failed")] {
        let batch = ["batch", &file, "--json"];
        let ended = home.run(batch.into_iter().chain(more)).exits(18);
        assert_eq!(lines(&ended)[0]["exit_code"], 16, "{ended}");
    }
    assert_eq!(server.creates().len(), 1);
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

/// The next version must know the rows again, or it books them twice.
#[test]
fn key_of_a_row_stays_the_same_from_version_to_version() {
    let home = Home::new();
    let csv = "venue_id,datetime,party_size,customer.name\n\
               ven_confirms,2031-01-08T19:30:00Z,2,Ada Lovelace\n";
    for csv in [csv.to_owned(), format!("\u{feff}{csv}")] {
        let batch = file(&home, "batch.csv", &csv);
        home.ok(["batch", &batch, "--dry-run", "--json"])
            .prints("batch-ed0b1ad872028936c9f4fb17a34a2494");
    }
}

/// What is wrong with the rows of a file, and where, is a table in `booking/batch/rows`.
#[test]
fn a_file_that_cannot_be_meant_is_refused_as_a_whole() {
    let served = Served::start();
    let home = served.home();
    let wrong = file(&home, "wrong.jsonl", &format!("{}\n{{}}\n", row(0, "Ada Lovelace")));
    let error = home.refuses(&format!("batch '{wrong}'"), 2, "usage");
    assert_eq!(error["problems"].as_array().unwrap().len(), 4, "{error}");
    let mut own = row(1, "Ada Lovelace");
    own["idempotency_key"] = json!("own");
    let twins = file(&home, "twins.jsonl", &format!("{own}\n{own}\n"));
    home.run(["batch", &twins, "--equal-rows"])
        .exits(2)
        .says("rows 1-2 use the same idempotency_key");
    let array = file(&home, "array.json", "[{}]");
    home.refuses(&format!("batch '{array}'"), 2, "usage");
    assert!(served.bookings().is_empty());
}

/// "`availability_id`: the slot; the default is the one at that time" (batches)
#[test]
fn row_is_booked_at_slot_that_venue_offers_or_not_at_all() {
    let served = Served::start();
    let home = served.home();
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
    let served = Served::start();
    let home = served.home();
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
        let served = Served::start();
        let home = served.home();
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

/// Trying a file in the sandbox first is what it is there for.
#[test]
fn batch_that_was_tried_in_a_sandbox_can_then_be_meant() {
    let (staging, served) = (Served::start(), Served::start());
    let home = Home::new();
    let file = file(&home, "friday.jsonl", &rows(2));
    home.ok(["batch", &file]);
    let mut home = home.with("BOOKCTL_API_KEY", "sk_live_sandbox");
    for service in [staging, served] {
        home = home.with("BOOKCTL_BASE_URL", service.base_url());
        home.ok(["batch", &file]);
        assert_eq!(service.bookings().len(), 2);
    }
}

/// A sandbox may have had limits before, and a journal knows them.
#[test]
fn a_batch_does_not_wait_for_limits_that_a_sandbox_has_no_more() {
    let home = Home::new();
    let first = file(&home, "first.jsonl", &rows(10));
    home.ok(["batch", &first]);
    let known = |home: &Home| home.json("limits")["limits"].clone();
    assert!(known(&home).to_string().contains("POST /v1/bookings"));
    let second = file(&home, "second.jsonl", &row(11, "Grace Hopper").to_string());
    home.ok(["batch", &second, "--no-limits"]);
    assert!(!known(&home).to_string().contains("\"POST /v1/bookings\""));
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
