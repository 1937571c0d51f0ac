//! The bookings of this machine, each as it was last seen.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::scope::Scope;
use super::{Journal, guests, terms};
use crate::json::Document;
use crate::model::booking::Booking;
use crate::outcome::Result;
use crate::platform::sql::{Answer, Row, Statements, Value, values};
use crate::secrets::redact_document;

#[derive(Clone, Debug)]
pub(crate) struct KeptBooking {
    /// The document from the service. If its guest was deleted, only the id and the status.
    pub(crate) booking: Booking,
    /// When it was last read, RFC 3339.
    pub(crate) seen_at: String,
}

/// The columns of a kept booking.
pub(super) const KEPT: &str = "id, status, document, seen_at";

/// The query for the booking of a service (?1) with an id (?2).
pub(super) fn kept_with_id() -> String {
    format!("SELECT {KEPT} FROM bookings WHERE origin = ?1 AND id = ?2")
}

impl KeptBooking {
    /// `None` if its document cannot be read.
    pub(super) fn read(mut row: Row) -> Answer<Option<Self>> {
        let (id, status): (String, String) = (row.take(0)?, row.take(1)?);
        let (document, seen_at): (String, String) = (row.take(2)?, row.take(3)?);
        Ok(booking_of(&id, &status, document).map(|booking| KeptBooking { booking, seen_at }))
    }
}

/// A booking from its row. Of one whose guest was deleted, only the id and the status are left.
fn booking_of(id: &str, status: &str, document: String) -> Option<Booking> {
    let document = match document.is_empty() {
        true => json!({"id": id, "object": "booking", "status": status}).into(),
        false => Document::parse(document).ok()?,
    };
    Booking::from_document(document)
}

/// The condition for bookings that may still change, including unknown statuses. The index of this name has the same
/// text.
pub(super) const UNFINISHED: &str = "status NOT IN ('confirmed', 'failed', 'cancelled', 'expired')";

/// The update of a booking. One whose guest was deleted stays reduced to its id and status.
const SEEN: &str = "
    status   = excluded.status,
    seen_at  = excluded.seen_at,
    gone_at  = NULL,
    search   = NULL,
    day      = NULL,
    document = CASE WHEN bookings.forgotten_at IS NULL THEN excluded.document ELSE '' END";

/// The document of a booking as it is stored: a service may repeat the code or the key that it was sent.
fn stored(booking: &Booking) -> Cow<'_, str> {
    let document = booking.own_document();
    redact_document(document.text(), document.value())
}

/// Stores the booking of the attempt under `key`, in the transaction that settles the attempt.
pub(super) fn keep(
    statements: &dyn Statements,
    key: &str,
    booking: &Booking,
    terms: Option<&Json>,
) -> Answer<()> {
    let query = format!(
        "INSERT INTO bookings (origin, id, profile, idempotency_key, status, document, created_at, seen_at, terms)
         SELECT origin, ?2, profile, idempotency_key, ?3, ?4, created_at, ?5, ?6 FROM attempts WHERE idempotency_key = ?1
         ON CONFLICT (origin, id) DO UPDATE SET {SEEN},
             terms = CASE WHEN bookings.forgotten_at IS NULL THEN coalesce(bookings.terms, excluded.terms) END"
    );
    let (status, document) = (booking.status(), stored(booking));
    let now = Timestamp::now().to_string();
    let terms = terms.map(terms::stored);
    let row = values![key, booking.id(), status.as_str(), &document, now, terms];
    statements.later(&query, row).map(drop)
}

/// Stores a booking that was read. A guest that was deleted does not come back, and where nothing is to be kept no
/// other's booking is added.
const STORE: &str = "
    INSERT INTO bookings (origin, id, profile, status, document, created_at, seen_at)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6
    WHERE EXISTS (SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2)
       OR ?7 AND NOT EXISTS (SELECT 1 FROM attempts
                             WHERE origin = ?1 AND booking_id = ?2 AND forgotten_at IS NOT NULL)
    ON CONFLICT (origin, id) DO UPDATE SET";

/// Stores a booking of a received event, unless a better one is known.
const TAKE_IN: &str = "
    INSERT INTO bookings (origin, id, profile, status, document, created_at, seen_at)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6
    WHERE NOT EXISTS (SELECT 1 FROM attempts WHERE origin = ?1 AND booking_id = ?2)
    ON CONFLICT (origin, id) DO UPDATE SET";

