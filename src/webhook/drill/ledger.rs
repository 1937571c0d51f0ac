//! The handler's state from `--state-url`: how often it handled each event, and the status it has for each booking.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::plan::{Delivery, OUTDATED, Ordered, PlannedCheck};

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
    /// Whether every genuine event was handled at least once. A handler may answer first and handle the event later.
    pub(crate) fn has_settled(&self, checks: &[PlannedCheck]) -> bool {
        let mut genuine = genuine(checks).into_iter();
        genuine.all(|id| self.events.contains_key(id))
    }

    /// What the handler did wrong with events: the index of the check in which each came first, and a sentence.
    pub(crate) fn faults(&self, checks: &[PlannedCheck]) -> Vec<(usize, String)> {
        let (genuine, mut judged) = (genuine(checks), BTreeSet::new());
        let mut faults = Vec::new();
        for (place, check) in checks.iter().enumerate() {
            for Delivery { event_id: id, .. } in check.deliveries.iter().filter(|it| it.counts) {
                if !judged.insert(id) {
                    continue;
                }
                let times = self.events.get(id).copied().unwrap_or(0);
                let fault = match (genuine.contains(id.as_str()), times) {
                    (true, 1) | (false, 0) => continue,
                    (true, 0) => format!("{id} was not processed"),
                    (true, _) => format!("{id} was processed {times} times"),
                    (false, _) => format!("{id} was processed, although it is forged"),
                };
                faults.push((place, fault));
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

/// The ids of the events that should be handled once.
fn genuine(checks: &[PlannedCheck]) -> BTreeSet<&str> {
    let deliveries = checks.iter().flat_map(|check| &check.deliveries);
    let genuine = deliveries.filter(|it| it.counts && it.is_genuine);
    genuine.map(|it| it.event_id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::drill::plan::CHECKS;

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
        assert_eq!(places, [0, 1, 2, 2]);
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
