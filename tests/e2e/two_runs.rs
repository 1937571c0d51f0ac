//! Two runs of one key at the same time: what one is told says nothing of the other. "a refusal or
//! a failure to connect ends its own run and nothing else" (design, What must never happen)
//!
//! Nothing here is raced: the service holds what is to wait, or a process is stopped at a system
//! call.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::batch::{file, lines};
use crate::harness::{
    Act, Answer, Commit, Gate, Home, Misbehaving, Output, Running, Stopped, each, has, holds,
    strace_is_missing, words,
};

const KEY: &str = "order-1";
const AT: &str = "2031-12-01T19:30:00Z";

/// The booking request of this file, which asks nothing of the service first.
pub(crate) fn booking(key: &str, more: &[&str]) -> Vec<String> {
    let book = words(format!(
        "book ven_1 --slot slot_1 --at {AT} --party 2 --name 'Ada Lovelace' --json --idempotency-key {key}"
    ));
    let more = more.iter().map(ToString::to_string);
    book.into_iter().chain(more).collect()
}

/// A home that forgets guests as soon as it may, or one that does not.
pub(crate) fn home(service: &Misbehaving, forgets: bool) -> Home {
    let retention = if forgets { "0" } else { "90d" };
    Home::pointing_to(service.base_url(), "sk_live_sandbox")
        .configured(&format!("retention = \"{retention}\"\n"))
}

/// The keys of the attempts that are open.
pub(crate) fn open(home: &Home) -> Vec<String> {
    let list = home.json("attempts");
    each(&list["attempts"], "idempotency_key")
}

/// Asserts that the attempt is open with its guest, and that the very command that a lost answer
/// names finds the one booking.
#[track_caller]
fn is_open_and_found(service: &Misbehaving, home: &Home, key: &str) {
    let list = home.json("attempts");
    assert_eq!(list["attempts"][0]["idempotency_key"], key, "forgotten: {list}");
    let guest = &list["attempts"][0]["request"]["customer"]["name"];
    assert_eq!(guest, "Ada Lovelace", "the guest is forgotten: {list}");
    service.behave();
    let settled = home.json(&format!("attempts resume {key}"));
    let ledger = service.ledger();
    assert_eq!(ledger.len(), 1, "{ledger:?}");
    assert_eq!(settled["id"], ledger[0].id.as_str());
    assert!(open(home).is_empty());
}

/// The first create of the key is held, then refused; every other is made, and its answer lost.
fn refused_late(status: u16, gate: &Gate) -> Misbehaving {
    let gate = gate.clone();
    Misbehaving::start(move |arrived| match arrived.earlier {
        0 => Act::refused(status).held(&gate),
        _ => Act::lost(),
    })
}

#[test]
fn refused_run_leaves_open_what_another_run_may_have_booked() {
    for (status, forgets) in [(429, false), (400, false), (429, true), (400, true)] {
        let gate = Gate::default();
        let service = refused_late(status, &gate);
        let home = home(&service, forgets);
        let refused = home.start(booking(KEY, &["--max-wait", "0s"]));
        gate.wait_for(1);
        home.run(booking(KEY, &[])).refused(16, "outcome_unknown");
        gate.open();
        let ended = refused.end();
        assert!(matches!(ended.code, Some(9 | 12 | 16)), "{ended}");
        is_open_and_found(&service, &home, KEY);
    }
}

#[test]
fn killed_run_stays_open_whatever_a_later_run_learns() {
    for (status, forgets) in [(429, true), (400, false)] {
        let (gate, never) = (Gate::default(), Gate::default());
        let service = refused_late(status, &gate);
        let home = home(&service, forgets);
        let refused = home.start(booking(KEY, &["--max-wait", "0s"]));
        gate.wait_for(1);
        let held = never.clone();
        service.plan(move |_| Act::proper().answer_held(&held));
        let killed = home.start(booking(KEY, &[]));
        never.wait_for(1);
        assert_eq!(killed.kill().code, None);
        gate.open();
        refused.end();
        is_open_and_found(&service, &home, KEY);
        never.open();
    }
}

/// The arguments of a batch whose file has two guests, each in a party of this size.
fn batch_of_two(home: &Home, party: u32) -> Vec<String> {
    let rows = ["Bob Other", "Ada Lovelace"].map(|name| {
        json!({"venue_id": "ven_1", "availability_id": "slot_1", "datetime": AT, "party_size": party, "customer": {"name": name}})
            .to_string()
    });
    words(format!("batch {} --json", file(home, "rows.jsonl", &rows.join("\n"))))
}