/// Whether the journal has a booking that it knows better than an event tells: it was made by an attempt or read.
fn is_known_better(statements: &dyn Statements, scope: &Scope, id: &str) -> Answer<bool> {
    let query = "SELECT idempotency_key IS NOT NULL, document FROM bookings WHERE origin = ?1 AND id = ?2 FOR UPDATE";
    let Some(mut row) = statements.first(query, values![&scope.origin, id])? else {
        return Ok(false);
    };
    let (is_made, document): (bool, String) = (row.take(0)?, row.take(1)?);
    let document: Json = serde_json::from_str(&document).unwrap_or_default();
    Ok(is_made || document.get("datetime").is_some_and(|time| !time.is_null()))
}

impl Journal {
    /// Whether the journal does not have the booking as it is here.
    fn is_new(&self, booking: &Booking) -> Result<bool> {
        let (status, document) = (booking.status(), stored(booking));
        let is_same = |last: &Booking| {
            (last.id(), last.status()) == (booking.id(), booking.status())
                && stored(last) == document
        };
        if self.last_kept.as_ref().is_some_and(is_same) {
            return Ok(false);
        }
        let is_known = self.read(|statements| {
            let row = values![&self.scope.origin, booking.id(), status.as_str(), &document];
            let query = "SELECT EXISTS (SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2 AND gone_at IS NULL
                         AND status = ?3 AND (forgotten_at IS NOT NULL OR document = ?4))";
            truth(statements, query, row)
        })?;
        Ok(!is_known)
    }

    /// Stores the present state of a booking that was read, whoever made it.
    pub(crate) fn update(&mut self, booking: &Booking) -> Result<()> {
        if !self.is_new(booking)? {
            return Ok(());
        }
        let (status, document) = (booking.status(), stored(booking));
        let now = Timestamp::now();
        let purged = self.write(|statements, scope| {
            let adds = scope.retention.ended(now) < now;
            let (id, now) = (booking.id(), now.to_string());
            let row = values![
                &scope.origin,
                id,
                &scope.profile,
                status.as_str(),
                &document,
                now,
                adds
            ];
            // Whoever deletes the guest now comes first, so that the next statement sees it.
            let held = "SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2 FOR UPDATE";
            statements.first(held, values![&scope.origin, id])?;
            statements.later(&format!("{STORE} {SEEN}"), row)?;
            guests::purge(statements, scope)
        })?;
        self.clean_after(purged);
        Ok(())
    }

    /// Stores the bookings of received events, which hold less than a booking that was read: what is known better stays.
    /// Taking one in again changes nothing.
    pub(crate) fn take_in(&mut self, received: &[(Timestamp, Booking)]) -> Result<()> {
        let now = Timestamp::now();
        self.write(|statements, scope| {
            if scope.retention.ended(now) >= now {
                return Ok(());
            }
            for (at, booking) in received {
                if is_known_better(statements, scope, booking.id())? {
                    continue;
                }
                let (status, document) = (booking.status(), stored(booking));
                let (origin, profile, at) = (&scope.origin, &scope.profile, at.to_string());
                let row = values![
                    origin,
                    booking.id(),
                    profile,
                    status.as_str(),
                    &document,
                    at
                ];
                statements.execute(&format!("{TAKE_IN} {SEEN}"), row)?;
            }
            Ok(())
        })
    }

    /// Marks a booking that the service no longer knows, if it was made with the present API key: another key sees the
    /// bookings of its own organization alone.
    pub(crate) fn lose(&mut self, id: &str) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|statements, scope| {
            let query = "UPDATE bookings SET gone_at = ?3
                         WHERE origin = ?1 AND id = ?2 AND gone_at IS NULL AND idempotency_key IN
                         (SELECT idempotency_key FROM attempts WHERE booking_id = ?2 AND account = ?4)";
            let row = values![&scope.origin, id, &now, &scope.account];
            statements.execute(query, row).map(drop)
        })
    }

    /// Marks all bookings of a sandbox that was reset.
    pub(crate) fn lose_all(&mut self) -> Result<()> {
        let now = Timestamp::now().to_string();
        self.write(|statements, scope| {
            let query = "UPDATE bookings SET gone_at = ?2 WHERE origin = ?1 AND gone_at IS NULL";
            let row = values![&scope.origin, &now];
            statements.execute(query, row).map(drop)
        })
    }

    pub(crate) fn lost(&self) -> Result<u32> {
        self.read(|statements| {
            let row = statements.first(LOST, values![&self.scope.origin])?;
            row.map_or(Ok(0), |mut row| row.take(0))
        })
    }

    /// A booking as it was last seen, unless its document cannot be read.
    pub(crate) fn kept(&self, id: &str) -> Result<Option<KeptBooking>> {
        let row = values![&self.scope.origin, id];
        self.read(|statements| {
            let row = statements.first(&kept_with_id(), row)?;
            row.map_or(Ok(None), KeptBooking::read)
        })
    }

    /// The bookings at this service, newest first, all or those with one status, without those that the service lost.
    pub(crate) fn bookings(
        &self,
        status: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Vec<KeptBooking>> {
        self.read(|statements| {
            let limit = limit.map_or(i64::MAX, i64::from);
            let row = values![&self.scope.origin, limit, status];
            let rows = statements.query(&listing(status), row)?;
            let kept = rows
                .into_iter()
                .filter_map(|row| KeptBooking::read(row).transpose());
            kept.collect()
        })
    }

    /// The ids of the newest bookings at this service, whatever the shape of their documents.
    pub(crate) fn booking_ids(&self, limit: u32) -> Result<Vec<String>> {
        let query = "SELECT id FROM bookings WHERE origin = ?1 ORDER BY created_at DESC LIMIT ?2";
        self.read(|statements| ids(statements, query, values![&self.scope.origin, limit]))
    }

    /// A booking in its final state, or `None` if it may still change or is not known.
    pub(crate) fn ended(&self, id: &str) -> Result<Option<Booking>> {
        let query = format!("{} AND NOT ({UNFINISHED})", kept_with_id());
        let kept = self.read(|statements| {
            let row = statements.first(&query, values![&self.scope.origin, id])?;
            row.map_or(Ok(None), KeptBooking::read)
        })?;
        Ok(kept.map(|kept| kept.booking))
    }

    /// The ids of bookings that may have changed since they were last read, newest first.
    pub(crate) fn unfinished_bookings(&self, limit: u32) -> Result<Vec<String>> {
        self.read(|statements| {
            ids(
                statements,
                &unfinished(),
                values![&self.scope.origin, limit],
            )
        })
    }

    /// Whether the booking was made by an attempt of the journal, as far as it still knows.
    pub(crate) fn made(&self, booking_id: &str) -> Result<bool> {
        self.read(|statements| truth(statements, MADE, values![&self.scope.origin, booking_id]))
    }
}

