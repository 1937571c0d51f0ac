//! The power fails at any moment of a create: what was synced is there, anything else may be.
//! "Before the first byte of a create leaves, the journal holds (synced) the idempotency key"
//! (design, What must never happen)

use crate::harness::{Disk, Home, Served, Step, run_recorded, strace_is_missing, text};
use crate::promise::{Intent, Kept, all_cases, attempts, sample_around, try_each};

/// A moment of a recorded create, and what chance leaves of what was not synced then.
struct Cut {
    steps: usize,
    chance: u64,
}

fn cuts(disk: &Disk, steps: &[Step]) -> Vec<Cut> {
    let draws = if all_cases() { 24 } else { 4 };
    // The moment before the first step is a moment too.
    let decisive = |done: &usize| {
        let last = done.checked_sub(1).map(|last| &steps[last]);
        matches!(last, Some(Step::Sent | Step::Told))
    };
    let moments = sample_around((0..=steps.len()).collect(), 4, decisive);
    let mut cuts = Vec::new();
    for steps_done in moments {
        let certain = disk.after(&steps[..steps_done]).is_all_kept();
        let draws = if certain { 1 } else { draws };
        cuts.extend((0..draws).map(|chance| Cut { steps: steps_done, chance }));
    }
    cuts
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn first_sent_booking_request_survives_a_power_cut() {
    power_cuts("power cuts of a first create", |_| ());
}

#[test]
#[ignore = "samples of every moment take minutes"]
fn sent_booking_request_survives_a_power_cut_at_any_moment() {
    power_cuts("power cuts of a create", |home| {
        home.ok(["attempts"]);
    });
}

fn power_cuts(what: &str, prepare: impl Fn(&Home)) {
    if strace_is_missing() {
        return;
    }
    let served = Served::unlimited();
    let intent = Intent::number(0);
    let recorded = served.home();
    prepare(&recorded);
    let (output, disk, steps) = run_recorded(&recorded, &intent.arguments());
    let id = text(&output.exits(0).json(), "id");
    assert!(steps.iter().any(|step| matches!(step, Step::Sent)));
    let cuts = cuts(&disk, &steps);
    let ways = try_each(what, 4, &cuts, |_, _, cut| {
        let done = &steps[..cut.steps];
        let home = served.home();
        disk.after(done).cut_power(cut.chance, home.folder());
        is_known(&served, &home, &intent, &id, done, cut)
    });
    let expected = [Kept::Nothing, Kept::Unsent, Kept::Open, Kept::Known];
    assert!(ways.keys().eq(&expected), "{ways:?}");
}

fn is_known(
    served: &Served,
    home: &Home,
    intent: &Intent,
    id: &str,
    done: &[Step],
    cut: &Cut,
) -> Kept {
    let sent = done.iter().any(|step| matches!(step, Step::Sent));
    let told = done.iter().any(|step| matches!(step, Step::Told));
    let case = format!(
        "after {} steps, the last of them {:?}, chance {}",
        cut.steps,
        done.last(),
        cut.chance
    );
    let open = home.list("attempts");
    let journal = attempts(home);
    assert!(journal.len() <= 1, "{case}");
    assert!(!sent || journal.len() == 1, "forgotten {case}");
    assert!(!told || open.is_empty(), "told, and open {case}");
    for attempt in &open {
        let key = text(attempt, "idempotency_key");
        let settled = home.json(&format!("attempts resume {key}"));
        assert_eq!(text(&settled, "id"), id, "{case}");
    }
    for attempt in &attempts(home) {
        assert_eq!(attempt.booking_id.as_deref(), Some(id), "{case}");
    }
    assert_eq!(intent.bookings(served).len(), 1, "{case}");
    match (journal.is_empty(), open.is_empty(), sent) {
        (true, ..) => Kept::Nothing,
        (_, false, false) => Kept::Unsent,
        (_, false, true) => Kept::Open,
        (_, true, _) => Kept::Known,
    }
}
