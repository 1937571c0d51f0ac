//! The bookings of this computer, each as last seen, with its states and original terms.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde_json::{Map, Value as Json, json};

use super::protocol::Attempt;
use super::scope::Scope;
use super::searched::searched_texts;
use super::{Journal, guests};
use crate::json::Document;
use crate::outcome::Result;
use crate::platform::sql::{Sql, SqlFailure, SqlResult, SqlRow, values};
use crate::secrets::redact_document;
use crate::service::documents::FieldValue;
use crate::service::documents::booking::Booking;
use crate::service::documents::wish::Wish;

/// The record of a booking: a `Booking` as it was seen, and what only this computer knows of it.
#[derive(Clone, Debug)]
pub(crate) struct KeptBooking {
    /// The document from the service. If its guest was deleted, or it cannot be read, only the id
    /// and the status.
    pub(crate) booking: Booking,
    /// When the visit is, by the venue's clock.
    pub(crate) visit: Option<DateTime>,
    /// The terms of the slot that was booked. The service may not repeat them.
    pub(crate) terms: Option<Json>,
    /// What its request and accepted changes asked for, in the contract's shape.
    pub(crate) requested: Option<Json>,
    /// The key of the request that made it.
    pub(crate) idempotency_key: Option<String>,
    /// The key of the request that it answered, if that is unresolved: the booking is marked.
    pub(crate) unresolved_key: Option<String>,
    /// What accepted changes asked for.
    pub(super) changes: Option<Json>,
    pub(super) is_forgotten: bool,
}

pub(super) const WITH_ASKED: &str = "bookings.*,
    (SELECT coalesce(asked, request) FROM attempts
     WHERE attempts.idempotency_key = bookings.idempotency_key) AS asked,
    (SELECT attempts.idempotency_key FROM attempts
     WHERE attempts.idempotency_key = bookings.idempotency_key AND state = 'unresolved') AS unresolved_key";

/// What was asked for, with what accepted changes asked for.
fn changed(mut requested: Option<Json>, changes: Option<&Json>) -> Option<Json> {
    for (field, value) in changes.and_then(Json::as_object).into_iter().flatten() {
        requested.get_or_insert_with(|| json!({}))[field] = value.clone();
    }
    requested
}

impl KeptBooking {
    /// A booking with what was asked for in place of what the service does not show.
    pub(crate) fn fill_in(&self, booking: &Booking) -> Booking {
        let (mut value, mut from_request) = (booking.value().clone(), Vec::new());
        for field in ["venue_id", "datetime", "party_size", "customer"] {
            let is_shown = match field {
                "venue_id" => booking.venue() != FieldValue::Absent,
                "customer" => booking.field("customer.name") != FieldValue::Absent,
                _ => value.get(field).is_some_and(|it| !it.is_null()),
            };
            if let Some(requested) = self.requested.as_ref().and_then(|it| it.get(field))
                && !is_shown
            {
                value[field] = requested.clone();
                // The venue is shown where its name is.
                if field != "venue_id" || booking.venue_name().is_none() {
                    from_request.push(field);
                }
            }
        }
        let (document, envelope_fields) =
            (booking.document.clone(), booking.envelope_fields.clone());
        let filled = Booking::read(document, Some(value), envelope_fields);
        let mut filled = filled.unwrap_or_else(|| booking.clone());
        filled.from_request = from_request.into();
        filled
    }

    /// The same with what an accepted change asked for.
    pub(crate) fn accepting(mut self, changes: &Map<String, Json>) -> Self {
        self.requested = changed(self.requested.take(), Some(&changes.clone().into()));
        self
    }

    pub(crate) fn wish(&self) -> Wish {
        self.requested.as_ref().map(Wish::from_request).unwrap_or_default()
    }

    /// How long ago it was read. A record from later than now is of a computer whose clock is
    /// wrong.
    pub(crate) fn age(&self) -> Duration {
        let seen = self.booking.left_at;
        let age = seen.and_then(|seen| Timestamp::now().duration_since(seen).try_into().ok());
        age.unwrap_or(Duration::MAX)
    }

