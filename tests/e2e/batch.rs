//! Many bookings at once: each row once, whoever starts the batch again and where.

use std::fs;

use serde_json::{Value, json};

use crate::docs::has_described_fields;
use crate::harness::{Home, Output, Served, has, holds, text, words};

/// A row that the sandbox confirms: `day` days from 2038-01-10, so that no slot is full.
pub(crate) fn row(day: u32, guest: &str) -> Value {
    json!({
        "venue_id": "ven_confirms",
        "datetime": format!("2038-{:02}-{:02}T19:30:00Z", 1 + day / 28, 1 + day % 28),
        "party_size": 2,
        "customer": {"name": guest},
    })
}

pub(crate) fn rows(count: u32) -> String {
    let rows = (0..count).map(|day| format!("{}\n", row(day, "Ada Lovelace")));
    rows.collect()
}

pub(crate) fn file(home: &Home, name: &str, text: &str) -> String {
    let path = home.folder().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The result lines of a batch.
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// "A result line is `{"row", "idempotency_key", "exit_code", "booking"?|"error"?}`" (command line,
/// Forms)
#[test]
fn restarted_batch_prints_each_row_and_books_nothing_twice() {
    let (served, home) = Served::with_home();
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
    let (served, home) = Served::with_home();
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
    let (served, home) = Served::with_home();
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
    let (served, home) = Served::with_home();
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
    let warned = run(&own, &["-q"], 0).says("row 1: this guest already has a booking");
    warned.says("Sat 9 Jan 2038, 20:00 (+00:00)), which stands");
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

/// Each of a guest's corrected rows has a booking of its own, whatever the order of the file.
#[test]
fn rows_of_one_guest_are_corrected_one_for_one() {
    let served = Served::start();
    let home = served.home();
    let run = |times: [&str; 2], exit| {
        let rows = times.map(|time| row(1, "Ada Lovelace").to_string().replace("19:30", time));
        let file = file(&home, "friday.jsonl", &rows.join("\n"));
        home.run(["batch", &file, "--json"]).exits(exit)
    };
    run(["19:30", "20:30"], 0);
    let ids: Vec<String> = served.bookings().iter().map(|it| text(it, "id")).collect();
    let corrected = lines(&run(["18:30", "21:30"], 18));
    let named: Vec<String> = corrected.iter().map(|it| text(&it["booking"], "id")).collect();
    assert_eq!(named, ids, "{corrected:?}");
    for line in &corrected {
        let hint = text(&line["error"], "hint");
        home.ok(words(hint.split_once("change it: bookctl ").unwrap().1));
    }
    run(["18:30", "21:30"], 0);
    run(["21:30", "18:30"], 0);
    // One is cancelled: the other is one of the two rows, and one row is booked.
    home.ok(["cancel", &ids[0], "--yes"]);
    let moved = run(["17:30", "22:00"], 18).says("row 2: an earlier row books this guest");
    let codes: Vec<_> = lines(&moved).iter().map(|line| line["exit_code"].clone()).collect();
    assert_eq!((codes, served.bookings().len()), (vec![json!(7), json!(0)], 3), "{moved}");
    assert_eq!(run(["17:30", "22:00"], 18).stdout, moved.stdout);
    // Also where its guest was deleted: the booking tells whose it is.
    for (guest, party, exit) in
        [("Ida Rhodes", 2, 0), ("Mary Keller", 2, 0), ("KELLER Mary", 3, 18)]
    {
        let row = row(9, guest).to_string().replace(":2,", &format!(":{party},"));
        let file = file(&home, "deleted.jsonl", &row);
        let ended = home.run(["batch", &file, "--json", "--retention", "0"]).exits(exit);
        assert_eq!(lines(&ended)[0]["error"]["code"] == "already_booked", exit != 0, "{ended}");
        assert_eq!(ended.stderr.contains("no row is left for booking"), guest != "Ida Rhodes");
    }
}

/// A row that stands in the file twice is more often a slip than a guest with two tables.
#[test]
fn equal_rows_are_refused_with_their_numbers_or_booked_where_meant() {
    let (served, home) = Served::with_home();
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
    let own = |key| rows(1).replacen('{', &format!("{{\"idempotency_key\":\"{key}\","), 1);
    home.ok(["batch", &file(&home, "keys.jsonl", &[own("k1"), own("k2")].concat())]);
    assert_eq!(served.bookings().len(), 2);
    let meant = file(&home, "meant.jsonl", &rows(4)[rows(3).len()..].repeat(2));
    let book = |name| home.ok(["batch", &meant, "--equal-rows", "--name", name]);
    book("a");
    // What the batch itself has booked is no second booking of these guests.
    assert!(!book("a").stderr.contains("warning"));
    assert_eq!(served.bookings().len(), 4);
    let other = book("b");
    assert_eq!(served.bookings().len(), 6);
    other
        .says("row 1: this guest already has a booking at this venue that day: bk_")
        .says("the same holds for row 2");
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
    let (served, home) = Served::with_home();
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
