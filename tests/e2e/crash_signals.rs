//! "Ctrl-C at any point ends with the booking's id, its state and the command that resumes it."
//! (command line, Interactive) "every wait … ends within 200 ms of Ctrl-C" (design)

use std::time::Instant;

use crate::harness::{
    Home, Proxy, SOON, Served, Spoil, run_injected, run_traced, skipped, strace_is_missing, text,
    words,
};
use crate::promise::{Intent, Kept, attempts, sample, try_each};

const SIGNALS: [(&str, i32); 2] = [("INT", 130), ("TERM", 143)];

/// What an interrupted create says is what there is: a key to settle, a booking, or nothing.
fn says_what_there_is(home: &Home, intent: &Intent, served: &Served, stderr: &str) {
    match (&home.list("attempts")[..], &attempts(home)[..]) {
        ([attempt], _) => {
            let key = text(attempt, "idempotency_key");
            assert!(stderr.contains(&format!("bookctl attempts resume {key}")), "{stderr}");
        }
        (_, [known]) => {
            let id = known.booking_id.as_ref().unwrap();
            assert!(stderr.contains(id), "{stderr}");
        }
        _ => {
            assert!(intent.bookings(served).is_empty(), "{stderr}");
            assert!(stderr.contains("nothing was changed"), "{stderr}");
        }
    }
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn create_interrupted_at_any_system_call_says_how_to_go_on() {
    if strace_is_missing() {
        return;
    }
    let served = Served::unlimited();
    let (output, calls) = run_traced(&served.home(), Intent::number(0).arguments(), &[]);
    output.exits(0);
    // Before it listens for signals, they end it as they end any program: nothing was sent yet.
    let listens =
        calls.iter().rposition(|call| call.name == "rt_sigaction" && call.concerns("SIGTERM"));
    let calls = calls[listens.unwrap() + 1..].iter();
    let cases = calls.flat_map(|call| {
        SIGNALS.map(|(signal, code)| (call.inject(&format!("signal={signal}")), code))
    });
    let cases = sample(cases.collect(), 23);
    let ways = try_each("interrupts", 4, &cases, |served, number, (injection, code)| {
        let (home, intent) = (served.home(), Intent::number(number));
        let ended = run_injected(&home, intent.arguments(), std::slice::from_ref(injection));
        // One that comes when all is done changes nothing any more.
        assert!(ended.code == Some(*code) || ended.code == Some(0), "{injection}: {ended}");
        if ended.code == Some(*code) {
            says_what_there_is(&home, &intent, served, &ended.stderr);
        }
        intent.is_kept(served, &home, &ended)
    });
    assert!(ways.contains_key(&Kept::Nothing), "{ways:?}");
    assert!(ways.contains_key(&Kept::Known), "{ways:?}");
}

/// 129, 130, 131 and 143 (command line, Exit codes)
#[test]
fn create_that_waits_for_its_answer_ends_immediately() {
    let places = [0, 1, 17, 120, 300].into_iter();
    let signals = [SIGNALS[0], SIGNALS[1], ("HUP", 129), ("QUIT", 131)];
    let cases = places.flat_map(|place| signals.map(|signal| (place, signal)));
    let cases: Vec<(usize, (&str, i32))> = cases.collect();
    try_each("interrupts of a wait", 4, &cases, |served, number, (place, (signal, code))| {
        let proxy = Proxy::start(served.base_url(), Spoil::Stall(*place), usize::MAX);
        let home = Home::pointing_to(proxy.base_url(), "sk_live_sandbox");
        let intent = Intent::number(number);
        let running = home.start(intent.arguments());
        proxy.wait_for_create();
        let began = Instant::now();
        running.signal(&format!("-{signal}"));
        let ended = running.end();
        assert!(began.elapsed() < SOON, "{:?}: {ended}", began.elapsed());
        assert_eq!(ended.code, Some(*code), "{ended}");
        says_what_there_is(&home, &intent, served, &ended.stderr);
        proxy.behave();
        let way = intent.is_kept(served, &home, &ended);
        assert_eq!(way, Kept::Open);
        way
    });
}

/// The wall clock may be wrong, and may jump between a crash and what settles it: nothing rests on
/// it.
#[test]
fn a_wall_clock_that_jumps_loses_nothing() {
    let Some(library) = faketime() else {
        skipped("libfaketime is not there");
        return;
    };
    for (then, now) in [("-5y", "+0"), ("+5y", "+0"), ("+0", "-5y"), ("+0", "+5y"), ("+5y", "-5y")]
    {
        let served = Served::unlimited();
        let proxy = Proxy::start(served.base_url(), Spoil::Stall(0), usize::MAX);
        let folder = tempfile::tempdir().unwrap();
        let at = |offset: &str| {
            Home::pointing_to(proxy.base_url(), "sk_live_sandbox")
                .with("BOOKCTL_HOME", folder.path().to_str().unwrap())
                .with("LD_PRELOAD", &library)
                .with("FAKETIME", offset)
                .with("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        };
        let time = tomorrow_evening(&served);
        let book = format!("book ven_confirms --party 2 --name 'Ada Lovelace' --json --at {time}");
        let running = at(then).start(words(book));
        proxy.wait_for_create();
        assert_eq!(running.kill().code, None);
        proxy.behave();
        let home = at(now);
        let attempt = &home.list("attempts")[0];
        let (key, began) = (text(attempt, "idempotency_key"), text(attempt, "created_at"));
        // Tomorrow may be in the next year.
        let [began, time] = [&began, &time].map(|it| it[..4].parse::<i32>().unwrap());
        assert_eq!(began.abs_diff(time) > 1, then != "+0", "{began} {time}");
        home.ok(["attempts", "resume", &key, "--json"]);
        assert_eq!(served.bookings().len(), 1);
        assert!(home.list("attempts").is_empty(), "{then} {now}");
    }
}

/// The library that moves a program's clock, where Debian and its like keep it.
pub(crate) fn faketime() -> Option<String> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let libraries = folders.flatten().map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    let library = libraries.into_iter().find(|library| library.exists())?;
    Some(library.display().to_string())
}

/// Tomorrow at 19:30 by the sandbox's clock.
fn tomorrow_evening(served: &Served) -> String {
    let clock = served.home().json("sandbox clock");
    let now: jiff::Timestamp = text(&clock, "now").parse().unwrap();
    let tomorrow = now.to_zoned(jiff::tz::TimeZone::UTC).tomorrow().unwrap();
    format!("{}T19:30:00+00:00", tomorrow.date())
}
