//! The bookings that stand or may stand at the venue, with what was asked for: for the question
//! whether a guest is booked already.

use std::collections::HashSet;

use super::Journal;
use super::bookings::KeptBooking;
use super::search::containing;
use crate::outcome::Result;
use crate::platform::sql::{SqlResult, values};
use crate::service::documents::booking::Booking;
use crate::service::documents::text_fold::fold;
use crate::service::documents::wish::Wish;
use crate::service::time::document_time::DocumentTime;

impl From<Booking> for KeptBooking {
    /// One of which nothing but itself is known.
    fn from(booking: Booking) -> Self {
        KeptBooking {
            booking,
            visit: None,
            terms: None,
            requested: None,
            idempotency_key: None,
            unresolved_key: None,
            changes: None,
            is_forgotten: false,
        }
    }
}

impl KeptBooking {
    pub(crate) fn venue(&self) -> String {
        self.booking.venue_id().unwrap_or_else(|| self.wish().venue())
    }

    /// Its time, which a service may show as a text of its own.
    pub(crate) fn time(&self) -> Option<DocumentTime> {
        self.booking.time.read().copied().or_else(|| self.wish().time())
    }

    /// Whether it is for the guest of a request, by what the booking shows, perhaps masked, or by
    /// what was asked for.
    pub(crate) fn is_for_guest_of(&self, sought: &Wish) -> bool {
        let displayed = Wish::from_request(self.booking.value());
        displayed.is_for_guest_of(sought) || self.wish().is_for_guest_of(sought)
    }
}

impl Journal {
    /// The standing bookings at these venues, newest first, among those recorded last, then what
    /// abandoned requests may have booked there.
    pub(crate) fn live_at(&self, venues: &HashSet<String>, among: u32) -> Result<Vec<KeptBooking>> {
        // Lets through more than one venue's bookings, so that fewer documents are parsed.
        let of_one = venues.iter().next().filter(|_| venues.len() == 1);
        let pattern = of_one.map_or("%".to_owned(), |venue| containing(&fold(venue)));
        self.read(|statements, scope| {
            let booked = values![&scope.origin, among, &pattern];
            let abandoned = values![&scope.origin, among];
            let found = statements.query_batch(&[(LIVE_AT, booked), (ABANDONED, abandoned)])?;
            let live = found.iter().flatten().map(KeptBooking::read);
            let mut live: Vec<KeptBooking> = live.collect::<SqlResult<_>>()?;
            live.retain(|it| it.booking.may_stand() && venues.contains(&it.venue()));
            Ok(live)
        })
    }
}

/// The newest bookings (?2) of a service (?1) at venues like ?3, with key and request.
const LIVE_AT: &str = "
    SELECT id, status, document, seen_at, idempotency_key,
           (SELECT coalesce(asked, request) FROM attempts
            WHERE attempts.idempotency_key = newest.idempotency_key) AS asked
    FROM (SELECT * FROM bookings WHERE origin = ?1
          ORDER BY created_at DESC, id DESC LIMIT ?2) AS newest
    WHERE venue LIKE ?3 ESCAPE '!'";

/// The abandoned attempts without a booking among the newest (?2) of a service (?1).
const ABANDONED: &str = "
    SELECT idempotency_key AS id, state AS status, '' AS document, '' AS seen_at, idempotency_key,
           coalesce(asked, request) AS asked
    FROM (SELECT * FROM attempts
          WHERE origin = ?1 AND state IN ('resolved', 'refused', 'abandoned') AND forgotten_at IS NULL
          ORDER BY created_at DESC LIMIT ?2) AS newest
    WHERE state = 'abandoned'
      AND NOT EXISTS (SELECT 1 FROM bookings WHERE bookings.origin = ?1
                      AND bookings.idempotency_key = newest.idempotency_key)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::{fresh, plan};
    use serde_json::{Value, json};

    fn booking(document: Value) -> Booking {
        Booking::from_document(document.into()).unwrap()
    }

    fn ids(journal: &Journal, venues: &[&str]) -> Vec<String> {
        let venues = venues.iter().map(ToString::to_string).collect();
        let live = journal.live_at(&venues, 200).unwrap();
        live.iter().map(|it| it.booking.id().to_owned()).collect()
    }

    #[test]
    fn bookings_of_venue_that_have_not_ended_are_found_by_index() {
        let (_folder, journal) = fresh("https://a.example");
        for (key, status, venue) in [
            ("q", "confirmed", r#"a "quoted" \ 100% é"#),
            ("a", "confirmed", "ven_1"),
            ("b", "processing", "ven_1"),
            ("c", "failed", "ven_1"),
            ("m", "failed", "ven_4"),
            ("d", "confirmed", "venx1"),
        ] {
            let code = (key == "m").then_some("payment_replay_failed");
            let made = json!({"id": key, "status": status, "venue_id": venue, "other": "ven_2", "error_code": code});
            let run = journal.run(key, &json!({}));
            journal.end_booked(&run, &booking(made), 201).unwrap();
        }
        // A service that shows nothing of what was asked for.
        let run = journal.run("e", &json!({"venue_id": "ven_3"}));
        let bare = booking(json!({"id": "e", "status": "confirmed"}));
        journal.end_booked(&run, &bare, 201).unwrap();
        assert_eq!(ids(&journal, &["ven_1"]), ["b", "a"]);
        assert_eq!(ids(&journal, &["ven_4"]), ["m"], "money may have moved");
        assert_eq!(ids(&journal, &[r#"a "quoted" \ 100% é"#]), ["q"]);
        assert_eq!(ids(&journal, &["ven_2"]), [""; 0]);
        assert_eq!(ids(&journal, &["ven_1", "ven_3"]), ["e", "b", "a"]);
        let plan = plan(&journal, LIVE_AT);
        assert!(plan.contains("bookings_created (origin=?)"), "{plan}");
        assert!(!plan.contains("SCAN bookings"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }

    #[test]
    fn guests_are_alike_by_name_phone_or_email_unless_empty() {
        let is_same = |one: Value, other: Value| {
            let [one, other] =
                [one, other].map(|it| Wish::from_request(&json!({ "customer": it })));
            one.is_for_guest_of(&other)
        };
        let (ada, rita) = (json!({"name": "Ada"}), json!({"name": "Rita Levi"}));
        assert!(is_same(rita.clone(), json!({"name": " rita  LÉVI"})));
        assert!(!is_same(rita, ada));
        let phone = |name: &str, phone: &str| json!({"name": name, "phone": phone});
        assert!(is_same(phone("Ada", "+39 06 7946 0777"), phone("Eve", "0039067946-0777")));
        assert!(!is_same(phone("Ada", ""), phone("Eve", "")));
        let email = |name: &str, email: &str| json!({"name": name, "email": email});
        assert!(is_same(email("Ada", "A@b.example"), email("Eve", "a@B.example")));
    }
}
