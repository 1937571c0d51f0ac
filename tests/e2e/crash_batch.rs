//! "what is booked is not booked twice" (`bookctl batch`): a batch that is killed and started
//! again, in the home where it began or in another, books each row once.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Home, Output, Served, holds, random, text};
use crate::promise::{all_cases, attempts, tell};

/// Far longer than a batch of this size takes where nothing is metered.
const LONGEST: Duration = Duration::from_secs(180);
/// Far longer than a few rows more take.
const A_ROUND: Duration = Duration::from_secs(120);
/// A slot surely holds so many.
const A_SLOT: usize = 3;
/// Slots of a scenario venue a day: every half hour from 17:00 to 22:00.
const A_DAY: usize = 11;

/// Rows for slots enough, in UTC; every tenth row stands there twice, as a guest who wants two
/// tables.
fn rows(count: usize, served: &Served) -> String {
    let clock = served.home().json("sandbox clock");
    let now: jiff::Timestamp = text(&clock, "now").parse().unwrap();
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut lines = String::new();
    for number in 0..count {
        // The second of two equal rows.
        let number = if number % 10 == 9 { number - 1 } else { number };
        let slot = number / A_SLOT;
        let day = jiff::Span::new().days(1 + (slot / A_DAY) as i64);
        let (half_hours, date) = (slot % A_DAY, today.checked_add(day).unwrap());
        let (hour, minute) = (17 + half_hours / 2, half_hours % 2 * 30);
        let row = json!({
            "venue_id": "ven_confirms",
            "provider": "provider_a",
            "datetime": format!("{date}T{hour}:{minute:02}:00+00:00"),
            "party_size": 2,
            "customer": {"name": format!("Ada Lovelace-{number}")},
        });
        lines.push_str(&format!("{row}\n"));
    }
    lines
}

/// How many of them each guest has.
fn by_guest<'a>(guests: impl Iterator<Item = &'a Value>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for guest in guests {
        *counts.entry(text(&guest["customer"], "name")).or_default() += 1;
    }
    counts
}

fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn killed_batch_restarted_anywhere_books_each_row_once() {
    let (count, kills) = if all_cases() { (1000, 20) } else { (40, 3) };
    let served = Served::unlimited();
    let homes: [Home; 2] = [served.home(), served.home()];
    let rows = rows(count, &served);
    for home in &homes {
        fs::write(home.folder().join("rows.jsonl"), &rows).unwrap();
    }
    let batch = ["batch", "rows.jsonl", "--equal-rows", "--json"];
    for kill in 0..kills {
        let home = &homes[kill % 2];
        let before = served.bookings().len();
        // Nobody reads what it says: a pipe would fill up, and hold it.
        let mut running = home.command(batch);
        running.stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = running.spawn().unwrap();
        // Some rows further than the one before, and then at any moment.
        // A fast one may have come to its end by then.
        let enough = (before + count / (kills + 2)).min(count);
        let deadline = Instant::now() + A_ROUND;
        while served.bookings().len() < enough && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(20).mul_f64(random(kill as u64)));
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(served.bookings().len() >= enough, "the batch does not get on");
    }
    let killed = served.bookings().len();
    let ended = homes.each_ref().map(|home| home.start(batch).end_within(LONGEST).exits(0));
    let made = served.bookings();
    let wanted: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(by_guest(made.iter()), by_guest(wanted.iter()));
    for (home, output) in homes.iter().zip(&ended) {
        let told = lines(output);
        assert_eq!(told.len(), count);
        for (number, (line, row)) in told.iter().zip(&wanted).enumerate() {
            holds!(line, {"row": number + 1, "exit_code": 0});
            assert_eq!(line["booking"]["customer"]["name"], row["customer"]["name"], "{line}");
            assert_eq!(line["booking"]["datetime"], row["datetime"], "{line}");
        }
        assert!(home.list("attempts").is_empty());
        let settled = attempts(home).iter().filter(|it| it.booking_id.is_some()).count();
        assert_eq!(settled, count);
    }
    // Both were told of the same bookings.
    let ids = |output: &Output| -> Vec<String> {
        let told = lines(output);
        told.iter().map(|line| text(&line["booking"], "id")).collect()
    };
    assert_eq!(ids(&ended[0]), ids(&ended[1]));
    let what = format!("kills of a batch of {count} rows in two homes");
    tell(&what, kills, &format!("{killed} rows were booked by then, each once in the end"));
}
