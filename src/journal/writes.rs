//! What was sent to change a booking, and what came of it, for its story.

use jiff::Timestamp;
use serde_json::Value as Json;

use super::Journal;
use crate::outcome::Result;
use crate::platform::sql::{Sql, SqlResult, SqlRow, values};
use crate::secrets::redact_document;

/// A row that is written before its request leaves, as `unknown`.
#[derive(Debug)]
pub(crate) struct BookingWrite {
    /// By this computer's clock.
    pub(crate) sent_at: Timestamp,
    /// The name of a `WriteKind`.
    pub(crate) kind: String,
    /// `done`, `rejected`, `unsent` or `unknown`.
    pub(crate) outcome: String,
    /// Deleted with the guest.
    pub(crate) facts: Json,
}

impl BookingWrite {
    pub(crate) fn may_be_done(&self) -> bool {
        matches!(&*self.outcome, "done" | "unknown")
    }
}

/// Copies a row, or only its outcome, where that was unknown. Nothing of a deleted guest comes back.
pub(super) fn copy_write(statements: &dyn Sql, row: &SqlRow) -> SqlResult<()> {
    let copy = "INSERT INTO writes (origin, booking_id, sent_at, kind, outcome, facts)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE EXISTS (SELECT 1 FROM bookings WHERE origin = ?1 AND id = ?2 AND forgotten_at IS NULL)
         ON CONFLICT (origin, booking_id, sent_at) DO UPDATE SET outcome = excluded.outcome WHERE writes.outcome = 'unknown'";
    let text = |column| row.get::<String>(column);
    let (origin, id, sent_at) = (text("origin")?, text("booking_id")?, text("sent_at")?);
    let (kind, outcome, facts) = (text("kind")?, text("outcome")?, text("facts")?);
    statements.execute(copy, values![&origin, &id, &sent_at, &kind, &outcome, &facts]).map(drop)
}

impl Journal {
    pub(crate) fn store_write(&self, id: &str, write: &BookingWrite) -> Result<()> {
        self.write(|statements, scope| {
            let mut facts = write.facts.clone();
            if self.is_shared() {
                let maker = &scope.maker;
                facts["by"] = format!("{} on {}", maker.user, maker.host).into();
            }
            let facts = redact_document(&facts.to_string(), &facts).into_owned();
            let facts = if scope.keeps_guests() { facts } else { "{}".to_owned() };
            let store = "INSERT INTO writes (origin, booking_id, sent_at, kind, outcome, facts)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (origin, booking_id, sent_at) DO UPDATE SET outcome = excluded.outcome, facts = excluded.facts";
            let sent_at = write.sent_at.to_string();
            let row = values![&scope.origin, id, &sent_at, &write.kind, &write.outcome, &facts];
            statements.execute(store, row).map(drop)
        })
    }

    /// Whether the result of the last write to a booking is not known.
    pub(crate) fn is_in_doubt(&self, id: &str) -> Result<bool> {
        let last = self.writes(id)?.into_iter().rfind(BookingWrite::may_be_done);
        Ok(last.is_some_and(|it| it.outcome == "unknown"))
    }

    /// The oldest first.
    pub(crate) fn writes(&self, id: &str) -> Result<Vec<BookingWrite>> {
        let query = "SELECT * FROM writes WHERE origin = ?1 AND booking_id = ?2";
        let read = |row: &SqlRow| {
            let facts: String = row.get("facts")?;
            let sent_at: String = row.get("sent_at")?;
            Ok(BookingWrite {
                sent_at: sent_at.parse().unwrap_or_default(),
                kind: row.get("kind")?,
                outcome: row.get("outcome")?,
                facts: serde_json::from_str(&facts).unwrap_or_default(),
            })
        };
        let mut writes: Vec<BookingWrite> = self.read(|statements, scope| {
            statements.query(query, values![&scope.origin, id])?.iter().map(read).collect()
        })?;
        writes.sort_by_key(|write| write.sent_at);
        Ok(writes)
    }
}