    pub(super) fn read(row: &SqlRow) -> SqlResult<Self> {
        let (id, status): (String, String) = (row.get("id")?, row.get("status")?);
        let reduced = || json!({"id": id, "object": "booking", "status": status}).into();
        let document = Document::parse(row.get::<String>("document")?).ok();
        let booking = document.and_then(Booking::from_document);
        let booking = booking.or_else(|| Booking::from_document(reduced()));
        let mut booking = booking.ok_or(SqlFailure::Unreadable)?.with_id(&id);
        booking.left_at = row.get::<String>("seen_at")?.parse().ok();
        // A query may leave them out.
        let text = |column| row.get::<Option<String>>(column).ok().flatten();
        let json = |column| text(column).and_then(|text| serde_json::from_str(&text).ok());
        let changes = json("changes");
        Ok(KeptBooking {
            visit: text("visit").and_then(|it| it.parse().ok()),
            terms: json("terms"),
            requested: changed(json("asked"), changes.as_ref()),
            idempotency_key: text("idempotency_key"),
            unresolved_key: text("unresolved_key"),
            changes,
            is_forgotten: text("forgotten_at").is_some(),
            booking,
        })
    }
}

/// The booking as recorded, for a transaction that changes it: others wait for its end.
pub(super) fn load_for_update(
    statements: &dyn Sql,
    origin: &str,
    id: &str,
) -> SqlResult<Option<KeptBooking>> {
    let query =
        format!("SELECT {WITH_ASKED} FROM bookings WHERE origin = ?1 AND id = ?2 FOR UPDATE");
    statements.first(&query, values![origin, id])?.as_ref().map(KeptBooking::read).transpose()
}

/// Whether the guest of a booking was deleted with the attempt that made it.
pub(super) fn is_forgotten(statements: &dyn Sql, origin: &str, id: &str) -> SqlResult<bool> {
    let query =
        "SELECT 1 FROM attempts WHERE origin = ?1 AND booking_id = ?2 AND forgotten_at IS NOT NULL";
    Ok(statements.first(query, values![origin, id])?.is_some())
}

#[derive(Default)]
pub(super) struct SeenBooking<'a> {
    pub(super) origin: &'a str,
    /// If it is not known yet; else when it was seen.
    pub(super) created_at: Option<&'a str>,
    pub(super) key: Option<&'a str>,
    pub(super) requested: Option<&'a Json>,
    pub(super) terms: Option<&'a Json>,
    pub(super) changes: Option<&'a Json>,
    /// Whether its guest was deleted: it stays reduced to its id and status.
    pub(super) is_forgotten: bool,
}

/// Stores a booking. If another process added it meanwhile, the transaction is repeated.
pub(super) fn store(
    statements: &dyn Sql,
    scope: &Scope,
    held: Option<&KeptBooking>,
    booking: &Booking,
    seen: &SeenBooking<'_>,
) -> SqlResult<()> {
    let requested = seen.requested.or(held.and_then(|held| held.requested.as_ref()));
    let changes = seen.changes.or(held.and_then(|held| held.changes.as_ref()));
    let is_forgotten = seen.is_forgotten || held.is_some_and(|held| held.is_forgotten);
    let (document, terms, searched) = if is_forgotten {
        (Cow::Borrowed(""), None, Default::default())
    } else {
        // A service may repeat a key.
        let terms = seen.terms.map(|it| redact_document(&it.to_string(), it).into_owned());
        let document = booking.own_document();
        let searched = searched_texts(booking, requested, scope);
        (redact_document(document.text(), document.value()), terms, searched)
    };
    let [guest, email, phone, venue, folded_id, visit] = searched;
    let seen_at = booking.left_at.unwrap_or_else(Timestamp::now).to_string();
    const CHANGED: &str = "ON CONFLICT (origin, id) DO UPDATE SET status = excluded.status, document = excluded.document,
         seen_at = excluded.seen_at, visit = excluded.visit, guest = excluded.guest, email = excluded.email,
         phone = excluded.phone, venue = excluded.venue, folded_id = excluded.folded_id,
         terms = coalesce(excluded.terms, bookings.terms), changes = excluded.changes,
         idempotency_key = coalesce(bookings.idempotency_key, excluded.idempotency_key)";
    let write = format!(
        "INSERT INTO bookings (origin, id, status, document, seen_at, visit, guest, email, phone, venue, folded_id, terms,
                               changes, idempotency_key, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) {}",
        if held.is_some() { CHANGED } else { "" }
    );
    let status = booking.status();
    let row = values![
        seen.origin,
        booking.id(),
        status.as_str(),
        &document,
        &seen_at,
        &visit,
        &guest,
        &email,
        &phone,
        &venue,
        &folded_id,
        terms,
        changes.filter(|_| !is_forgotten).map(Json::to_string),
        seen.key,
        seen.created_at.unwrap_or(&seen_at),
    ];
    statements.execute_deferred(
        "INSERT INTO sightings (origin, booking_id, number, status, facts, seen_at)
         SELECT ?1, ?2, 1 + coalesce((SELECT max(number) FROM sightings WHERE origin = ?1 AND booking_id = ?2), 0), ?3, ?4, ?5
         WHERE NOT EXISTS (SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2 AND status = ?3 AND document = ?6)",
        values![seen.origin, booking.id(), status.as_str(), facts(&document), &seen_at, &document],
    )?;
    statements.execute_deferred(&write, row).map(drop)
}