fn truth(statements: &dyn Statements, query: &str, values: &[Value<'_>]) -> Answer<bool> {
    let row = statements.first(query, values)?;
    row.map_or(Ok(false), |mut row| row.take(0))
}

fn ids(statements: &dyn Statements, query: &str, values: &[Value<'_>]) -> Answer<Vec<String>> {
    let rows = statements.query(query, values)?;
    rows.into_iter().map(|mut row| row.take(0)).collect()
}

// SQLite would take the primary key, which has all bookings.
const LOST: &str = "SELECT count(*) FROM bookings INDEXED BY bookings_gone WHERE origin = ?1 AND gone_at IS NOT NULL";

const MADE: &str = "
    SELECT EXISTS (SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2)
        OR EXISTS (SELECT 1 FROM attempts WHERE origin = ?1 AND booking_id = ?2)";

fn listing(status: Option<&str>) -> String {
    let condition = match status {
        None => "?3 IS NULL",
        Some(_) => "status = ?3",
    };
    format!(
        "SELECT {KEPT} FROM bookings WHERE origin = ?1 AND {condition} AND gone_at IS NULL
         ORDER BY created_at DESC, id DESC LIMIT ?2"
    )
}

fn unfinished() -> String {
    format!(
        "SELECT id FROM bookings WHERE origin = ?1 AND {UNFINISHED} AND gone_at IS NULL
         ORDER BY created_at DESC, id DESC LIMIT ?2"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::plans::plan;

    fn journal(folder: &tempfile::TempDir) -> Journal {
        let path = folder.path().join("journal.db");
        Journal::open(&path, "https://a.example".into(), None).unwrap()
    }

    fn booking(id: &str, status: &str) -> Booking {
        let text = format!(r#"{{"id":"{id}", "status":"{status}", "price":1.50}}"#);
        Booking::from_document(Document::parse(text).unwrap()).unwrap()
    }

    fn made(journal: &mut Journal, key: &str, booking: &Booking) {
        let run = journal.run(key, &json!({}));
        journal.end_booked(&run, booking, 201).unwrap();
    }

    #[test]
    fn a_settled_create_is_listed_as_the_service_sent_it_and_as_it_was_seen_last() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        made(&mut journal, "a", &booking("bk_1", "processing"));
        made(&mut journal, "b", &booking("bk_2", "confirmed"));
        assert_eq!(journal.unfinished_bookings(9).unwrap(), ["bk_1"]);
        let later = booking("bk_1", "confirmed");
        journal.update(&later).unwrap();
        assert!(!journal.is_new(&later).unwrap());
        assert!(journal.ended("bk_1").unwrap().is_some());
        assert!(journal.ended("bk_9").unwrap().is_none());
        let kept = journal.bookings(Some("confirmed"), None).unwrap();
        let texts: Vec<&str> = kept.iter().map(|it| it.booking.document().text()).collect();
        let sent = |id| format!(r#"{{"id":"{id}", "status":"confirmed", "price":1.50}}"#);
        assert_eq!(texts, [sent("bk_2"), sent("bk_1")]);
        assert_eq!(journal.bookings(None, Some(1)).unwrap().len(), 1);
    }

    #[test]
    fn a_booking_that_others_made_is_kept_when_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        made(&mut journal, "a", &booking("bk_1", "confirmed"));
        let theirs = booking("bk_9", "confirmed");
        assert!(journal.is_new(&theirs).unwrap());
        journal.update(&theirs).unwrap();
        assert!(!journal.is_new(&theirs).unwrap());
        assert_eq!(journal.bookings(None, None).unwrap().len(), 2);
        journal.keep_for(crate::model::retention::Retention::parse("0").unwrap());
        journal.update(&booking("bk_8", "confirmed")).unwrap();
        assert!(
            journal.kept("bk_8").unwrap().is_none(),
            "nothing is to be kept"
        );
    }

    #[test]
    fn a_booking_that_the_service_lost_is_in_no_list_until_it_is_seen_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        for id in ["bk_1", "bk_2"] {
            made(&mut journal, id, &booking(id, "processing"));
        }
        journal.lose("bk_1").unwrap();
        assert_eq!(journal.unfinished_bookings(9).unwrap(), ["bk_2"]);
        journal.lose_all().unwrap();
        assert_eq!(journal.lost().unwrap(), 2);
        assert!(journal.bookings(None, None).unwrap().is_empty());
        journal.update(&booking("bk_1", "processing")).unwrap();
        assert_eq!(journal.lost().unwrap(), 1);
        assert_eq!(journal.bookings(None, None).unwrap().len(), 1);
    }

    #[test]
    fn no_list_looks_at_more_rows_than_it_shows() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(&folder);
        for (query, index) in [
            (listing(None), "bookings_created (origin=?)"),
            (
                listing(Some("confirmed")),
                "bookings_of_status (origin=? AND status=?)",
            ),
            (unfinished(), "bookings_unfinished (origin=?)"),
            (LOST.to_owned(), "bookings_gone (origin=?)"),
            (
                MADE.to_owned(),
                "attempts_of_booking (origin=? AND booking_id=?)",
            ),
        ] {
            let plan = plan(&journal, &query);
            assert!(plan.contains(index), "{query}: {plan}");
            assert!(
                !plan.contains("SCAN attempts") && !plan.contains("SCAN bookings"),
                "{plan}"
            );
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
    }

    #[test]
    fn what_is_listed_is_what_the_service_wrote_whatever_a_name_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        let hostile = json!({
            "id": "bk'); DROP TABLE bookings; --", "status": "confirmed", "customer": {"name": "\u{0}\u{1b}[2J\"'寿司"},
        });
        let made_here = Booking::from_document(hostile.clone().into()).unwrap();
        made(&mut journal, "k", &made_here);
        let kept = journal.bookings(None, None).unwrap();
        let values: Vec<&Json> = kept.iter().map(|it| it.booking.value()).collect();
        assert_eq!(values, [&hostile]);
    }

    #[test]
    fn a_booking_is_made_here_by_an_attempt_of_this_service_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        made(&mut journal, "a", &booking("bk_1", "confirmed"));
        assert!(journal.made("bk_1").unwrap());
        assert!(!journal.made("bk_2").unwrap());
        let path = folder.path().join("journal.db");
        let other = Journal::open(&path, "https://b.example".into(), None).unwrap();
        assert!(!other.made("bk_1").unwrap());
        assert!(other.bookings(None, None).unwrap().is_empty());
        assert!(other.unfinished_bookings(9).unwrap().is_empty());
        assert!(other.ended("bk_1").unwrap().is_none());
    }

    #[test]
    fn a_booking_that_is_not_at_its_end_has_no_ending() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(&folder);
        made(&mut journal, "a", &booking("bk_1", "processing"));
        assert!(journal.ended("bk_1").unwrap().is_none());
        let same = booking("bk_1", "processing");
        assert!(!journal.is_new(&same).unwrap());
    }
}
