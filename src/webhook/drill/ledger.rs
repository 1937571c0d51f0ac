//! The handler's state from `--state-url`: how often it handled each event, and the status it has for each booking.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::plan::{OUTDATED, Ordered, PlannedCheck};

/// The document at a handler's `--state-url`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Ledger {
    /// Event id → how often it was handled.
    events: BTreeMap<String, u64>,
    /// Booking id → the status that the handler has for it.
    #[serde(default)]
    bookings: BTreeMap<String, String>,
}

impl Ledger {
    /// Whether every event that should be handled was handled at least once. A handler may answer first and handle the
    /// event later.
    pub(crate) fn has_settled(&self, checks: &[PlannedCheck]) -> bool {
        let due = due(checks);
        let is_handled =
            |(id, due): (&&str, &Due)| !due.is_genuine || self.events.contains_key(*id);
        due.iter().all(is_handled)
    }

    /// What the handler did wrong with events: the index of the check, and a sentence.
    pub(crate) fn faults(&self, checks: &[PlannedCheck]) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        for (id, due) in due(checks) {
            let times = self.events.get(id).copied().unwrap_or(0);
            match (due.is_genuine, times) {
                (true, 1) | (false, 0) => {}
                (true, 0) => faults.push((due.first, format!("{id} was not processed"))),
                (true, _) => faults.push((due.last, format!("{id} was processed {times} times"))),
                (false, _) => {
                    let fault = format!("{id} was processed, although it is forged");
                    faults.push((due.first, fault));
                }
            }
        }
        faults
    }

    /// What the handler made of events that came out of order: whether that is a fault, and a sentence. For an invented
    /// booking only the events have a status.
    pub(crate) fn order(&self, ordered: &Ordered) -> Option<(bool, String)> {
        let Ordered { id, status, .. } = ordered;
        let held = self.bookings.get(id).map_or("unknown", String::as_str);
        if held == status {
            return None;
        }
        Some(if !ordered.is_invented {
            (
                true,
                format!("{id} is {status}, but your handler has {held}"),
            )
        } else if held == OUTDATED {
            let fault = format!(
                "the newest event of {id} says {status}, but your handler has {held}, from the event that arrived last"
            );
            (true, fault)
        } else {
            let unseen = format!(
                "could not check the status in the handler's state, because it does not include {id}, a sample booking; \
                 pass --booking to use a booking of the service"
            );
            (false, unseen)
        })
    }
}

/// What should become of an event.
struct Due {
    /// Whether it is to be handled once, or never.
    is_genuine: bool,
    /// The index of the check in which it should first be accepted, or was first sent.
    first: usize,
    /// The index of the check in which it was last sent.
    last: usize,
}

fn due(checks: &[PlannedCheck]) -> BTreeMap<&str, Due> {
    let mut all: BTreeMap<&str, Due> = BTreeMap::new();
    for (place, check) in checks.iter().enumerate() {
        for delivery in check.deliveries.iter().filter(|it| it.counts) {
            let due = all.entry(&delivery.event_id).or_insert(Due {
                is_genuine: false,
                first: place,
                last: place,
            });
            if delivery.is_genuine && !due.is_genuine {
                (due.is_genuine, due.first) = (true, place);
            }
            due.last = place;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::drill::plan::{CHECKS, Delivery};

    fn planned(deliveries: &[(&str, bool)]) -> PlannedCheck {
        let deliveries = deliveries.iter().map(|(id, is_genuine)| Delivery {
            event_id: (*id).to_owned(),
            signature: None,
            body: Vec::new(),
            is_genuine: *is_genuine,
            at_once: false,
            slowly: false,
            counts: true,
        });
        PlannedCheck {
            check: &CHECKS[0],
            deliveries: deliveries.collect(),
        }
    }

    #[test]
    fn the_state_shows_what_was_lost_doubled_or_believed() {
        let checks = [
            planned(&[("lost", true), ("fine", true)]),
            planned(&[("twice", true)]),
            planned(&[("forged", false), ("poisoned", false)]),
            planned(&[("poisoned", true), ("twice", false)]),
        ];
        let state = r#"{"events": {"fine": 1, "twice": 2, "forged": 1, "own": 9}}"#;
        let ledger: Ledger = serde_json::from_str(state).unwrap();
        let places = ledger.faults(&checks);
        let places: Vec<usize> = places.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [2, 0, 3, 3]);
        assert!(!ledger.has_settled(&checks));
    }

    #[test]
    fn for_an_invented_booking_an_outdated_status_is_a_fault_and_none_is_unseen() {
        for (held, invented, known) in [
            (Some("confirmed"), None, None),
            (Some("processing"), Some(true), Some(true)),
            (Some("seated"), Some(false), Some(true)),
            (None, Some(false), Some(true)),
        ] {
            let mut ledger = Ledger::default();
            let held = held.map(|held| ("bk".to_owned(), held.to_owned()));
            ledger.bookings.extend(held);
            for (is_invented, expected) in [(true, invented), (false, known)] {
                let (id, status) = ("bk".to_owned(), "confirmed".to_owned());
                let found = ledger.order(&Ordered {
                    id,
                    status,
                    is_invented,
                });
                assert_eq!(found.map(|it| it.0), expected, "{ledger:?}");
            }
        }
    }
}
