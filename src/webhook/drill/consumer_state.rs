//! The consumer's state from `--state-url`: how often it handled each event, and the status it has for each booking.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::check::{Check, Expect, ExpectedStatus};

/// The document at a consumer's `--state-url`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct ConsumerState {
    /// Event id → how often it was handled.
    events: BTreeMap<String, u64>,
    /// Booking id → the status that the consumer has for it.
    #[serde(default)]
    bookings: BTreeMap<String, String>,
}

impl ConsumerState {
    /// `None` if the text is not such a document.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Whether every event that should be handled was handled at least once. A consumer may answer first and handle the
    /// event later.
    pub(crate) fn has_settled(&self, checks: &[Check]) -> bool {
        let due = expected(checks);
        due.iter()
            .all(|due| !due.once || self.events.contains_key(due.event))
    }

    /// What the consumer did wrong: the index of the check, and a sentence.
    pub(crate) fn faults(&self, checks: &[Check]) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        for due in expected(checks) {
            match self.events.get(due.event).copied().unwrap_or(0) {
                0 if due.once => {
                    faults.push((due.first, format!("{} was not processed", due.event)))
                }
                0 => {}
                1 if due.once => {}
                times if due.once => {
                    faults.push((
                        due.last,
                        format!("{} was processed {times} times", due.event),
                    ));
                }
                _ => faults.push((
                    due.first,
                    format!("{} was processed, although it is forged", due.event),
                )),
            }
        }
        for (place, check) in checks.iter().enumerate() {
            let Some((id, expected)) = &check.booking else {
                continue;
            };
            let held = self.bookings.get(id).map_or("unknown", String::as_str);
            let fault = match expected {
                ExpectedStatus::Known(status) if held != status => {
                    format!("{id} is {status}, but your handler has {held}")
                }
                ExpectedStatus::Invented { newest, outdated }
                    if outdated.iter().any(|it| it == held) =>
                {
                    format!(
                        "the newest event of {id} says {newest}, but your handler has {held}, \
                         from the event that arrived last"
                    )
                }
                _ => continue,
            };
            faults.push((place, fault));
        }
        faults
    }

    /// What the state does not show: the index of the check, and a sentence.
    pub(crate) fn unseen(&self, checks: &[Check]) -> Vec<(usize, String)> {
        let silent = checks.iter().enumerate().filter_map(|(place, check)| {
            let (id, ExpectedStatus::Invented { newest, outdated }) = check.booking.as_ref()? else {
                return None;
            };
            let held = self.bookings.get(id);
            let tells = held.is_some_and(|held| held == newest || outdated.contains(held));
            (!tells).then(|| (place, format!(
                "could not check the status in the handler's state, because it does not include {id}, a sample booking; \
                 pass --booking to use a booking of the service"
            )))
        });
        silent.collect()
    }
}

/// How often an event should be handled.
struct Due<'a> {
    event: &'a str,
    /// Once, or not at all.
    once: bool,
    /// The index of the check in which it should first be taken, or was first sent.
    first: usize,
    /// The index of the check in which it was last sent.
    last: usize,
}

fn expected(checks: &[Check]) -> Vec<Due<'_>> {
    let mut due: Vec<Due<'_>> = Vec::new();
    for (place, check) in checks.iter().enumerate() {
        for delivery in check.deliveries.iter().filter(|it| it.counts) {
            let taken = delivery.expect == Expect::Taken;
            match due.iter_mut().find(|it| it.event == delivery.event_id) {
                Some(known) => {
                    if taken && !known.once {
                        known.first = place;
                    }
                    known.once |= taken;
                    known.last = place;
                }
                None => due.push(Due {
                    event: &delivery.event_id,
                    once: taken,
                    first: place,
                    last: place,
                }),
            }
        }
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::drill::check::Delivery;

    fn check(deliveries: &[(&str, Expect)], booking: Option<(&str, ExpectedStatus)>) -> Check {
        let deliveries = deliveries.iter().map(|(id, expect)| Delivery {
            event_id: (*id).to_owned(),
            signature: None,
            body: Vec::new(),
            expect: *expect,
            slowly: false,
            counts: true,
        });
        Check {
            name: "x",
            section: "x",
            why: "x",
            deliveries: deliveries.collect(),
            at_once: false,
            booking: booking.map(|(id, expected)| (id.to_owned(), expected)),
        }
    }

    #[test]
    fn the_state_shows_what_was_lost_doubled_believed_or_taken_from_a_hint() {
        use Expect::{Refused, Taken};
        let checks = [
            check(&[("lost", Taken), ("fine", Taken)], None),
            check(&[("twice", Taken)], None),
            check(&[("forged", Refused), ("poisoned", Refused)], None),
            check(
                &[("poisoned", Taken), ("twice", Refused)],
                Some(("bk", ExpectedStatus::Known("confirmed".into()))),
            ),
        ];
        let state = ConsumerState::parse(
            r#"{"events": {"fine": 1, "twice": 2, "forged": 1, "own": 9}, "bookings": {"bk": "created"}}"#,
        )
        .unwrap();
        let places: Vec<usize> = state
            .faults(&checks)
            .iter()
            .map(|(place, _)| *place)
            .collect();
        assert_eq!(places, [0, 3, 2, 3, 3]);
        assert!(!state.has_settled(&checks));
        assert_eq!(ConsumerState::parse("[]"), None);
    }

    #[test]
    fn for_an_invented_booking_an_outdated_status_is_a_fault_and_none_is_unseen() {
        let expected = ExpectedStatus::Invented {
            newest: "confirmed".to_owned(),
            outdated: vec!["processing".to_owned()],
        };
        let checks = [check(&[], Some(("bk", expected)))];
        for (bookings, faults, unseen) in [
            (r#"{"bk": "confirmed"}"#, 0, 0),
            (r#"{"bk": "processing"}"#, 1, 0),
            (r#"{"bk": "seated"}"#, 0, 1),
            ("{}", 0, 1),
        ] {
            let state = format!(r#"{{"events": {{}}, "bookings": {bookings}}}"#);
            let state = ConsumerState::parse(&state).unwrap();
            let found = (state.faults(&checks).len(), state.unseen(&checks).len());
            assert_eq!(found, (faults, unseen), "{bookings}");
        }
    }
}
