//! What a process of a storm was to do, and what is wrong with how it ended.

use serde_json::Value;

use crate::harness::{Committed, Output, text};

/// What a process is to do.
pub(super) enum Task {
    /// One booking request: its guest, and its key where it is given one.
    Create(String, Option<String>),
    /// Several, each with its key.
    Batch(Vec<String>),
    Resume(String),
}

impl Task {
    pub(super) fn creates(&self) -> usize {
        match self {
            Task::Create(..) => 1,
            Task::Batch(keys) => keys.len(),
            Task::Resume(_) => 0,
        }
    }
}

/// What must never be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    Duplicate,
    UnknownBooking,
    FalseSuccess,
    FalseRefusal,
    Hang,
    LeftOpen,
    End,
}

pub(super) fn guest_of(key: &str) -> String {
    format!("Ada {key}")
}

/// What is wrong with how a process ended and with what it said, by the ledger at that time: an
/// answer that is believed names a booking that was made before it.
pub(super) fn wrongs(
    ledger: &[Committed],
    task: &Task,
    ended: &Output,
    killed: bool,
) -> Vec<(Wrong, String)> {
    /// 2 is for other command lines than these, and what no table names is for nobody.
    const ENDS: [i32; 12] = [0, 3, 5, 6, 7, 9, 12, 14, 15, 16, 18, 130];
    /// "Nothing was sent", "refused": nothing was made.
    const REFUSALS: [i32; 8] = [3, 4, 5, 7, 12, 13, 14, 15];
    let mut wrong = Vec::new();
    let known_end = ended.code.map_or(killed, |code| ENDS.contains(&code));
    if !known_end || ended.stderr.contains("panicked") {
        wrong.push((Wrong::End, ended.to_string()));
    }
    let is_made = |booking: &Value, guest: &str| {
        let made = ledger.iter().find(|made| booking["id"] == made.id.as_str());
        made.is_some_and(|made| made.guest() == guest)
    };
    let mut told = |is_true: bool, what: &str| {
        if !is_true {
            wrong.push((Wrong::FalseSuccess, format!("{what}\n{ended}")));
        }
    };
    match task {
        Task::Batch(keys) => {
            for line in ended.stdout.lines() {
                // The last line of one that was killed may be cut.
                let Ok(line) = serde_json::from_str::<Value>(line) else {
                    told(killed, line);
                    continue;
                };
                let key = text(&line, "idempotency_key");
                let is_ours = keys.contains(&key);
                let is_success = line["exit_code"] == 0 || line.get("booking").is_some();
                told(
                    is_ours && (!is_success || is_made(&line["booking"], &guest_of(&key))),
                    &line.to_string(),
                );
            }
        }
        Task::Create(guest, _) if ended.code == Some(0) => {
            told(is_made(&ended.json(), guest), "another booking");
        }
        Task::Resume(key) if ended.code == Some(0) => {
            // The guest may stand in no list any more; that of the ledger is the one that was sent.
            let made = ledger.iter().find(|made| made.key == *key);
            let guest = made.map(Committed::guest).unwrap_or_default();
            told(is_made(&ended.json(), &guest), "another booking");
        }
        _ => {}
    }
    // "Another booking" is what the service said, and leaves the attempt open.
    let is_refused = ended.code.is_some_and(|code| REFUSALS.contains(&code))
        && !ended.stderr.contains("\"another_booking\"");
    // A key that nobody else has: what this process says of it is all there is to say.
    if let Task::Create(guest, None) = task
        && is_refused
        && ledger.iter().any(|made| made.guest() == *guest)
    {
        wrong.push((Wrong::FalseRefusal, ended.to_string()));
    }
    wrong
}