/// What a booking's story needs of its stored document. It says nothing of the guest.
fn facts(document: &str) -> String {
    const FACTS: [&str; 11] = [
        "venue_id",
        "provider",
        "end_user",
        "payment_collection",
        "error_code",
        "error_message",
        "datetime",
        "party_size",
        "seating_preference",
        "created_at",
        "updated_at",
    ];
    let document: Map<String, Json> = serde_json::from_str(document).unwrap_or_default();
    let facts = document.into_iter().filter(|(name, _)| FACTS.contains(&name.as_str()));
    Json::Object(facts.collect()).to_string()
}

pub(super) fn keep(
    statements: &dyn Sql,
    scope: &Scope,
    attempt: &Attempt,
    booking: &Booking,
    terms: Option<&Json>,
) -> SqlResult<()> {
    let held = load_for_update(statements, &attempt.origin, booking.id())?;
    let seen = SeenBooking {
        origin: &attempt.origin,
        created_at: Some(&attempt.created_at),
        key: Some(&attempt.idempotency_key),
        requested: Some(attempt.canonical()),
        terms,
        ..SeenBooking::default()
    };
    store(statements, scope, held.as_ref(), booking, &seen)
}

impl Journal {
    /// Stores a received booking, unless the record is of a request that left later, with what an
    /// accepted change asked for, which the service may not show, and the terms of its new slot. A
    /// guest that was deleted does not come back, and where nothing is to be kept no other's booking
    /// is added.
    pub(crate) fn change(
        &self,
        booking: &Booking,
        accepted: &Map<String, Json>,
        terms: Option<&Json>,
    ) -> Result<()> {
        let now = Timestamp::now();
        let left_at = booking.left_at.unwrap_or(now);
        let stored = self.load_booking(booking.id())?.and_then(|it| it.booking.left_at);
        // A record from later than now is of a computer whose clock is wrong.
        if accepted.is_empty() && stored.is_some_and(|stored| left_at <= stored && stored <= now) {
            return Ok(());
        }
        let purged = self.write(|statements, scope| {
            let mut held = load_for_update(statements, &scope.origin, booking.id())?;
            let is_kept = held.is_some()
                || scope.keeps_guests() && !is_forgotten(statements, &scope.origin, booking.id())?;
            if let Some(held) = held.as_mut().filter(|_| !accepted.is_empty()) {
                let accepted = Some(Json::from(accepted.clone()));
                held.changes = changed(held.changes.take(), accepted.as_ref());
                held.requested = changed(held.requested.take(), accepted.as_ref());
            }
            if is_kept {
                let seen = SeenBooking { origin: &scope.origin, terms, ..SeenBooking::default() };
                store(statements, scope, held.as_ref(), booking, &seen)?;
            }
            guests::purge(statements, scope)
        })?;
        self.clean_after(purged);
        Ok(())
    }

