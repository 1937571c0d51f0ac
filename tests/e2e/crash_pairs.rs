//! Two processes with one key, and one of them dies or is stopped at any system call: whatever the
//! other one does and is told meanwhile, nothing is booked twice and nothing is forgotten.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::harness::{
    Act, Gate, Home, Misbehaving, Output, Running, Stopped, SystemCall, run_injected, run_traced,
    strace_is_missing, text,
};
use crate::promise::{Kept, all_cases, sample_around, try_each_alone};
use crate::two_runs::{booking, home};

const KEY: &str = "order-1";
/// In the call that sends a booking request.
const CREATE: &str = "POST /v1/bookings ";
/// A process that finds the journal held by one that is stopped does not wait for long.
const IMPATIENT: [&str; 4] = ["--timeout", "2s", "--max-wait", "0s"];

/// What a run is told at the service.
#[derive(Clone, Copy, Debug)]
enum Told {
    Made,
    Refused(u16),
    /// The booking is made, and no answer comes.
    Nothing,
}

const TOLD: [Told; 4] = [Told::Made, Told::Refused(400), Told::Nothing, Told::Refused(429)];

impl Told {
    fn act(self) -> Act {
        match self {
            Told::Made => Act::proper(),
            Told::Refused(status) => Act::refused(status),
            Told::Nothing => Act::lost(),
        }
    }
}

/// The calls of a booking request from where it could do anything on.
fn worth_it(calls: Vec<SystemCall>, stride: usize) -> Vec<SystemCall> {
    let touched = calls.iter().position(|call| call.concerns("journal.db"));
    let skipped = if all_cases() { 0 } else { touched.unwrap() };
    let calls = calls.into_iter().skip(skipped).collect();
    sample_around(calls, stride, |call: &SystemCall| call.concerns(CREATE))
}

/// Asserts the promise once both have ended; settles what is open.
#[track_caller]
fn is_kept(service: &Misbehaving, home: &Home, ended: &[&Output], case: &str) -> Kept {
    service.wait_until_idle();
    let open = home.list("attempts");
    let made = service.ledger();
    let told = || ended.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(made.len() <= 1, "booked twice: {case}: {made:?}\n{}", told());
    let known = || -> Vec<(String, Option<String>)> {
        let all = home.list("attempts list --all");
        all.iter()
            .map(|it| (text(it, "state"), it["booking_id"].as_str().map(str::to_owned)))
            .collect()
    };
    if let [booking] = &made[..] {
        let is_noted = known().iter().any(|(_, id)| id.as_ref() == Some(&booking.id));
        assert!(is_noted || open.len() == 1, "forgotten: {case}: {:?}\n{}", known(), told());
    }
    for output in ended {
        assert!(!output.stderr.contains("panicked"), "{case}: {output}");
        match output.code {
            Some(0) => assert_eq!(output.json()["id"], made[0].id.as_str(), "{case}: {output}"),
            // Of one key, what one is told says nothing of the other: any end is true but a
            // success.
            Some(3 | 9 | 12 | 15 | 16) | None => {}
            _ => panic!("{case}: {output}"),
        }
    }
    service.behave();
    for attempt in &open {
        assert_eq!(attempt["request"]["customer"]["name"], "Ada Lovelace", "{case}");
        let settled = home.json(&format!("attempts resume '{KEY}'"));
        assert_eq!(settled["id"], service.ledger()[0].id.as_str(), "{case}");
    }
    let ledger = service.ledger();
    let settled: Vec<Option<String>> =
        known().into_iter().filter(|(state, _)| state != "refused").map(|(_, id)| id).collect();
    let ids: Vec<Option<String>> = ledger.into_iter().map(|it| Some(it.id)).collect();
    assert_eq!(settled, ids, "{case}: {:?}\n{}", known(), told());
    match (made.is_empty(), open.is_empty()) {
        (true, true) => Kept::Nothing,
        (true, false) => Kept::Unsent,
        (false, false) => Kept::Open,
        (false, true) => Kept::Known,
    }
}

/// One process whose create is held by the service, in a home; the gate lets it go on.
fn held_first(told: Told, forgets: bool) -> (Misbehaving, Home, Running, Gate) {
    let gate = Gate::default();
    let held = gate.clone();
    let service = Misbehaving::start(move |arrived| match arrived.earlier {
        0 => told.act().held(&held),
        _ => Act::proper(),
    });
    let home = home(&service, forgets);
    let first = home.start(booking(KEY, &["--max-wait", "0s", "--timeout", "30s"]));
    gate.wait_for(1);
    (service, home, first, gate)
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn booking_killed_beside_a_held_one_of_its_key_loses_nothing() {
    if strace_is_missing() {
        return;
    }
    let (_service, home, first, gate) = held_first(Told::Made, false);
    let (output, calls) = run_traced(&home, booking(KEY, &[]), &[]);
    output.exits(0);
    gate.open();
    first.ends(0);
    let cases = worth_it(calls, 23);
    try_each_alone(
        "kills of a second create of a key while the first is held",
        4,
        &cases,
        |number, call| {
            let told = TOLD[number % TOLD.len()];
            let (service, home, first, gate) = held_first(told, number % 8 > 3);
            let killed =
                run_injected(&home, booking(KEY, &IMPATIENT), &[call.inject("signal=KILL")]);
            gate.open();
            let first = first.end();
            let case = format!("{} and then {told:?}", call.line);
            is_kept(&service, &home, &[&killed, &first], &case)
        },
    );
}

/// How the one that is stopped goes on when the other one has come to its end, or is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    /// The other one ends; then this one goes on.
    GoesOn,
    /// The other one ends; then this one is killed.
    IsKilled,
    /// This one is killed while the other one is under way.
    IsKilledMeanwhile,
}

