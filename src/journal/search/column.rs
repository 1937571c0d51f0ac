//! Searches bookings by their `search` column, which has a line for each field. In a shared journal the server finds its
//! parts with an index, if it has one (see `journal init`); otherwise all of them are looked at.
//!
//! The column is written when bookings are searched, and emptied when they change. Where it cannot be written, the documents
//! are searched instead.

use super::needles::Needles;
use super::text::{Field, LONGEST, Text, Venues};
use super::{Journal, Sought};
use crate::outcome::{Error, Result};
use crate::platform::signals;
use crate::platform::sql::{Answer, Row, Value, values};

/// How many bookings are prepared for the search in one transaction: others wait for it, and a signal does.
const PREPARED_AT_ONCE: u32 = 1000;
/// The most rows of a page.
const LOOKED_AT: usize = 1000;
/// The most patterns of the fields, and of the words. `are_in` checks each row that they let through.
const PATTERNS: usize = 16;

/// Goes on behind a booking that was looked at before, so that no more rows are read than are needed. A booking that is
/// not prepared has no day yet.
const IS_SOUGHT: &str = "
    origin = ?1 AND gone_at IS NULL
      AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR search IS NULL OR day BETWEEN ?3 AND ?4)
      AND (?5 IS NULL OR EXISTS (SELECT 1 FROM bookings made
                                 JOIN runs ON runs.idempotency_key = made.idempotency_key
                                 WHERE made.origin = ?1 AND made.id = bookings.id
                                 AND coalesce(username, ?5) = ?5 AND coalesce(host, ?6) = ?6))
      AND (created_at, id) < (?7, ?8)";

/// Behind all bookings.
const TOP: (&str, &str) = ("\u{10ffff}", "");

/// Bookings that are not prepared.
const UNPREPARED: &str = "search IS NULL AND forgotten_at IS NULL";

/// A booking that is not prepared has its document, and what was asked for, instead of its text.
const COLUMNS: &str = "id, created_at, search, CASE WHEN search IS NULL THEN document END,
    CASE WHEN search IS NULL THEN (SELECT coalesce(asked, request) FROM attempts
                                   WHERE attempts.idempotency_key = bookings.idempotency_key) END";

/// The same where all bookings are prepared: in a file, an index has these columns.
const PREPARED_COLUMNS: &str = "id, created_at, search, NULL, NULL";

/// A row that may be what is sought.
struct Candidate {
    id: String,
    made: String,
    /// The `search` column of a booking that is prepared.
    search: Option<String>,
    document: Option<String>,
    request: Option<String>,
}

impl Journal {
    /// The ids of at most so many bookings that match, newest first.
    pub(super) fn find_ids(
        &mut self,
        sought: &Sought,
        needles: &Needles,
        most: usize,
        venues: &Venues<'_>,
    ) -> Result<Vec<String>> {
        let is_prepared = self.prepare_search(venues)?;
        let (conditions, patterns) = conditions(needles, 10);
        // All in one order, so that a booking which changes or is prepared meanwhile keeps its place.
        let find = query(is_prepared, &conditions);
        let days = sought.days_as_text();
        let (first, last) = days.clone().unzip();
        let mine = sought.mine.clone().map(|maker| (maker.user, maker.host));
        let (user, machine) = mine.unzip();
        let mut ids = Vec::new();
        let (mut time, mut id) = (TOP.0.to_owned(), TOP.1.to_owned());
        // Most rows that the server finds match. Where many do not, more are asked for each time.
        let mut looked_at = most.clamp(1, LOOKED_AT);
        loop {
            end_if_interrupted()?;
            let rows: Vec<Candidate> = self.read(|statements| {
                let values = values![
                    &self.scope.origin,
                    &sought.status,
                    &first,
                    &last,
                    &user,
                    &machine,
                    &time,
                    &id,
                    looked_at as i64
                ];
                let values = values.iter().cloned();
                let values: Vec<_> = values.chain(patterns.iter().map(Value::from)).collect();
                let rows = statements.query(&find, &values)?;
                rows.into_iter().map(Candidate::read).collect()
            })?;
            let is_last = rows.len() < looked_at;
            for row in rows {
                if row.is_in(needles, days.as_ref(), venues) {
                    ids.push(row.id.clone());
                }
                if ids.len() == most {
                    return Ok(ids);
                }
                (time, id) = (row.made, row.id);
            }
            if is_last {
                return Ok(ids);
            }
            looked_at = (looked_at * 4).min(LOOKED_AT);
        }
    }

