//! "Whatever then happens, kill -9 at any instruction included, the next run knows it, and
//! `attempts resume` settles it with the same key." (design, What must never happen)

use std::collections::BTreeSet;
use std::path::Path;
use std::slice;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{
    Home, Output, Running, Served, SystemCall, random, run_injected, run_traced, strace_is_missing,
    text, words,
};
use crate::promise::{Intent, Kept, all_cases, attempts, sample_around, try_each};

const KILL: &str = "signal=KILL";
/// In the call that sends a booking request.
const CREATE: &str = "POST /v1/bookings ";

/// Each of these calls, or a sample: nothing can have happened yet before the journal is touched.
fn worth_killing(calls: Vec<SystemCall>, stride: usize) -> Vec<SystemCall> {
    let touched = calls.iter().position(|call| call.concerns("journal.db"));
    let skipped = if all_cases() { 0 } else { touched.unwrap() };
    let calls = calls.into_iter().skip(skipped);
    // How often memory is asked for differs from run to run.
    let calls = calls.filter(|call| call.name != "brk").collect();
    sample_around(calls, stride, |call: &SystemCall| call.concerns(CREATE))
}

/// A home, the command that is killed in it, and the booking request that is neither to be lost nor
/// repeated.
struct Scene {
    home: Home,
    command: Vec<String>,
    intent: Intent,
}

impl Scene {
    fn new(home: Home, command: &str, intent: Intent) -> Self {
        let command = words(command);
        Scene { home, command, intent }
    }

    fn create(home: Home, number: usize) -> Self {
        let intent = Intent::number(number);
        let command = intent.arguments().into_iter().map(str::to_owned).collect();
        Scene { home, command, intent }
    }

    fn calls(&self) -> Vec<SystemCall> {
        let (output, calls) = run_traced(&self.home, &self.command, &[]);
        output.exits(0);
        calls
    }
}

/// Kills the command of such scenes at each of its calls, or at a sample of them: what is kept then
/// is kept in each of these ways, and in no other.
fn kill_each(
    what: &str,
    stride: usize,
    prepare: impl Fn(&Served, usize) -> Scene + Sync,
    kept: impl Fn(&Served, &Scene, &Output) -> Kept + Sync,
    expected: &[Kept],
) {
    if strace_is_missing() {
        return;
    }
    let calls = worth_killing(prepare(&Served::unlimited(), 0).calls(), stride);
    let ways = try_each(what, 4, &calls, |served, number, call| {
        let scene = prepare(served, number);
        let ended = run_injected(&scene.home, &scene.command, &[call.inject(KILL)]);
        // How many pages there are to write differs from run to run.
        let as_meant = matches!(ended.code, None | Some(0));
        assert!(as_meant, "{}: {ended}", call.line);
        kept(served, &scene, &ended)
    });
    assert!(ways.keys().eq(expected), "{ways:?}");
}

