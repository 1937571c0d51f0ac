//! What a consumer says of itself: which events it handled how often, and where it takes its bookings to stand.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Check, Expect, Standing};

/// The document at a consumer's `--state-url`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Ledger {
    /// Event id → how often it was acted on.
    events: BTreeMap<String, u64>,
    /// Booking id → the status that the consumer goes by.
    #[serde(default)]
    bookings: BTreeMap<String, String>,
}

impl Ledger {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Whether everything that was to be handled has been, once at least: a consumer may answer first and act later.
    pub(crate) fn has_settled(&self, checks: &[Check]) -> bool {
        let due = expected(checks);
        due.iter()
            .all(|due| !due.once || self.events.contains_key(due.event))
    }

    /// What it did wrong: the check's place, and a sentence.
    pub(crate) fn faults(&self, checks: &[Check]) -> Vec<(usize, String)> {
        let mut faults = Vec::new();
        for due in expected(checks) {
            match self.events.get(due.event).copied().unwrap_or(0) {
                0 if due.once => faults.push((due.first, format!("{} was not handled", due.event))),
                0 => {}
                1 if due.once => {}
                times if due.once => {
                    faults.push((due.last, format!("{} was handled {times} times", due.event)));
                }
                _ => faults.push((
                    due.first,
                    format!("{} was handled, though it is forged", due.event),
                )),
            }
        }
        for (place, check) in checks.iter().enumerate() {
            let Some((id, standing)) = &check.booking else {
                continue;
            };
            let held = self.bookings.get(id).map_or("unknown", String::as_str);
            let fault = match standing {
                Standing::Known(status) if held != status => {
                    format!("{id} is {status}, and the consumer holds it for {held}")
                }
                Standing::Told { newest, outdated } if outdated.iter().any(|it| it == held) => {
                    format!(
                        "the newest event of {id} says {newest}, and the consumer holds it for {held}: \
                         it believed the one that came last"
                    )
                }
                _ => continue,
            };
            faults.push((place, fault));
        }
        faults
    }

    /// What it does not tell: the check's place, and a sentence.
    pub(crate) fn silences(&self, checks: &[Check]) -> Vec<(usize, String)> {
        let silent = checks.iter().enumerate().filter_map(|(place, check)| {
            let (id, Standing::Told { newest, outdated }) = check.booking.as_ref()? else {
                return None;
            };
            let held = self.bookings.get(id);
            let tells = held.is_some_and(|held| held == newest || outdated.contains(held));
            (!tells).then(|| (place, format!(
                "whether the order misled it was not seen: its state holds no status of {id}, which is made up; \
                 --booking names one of the service"
            )))
        });
        silent.collect()
    }
}

/// How an event should end.
struct Due<'a> {
    event: &'a str,
    /// Handled once; else not at all.
    once: bool,
    /// The check in which it was first to be taken, or first came at all.
    first: usize,
    /// The check that it came in last.
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
    use crate::webhook::drill::Delivery;

    fn check(deliveries: &[(&str, Expect)], booking: Option<(&str, Standing)>) -> Check {
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
            booking: booking.map(|(id, standing)| (id.to_owned(), standing)),
        }
    }

    #[test]
    fn a_ledger_shows_what_was_lost_doubled_believed_or_taken_from_a_hint() {
        use Expect::{Refused, Taken};
        let checks = [
            check(&[("lost", Taken), ("fine", Taken)], None),
            check(&[("twice", Taken)], None),
            check(&[("forged", Refused), ("poisoned", Refused)], None),
            check(
                &[("poisoned", Taken), ("twice", Refused)],
                Some(("bk", Standing::Known("confirmed".into()))),
            ),
        ];
        let ledger = Ledger::parse(
            r#"{"events": {"fine": 1, "twice": 2, "forged": 1, "own": 9}, "bookings": {"bk": "created"}}"#,
        )
        .unwrap();
        let places: Vec<usize> = ledger
            .faults(&checks)
            .iter()
            .map(|(place, _)| *place)
            .collect();
        assert_eq!(places, [0, 3, 2, 3, 3]);
        assert!(!ledger.has_settled(&checks));
        assert_eq!(Ledger::parse("[]"), None);
    }

    #[test]
    fn of_a_made_up_booking_an_outdated_status_is_a_fault_and_none_is_not_taken_for_a_good_one() {
        let standing = Standing::Told {
            newest: "confirmed".to_owned(),
            outdated: vec!["processing".to_owned()],
        };
        let checks = [check(&[], Some(("bk", standing)))];
        for (bookings, faults, silences) in [
            (r#"{"bk": "confirmed"}"#, 0, 0),
            (r#"{"bk": "processing"}"#, 1, 0),
            (r#"{"bk": "seated"}"#, 0, 1),
            ("{}", 0, 1),
        ] {
            let ledger = format!(r#"{{"events": {{}}, "bookings": {bookings}}}"#);
            let ledger = Ledger::parse(&ledger).unwrap();
            let found = (ledger.faults(&checks).len(), ledger.silences(&checks).len());
            assert_eq!(found, (faults, silences), "{bookings}");
        }
    }
}
