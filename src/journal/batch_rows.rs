//! The rows of batches: which rows a batch had at its starts, and their results as printed.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::Journal;
use super::bookings::is_forgotten;
use super::scope::Scope;
use crate::json::Document;
use crate::outcome::{Exit, Result};
use crate::platform::sql::{Sql, SqlResult, SqlRow, values};
use crate::secrets::redact_document;

/// What is printed of a row beside its number.
#[derive(Clone, Debug)]
pub(crate) struct RowLine {
    pub(crate) idempotency_key: String,
    pub(crate) exit: Exit,
    pub(crate) booking: Option<Document>,
    pub(crate) error: Option<Document>,
}

/// What the journal has of a batch: its rows by their first keys, with their results.
#[derive(Default)]
pub(crate) struct BatchRecord {
    pub(crate) rows: HashMap<String, Option<RowLine>>,
    /// How the last start of the batch ended, if it did.
    pub(crate) exit: Option<Exit>,
}

/// The row that stands for the batch itself.
const WHOLE: &str = "";

/// Where the rows are that an earlier start of a batch had, and the last one has no more.
fn removed(batch: &str) -> String {
    format!("removed from {batch}")
}

const ROWS: &str = "SELECT * FROM batch_rows WHERE origin = ?1 AND batch IN (?2, ?3)";

fn exit(row: &SqlRow) -> SqlResult<Option<Exit>> {
    let code: Option<i64> = row.get("exit_code")?;
    let with_code = |code: i64| Exit::ALL.iter().find(|exit| i64::from(exit.code()) == code);
    Ok(code.and_then(with_code).copied())
}

fn line(row: &SqlRow) -> SqlResult<Option<RowLine>> {
    let document = |column| -> SqlResult<Option<Document>> {
        let text: Option<String> = row.get(column)?;
        Ok(text.and_then(|text| Document::parse(text).ok()))
    };
    let key: Option<String> = row.get("idempotency_key")?;
    let (booking, error) = (document("booking")?, document("error")?);
    Ok(key.zip(exit(row)?).map(|(idempotency_key, exit)| RowLine {
        idempotency_key,
        exit,
        booking,
        error,
    }))
}

fn record(rows: &[SqlRow]) -> SqlResult<BatchRecord> {
    let mut record = BatchRecord::default();
    for row in rows {
        let key: String = row.get("row_key")?;
        if key == WHOLE {
            record.exit = exit(row)?;
        } else {
            record.rows.insert(key, line(row)?);
        }
    }
    Ok(record)
}

impl Journal {
    /// What the journal has of a batch, its removed rows included.
    pub(crate) fn batch(&self, batch: &str) -> Result<BatchRecord> {
        self.read(|statements, scope| {
            record(&statements.query(ROWS, values![&scope.origin, batch, &removed(batch)])?)
        })
    }

    /// Begins a start of a batch with these rows, and returns what was known of it. The rows that it
    /// has no more are removed: an earlier start that still runs does not send them. Starts wait for
    /// each other.
    pub(crate) fn begin_batch(&self, batch: &str, row_keys: &HashSet<&str>) -> Result<BatchRecord> {
        const ADD: &str = "INSERT INTO batch_rows (origin, batch, row_key, seen_at)
            VALUES (?1, ?2, ?3, ?4) ON CONFLICT (origin, batch, row_key) DO ";
        const DELETE: &str =
            "DELETE FROM batch_rows WHERE origin = ?1 AND batch = ?2 AND row_key = ?3";
        const MOVE: &str =
            "UPDATE batch_rows SET batch = ?2 WHERE origin = ?1 AND batch = ?4 AND row_key = ?3";
        let (row, whole) = (format!("{ADD} NOTHING"), format!("{ADD} UPDATE SET exit_code = NULL"));
        let (now, removed) = (Timestamp::now().to_string(), removed(batch));
        self.write(|statements, scope| {
            let origin = &scope.origin;
            statements.execute(&whole, values![origin, batch, WHOLE, &now])?;
            let known = statements.query(ROWS, values![origin, batch, &removed])?;
            for row in &known {
                let (place, key): (String, String) = (row.get("batch")?, row.get("row_key")?);
                let stays = key == WHOLE || row_keys.contains(&*key);
                let its = if stays { batch } else { &removed };
                if place != its {
                    statements.execute_deferred(DELETE, values![origin, its, &key])?;
                    statements.execute_deferred(MOVE, values![origin, its, &key, &place])?;
                }
            }
            for key in row_keys {
                statements.execute_deferred(&row, values![origin, batch, *key, &now])?;
            }
            record(&known)
        })
    }

