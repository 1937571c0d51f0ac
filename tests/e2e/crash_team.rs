//! Kills among machines that share a journal, and of the server that keeps it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::harness::{GUEST, HANG, Home, Running, random, text};
use crate::promise::{all_cases, tell};
use crate::team::Team;

#[test]
#[ignore = "needs PostgreSQL"]
fn shared_journal_knows_every_booking_after_any_kill() {
    let Some(mut team) = Team::free() else { return };
    let [ada, bob] = ["ada", "bob"].map(|user| team.machine(user));
    let kills = if all_cases() { 200 } else { 24 };
    for number in 0..kills {
        let key = format!("order-{number}");
        // A slot holds 20 bookings.
        let day = format!("in {} days 19:30", 1 + number / 15);
        let book = ["book", "ven_confirms", "--idempotency-key", &key, "--at", &day];
        let running = ada.start(book.iter().chain(&GUEST[2..]));
        std::thread::sleep(Duration::from_secs_f64(0.25 * random(number)));
        if number % 4 == 3 {
            team.postgres.kill();
            running.kill();
            team.postgres.run();
        } else {
            running.kill();
        }
    }
    for attempt in bob.list("attempts") {
        let key = text(&attempt, "idempotency_key");
        bob.ok(["attempts", "resume", &key]);
    }
    assert!(bob.list("attempts").is_empty());
    let known: BTreeSet<String> =
        bob.list("attempts list --all").iter().map(|attempt| text(attempt, "booking_id")).collect();
    let made = team.served.bookings();
    let there: BTreeSet<String> = made.iter().map(|it| text(it, "id")).collect();
    assert_eq!(known, there);
    let attempts = bob.list("attempts list --all");
    assert_eq!(attempts.len(), there.len());
}

/// A file of rows, each for a guest of its own, in slots that hold three bookings or more.
fn rows(count: usize) -> String {
    let mut file = String::from("venue_id,datetime,party_size,customer.name\n");
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    for row in 0..count {
        let slot = row / 3;
        let day = today.saturating_add(jiff::Span::new().days(1 + (slot / 10) as i64));
        let (hour, minute) = (17 + slot % 10 / 2, slot % 2 * 30);
        let guest = format!("Guest {row} Lovelace");
        writeln!(file, "ven_confirms,{day}T{hour}:{minute:02}:00Z,2,{guest}").unwrap();
    }
    file
}

#[test]
#[ignore = "needs PostgreSQL"]
fn killed_runners_and_crashed_server_book_each_row_once() {
    let (count, runners, kills, crashes) = match all_cases() {
        true => (500, 5, 200, 50),
        false => (24, 3, 8, 2),
    };
    let Some(mut team) = Team::free() else { return };
    let homes: Vec<Home> =
        (0..runners).map(|number| team.machine(&format!("runner {number}"))).collect();
    let file = homes[0].folder().join("rows.csv");
    std::fs::write(&file, rows(count)).unwrap();
    let batch = ["batch", file.to_str().unwrap(), "--name", "friday"];
    let mut running: Vec<Running> = homes.iter().map(|home| home.start(batch)).collect();
    let (mut killed, mut crashed) = (0, 0);
    while killed < kills || crashed < crashes {
        std::thread::sleep(Duration::from_secs_f64(0.4 * random((killed + crashed) as u64)));
        if crashed * kills < killed * crashes || killed == kills {
            team.postgres.kill();
            team.postgres.run();
            crashed += 1;
        } else {
            let number: usize = killed % runners;
            let again = homes[number].start(batch);
            std::mem::replace(&mut running[number], again).kill();
            killed += 1;
            // The time of the dead runner's claim passes.
            team.sql("UPDATE claims SET until = 0");
        }
        // A runner that found no server has ended, and is started again, as a job's runner would
        // be.
        for (home, running) in homes.iter().zip(&mut running) {
            if running.has_ended() {
                *running = home.start(batch);
            }
        }
    }
    team.sql("UPDATE claims SET until = 0");
    let began = Instant::now();
    for running in running {
        let left = (20 * HANG).saturating_sub(began.elapsed());
        running.end_within(left);
    }
    homes[0].start(batch).end_within(5 * HANG).exits(0);
    let made = team.served.bookings();
    let ids: BTreeSet<String> = made.iter().map(|it| text(it, "id")).collect();
    let guests: BTreeSet<String> = made.iter().map(|it| text(&it["customer"], "name")).collect();
    assert_eq!((made.len(), guests.len()), (count, count));
    assert!(homes[0].list("attempts").is_empty());
    let known = team.sql("SELECT booking_id FROM attempts WHERE state = 'resolved'");
    let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    assert_eq!(known, ids);
    tell(
        &format!(
            "rows of a shared batch, {runners} runners, {kills} of them killed, {crashes} crashes of the server"
        ),
        count,
        "each booked once, none lost",
    );
}