/// Kills creates of homes with such a file of a journal.
fn kill_creates(what: &str, stride: usize, journal: Option<&Path>) {
    let prepare = |served: &Served, number: usize| {
        let home = served.home();
        if let Some(journal) = journal {
            std::fs::create_dir_all(home.path()).unwrap();
            std::fs::copy(journal, home.path().join("journal.db")).unwrap();
        }
        Scene::create(home, number)
    };
    let kept = |served: &Served, scene: &Scene, ended: &Output| {
        scene.intent.is_kept(served, &scene.home, ended)
    };
    let expected = [Kept::Nothing, Kept::Unsent, Kept::Open, Kept::Known];
    kill_each(what, stride, prepare, kept, &expected);
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn first_booking_killed_at_any_call_is_not_lost_or_repeated() {
    kill_creates("kills of a first create", 9, None);
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn booking_killed_at_any_call_in_a_used_home_is_not_lost() {
    // Searches were remembered; no attempt is there yet.
    let used = Served::unlimited().home();
    used.ok(["attempts"]);
    let journal = used.path().join("journal.db");
    kill_creates("kills of a create", 13, Some(&journal));
}

/// What kills a booking request once its request is out, where its answer is read.
static KILL_AT_THE_ANSWER: LazyLock<String> = LazyLock::new(|| {
    let served = Served::unlimited();
    let calls = Scene::create(served.home(), 0).calls();
    let create = calls.iter().position(|call| call.concerns(CREATE));
    let mut answer = calls[create.unwrap()..].iter();
    let answer = answer.find(|call| call.name == "recvfrom");
    answer.unwrap().inject(KILL)
});

/// Leaves an attempt open in a home: its key.
fn leave_open(home: &Home, intent: &Intent) -> String {
    let kill = slice::from_ref(&*KILL_AT_THE_ANSWER);
    let ended = run_injected(home, intent.arguments(), kill);
    assert_eq!(ended.code, None, "{ended}");
    text(&home.list("attempts")[0], "idempotency_key")
}

/// Settles the one attempt that is open, whose booking was made: once.
fn settles_the_open_one(served: &Served, scene: &Scene) -> Kept {
    let attempt = &scene.home.list("attempts")[0];
    let guest = &attempt["request"]["customer"]["name"];
    assert_eq!(*guest, scene.intent.guest());
    let key = text(attempt, "idempotency_key");
    let settled = scene.home.json(&format!("attempts resume {key}"));
    let made = scene.intent.bookings(served);
    assert_eq!(made.len(), 1);
    assert_eq!(settled["id"], made[0]["id"]);
    Kept::Open
}

/// The booking request is killed once its request is out, then what settles it is killed too.
#[test]
#[ignore = "samples of every moment take minutes"]
fn settling_an_attempt_may_be_killed_at_any_system_call_as_well() {
    let prepare = |served: &Served, number: usize| {
        let (home, intent) = (served.home(), Intent::number(number));
        let key = leave_open(&home, &intent);
        Scene::new(home, &format!("attempts resume {key} --json"), intent)
    };
    let kept = |served: &Served, scene: &Scene, ended: &Output| {
        scene.intent.is_kept(served, &scene.home, ended)
    };
    let expected = [Kept::Open, Kept::Known];
    kill_each("kills of a resume", 15, prepare, kept, &expected);
}

/// Forgetting guests rewrites the whole journal; an attempt that is open stays in it, whenever that
/// ends.
#[test]
#[ignore = "samples of every moment take minutes"]
fn forgetting_guests_may_be_killed_at_any_system_call() {
    let prepare = |served: &Served, number: usize| {
        let home = served.home();
        let key = leave_open(&home, &Intent::number(number));
        // Another one is settled, and to be forgotten.
        home.ok(["attempts", "resume", &key]);
        let intent = Intent::number(number + 10_000);
        leave_open(&home, &intent);
        let forget = "bookings forget --before 2100-01-01 --yes --json";
        Scene::new(home, forget, intent)
    };
    let kept = |served: &Served, scene: &Scene, _: &Output| settles_the_open_one(served, scene);
    kill_each("kills of a forgetting", 17, prepare, kept, &[Kept::Open]);
}

const RECOVER: &str = "journal recover --json";

/// Ends what a killed recovery began, where the journal does not serve as it is.
fn recover(home: &Home) {
    if home.run(["attempts"]).code != Some(0) {
        home.ok(words(RECOVER));
    }
}

/// A damaged journal is kept aside, whenever that ends: not a byte of it is lost.
#[test]
#[ignore = "samples of every moment take minutes"]
fn recover_killed_at_any_call_loses_no_byte() {
    let damaged = b"this was a journal once ".repeat(400);
    let prepare = |served: &Served, number: usize| {
        let home = served.home();
        std::fs::create_dir_all(home.path()).unwrap();
        std::fs::write(home.path().join("journal.db"), &damaged).unwrap();
        Scene::new(home, RECOVER, Intent::number(number))
    };
    let kept = |served: &Served, scene: &Scene, ended: &Output| {
        let (home, intent) = (&scene.home, &scene.intent);
        recover(home);
        let files = std::fs::read_dir(home.path()).unwrap();
        let mut contents = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
        assert!(contents.any(|content| content == damaged), "{ended}");
        let ended = home.run(intent.arguments());
        intent.is_kept(served, home, &ended)
    };
    kill_each("kills of a recovery", 17, prepare, kept, &[Kept::Known]);
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn recover_killed_at_any_call_forgets_no_request() {
    let prepare = |served: &Served, number: usize| {
        let (home, intent) = (served.home(), Intent::number(number));
        leave_open(&home, &intent);
        let foreign = rusqlite::Connection::open(home.path().join("journal.db")).unwrap();
        foreign.execute_batch("CREATE TABLE added (id)").unwrap();
        Scene::new(home, RECOVER, intent)
    };
    let kept = |served: &Served, scene: &Scene, _: &Output| {
        recover(&scene.home);
        settles_the_open_one(served, scene)
    };
    let what = "kills of a recovery of a journal with foreign tables";
    kill_each(what, 19, prepare, kept, &[Kept::Open]);
}

/// Between system calls too, and within them: whenever the clock says so.
#[test]
#[ignore = "samples of every moment take minutes"]
fn create_killed_at_any_moment_is_neither_lost_nor_repeated() {
    let cases: Vec<u64> = (0..if all_cases() { 1000 } else { 16 }).collect();
    try_each("kills at random", 4, &cases, |served, number, case| {
        // How long one takes now, as busy as the machine is.
        let measured = served.home();
        let running = measured.start(Intent::number(number + 100_000).arguments());
        let began = Instant::now();
        running.ends(0);
        let longest = began.elapsed();
        let (home, intent) = (served.home(), Intent::number(number));
        let running = home.start(intent.arguments());
        // Not a wait: the random moment of its death.
        std::thread::sleep(longest.mul_f64(1.2 * random(*case)));
        let ended = running.kill();
        intent.is_kept(served, &home, &ended)
    });
}

/// Processes that share a home are killed while others write: what one leaves half done in the
/// journal, the next takes back, and nobody's intent is lost.
#[test]
#[ignore = "samples of every moment take minutes"]
fn of_many_creates_in_one_home_killed_none_is_lost_or_repeated() {
    const AT_ONCE: usize = 8;
    let rounds = if all_cases() { 40 } else { 2 };
    let served = Served::unlimited();
    for round in 0..rounds {
        served.reset();
        let home = served.home();
        let intents: Vec<Intent> =
            (0..AT_ONCE).map(|it| Intent::number(round * AT_ONCE + it)).collect();
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
        let known: BTreeSet<String> =
            attempts(&home).into_iter().filter_map(|it| it.booking_id).collect();
        assert_eq!(known.len(), attempts(&home).len());
        let made: Vec<Value> = intents.iter().flat_map(|it| it.bookings(&served)).collect();
        let guests: BTreeSet<String> =
            made.iter().map(|it| text(&it["customer"], "name")).collect();
        assert_eq!(guests.len(), made.len(), "booked twice: {made:?}");
        let ids: BTreeSet<String> = made.iter().map(|it| text(it, "id")).collect();
        assert_eq!(known, ids);
    }
}

/// Settles what is open, each by several at once: they are told of one booking.
fn settle_all(home: &Home) {
    for attempt in home.list("attempts") {
        let key = text(&attempt, "idempotency_key");
        let resumes: Vec<Running> =
            (0..3).map(|_| home.start(["attempts", "resume", &key, "--json"])).collect();
        let told: BTreeSet<String> =
            resumes.into_iter().map(|resume| text(&resume.ends(0).json(), "id")).collect();
        assert_eq!(told.len(), 1);
    }
    assert!(home.list("attempts").is_empty());
}
