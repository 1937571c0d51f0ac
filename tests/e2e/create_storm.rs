//! Many processes on one home, a service that misbehaves in every way HTTP allows, and kills at any
//! moment: nothing is booked twice, nothing is forgotten, nothing is called a success that is none.
//!
//! `BOOKCTL_STORM_SEED` repeats the choices of a storm; how its processes meet is up to the
//! machine.

mod wrongs;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use self::wrongs::{Task, Wrong, guest_of, wrongs};
use crate::harness::{Draw, Home, Misbehaving, Running, by_chance, text};
use crate::promise::{all_cases, tell};

/// Three tries, the pauses between them, a rate limit and a journal that others hold take less than
/// five seconds; the rest is for a machine that is busy.
const A_CREATE: Duration = Duration::from_secs(30);
/// The same for a batch of a few rows.
const A_BATCH: Duration = Duration::from_secs(90);
const ROWS: usize = 5;
const AT: &str = "2031-12-01T19:30:00Z";

/// One storm, on one home.
struct Storm {
    seed: u64,
    creates: usize,
    at_once: usize,
    /// How long a process waits for an answer, and for a journal that others hold.
    timeout: Duration,
    /// Guests are forgotten as soon as their attempts are concluded.
    forgets: bool,
}

/// What was seen in a storm.
#[derive(Default)]
struct Seen {
    creates: usize,
    processes: usize,
    kills: usize,
    interrupts: usize,
    longest: Duration,
    /// How often processes ended with which code; -1 where a signal ended them.
    codes: BTreeMap<i32, usize>,
    posts: usize,
    bookings: usize,
    /// Attempts that were open when the storm was over.
    open: usize,
    wrong: Vec<(Wrong, String)>,
}

#[test]
#[ignore = "a storm takes most of a minute"]
fn storm_of_booking_requests_books_once_and_forgets_nothing() {
    let (creates, at_once) = if all_cases() { (5000, 20) } else { (150, 10) };
    let seed = seed();
    let homes = if all_cases() { 4 } else { 2 };
    let seen = Mutex::new(Seen::default());
    for home in 0..homes {
        let storm = Storm {
            seed: seed.wrapping_add(home as u64),
            creates: creates / homes,
            at_once,
            timeout: Duration::from_millis(if all_cases() { 1000 } else { 500 }),
            forgets: home % 2 == 1,
        };
        storm.run(&seen);
    }
    let seen = seen.into_inner().unwrap();
    let count = |wrong: Wrong| seen.wrong.iter().filter(|(it, _)| *it == wrong).count();
    tell(
        &format!("creates in a storm of {at_once} processes at once (seed {seed})"),
        seen.creates,
        &format!(
            "{} duplicates, {} unknown bookings, {} false successes, {} false refusals, {} hangs, {} left open, \
             {} wrong ends; {} kills, {} interrupts, {} processes, {} requests, {} bookings, {} open when it was \
             over, the longest process {:.1} s, exit codes {:?}",
            count(Wrong::Duplicate),
            count(Wrong::UnknownBooking),
            count(Wrong::FalseSuccess),
            count(Wrong::FalseRefusal),
            count(Wrong::Hang),
            count(Wrong::LeftOpen),
            count(Wrong::End),
            seen.kills,
            seen.interrupts,
            seen.processes,
            seen.posts,
            seen.bookings,
            seen.open,
            seen.longest.as_secs_f64(),
            seen.codes,
        ),
    );
    let told: Vec<String> =
        seen.wrong.iter().map(|(wrong, what)| format!("{wrong:?}: {what}")).collect();
    assert!(
        told.is_empty(),
        "BOOKCTL_STORM_SEED={seed}: {} wrongs\n{}",
        told.len(),
        told.join("\n\n")
    );
    // A storm in which nothing happens proves nothing.
    assert!(seen.bookings > 0 && seen.open > 0 && seen.kills > 0);
}