    /// Stores the result of a row, unless nothing is to be kept of guests or this one was deleted.
    pub(crate) fn end_row(&self, batch: &str, row_key: &str, line: &RowLine) -> Result<()> {
        let recorded = |it: &Document| redact_document(it.text(), it.value()).into_owned();
        let (booking, error) = (line.booking.as_ref(), line.error.as_ref());
        let id = booking.and_then(|it| it.str("id")).map(str::to_owned);
        let now = Timestamp::now().to_string();
        let exit = u32::from(line.exit.code());
        let end = "UPDATE batch_rows SET idempotency_key = ?4, exit_code = ?5, booking_id = ?6, booking = ?7,
            error = ?8, seen_at = ?9 WHERE origin = ?1 AND batch IN (?2, ?10) AND row_key = ?3";
        let removed = removed(batch);
        let (booking, error) = (booking.map(recorded), error.map(recorded));
        self.write(|statements, scope| {
            let (origin, key) = (&scope.origin, &line.idempotency_key);
            let made = id.as_deref().map_or(Ok(false), |id| is_forgotten(statements, origin, id));
            if made? || !scope.keeps_guests() {
                return Ok(());
            }
            let row =
                values![origin, batch, row_key, key, exit, &id, &booking, &error, &now, &removed];
            statements.execute_deferred(end, row).map(drop)
        })
    }

    /// Stores how a start ended, and forgets the removed rows that are `over`.
    pub(crate) fn end_batch(&self, batch: &str, exit: Exit, over: &[String]) -> Result<()> {
        const FORGET: &str =
            "DELETE FROM batch_rows WHERE origin = ?1 AND batch = ?2 AND row_key = ?3";
        let end = "UPDATE batch_rows SET exit_code = ?4 WHERE origin = ?1 AND batch = ?2 AND row_key = ?3";
        let code = u32::from(exit.code());
        self.write(|statements, scope| {
            // First, as where a start begins: neither holds what the other waits for.
            statements.execute_deferred(end, values![&scope.origin, batch, WHOLE, code])?;
            for key in over {
                statements
                    .execute_deferred(FORGET, values![&scope.origin, &removed(batch), key])?;
            }
            Ok(())
        })
    }
}

/// Whether a batch has a row. A start that removes it waits for the end of the transaction.
pub(super) fn has_row(
    statements: &dyn Sql,
    scope: &Scope,
    batch: &str,
    row_key: &str,
) -> SqlResult<bool> {
    let query =
        "SELECT 1 FROM batch_rows WHERE origin = ?1 AND batch = ?2 AND row_key = ?3 FOR UPDATE";
    Ok(statements.first(query, values![&scope.origin, batch, row_key])?.is_some())
}

/// Copies a row of another journal, unless what is known here is as new. The result of a booking
/// whose guest was deleted here stays deleted.
pub(super) fn copy_row(statements: &dyn Sql, scope: &Scope, row: &SqlRow) -> SqlResult<()> {
    const COPY: &str = "INSERT INTO batch_rows
            (origin, batch, row_key, idempotency_key, exit_code, booking_id, booking, error, seen_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (origin, batch, row_key) DO UPDATE SET
            idempotency_key = excluded.idempotency_key, exit_code = excluded.exit_code,
            booking_id = excluded.booking_id, booking = excluded.booking, error = excluded.error,
            seen_at = excluded.seen_at WHERE excluded.seen_at > batch_rows.seen_at";
    let text = |column| row.get::<Option<String>>(column);
    let (origin, id) = (row.get::<String>("origin")?, text("booking_id")?);
    let is_deleted = match &id {
        Some(id) => !scope.keeps_guests() || is_forgotten(statements, &origin, id)?,
        None => false,
    };
    if is_deleted {
        return Ok(());
    }
    let code: Option<i64> = row.get("exit_code")?;
    let (key, booking, error) = (text("idempotency_key")?, text("booking")?, text("error")?);
    let (batch, row_key) = (text("batch")?, text("row_key")?);
    let seen_at = text("seen_at")?;
    let row = values![&origin, batch, row_key, key, code, id, booking, error, seen_at];
    statements.execute_deferred(COPY, row).map(drop)
}
