//! A shared journal among many machines that work at once: batches, and the windows of rate limits.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::listening::until;
use crate::harness::{
    Act, GUEST, Gate, HANG, Home, Misbehaving, Postgres, Served, holds, random, words,
};
use crate::team::{Team, answering_late, sharing, two_machines};
use crate::two_runs::booking;

#[test]
#[ignore = "needs PostgreSQL"]
fn batch_on_several_computers_books_each_row_once() {
    let (gate, service) = answering_late();
    let Some((db, [ada, bob])) = two_machines(&service) else { return };
    let rows = (1..=9).map(|guest| {
        format!("{{\"venue_id\": \"ven_1\", \"availability_id\": \"slot_1\", \"datetime\": \"2031-12-01T19:30:00Z\", \"party_size\": 2, \"customer\": {{\"name\": \"Guest {guest}\"}}}}\n")
    });
    let file = ada.folder().join("rows.jsonl");
    std::fs::write(&file, rows.collect::<String>()).unwrap();
    let batch = format!("batch '{}' --name friday --json", file.to_str().unwrap());
    let killed = ada.start(words(&batch));
    gate.wait_for(1);
    // The others go on, and leave the row that is under way to the last.
    let others = [bob.start(words(&batch)), bob.start(words(&batch))];
    until("all rows are booked", || service.ledger().len() == 9);
    killed.kill();
    // The time of the dead machine's claim passes.
    db.sql("bookctl", "UPDATE claims SET until = 0");
    for other in others {
        let ended = other.ends(0);
        assert_eq!(ended.stdout.lines().count(), 9, "{ended}");
    }
    let ledger = service.ledger();
    assert_eq!(ledger.len(), 9, "{ledger:?}");
    let results = ada.ok(words(format!("{batch} --results")));
    assert_eq!(results.stdout.lines().count(), 9);
    results.shows(&ledger[8].id);
    let posted = service.posted();
    assert_eq!(posted.len(), 10, "one row is sent again, with the same key: {posted:?}");
    assert_eq!(posted.iter().map(|it| &it.key).collect::<BTreeSet<_>>().len(), 9);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_service_refuses_for_good_is_result_for_every_runner() {
    let service = Misbehaving::start(|arrived| match arrived.earlier {
        0 => Act::refused(422),
        _ => Act::proper(),
    });
    let Some((_db, [ada, bob])) = two_machines(&service) else { return };
    let file = ada.folder().join("rows.jsonl");
    let row = r#"{"venue_id": "ven_1", "availability_id": "slot_1", "datetime": "2031-12-01T19:30:00Z", "party_size": 2, "customer": {"name": "Ada Lovelace"}}"#;
    std::fs::write(&file, format!("{row}\n")).unwrap();
    let from = file.to_str().unwrap();
    let batch = ["batch", from, "--name", "friday", "--json"];
    let told = |home: &Home| {
        let result = home.run(batch).exits(18).stdout;
        let result: Value = serde_json::from_str(result.trim()).unwrap();
        (result["exit_code"].clone(), result["error"]["http_status"].clone())
    };
    assert_eq!(told(&ada), told(&bob));
    assert_eq!(told(&bob), (7.into(), 422.into()));
    assert_eq!(service.posted().len(), 1);
    bob.ok(batch.iter().chain(&["--retry-failed"]));
    assert_eq!(service.ledger().len(), 1);
    ada.ok(batch);
    assert_eq!(service.posted().len(), 2);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn computers_that_start_cold_take_from_one_window() {
    let Some(team) = Team::new() else { return };
    let homes: Vec<Home> = (0..13).map(|number| team.machine(&format!("user {number}"))).collect();
    // A guest of their own: the same booking, while another machine asks for it, is refused.
    let book = |(number, home): (usize, &Home)| {
        let name = format!("Ada Lovelace{}", "a".repeat(number));
        let book = ["book", "ven_confirms", "--name", &name, "--max-wait", "2h"];
        home.start(book.iter().chain(&GUEST[..4]))
    };
    let running: Vec<_> = homes.iter().enumerate().map(book).collect();
    let began = Instant::now();
    while team.served.bookings().len() < 10 {
        assert!(began.elapsed() < 3 * HANG, "{:?}", team.served.bookings());
        std::thread::sleep(Duration::from_millis(50));
    }
    team.served.home().advance("5m");
    for booked in running {
        booked.ends(0);
    }
    assert_eq!(team.served.bookings().len(), 13);
    assert!(homes[0].list("attempts").is_empty());
    let mut refused = homes[0].list("sandbox requests --status 429");
    refused.retain(|it| it["path"] == "/v1/bookings");
    assert!(refused.len() <= 2, "two windows: {refused:?}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn computer_that_dies_early_delays_others_for_seconds() {
    let gate = Gate::default();
    let held = gate.clone();
    let service = Misbehaving::start(move |arrived| match arrived.key.as_str() {
        "first" => Act::proper().answer_held(&held),
        _ => Act::proper(),
    });
    let Some((_db, [ada, bob])) = two_machines(&service) else { return };
    let killed = ada.start(booking("first", &[]));
    gate.wait_for(1);
    killed.kill();
    let began = Instant::now();
    bob.ok(booking("second", &[]));
    assert!(began.elapsed() < HANG);
    // The service tells of no limit, so nobody waits for an answer again.
    let third = ada.start(booking("first", &[]));
    gate.wait_for(2);
    bob.ok(booking("fourth", &[]));
    gate.open();
    third.ends(0);
    assert_eq!(service.ledger().len(), 3);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn copy_of_journal_that_was_killed_is_completed_by_next_one() {
    let Some(team) = Team::free() else { return };
    let local = team.served.home();
    for _ in 0..6 {
        local.booked("ven_confirms", &[], 0);
    }
    let shared = team.machine("ada");
    let file = local.path().join("journal.db");
    let copy = words(format!("journal copy --from '{}' --json", file.to_str().unwrap()));
    for moment in 0..8 {
        let running = shared.start(&copy);
        std::thread::sleep(Duration::from_secs_f64(0.1 * random(moment)));
        running.kill();
    }
    let copied = shared.ok(&copy).json();
    holds!(copied, {"attempts": 6, "bookings": 6});
    let runs = team.sql("SELECT count(*) FROM runs");
    let bookings = team.postgres.sql("bookctl", "SELECT count(*) FROM bookings");
    assert_eq!((runs.as_str(), bookings.as_str()), ("6", "6"));
}

/// "`attempts resume` always ends" (docs/dev/reliability.md): what a dead machine was about to do
/// ends later than a lease lasts.
#[test]
#[ignore = "needs PostgreSQL"]
fn servers_clock_set_back_makes_no_runner_wait_for_a_dead_one() {
    let (gate, service) = answering_late();
    let Some((db, [ada, bob])) = two_machines(&service) else { return };
    let killed = ada.start(booking("order-1", &[]));
    gate.wait_for(1);
    killed.kill();
    gate.open();
    let sql = |statement: &str| db.sql("bookctl", statement);
    sql("UPDATE limits SET resets_at = resets_at + 86400000");
    bob.ok(booking("order-2", &[]));
    sql("INSERT INTO claims SELECT 'order-1', 'ada@dead 1', \
         86400000 + (EXTRACT(EPOCH FROM now()) * 1000)::BIGINT");
    bob.ok(["attempts", "resume", "order-1"]);
    assert_eq!(service.ledger().len(), 2);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn machines_that_prepare_one_journal_at_once_all_succeed() {
    let served = Served::start();
    let Some(db) = Postgres::start() else { return };
    std::thread::scope(|scope| {
        for number in 0..5 {
            let home = sharing(served.home(), &db.url(), &format!("user {number}"));
            scope.spawn(move || drop(home.ok(["journal", "init"])));
        }
    });
    sharing(served.home(), &db.url(), "ada").booked("ven_confirms", &[], 0);
}
