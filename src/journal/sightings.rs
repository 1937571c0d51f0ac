//! The states in which a booking was seen, one after the other. Triggers of the schema record them.

use serde_json::Value;

use super::Journal;
use crate::outcome::Result;
use crate::platform::sql::{Answer, Row, values};

/// A booking as it was seen once.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) status: String,
    /// Some fields of the booking, none of them the guest's. Empty after the guest was deleted.
    pub(crate) facts: Value,
    /// By this machine's clock, RFC 3339.
    pub(crate) seen_at: String,
}

impl Journal {
    /// The states in which a booking was seen, oldest first.
    pub(crate) fn sightings(&self, booking_id: &str) -> Result<Vec<Sighting>> {
        let query = "SELECT status, facts, seen_at FROM sightings
                     WHERE origin = ?1 AND booking_id = ?2 ORDER BY number";
        self.read(|statements| {
            let rows = statements.query(query, values![&self.scope.origin, booking_id])?;
            rows.into_iter().map(sighting).collect()
        })
    }
}

fn sighting(mut row: Row) -> Answer<Sighting> {
    let facts: String = row.take(1)?;
    Ok(Sighting {
        status: row.take(0)?,
        facts: serde_json::from_str(&facts).unwrap_or_default(),
        seen_at: row.take(2)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::booking::Booking;
    use serde_json::json;

    fn booking(status: &str, party_size: u32) -> Booking {
        let customer = json!({"name": "Canary"});
        let value =
            json!({"id": "bk_1", "status": status, "party_size": party_size, "customer": customer});
        Booking::from_document(value.into()).unwrap()
    }

    #[test]
    fn each_state_is_kept_once_without_the_guest_until_the_booking_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut journal = Journal::open(&path, "a".into(), None).unwrap();
        let run = journal.run("k", &json!({}));
        journal
            .end_booked(&run, &booking("processing", 2), 201)
            .unwrap();
        for (status, party_size) in [("confirmed", 2), ("confirmed", 2), ("confirmed", 3)] {
            journal.update(&booking(status, party_size)).unwrap();
        }
        let seen = journal.sightings("bk_1").unwrap();
        let states = seen
            .iter()
            .map(|it| (it.status.as_str(), it.facts["party_size"].as_u64()));
        let states: Vec<_> = states.collect();
        assert_eq!(
            states,
            [
                ("processing", Some(2)),
                ("confirmed", Some(2)),
                ("confirmed", Some(3))
            ]
        );
        assert!(
            seen.iter()
                .all(|it| !it.facts.to_string().contains("Canary"))
        );
        journal.forget_booking("bk_1").unwrap();
        assert!(journal.sightings("bk_1").unwrap().is_empty());
    }
}
