//! "Nothing is booked twice, and nothing is forgotten": what must hold after a create, however it
//! ended.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::harness::{Home, Output, Served, text};

/// Whether every case is tried; else a sample of them, the same each time.
pub(crate) fn all_cases() -> bool {
    std::env::var("BOOKCTL_CRASHES").is_ok_and(|value| value == "all")
}

/// All of the cases where all are asked for, else every `stride`th.
pub(crate) fn sample<T>(cases: Vec<T>, stride: usize) -> Vec<T> {
    sample_around(cases, stride, |_| false)
}

/// The same, with each case that is close to a decisive one.
pub(crate) fn sample_around<T>(
    cases: Vec<T>,
    stride: usize,
    is_decisive: impl Fn(&T) -> bool,
) -> Vec<T> {
    const CLOSE: usize = 2;
    if all_cases() {
        return cases;
    }
    let decisive: Vec<bool> = cases.iter().map(is_decisive).collect();
    let is_close = |place: usize| {
        let around = place.saturating_sub(CLOSE)..decisive.len().min(place + CLOSE + 1);
        decisive[around].contains(&true)
    };
    let numbered = cases.into_iter().enumerate();
    let chosen = numbered.filter(|(place, _)| place % stride == 0 || is_close(*place));
    chosen.map(|(_, case)| case).collect()
}

/// Tries every case, `workers` at once, each of them with a sandbox of its own that meters nothing;
/// says and returns how often it ended in which way.
pub(crate) fn try_each<T: Sync>(
    what: &str,
    workers: usize,
    cases: &[T],
    check: impl Fn(&Served, usize, &T) -> Kept + Sync,
) -> BTreeMap<Kept, usize> {
    try_each_with(what, workers, cases, Served::unlimited, |served, number, case| {
        served.reset();
        check(served, number, case)
    })
}

/// The same without a sandbox.
pub(crate) fn try_each_alone<T: Sync>(
    what: &str,
    workers: usize,
    cases: &[T],
    check: impl Fn(usize, &T) -> Kept + Sync,
) {
    try_each_with(what, workers, cases, || (), |(), number, case| check(number, case));
}

/// The same with something else than a sandbox for each worker.
pub(crate) fn try_each_with<T: Sync, S>(
    what: &str,
    workers: usize,
    cases: &[T],
    prepare: impl Fn() -> S + Sync,
    check: impl Fn(&S, usize, &T) -> Kept + Sync,
) -> BTreeMap<Kept, usize> {
    let next = AtomicUsize::new(0);
    let ways = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..workers.min(cases.len()) {
            scope.spawn(|| {
                let prepared = prepare();
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let Some(case) = cases.get(number) else {
                        return;
                    };
                    let way = check(&prepared, number, case);
                    *ways.lock().unwrap().entry(way).or_insert(0) += 1;
                }
            });
        }
    });
    let ways = ways.into_inner().unwrap();
    let told: Vec<String> = ways.iter().map(|(way, count)| format!("{count} {way}")).collect();
    tell(what, cases.len(), &told.join(", "));
    ways
}

/// How often something was tried and what came of it, as the table of `tests/crash/run` takes it
/// up.
#[expect(clippy::print_stderr, reason = "what a test says is kept for whoever asks to see it")]
pub(crate) fn tell(what: &str, tried: usize, came: &str) {
    eprintln!("{what}: {tried} tried: {came}");
}

/// How the promise was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    /// No intent, no booking.
    Nothing,
    /// An intent whose request never reached the service; settling it made the booking.
    Unsent,
    /// A booking whose answer was not noted; settling it found the booking.
    Open,
    /// A booking that the journal already had.
    Known,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kept::Nothing => "left nothing",
            Kept::Unsent => "left an intent that was not sent yet",
            Kept::Open => "left a booking that settling found",
            Kept::Known => "left a booking that was known already",
        })
    }
}

/// A booking request that is to happen once: its guest tells its booking from every other.
pub(crate) struct Intent {
    guest: String,
    time: String,
}