const THEN: [Then; 3] = [Then::GoesOn, Then::IsKilled, Then::IsKilledMeanwhile];

#[test]
#[ignore = "samples of every moment take minutes"]
fn booking_stopped_beside_a_running_one_loses_nothing() {
    if strace_is_missing() {
        return;
    }
    let service = Misbehaving::start(|_| Act::proper());
    let alone = home(&service, false);
    let (output, calls) = run_traced(&alone, booking(KEY, &[]), &[]);
    output.exits(0);
    let cases = worth_it(calls, 13);
    let cases: Vec<(usize, SystemCall)> = match all_cases() {
        false => cases.into_iter().enumerate().collect(),
        // Each of them with two of the ways in which it may go on.
        true => (0..2)
            .flat_map(|round| {
                let numbered = cases.iter().cloned().enumerate();
                numbered.map(move |(place, call)| (place * 5 + round * 7, call))
            })
            .collect(),
    };
    try_each_alone(
        "stops of a first create of a key while a second runs",
        4,
        &cases,
        |_, (way, call)| stopped_meanwhile(*way, call),
    );
}

/// The first is stopped at this call; `way` chooses what either is told, and what becomes of the
/// first.
fn stopped_meanwhile(way: usize, call: &SystemCall) -> Kept {
    let (then, first_told) = (THEN[way % 3], TOLD[way / 3 % 4]);
    let second_told = TOLD[(way / 12 + way) % 4];
    let service = Misbehaving::start(move |_| first_told.act());
    let home = home(&service, way % 2 == 1);
    let first = Stopped::start(&home, booking(KEY, &IMPATIENT), &call.inject("signal=STOP"));
    // What the first sent is done with before the second is told anything.
    service.wait_until_idle();
    let gate = Gate::default();
    let held = gate.clone();
    service.plan(move |_| match then {
        Then::IsKilledMeanwhile => second_told.act().held(&held),
        _ => second_told.act(),
    });
    let mut second = home.start(booking(KEY, &IMPATIENT));
    let (first, second) = match then {
        Then::IsKilledMeanwhile => {
            // It comes to the service, or to its end where the first one holds the journal.
            while !gate.has_held() && !second.has_ended() {
                std::thread::sleep(Duration::from_millis(2));
            }
            let first = first.kill();
            gate.open();
            (first, second.end())
        }
        _ => {
            let second = second.end();
            service.wait_until_idle();
            service.plan(move |_| first_told.act());
            let first = match then {
                Then::GoesOn => first.end(),
                _ => first.kill(),
            };
            (first, second)
        }
    };
    let case = format!("{} first {first_told:?}, second {second_told:?}, {then:?}", call.line);
    is_kept(&service, &home, &[&first, &second], &case)
}

/// Several of one key at once, each killed at a moment of its own, round after round.
#[test]
#[ignore = "samples of every moment take minutes"]
fn many_killed_requests_of_one_key_leave_one_booking() {
    let rounds: Vec<u64> = (0..if all_cases() { 150 } else { 4 }).collect();
    let kills = Mutex::new(0);
    try_each_alone(
        "rounds of eight creates of one key that are killed at random",
        2,
        &rounds,
        |_, round| {
            let told = TOLD[*round as usize % TOLD.len()];
            let service = Misbehaving::start(move |arrived| match arrived.earlier % 3 {
                0 => told.act(),
                1 => Act::proper(),
                _ => Act::lost(),
            });
            let home = home(&service, round % 2 == 1);
            // How long one takes now, as busy as the machine is; eight at once take several times
            // as long.
            let elsewhere = Misbehaving::start(|_| Act::proper());
            let alone = crate::two_runs::home(&elsewhere, false);
            let began = Instant::now();
            alone.ok(booking(KEY, &[]));
            let longest = 4 * began.elapsed();
            let ended: Vec<Output> = std::thread::scope(|scope| {
                let started: Vec<_> = (0..8)
                    .map(|number| {
                        let home = &home;
                        scope.spawn(move || {
                            let running = home.start(booking(KEY, &IMPATIENT));
                            let moment = crate::harness::random(round * 8 + number);
                            // Not a wait: the random moment of its death.
                            std::thread::sleep(longest.mul_f64(moment));
                            running.kill()
                        })
                    })
                    .collect();
                started.into_iter().map(|it| it.join().unwrap()).collect()
            });
            *kills.lock().unwrap() += ended.iter().filter(|it| it.code.is_none()).count();
            let ended: Vec<&Output> = ended.iter().collect();
            is_kept(&service, &home, &ended, &format!("round {round}"))
        },
    );
    assert!(*kills.lock().unwrap() > 0);
}