/// The same in each run of the suite; another in each run of all cases.
fn seed() -> u64 {
    if let Ok(seed) = std::env::var("BOOKCTL_STORM_SEED") {
        return seed.parse().unwrap();
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    if all_cases() { now.as_secs() } else { 1 }
}

impl Storm {
    fn run(&self, seen: &Mutex<Seen>) {
        let service = Misbehaving::start(by_chance(self.seed, self.timeout));
        let retention = if self.forgets { "0" } else { "90d" };
        let home = Home::pointing_to(service.base_url(), "sk_live_sandbox")
            .configured(&format!("retention = \"{retention}\"\n"));
        let (next, created) = (AtomicUsize::new(0), AtomicUsize::new(0));
        at_once(self.at_once, || {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let task = self.task(number);
            if created.fetch_add(task.creates(), Ordering::SeqCst) >= self.creates {
                return None;
            }
            self.process(&service, &home, number, &task, seen);
            Some(())
        });
        service.wait_until_idle();
        let open = open_keys(&home);
        seen.lock().unwrap().open += open.len();
        // Settled while the service still misbehaves, as far as that goes.
        service.plan(by_chance(!self.seed, self.timeout));
        self.resume_all(&service, &home, &open, self.timeout, seen);
        service.wait_until_idle();
        service.behave();
        let open = open_keys(&home);
        // Patient enough for a journal that others hold: what is then still open is left open for
        // ever.
        self.resume_all(&service, &home, &open, Duration::from_secs(10), seen);
        look(&service, &home, &mut seen.lock().unwrap());
    }

    /// Of eight processes one is a batch, and one resumes.
    fn task(&self, number: usize) -> Task {
        let mut draw = Draw::seeded(self.seed, "task", number);
        // Neighbours start at the same time: two or three of them want the same.
        let shared = |near: usize| format!("key-{}", (number + near) * 2 / 5);
        match number % 8 {
            3 => {
                let own = (0..).map(|row| format!("row-{number}-{row}"));
                let is_told = |key: &String| !self.searches(key);
                // A batch always has rows of its own.
                let mut keys: Vec<String> = own.filter(is_told).take(ROWS - 2).collect();
                keys.extend([shared(1), shared(4)].into_iter().filter(is_told));
                Task::Batch(keys)
            }
            7 => Task::Resume(format!("key-{}", number.saturating_sub(3) * 2 / 5)),
            _ if draw.part() < 0.25 => Task::Create(format!("Ada own-{number}"), None),
            _ => Task::Create(guest_of(&shared(0)), Some(shared(0))),
        }
    }

    /// Whether creates of this key look for their slot first, on a connection of their own.
    fn searches(&self, key: &str) -> bool {
        Draw::seeded(self.seed, key, usize::MAX).part() < 0.15
    }

    fn arguments(&self, home: &Home, number: usize, task: &Task, timeout: Duration) -> Vec<String> {
        let mut draw = Draw::seeded(self.seed, "flags", number);
        let mut arguments: Vec<String> = match task {
            Task::Create(guest, key) => {
                let book = ["book", "ven_1", "--at", AT, "--party", "2", "--name", guest];
                let mut book: Vec<String> = book.map(str::to_owned).to_vec();
                if !key.as_ref().is_some_and(|key| self.searches(key)) {
                    book.extend(["--slot", "slot_1"].map(str::to_owned));
                }
                if let Some(key) = key {
                    book.extend(["--idempotency-key", key].map(str::to_owned));
                }
                book
            }
            Task::Batch(keys) => {
                let rows: String = keys.iter().map(|key| format!("{}\n", row(key))).collect();
                let file = home.folder().join(format!("rows-{number}.jsonl"));
                std::fs::write(&file, rows).unwrap();
                vec!["batch".into(), file.display().to_string()]
            }
            Task::Resume(key) => ["attempts", "resume", key].map(str::to_owned).to_vec(),
        };
        let timeout = format!("{}ms", timeout.as_millis());
        let wait = draw.of_these(&["0s", "1s"]);
        arguments.extend(["--json", "--timeout", &timeout, "--max-wait", wait].map(str::to_owned));
        arguments
    }

    /// Runs one process to whatever end, and looks at how it ended.
    fn process(
        &self,
        service: &Misbehaving,
        home: &Home,
        number: usize,
        task: &Task,
        seen: &Mutex<Seen>,
    ) {
        let mut draw = Draw::seeded(self.seed, "end", number);
        let (chance, moment) = (draw.part(), (2 * self.timeout).mul_f64(draw.part()));
        let mut running = home.start(self.arguments(home, number, task, self.timeout));
        let began = Instant::now();
        let killed = chance < 0.2;
        let interrupted = !killed && chance < 0.28;
        if killed || interrupted {
            // Not a wait: the random moment at which this one is killed or interrupted.
            std::thread::sleep(moment);
        }
        if interrupted {
            running.signal("-INT");
        }
        let bound = if let Task::Batch(_) = task { A_BATCH } else { A_CREATE };
        let hangs = !killed && !ends_within(&mut running, bound);
        let took = began.elapsed();
        let ended = running.kill();
        let mut wrong = Vec::new();
        if hangs {
            wrong.push((Wrong::Hang, format!("{took:?}: {ended}")));
        } else {
            wrong.extend(wrongs(&service.ledger(), task, &ended, killed));
        }
        let mut seen = seen.lock().unwrap();
        seen.creates += task.creates();
        seen.processes += 1;
        // Some have come to their end before.
        seen.kills += usize::from(ended.code.is_none());
        seen.interrupts += usize::from(ended.code == Some(130));
        seen.longest = seen.longest.max(took);
        *seen.codes.entry(ended.code.unwrap_or(-1)).or_default() += 1;
        seen.wrong.extend(wrong);
    }

    /// Resumes these, several at once; they are not killed.
    fn resume_all(
        &self,
        service: &Misbehaving,
        home: &Home,
        keys: &[String],
        timeout: Duration,
        seen: &Mutex<Seen>,
    ) {
        let next = AtomicUsize::new(0);
        at_once(self.at_once, || {
            let key = keys.get(next.fetch_add(1, Ordering::SeqCst))?;
            let task = Task::Resume(key.clone());
            let mut running = home.start(self.arguments(home, 0, &task, timeout));
            let began = Instant::now();
            let hangs = !ends_within(&mut running, A_CREATE);
            let (took, ended) = (began.elapsed(), running.kill());
            let wrong = match hangs {
                true => vec![(Wrong::Hang, ended.to_string())],
                false => wrongs(&service.ledger(), &task, &ended, false),
            };
            let mut seen = seen.lock().unwrap();
            seen.longest = seen.longest.max(took);
            seen.wrong.extend(wrong);
            Some(())
        });
    }
}

/// Compares what the journal knows with the service's ledger, once all is settled.
fn look(service: &Misbehaving, home: &Home, seen: &mut Seen) {
    let (ledger, posted) = (service.ledger(), service.posted());
    seen.posts += posted.len();
    seen.bookings += ledger.len();
    for key in open_keys(home) {
        seen.wrong.push((Wrong::LeftOpen, key));
    }
    let mut keys: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut requests: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for post in &posted {
        let guest = text(&post.request["customer"], "name");
        keys.entry(guest).or_default().insert(&post.key);
        requests.entry(&post.key).or_default().insert(canonical(&post.request));
    }
    for (guest, keys) in keys.into_iter().filter(|(_, keys)| keys.len() > 1) {
        seen.wrong.push((Wrong::Duplicate, format!("{guest} under two keys: {keys:?}")));
    }
    for (key, requests) in requests.into_iter().filter(|(_, them)| them.len() > 1) {
        seen.wrong.push((Wrong::Duplicate, format!("{key} for two requests: {requests:?}")));
    }
    let known = home.list("attempts list --all");
    for made in &ledger {
        let attempt = known.iter().find(|it| it["idempotency_key"] == made.key.as_str());
        // What nothing settles is counted by itself.
        let is_known = attempt
            .is_some_and(|it| it["booking_id"] == made.id.as_str() || it["state"] == "unresolved");
        if !is_known {
            let what = format!("{} of {}: {attempt:?}", made.id, made.key);
            seen.wrong.push((Wrong::UnknownBooking, what));
        }
    }
    for attempt in known.iter().filter(|it| it["state"] == "resolved") {
        let is_so = ledger.iter().any(|made| {
            attempt["idempotency_key"] == made.key.as_str()
                && attempt["booking_id"] == made.id.as_str()
        });
        if !is_so {
            seen.wrong.push((Wrong::FalseSuccess, format!("settled: {attempt}")));
        }
    }
}

/// Runs `work` in so many threads until each was told that nothing is left.
fn at_once(threads: usize, work: impl Fn() -> Option<()> + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| while work().is_some() {});
        }
    });
}

/// The row that asks for what a booking request of this key asks for.
fn row(key: &str) -> Value {
    json!({
        "venue_id": "ven_1", "datetime": AT, "availability_id": "slot_1", "party_size": 2,
        "customer": {"name": guest_of(key)}, "idempotency_key": key,
    })
}

/// A request with its fields in one order.
fn canonical(request: &Value) -> String {
    let mut fields: Vec<String> = request
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    fields.sort();
    fields.join("&")
}

fn ends_within(running: &mut Running, bound: Duration) -> bool {
    let began = Instant::now();
    while !running.has_ended() {
        if began.elapsed() > bound {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

fn open_keys(home: &Home) -> Vec<String> {
    let open = home.list("attempts");
    open.iter().map(|it| text(it, "idempotency_key")).collect()
}