impl Intent {
    pub(crate) fn number(number: usize) -> Self {
        Intent {
            guest: format!("Ada Lovelace-{number}"),
            // Neighbours do not contend for one slot: a slot holds few.
            time: format!("tomorrow {}:{}0", 17 + number / 2 % 5, number % 2 * 3),
        }
    }

    pub(crate) fn guest(&self) -> &str {
        &self.guest
    }

    /// The command line that books it.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let (time, guest) = (&self.time, &self.guest);
        let book = ["book", "ven_confirms", "--json", "--at", time];
        [&book[..], &["--party", "2", "--name", guest]].concat()
    }

    /// The bookings of it that the service holds.
    pub(crate) fn bookings(&self, served: &Served) -> Vec<Value> {
        let mut bookings = served.bookings();
        bookings.retain(|booking| booking["customer"]["name"] == self.guest.as_str());
        bookings
    }

    /// Asserts the promise after a run that ended like this, for whatever reason; settles what is
    /// open.
    ///
    /// Before anything is settled: at most one booking, and one that exists is known to the
    /// journal. Afterwards: exactly one booking for each intent that the journal holds, with its
    /// id, and nothing open.
    #[track_caller]
    pub(crate) fn is_kept(&self, served: &Served, home: &Home, ended: &Output) -> Kept {
        let open = home.list("attempts");
        let made = self.bookings(served);
        assert!(made.len() <= 1, "booked twice: {made:?}\n{ended}");
        let journal = attempts(home);
        assert!(journal.len() <= 1, "one create, two intents: {journal:?}\n{ended}");
        if let [booking] = &made[..] {
            let settled =
                journal.iter().any(|it| it.booking_id.as_ref() == Some(&text(booking, "id")));
            assert!(settled || open.len() == 1, "forgotten: {booking}\n{journal:?}\n{ended}");
        }
        match ended.code {
            Some(0) => {
                assert_eq!(made.len(), 1, "a false success: {ended}");
                assert_eq!(ended.json()["id"], made[0]["id"], "{ended}");
            }
            // Configuration or journal, not reached: nothing was sent.
            Some(3 | 15) => assert!(made.is_empty(), "a false failure: {made:?}\n{ended}"),
            // Open, interrupted, or dead: the journal knows, as asserted above.
            Some(16 | 129..=131 | 143) | None => {}
            // The result could not be written: the booking is known all the same.
            Some(1) => assert!(made.is_empty() || !journal.is_empty(), "{ended}"),
            _ => panic!("{ended}"),
        }
        for attempt in &open {
            let key = text(attempt, "idempotency_key");
            let settled = home.json(&format!("attempts resume {key}"));
            let now = self.bookings(served);
            assert_eq!(now.len(), 1, "{now:?}\n{ended}");
            assert_eq!(settled["id"], now[0]["id"]);
        }
        let (known, held) = (attempts(home), self.bookings(served));
        assert_eq!(known.len(), held.len(), "{known:?}\n{held:?}\n{ended}");
        for (attempt, booking) in known.iter().zip(&held) {
            assert_eq!(attempt.state, "resolved", "{ended}");
            assert_eq!(attempt.booking_id, Some(text(booking, "id")), "{ended}");
        }
        match (made.is_empty(), open.is_empty()) {
            (true, true) => Kept::Nothing,
            (true, false) => Kept::Unsent,
            (false, false) => Kept::Open,
            (false, true) => Kept::Known,
        }
    }
}

/// What the journal itself holds of an attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) state: String,
    pub(crate) booking_id: Option<String>,
}

pub(crate) fn attempts(home: &Home) -> Vec<Attempt> {
    let path = home.path().join("journal.db");
    let journal = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut rows =
        journal.prepare("SELECT state, booking_id FROM attempts ORDER BY created_at").unwrap();
    let attempts =
        rows.query_map([], |row| Ok(Attempt { state: row.get(0)?, booking_id: row.get(1)? }));
    attempts.unwrap().map(Result::unwrap).collect()
}