/// "where a row that an earlier start of the same batch sent is no longer in the file, and a new
/// row has its venue, day and folded name […] it is not sent" (command line, Forms), also while the
/// earlier start runs.
#[test]
fn row_is_not_sent_once_a_later_start_has_corrected_it() {
    for was_refused in [false, true] {
        let (gate, service) = (Gate::default(), Misbehaving::start(|_| Act::refused(400)));
        let home = home(&service, false);
        if was_refused {
            home.run(batch_of_two(&home, 2)).exits(18);
        }
        let held = gate.clone();
        service.plan(move |_| Act::proper().held(&held));
        let first = home.start(batch_of_two(&home, 2));
        gate.wait_for(1);
        service.behave();
        let second = lines(&home.run(batch_of_two(&home, 3)).exits(18));
        gate.open();
        let first = lines(&first.ends(18));
        let exits = |lines: &[Value]| [0, 1].map(|row: usize| lines[row]["exit_code"].clone());
        assert_eq!([exits(&first), exits(&second)], [[json!(0), json!(6)], [json!(16), json!(0)]]);
        has(&first[1]["error"], "message", "the batch was started again without this row");
        assert_eq!(service.ledger().len(), 2);
    }
}

/// "What a person must know of […] a second booking for the same guest […] stands on stderr in a
/// script too" (command line, Exit codes)
#[test]
fn booking_beside_one_that_is_being_sent_is_warned_of() {
    let gate = Gate::default();
    let held = gate.clone();
    let service = Misbehaving::start(move |arrived| match arrived.key.as_str() {
        KEY => Act::proper().held(&held),
        _ => Act::proper(),
    });
    let home = home(&service, false);
    let first = home.start(booking(KEY, &[]));
    gate.wait_for(1);
    let other = booking("order-2", &[]);
    let other = other.iter().map(|it| if it == "2" { "3" } else { it });
    home.ok(other).says("another bookctl is booking this guest at this venue that day");
    gate.open();
    first.ends(0);
}

/// A batch may wait for hours: what begins meanwhile counts as well.
#[test]
fn row_is_not_sent_while_the_same_request_is_open() {
    let gate = Gate::default();
    let held = gate.clone();
    let service = Misbehaving::start(move |arrived| match arrived.key.as_str() {
        KEY => Act::lost(),
        _ => Act::proper().held(&held),
    });
    let home = home(&service, false);
    let batch = home.start(batch_of_two(&home, 2));
    gate.wait_for(1);
    home.run(booking(KEY, &[])).refused(16, "outcome_unknown");
    gate.open();
    let ended = batch.ends(18);
    let last = &lines(&ended)[1];
    holds!(last, {"row": 2, "exit_code": 16});
    has(&last["error"], "hint", "give the row an idempotency_key");
    let guests = service.ledger().iter().map(|it| it.guest()).collect::<Vec<_>>();
    assert_eq!(guests, ["Ada Lovelace", "Bob Other"]);
}

/// The second one is refused while the first, whose answer never comes, is under way.
#[test]
fn second_run_refused_leaves_open_what_first_may_have_booked() {
    for forgets in [false, true] {
        let gate = Gate::default();
        let held = gate.clone();
        let service = Misbehaving::start(move |arrived| match arrived.earlier {
            0 => Act::lost().answer_held(&held),
            1 => Act::refused(400),
            _ => Act::lost(),
        });
        let home = home(&service, forgets);
        let first = home.start(booking(KEY, &[]));
        gate.wait_for(1);
        let second = home.run(booking(KEY, &[]));
        assert!(matches!(second.code, Some(12 | 16)), "{second}");
        assert_eq!(open(&home), [KEY]);
        // Not even where a person has all guests forgotten.
        let forget = ["bookings", "forget", "--before", "2100-01-01", "--yes"];
        home.ok(forget);
        gate.open();
        first.ends(16);
        is_open_and_found(&service, &home, KEY);
    }
}

/// Whoever gives an attempt up is told that a booking may exist all the same: it is known once its
/// answer comes.
#[test]
fn booking_of_an_attempt_abandoned_in_flight_is_known() {
    for forgets in [false, true] {
        let answer = Gate::default();
        let held = answer.clone();
        let service = Misbehaving::start(move |_| Act::proper().answer_held(&held));
        let home = home(&service, forgets);
        let under_way = home.start(booking(KEY, &[]));
        answer.wait_for(1);
        home.ok(["attempts", "abandon", KEY]);
        answer.open();
        let made = under_way.ends(0).json();
        assert_eq!(made["id"], service.ledger()[0].id.as_str());
        let list = ["attempts", "list", "--all", "--json"];
        let list = home.ok(list).json();
        let attempt = &list["attempts"][0];
        holds!(attempt, {"state": "resolved", "booking_id": made["id"]});
    }
}

