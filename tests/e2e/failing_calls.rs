//! A disk that refuses the n-th call, alone or with all that follow, for every n of a booking
//! request: nothing is sent without an intent that survives a power cut, and nothing is called a
//! success that is none.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use serde_json::Value;

use crate::harness::{
    Act, Disk, Home, Misbehaving, Output, Step, SystemCall, run_recorded_injected, run_traced,
    strace_is_missing, text,
};
use crate::promise::{Kept, sample_around, try_each_alone};
use crate::two_runs::{booking, home};

/// What a disk may answer to any call: full, broken, or no longer writable.
const ERRORS: [&str; 3] = ["ENOSPC", "EIO", "EROFS"];

/// Draws of what a power cut leaves where something was not synced; the first leaves nothing of it,
/// the second all.
const CUTS: u64 = 6;

/// How a home stands before the booking request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Before {
    Blank,
    /// There is a journal.
    Used,
    /// There is a journal with a guest in it, who is forgotten with the next create.
    Forgets,
    /// The attempt is there, and is resumed.
    Open,
}

impl Before {
    fn prepare(self, service: &Misbehaving) -> Home {
        let home = home(service, self == Before::Forgets);
        match self {
            Before::Blank => {}
            Before::Used => {
                home.ok(["attempts"]);
            }
            Before::Forgets => {
                // Nobody says that this one is to be forgotten before the next create does.
                home.ok(booking("earlier", &["--retention", "90d"]));
            }
            Before::Open => {
                service.plan(|_| Act::lost());
                home.run(booking("order-1", &[])).exits(16);
                service.behave();
            }
        }
        home
    }

    fn arguments(self) -> Vec<String> {
        match self {
            Before::Open => ["attempts", "resume", "order-1", "--json"].map(str::to_owned).to_vec(),
            _ => booking("order-1", &[]),
        }
    }
}

struct Failing {
    before: Before,
    injection: String,
    line: String,
}

impl Failing {
    fn name(&self) -> String {
        format!("{:?}: {} at {}", self.before, self.injection, self.line)
    }
}

fn failures() -> Vec<Failing> {
    let mut failures = Vec::new();
    for before in [Before::Blank, Before::Used, Before::Forgets, Before::Open] {
        let service = Misbehaving::start(|_| Act::proper());
        let home = before.prepare(&service);
        let folder = home.path().display().to_string();
        let (output, calls) = run_traced(&home, before.arguments(), &[]);
        output.exits(0);
        for call in calls.iter().filter(|call| may_fail(call, &folder)) {
            let too_many = (call.name == "openat").then_some("EMFILE");
            for error in ERRORS.into_iter().chain(too_many) {
                let once = call.inject(&format!("error={error}"));
                let from_then_on = format!("{once}+");
                failures.extend([once, from_then_on].map(|injection| Failing {
                    before,
                    injection,
                    line: call.line.clone(),
                }));
            }
        }
    }
    failures
}

