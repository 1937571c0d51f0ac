//! "Whatever then happens, kill -9 at any instruction included, the next run knows it, and `attempts resume` settles
//! it with the same key." (design, What must never happen)

use std::collections::BTreeSet;
use std::path::Path;
use std::slice;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{
    Home, Running, Served, SystemCall, random, run_injected, run_traced, strace_is_missing, text,
    words,
};
use crate::promise::{Intent, Kept, all_cases, attempts, sample_around, try_each};

const KILL: &str = "signal=KILL";
/// In the call that sends a booking request.
const CREATE: &str = "POST /v1/bookings ";

/// The calls of a booking request in such a home, as one run makes them.
fn calls_of_a_create(prepare: impl Fn(&Home)) -> Vec<SystemCall> {
    let served = Served::unlimited();
    let home = served.home();
    prepare(&home);
    let intent = Intent::number(0);
    let (output, calls) = run_traced(&home, intent.arguments(), &[]);
    output.exits(0);
    calls
}

/// Each of them, or a sample: nothing can have happened yet before the journal is touched.
fn worth_killing(calls: Vec<SystemCall>, stride: usize) -> Vec<SystemCall> {
    let touched = calls.iter().position(|call| call.concerns("journal.db"));
    let skipped = if all_cases() { 0 } else { touched.unwrap() };
    let calls = calls.into_iter().skip(skipped);
    // How often memory is asked for differs from run to run.
    let calls = calls.filter(|call| call.name != "brk").collect();
    sample_around(calls, stride, |call: &SystemCall| call.concerns(CREATE))
}

/// A home that has booked before, with what another left of its own.
fn copy_of(home: &Home, journal: &Path) {
    std::fs::create_dir_all(home.path()).unwrap();
    std::fs::copy(journal, home.path().join("journal.db")).unwrap();
}