    /// Stores the bookings of received events, which hold less than a booking that was read: what
    /// an attempt or a read recorded stays. Repeating it changes nothing.
    pub(crate) fn take_in(&self, received: &[Booking]) -> Result<()> {
        self.write(|statements, scope| {
            for booking in received.iter().filter(|_| scope.keeps_guests()) {
                let held = load_for_update(statements, &scope.origin, booking.id())?;
                let made = "SELECT 1 FROM attempts WHERE origin = ?1 AND booking_id = ?2";
                let row = values![&scope.origin, booking.id()];
                let is_known_better = match &held {
                    Some(held) => {
                        let time = held.booking.value().get("datetime");
                        held.idempotency_key.is_some() || time.is_some_and(|it| !it.is_null())
                    }
                    None => statements.first(made, row)?.is_some(),
                };
                if !is_known_better {
                    let seen = SeenBooking { origin: &scope.origin, ..SeenBooking::default() };
                    store(statements, scope, held.as_ref(), booking, &seen)?;
                }
            }
            Ok(())
        })
    }

    /// A booking as it was last seen.
    pub(crate) fn load_booking(&self, id: &str) -> Result<Option<KeptBooking>> {
        let query = format!("SELECT {WITH_ASKED} FROM bookings WHERE origin = ?1 AND id = ?2");
        self.read(|statements, scope| {
            let row = statements.first(&query, values![&scope.origin, id])?;
            row.as_ref().map(KeptBooking::read).transpose()
        })
    }

    /// The id of the booking that answered an unresolved attempt, and was not as it asked.
    pub(crate) fn marked(&self, key: &str) -> Result<Option<String>> {
        self.read(|statements, scope| {
            let query =
                "SELECT id FROM bookings WHERE origin = ?1 AND idempotency_key = ?2 LIMIT 1";
            let row = statements.first(query, values![&scope.origin, key])?;
            row.map(|row| row.get("id")).transpose()
        })
    }

    /// The ids of the newest bookings at this service, whatever the shape of their documents.
    pub(crate) fn booking_ids(&self, limit: u32) -> Result<Vec<String>> {
        self.read(|statements, scope| {
            let newest = "SELECT id FROM bookings WHERE origin = ?1 ORDER BY created_at DESC, id DESC LIMIT ?2";
            let rows = statements.query(newest, values![&scope.origin, limit])?;
            rows.iter().map(|row| row.get("id")).collect()
        })
    }

    /// Whether the booking was made by an attempt of the journal, as far as it still knows.
    pub(crate) fn made(&self, booking_id: &str) -> Result<bool> {
        self.read(|statements, scope| {
            let made = "SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2
                        UNION ALL SELECT 1 FROM attempts WHERE origin = ?1 AND booking_id = ?2";
            Ok(statements.first(made, values![&scope.origin, booking_id])?.is_some())
        })
    }

    /// The states in which a booking was seen, oldest first, with some of its fields. Only the
    /// status is left after its guest was deleted.
    pub(crate) fn sightings(&self, booking_id: &str) -> Result<Vec<Booking>> {
        self.read(|statements, scope| {
            let query =
                "SELECT * FROM sightings WHERE origin = ?1 AND booking_id = ?2 ORDER BY number";
            let rows = statements.query(query, values![&scope.origin, booking_id])?;
            let sighting = |row: &SqlRow| {
                let facts: String = row.get("facts")?;
                let mut facts: Map<String, Json> = serde_json::from_str(&facts).unwrap_or_default();
                facts.insert("id".to_owned(), booking_id.into());
                facts.insert("status".to_owned(), row.get::<String>("status")?.into());
                let Some(mut booking) = Booking::from_document(Json::Object(facts).into()) else {
                    return Ok(None);
                };
                booking.left_at = row.get::<String>("seen_at")?.parse().ok();
                Ok(Some(booking))
            };
            rows.iter().filter_map(|row| sighting(row).transpose()).collect()
        })
    }
}

#[cfg(test)]
mod tests;