    /// Writes the `search` column of the bookings that were stored since the last search. Returns whether all have it: a
    /// journal that takes no changes is left as it is.
    fn prepare_search(&mut self, venues: &Venues<'_>) -> Result<bool> {
        let mut before = None;
        loop {
            let stored: Vec<Candidate> = self.read(|statements| {
                let of = values![&self.scope.origin, PREPARED_AT_ONCE];
                let rows = statements.query(&unprepared(), of)?;
                rows.into_iter().map(Candidate::read).collect()
            })?;
            let Some(first) = stored.first().map(|row| row.id.clone()) else {
                return Ok(true);
            };
            // A rule of the database can keep a change from being made without an error.
            if before.as_ref() == Some(&first) {
                return Ok(false);
            }
            if stored.len() == PREPARED_AT_ONCE as usize {
                signals::watch();
            }
            before = Some(first);
            let prepared: Vec<_> = stored
                .into_iter()
                .map(|row| {
                    let text = row.text(venues);
                    (row.id, row.document, text.fields.join("\n"), text.day)
                })
                .collect();
            let written = self.write(|statements, scope| {
                // What changed in the meantime is prepared in the next round.
                let update = "UPDATE bookings SET search = ?3, day = ?4
                              WHERE origin = ?1 AND id = ?2 AND document = ?5 AND forgotten_at IS NULL";
                for (id, document, search, day) in &prepared {
                    statements.later(update, values![&scope.origin, id, search, day, document])?;
                }
                Ok(())
            });
            end_if_interrupted()?;
            // A standby takes no changes, and some users may only read.
            if written.is_err() {
                return Ok(false);
            }
        }
    }
}

/// Ends a search of many bookings on a signal.
fn end_if_interrupted() -> Result<()> {
    signals::caught().map_or(Ok(()), |exit| Err(Error::interrupted(exit)))
}

/// The query for bookings that were stored since the last search. SQLite would take the primary key, which has all bookings.
pub(super) fn unprepared() -> String {
    format!(
        "SELECT {COLUMNS} FROM bookings INDEXED BY bookings_unsearched WHERE origin = ?1 AND {UNPREPARED} ORDER BY id LIMIT ?2"
    )
}

/// The query for a page of bookings that meet `conditions`, and of those that are not prepared, if there are any.
pub(super) fn query(is_prepared: bool, conditions: &str) -> String {
    let (columns, others) = if is_prepared {
        (PREPARED_COLUMNS, String::new())
    } else {
        (COLUMNS, format!("OR {UNPREPARED}"))
    };
    format!(
        "SELECT {columns} FROM bookings WHERE {IS_SOUGHT} AND (search IS NOT NULL {conditions} {others})
         ORDER BY created_at DESC, id DESC LIMIT ?9"
    )
}

impl Candidate {
    fn read(mut row: Row) -> Answer<Self> {
        Ok(Candidate {
            id: row.take(0)?,
            made: row.take(1)?,
            search: row.take(2)?,
            document: row.take(3)?,
            request: row.take(4)?,
        })
    }

    /// What a booking that is not prepared is searched by.
    fn text(&self, venues: &Venues<'_>) -> Text {
        let document = self.document.as_deref().unwrap_or_default();
        Text::of(&self.id, document, self.request.as_deref(), venues)
    }

    /// Whether it is sought. The server has compared the day of a booking that is prepared.
    fn is_in(
        &self,
        needles: &Needles,
        days: Option<&(String, String)>,
        venues: &Venues<'_>,
    ) -> bool {
        if let Some(search) = &self.search {
            return are_in(needles, search);
        }
        let text = self.text(venues);
        let is_on_a_day = match (days, &text.day) {
            (None, _) => true,
            (Some((first, last)), Some(day)) => first <= day && day <= last,
            (Some(_), None) => false,
        };
        is_on_a_day && are_in(needles, &text.fields.join("\n"))
    }
}

fn are_in(needles: &Needles, search: &str) -> bool {
    let has = |field: Field, part: &str| {
        let line = search.split('\n').nth(field as usize);
        line.is_some_and(|line| line.contains(part))
    };
    let number = needles.number.as_ref();
    needles
        .of_fields
        .iter()
        .all(|(field, part)| has(*field, part))
        && (needles.words.iter().all(|word| search.contains(word))
            || number.is_some_and(|number| has(Field::Phone, number)))
}

/// Conditions that let through at least what `are_in` does, and their patterns, whose parameters begin with this number.
fn conditions(needles: &Needles, first: usize) -> (String, Vec<String>) {
    let mut patterns = Vec::new();
    let mut like = |part: &String| {
        patterns.push(pattern(part));
        format!("search LIKE ?{}", first + patterns.len() - 1)
    };
    let mut conditions = String::new();
    for (_, part) in needles.of_fields.iter().take(PATTERNS) {
        conditions.push_str(&format!("AND {} ", like(part)));
    }
    let words: Vec<String> = needles.words.iter().take(PATTERNS).map(&mut like).collect();
    if !words.is_empty() {
        let words = words.join(" AND ");
        let number = needles.number.as_ref().map(like);
        let or_number = number.map_or(String::new(), |it| format!(" OR {it}"));
        conditions.push_str(&format!("AND ({words}{or_number})"));
    }
    (conditions, patterns)
}

/// A pattern for LIKE. PostgreSQL takes a backslash for an escape; one letter stands for any.
fn pattern(part: &str) -> String {
    let begin: String = part.chars().take(LONGEST).collect();
    format!("%{}%", begin.replace('\\', "_"))
}