/// Kills creates of such homes at each of their calls, or at a sample of them.
fn kill_creates(what: &str, stride: usize, prepare: impl Fn(&Home) + Sync) {
    if strace_is_missing() {
        return;
    }
    let calls = worth_killing(calls_of_a_create(&prepare), stride);
    let ways = try_each(what, 4, &calls, |served, number, call| {
        let (home, intent) = (served.home(), Intent::number(number));
        prepare(&home);
        let ended = run_injected(&home, intent.arguments(), &[call.inject(KILL)]);
        assert_eq!(ended.code, None, "{}: {ended}", call.line);
        intent.is_kept(served, &home, &ended)
    });
    let expected = [Kept::Nothing, Kept::Unsent, Kept::Open, Kept::Known];
    assert!(ways.keys().eq(&expected), "{ways:?}");
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn a_first_create_that_is_killed_at_any_system_call_is_neither_lost_nor_repeated() {
    kill_creates("kills of a first create", 9, |_| ());
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn a_create_of_a_home_in_use_that_is_killed_at_any_system_call_is_neither_lost_nor_repeated() {
    // Searches were remembered; no attempt is there yet.
    let used = Served::unlimited().home();
    used.ok(["attempts"]);
    let journal = used.path().join("journal.db");
    kill_creates("kills of a create", 13, |home| copy_of(home, &journal));
}

/// What kills a booking request once its request is out, where its answer is read.
fn kill_at_the_answer() -> String {
    let calls = calls_of_a_create(|_| ());
    let create = calls.iter().position(|call| call.concerns(CREATE));
    let answer = calls[create.unwrap()..]
        .iter()
        .find(|call| call.name == "recvfrom");
    answer.unwrap().inject(KILL)
}

/// A home with an attempt that is open, and its key.
fn open_attempt(served: &Served, intent: &Intent, kill: &String) -> (Home, String) {
    let home = served.home();
    let ended = run_injected(&home, intent.arguments(), slice::from_ref(kill));
    assert_eq!(ended.code, None, "{ended}");
    let list = home.json("attempts");
    let key = text(&list["attempts"][0], "idempotency_key");
    (home, key)
}

/// The booking request is killed once its request is out, then what settles it is killed too.
#[test]
#[ignore = "samples of every moment take minutes"]
fn settling_an_attempt_may_be_killed_at_any_system_call_as_well() {
    if strace_is_missing() {
        return;
    }
    let kill = kill_at_the_answer();
    let served = Served::unlimited();
    let (home, key) = open_attempt(&served, &Intent::number(0), &kill);
    let (output, calls) = run_traced(&home, ["attempts", "resume", &key, "--json"], &[]);
    output.exits(0);
    let calls = worth_killing(calls, 15);
    let ways = try_each("kills of a resume", 4, &calls, |served, number, call| {
        let intent = Intent::number(number);
        let (home, key) = open_attempt(served, &intent, &kill);
        let resume = ["attempts", "resume", &key, "--json"];
        let ended = run_injected(&home, resume, &[call.inject(KILL)]);
        assert_eq!(ended.code, None, "{}: {ended}", call.line);
        intent.is_kept(served, &home, &ended)
    });
    assert!(ways.keys().eq(&[Kept::Open, Kept::Known]), "{ways:?}");
}

/// Forgetting guests rewrites the whole journal; an attempt that is open stays in it, whenever that ends.
#[test]
#[ignore = "samples of every moment take minutes"]
fn forgetting_guests_may_be_killed_at_any_system_call_and_forgets_no_open_attempt() {
    if strace_is_missing() {
        return;
    }
    let kill = kill_at_the_answer();
    let forget = words("bookings forget --before 2100-01-01 --yes --json");
    let prepared = |served: &Served, number: usize| -> (Home, Intent) {
        let intent = Intent::number(number);
        let (home, key) = open_attempt(served, &intent, &kill);
        // Another one is settled, and to be forgotten.
        home.ok(["attempts", "resume", &key]);
        let intent = Intent::number(number + 10_000);
        let ended = run_injected(&home, intent.arguments(), slice::from_ref(&kill));
        assert_eq!(ended.code, None, "{ended}");
        (home, intent)
    };
    let served = Served::unlimited();
    let (home, _) = prepared(&served, 0);
    let (output, calls) = run_traced(&home, &forget, &[]);
    output.exits(0);
    let calls = worth_killing(calls, 17);
    try_each(
        "kills of a forgetting",
        4,
        &calls,
        |served, number, call| {
            let (home, intent) = prepared(served, number);
            let ended = run_injected(&home, &forget, &[call.inject(KILL)]);
            // How many pages there are to write differs from run to run.
            let as_meant = matches!(ended.code, None | Some(0));
            assert!(as_meant, "{}: {ended}", call.line);
            let list = home.json("attempts");
            let key = text(&list["attempts"][0], "idempotency_key");
            assert_eq!(
                list["attempts"][0]["request"]["customer"]["name"],
                intent.guest()
            );
            let settled = home.json(&format!("attempts resume {key}"));
            let made = intent.bookings(served);
            assert_eq!(made.len(), 1);
            assert_eq!(settled["id"], made[0]["id"]);
            Kept::Open
        },
    );
}

/// A damaged journal is kept aside, whenever that ends: not a byte of it is lost.
#[test]
#[ignore = "samples of every moment take minutes"]
fn recovering_a_journal_may_be_killed_at_any_system_call_and_loses_not_a_byte_of_it() {
    if strace_is_missing() {
        return;
    }
    let damaged = b"this was a journal once ".repeat(400);
    let prepared = |served: &Served| -> Home {
        let home = served.home();
        std::fs::create_dir_all(home.path()).unwrap();
        std::fs::write(home.path().join("journal.db"), &damaged).unwrap();
        home
    };
    let recover = ["journal", "recover", "--json"];
    let served = Served::unlimited();
    let (output, calls) = run_traced(&prepared(&served), recover, &[]);
    output.exits(0);
    let calls = worth_killing(calls, 17);
    try_each("kills of a recovery", 4, &calls, |served, number, call| {
        let (home, intent) = (prepared(served), Intent::number(number));
        let ended = run_injected(&home, recover, &[call.inject(KILL)]);
        assert_eq!(ended.code, None, "{}: {ended}", call.line);
        if home.run(["attempts"]).code != Some(0) {
            home.ok(recover);
        }
        let files = std::fs::read_dir(home.path()).unwrap();
        let mut contents = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        assert!(contents.any(|content| content == damaged), "{}", call.line);
        let ended = home.run(intent.arguments());
        intent.is_kept(served, &home, &ended)
    });
}

/// Makes a journal one of a newer version.
fn age(home: &Home) {
    let newer = rusqlite::Connection::open(home.path().join("journal.db")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn recovering_a_journal_may_be_killed_at_any_system_call_and_forgets_no_intent() {
    if strace_is_missing() {
        return;
    }
    let kill = kill_at_the_answer();
    let recover = ["journal", "recover", "--json"];
    let prepared = |served: &Served, number: usize| -> (Home, Intent) {
        let intent = Intent::number(number);
        let (home, _) = open_attempt(served, &intent, &kill);
        age(&home);
        (home, intent)
    };
    let served = Served::unlimited();
    let (output, calls) = run_traced(&prepared(&served, 0).0, recover, &[]);
    output.exits(0);
    let calls = worth_killing(calls, 19);
    let what = "kills of a recovery of another version's journal";
    try_each(what, 4, &calls, |served, number, call| {
        let (home, intent) = prepared(served, number);
        let ended = run_injected(&home, recover, &[call.inject(KILL)]);
        assert_eq!(ended.code, None, "{}: {ended}", call.line);
        if home.run(["attempts"]).code != Some(0) {
            home.ok(recover);
        }
        let list = home.json("attempts");
        let key = text(&list["attempts"][0], "idempotency_key");
        let settled = home.run(["attempts", "resume", &key, "--json"]);
        let made = intent.bookings(served);
        assert_eq!(made.len(), 1, "{}", call.line);
        assert_eq!(settled.exits(0).json()["id"], made[0]["id"]);
        Kept::Open
    });
}

/// Between system calls too, and within them: whenever the clock says so.
#[test]
#[ignore = "samples of every moment take minutes"]
fn a_create_that_is_killed_at_any_moment_is_neither_lost_nor_repeated() {
    let cases: Vec<u64> = (0..if all_cases() { 1000 } else { 16 }).collect();
    try_each("kills at random", 4, &cases, |served, number, case| {
        // How long one takes now, as busy as the machine is.
        let measured = served.home();
        let running = measured.start(Intent::number(number + 100_000).arguments());
        let began = Instant::now();
        running.end().exits(0);
        let longest = began.elapsed();
        let (home, intent) = (served.home(), Intent::number(number));
        let running = home.start(intent.arguments());
        // Not a wait: the random moment of its death.
        std::thread::sleep(longest.mul_f64(1.2 * random(*case)));
        let ended = running.kill();
        intent.is_kept(served, &home, &ended)
    });
}

/// Processes that share a home are killed while others write: what one leaves half done in the journal, the next
/// takes back, and nobody's intent is lost.
#[test]
#[ignore = "samples of every moment take minutes"]
fn of_many_creates_in_one_home_that_are_killed_none_is_lost_or_repeated() {
    const AT_ONCE: usize = 8;
    let rounds = if all_cases() { 40 } else { 2 };
    let served = Served::unlimited();
    for round in 0..rounds {
        served.reset();
        let home = served.home();
        let intents: Vec<Intent> = (0..AT_ONCE)
            .map(|it| Intent::number(round * AT_ONCE + it))
            .collect();
        std::thread::scope(|scope| {
            for (number, intent) in intents.iter().enumerate() {
                let home = &home;
                scope.spawn(move || {
                    let running = home.start(intent.arguments());
                    let moment = random((round * AT_ONCE + number) as u64);
                    // Not a wait: the random moment of its death.
                    std::thread::sleep(Duration::from_millis(120).mul_f64(moment));
                    running.kill();
                });
            }
        });
        settle_all(&home);
        let known: BTreeSet<String> = attempts(&home)
            .into_iter()
            .filter_map(|it| it.booking_id)
            .collect();
        assert_eq!(known.len(), attempts(&home).len());
        let made: Vec<Value> = intents.iter().flat_map(|it| it.bookings(&served)).collect();
        let guests: BTreeSet<String> = made
            .iter()
            .map(|it| text(&it["customer"], "name"))
            .collect();
        assert_eq!(guests.len(), made.len(), "booked twice: {made:?}");
        let ids: BTreeSet<String> = made.iter().map(|it| text(it, "id")).collect();
        assert_eq!(known, ids);
    }
}

/// Settles what is open, each by several at once: they are told of one booking.
fn settle_all(home: &Home) {
    let list = home.json("attempts");
    for attempt in list["attempts"].as_array().unwrap() {
        let key = text(attempt, "idempotency_key");
        let resumes: Vec<Running> = (0..3)
            .map(|_| home.start(["attempts", "resume", &key, "--json"]))
            .collect();
        let told: BTreeSet<String> = resumes
            .into_iter()
            .map(|resume| text(&resume.end().exits(0).json(), "id"))
            .collect();
        assert_eq!(told.len(), 1);
    }
    let list = home.json("attempts");
    assert_eq!(list["attempts"], json!([]));
}
