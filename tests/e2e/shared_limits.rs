//! "parallel processes of one machine share what they know of the window through the journal"
//! (design, Policies): many booking requests at once against ten a window, all of them made, hardly
//! any of them refused.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::{Home, Served, text, words};
use crate::promise::{all_cases, attempts, tell};

/// Nobody queues: a booking request may see many windows come and go.
const LONGEST: Duration = Duration::from_secs(120);
/// Creates that a window holds (spec, Limits).
const A_WINDOW: usize = 10;
/// A slot surely holds so many.
const A_SLOT: usize = 3;

/// Slots enough for so many booking requests, remembered by the home, so that none of them searches
/// again.
fn slots(home: &Home, creates: usize) -> Vec<String> {
    let mut slots = Vec::new();
    for day in 1.. {
        if slots.len() * A_SLOT >= creates {
            break;
        }
        let at = format!("in {day} days 19:30");
        let list = home.run(words(format!("slots ven_confirms --at '{at}' --party 2 --json")));
        let list = list.exits(0).json();
        let found = list["slots"].as_array().unwrap().iter();
        slots.extend(found.map(|slot| text(slot, "availability_id")));
    }
    slots
}

/// How a booking request went: the windows that it lived through, and how often the service refused
/// it for its limit.
struct Create {
    windows: usize,
    refused: usize,
}

#[test]
#[ignore = "a storm takes most of a minute"]
fn creates_of_many_processes_wait_for_window_together() {
    let (processes, each) = if all_cases() { (20, 5) } else { (6, 3) };
    let (served, home) = Served::with_home();
    let slots = slots(&home, processes * each);
    // Windows that were opened so far by moving the clock.
    let opened = AtomicUsize::new(0);
    let made = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for process in 0..processes {
            let (home, slots, opened, made) = (&home, &slots, &opened, &made);
            scope.spawn(move || {
                for number in 0..each {
                    let before = opened.load(Ordering::SeqCst);
                    let slot = &slots[(process * each + number) / A_SLOT];
                    let guest = format!("Ada Lovelace-{process}-{number}");
                    let arguments = ["book", "--slot", slot, "--name", &guest, "--verbose"];
                    let patience = ["--max-wait", "2h", "--json"];
                    let running = home.start(arguments.iter().chain(&patience));
                    let ended = running.end_within(LONGEST).exits(0);
                    made.lock().unwrap().push(Create {
                        windows: opened.load(Ordering::SeqCst) - before + 1,
                        refused: ended.stderr.matches("< 429\n").count(),
                    });
                }
            });
        }
        let deadline = Instant::now() + LONGEST;
        let (mut seen, mut idle) = (0, 0);
        while made.lock().unwrap().len() < processes * each {
            assert!(Instant::now() < deadline, "{} of them are made", made.lock().unwrap().len());
            // Between two looks: where nothing was booked in one, all are taken to be waiting for
            // the window.
            std::thread::sleep(Duration::from_millis(400));
            let now = served.bookings().len();
            idle = if now == seen { idle + 1 } else { 0 };
            seen = now;
            // Once a window is used up, all that are left wait for the next. Counts may be on the
            // safe side, too.
            if idle >= if now.is_multiple_of(A_WINDOW) { 1 } else { 6 } {
                served.home().advance("5m");
                opened.fetch_add(1, Ordering::SeqCst);
                idle = 0;
            }
        }
    });
    assert_eq!(served.bookings().len(), processes * each);
    assert_eq!(attempts(&home).len(), processes * each);
    assert!(attempts(&home).iter().all(|attempt| attempt.state == "resolved"));
    let made = made.into_inner().unwrap();
    for create in &made {
        assert!(
            create.refused <= create.windows,
            "{} refusals in {} windows",
            create.refused,
            create.windows
        );
    }
    let refused: usize = made.iter().map(|create| create.refused).sum();
    let what = format!("creates of {processes} processes in {} windows", opened.into_inner() + 1);
    tell(&what, made.len(), &format!("all made, {refused} times refused for the limit"));
    // Only before anything is known of the window can more be sent than it holds.
    assert!(refused <= processes, "{refused} refusals");
}
