//! What a booking lacks where nobody can be asked.

use serde_json::json;

use crate::flows::BookingDraft;
use crate::outcome::Error;

/// A missing argument: its flag, its value and its description.
pub(super) type Lacking = (&'static str, &'static str, &'static str);

pub(super) fn lacking(draft: &BookingDraft) -> Vec<Lacking> {
    let slot_is_unknown = draft.slot_id.is_some();
    [
        (
            draft.venue.is_none(),
            ("VENUE", ""),
            if slot_is_unknown {
                "the slot is not from a list on this computer, so the venue"
            } else {
                "the venue"
            },
        ),
        (
            draft.slot.is_none() && draft.at.is_none(),
            ("--at", " WHEN"),
            "the time",
        ),
        (
            draft.party_size.is_none(),
            ("--party", " N"),
            "the party size",
        ),
        (
            draft.name.is_none(),
            ("--name", " NAME"),
            "the guest's name",
        ),
    ]
    .into_iter()
    .filter_map(|(lacks, (flag, value), what)| lacks.then_some((flag, value, what)))
    .collect()
}

pub(super) fn missing(lacking: &[Lacking]) -> Error {
    let what: Vec<&str> = lacking.iter().map(|(.., what)| *what).collect();
    let flags = lacking
        .iter()
        .map(|(flag, value, _)| format!("{flag}{value}"));
    let flags: Vec<String> = flags.collect();
    let are = if what.len() == 1 { "is" } else { "are" };
    let mut error = Error::usage(format!(
        "{} {are} missing, and prompts are disabled",
        listed(&what)
    ));
    error.problems = lacking
        .iter()
        .map(|(flag, _, what)| json!({"field": flag, "message": format!("{what} is missing")}))
        .collect();
    error.hint(format!(
        "pass {}; see `bookctl book --help` for examples",
        listed(&flags)
    ))
}

/// `a, b and c`.
fn listed(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        words => words.concat(),
    }
}