/// Whether it is a call of the disk's. A look for a file that is not there is no failure of it.
fn may_fail(call: &SystemCall, folder: &str) -> bool {
    let is_its_own = !["close", "fcntl"].contains(&call.name.as_str());
    is_its_own && call.concerns(folder) && !call.concerns("= -1 ")
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn any_failed_file_call_sends_nothing_without_a_durable_record() {
    if strace_is_missing() {
        return;
    }
    let codes = documented_codes();
    // SQLite goes on where it cannot open a folder to sync it.
    let opens_the_folder =
        |case: &Failing| case.injection.contains("EMFILE") && case.line.contains("/bookctl\", ");
    let cases = sample_around(failures(), 61, opens_the_folder);
    let broken = Mutex::new(Vec::new());
    try_each_alone("calls on the home's files that fail", 4, &cases, |_, case| {
        // Each case that breaks the promise is named, not the first alone.
        let kept = catch_unwind(AssertUnwindSafe(|| fails(case, &codes)));
        kept.unwrap_or_else(|_| {
            broken.lock().unwrap().push(case.name());
            Kept::Nothing
        })
    });
    let broken = broken.into_inner().unwrap();
    assert!(broken.is_empty(), "{} of {}\n{}", broken.len(), cases.len(), broken.join("\n"));
}

fn fails(case: &Failing, codes: &BTreeSet<i32>) -> Kept {
    let what = case.name();
    let service = Misbehaving::start(|_| Act::proper());
    let home = case.before.prepare(&service);
    let earlier = service.posted().len();
    let arguments = case.before.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let injections = std::slice::from_ref(&case.injection);
    let (ended, disk, steps) = run_recorded_injected(&home, &arguments, injections);
    ends_as_documented(&ended, codes, &what);
    let sent = service.posted().len() > earlier;
    if sent {
        let first = steps.iter().position(|step| matches!(step, Step::Sent));
        let done = &steps[..=first.unwrap()];
        survives_a_power_cut(&service, &disk, done, &ended, &what);
    }
    let made = service.ledger().into_iter().find(|made| made.key == "order-1");
    // Configuration or journal: nothing was sent.
    let is_unsent = ended.code == Some(3) && case.before != Before::Open;
    assert!(!is_unsent || made.is_none(), "a false failure: {what}: {ended}");
    if ended.code == Some(0) {
        let id = made.as_ref().map(|made| made.id.clone());
        assert_eq!(ended.json()["id"].as_str().map(str::to_owned), id, "{what}: {ended}");
    }
    // The disk is well again: what was sent is known, and is settled.
    let known = attempt(&home);
    assert!(!sent || known.is_some(), "forgotten: {what}: {ended}");
    let open = known.as_ref().is_some_and(|it| it["state"] == "unresolved");
    if open {
        home.ok(["attempts", "resume", "order-1", "--json"]);
    }
    let made_now = service.ledger().into_iter().find(|made| made.key == "order-1");
    let noted = attempt(&home).and_then(|it| it["booking_id"].as_str().map(str::to_owned));
    assert_eq!(noted, made_now.map(|made| made.id), "{what}: {ended}");
    match (made.is_some(), open) {
        (false, false) => Kept::Nothing,
        (false, true) => Kept::Unsent,
        (true, true) => Kept::Open,
        (true, false) => Kept::Known,
    }
}

/// The attempt of this file, as the journal has it.
fn attempt(home: &Home) -> Option<Value> {
    let mut all = home.list("attempts list --all").into_iter();
    all.find(|it| it["idempotency_key"] == "order-1")
}

/// The power fails as soon as the request has left: the journal that is left knows it.
fn survives_a_power_cut(
    service: &Misbehaving,
    disk: &Disk,
    done: &[Step],
    ended: &Output,
    what: &str,
) {
    let disk = disk.after(done);
    let cuts = if disk.is_all_kept() { 1 } else { CUTS };
    for chance in 0..cuts {
        let home = Home::pointing_to(service.base_url(), "sk_live_sandbox");
        disk.cut_power(chance, home.folder());
        let known = attempt(&home);
        let is_open = known.as_ref().is_some_and(|it| it["state"] == "unresolved");
        assert!(is_open, "sent without an intent, cut {chance}: {what}: {known:?}\n{ended}");
    }
}

/// A code of the table; and a failure says what and why in one sentence.
fn ends_as_documented(ended: &Output, codes: &BTreeSet<i32>, what: &str) {
    assert!(!ended.stderr.contains("panicked"), "{what}: {ended}");
    let code = ended.code.unwrap_or_else(|| panic!("{what}: {ended}"));
    assert!(codes.contains(&code), "{what}: {ended}");
    if code != 0 {
        let message = text(&ended.error(), "message");
        assert!(!message.is_empty(), "{what}: {ended}");
        assert!(!message.contains('\n'), "{what}: {ended}");
    }
}

/// The codes that the page for authors of scripts lists.
fn documented_codes() -> BTreeSet<i32> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let codes: BTreeSet<i32> = rows.filter_map(|row| row.split('`').next()?.parse().ok()).collect();
    assert!(codes.contains(&16), "{codes:?}");
    codes
}