/// A service that flaps: one run finds it down and takes its intent back, another has sent by then.
#[test]
fn unconnected_run_keeps_what_another_run_sent() {
    if strace_is_missing() {
        return;
    }
    for forgets in [false, true] {
        let answer = Gate::default();
        let held = answer.clone();
        let service = Misbehaving::start(move |_| Act::lost().answer_held(&held));
        let home = home(&service, forgets);
        // It is stopped at each connection that it tries, and none comes about.
        let refuse = "connect:error=ECONNREFUSED:signal=STOP:when=1+";
        let mut unconnected = Stopped::start(&home, booking(KEY, &[]), refuse);
        assert_eq!(open(&home), [KEY]);
        let sent = home.start(booking(KEY, &["--timeout", "30s"]));
        answer.wait_for(1);
        let mut stops = 1;
        loop {
            unconnected.go_on();
            stops += 1;
            if !unconnected.wait_for_stops(stops) {
                break;
            }
        }
        let ended = unconnected.end();
        assert!(matches!(ended.code, Some(15 | 16)), "{ended}");
        assert_eq!(open(&home), [KEY]);
        answer.open();
        sent.ends(16);
        is_open_and_found(&service, &home, KEY);
    }
}

/// One row, in a file of its own.
fn one_row(home: &Home, key: &str) -> PathBuf {
    let file = home.folder().join("rows.jsonl");
    std::fs::write(&file, format!("{}\n", row(key, "Ada Lovelace"))).unwrap();
    file
}

fn row(key: &str, guest: &str) -> Value {
    json!({
        "venue_id": "ven_1", "datetime": AT, "availability_id": "slot_1", "party_size": 2,
        "customer": {"name": guest}, "idempotency_key": key,
    })
}

fn batch(home: &Home, file: &Path) -> Running {
    home.start(["batch", file.to_str().unwrap(), "--json"])
}

/// The first start waits out a rate limit, which says that its row was refused; the second has sent
/// the row meanwhile.
#[test]
fn waiting_batch_leaves_open_what_its_second_start_may_book() {
    for forgets in [false, true] {
        let (first, second) = (Gate::default(), Gate::default());
        let held = [first.clone(), second.clone()];
        let service = Misbehaving::start(move |arrived| match arrived.earlier {
            0 => Act::refused(429).held(&held[0]),
            1 => Act::lost().answer_held(&held[1]),
            // After the limit the first start is refused for good.
            2 => Act::refused(400),
            _ => Act::lost(),
        });
        let home = home(&service, forgets);
        let file = one_row(&home, KEY);
        let waits = batch(&home, &file);
        first.wait_for(1);
        let in_flight = batch(&home, &file);
        second.wait_for(1);
        first.open();
        let ended = waits.end();
        assert!(ended.code.is_some_and(|code| code != 0), "{ended}");
        assert_eq!(service.posted().len(), 3, "it did not wait: {ended}");
        assert_eq!(open(&home), [KEY]);
        second.open();
        let ended = in_flight.end();
        assert!(ended.code.is_some_and(|code| code != 0), "{ended}");
        is_open_and_found(&service, &home, KEY);
    }
}

/// The lines of a batch, each with the guest that its row asked for.
fn lines_of(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An answer too many on a connection that stays open is the next request's, for whoever sends one
/// on it.
#[test]
fn a_row_of_a_batch_never_takes_the_answer_of_another() {
    let service = Misbehaving::start(|_| Act::new(Commit::BeforeTheAnswer, Answer::SurplusAfter));
    let home = home(&service, false);
    let file = home.folder().join("rows.jsonl");
    let rows = (0..8).map(|it| format!("{}\n", row(&format!("row-{it}"), &format!("Ada {it}"))));
    std::fs::write(&file, rows.collect::<String>()).unwrap();
    let lines = lines_of(&batch(&home, &file).ends(0));
    let ledger = service.ledger();
    assert_eq!((lines.len(), ledger.len()), (8, 8));
    for (line, made) in lines.iter().zip(&ledger) {
        assert_eq!(line["idempotency_key"], made.key.as_str(), "{line}");
        assert_eq!(line["booking"]["id"], made.id.as_str(), "{line}");
    }
    let known = home.list("bookings --limit 100");
    assert_eq!(known.len(), 8, "{known:?}");
}
