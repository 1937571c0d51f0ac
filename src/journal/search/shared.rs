//! Searches a shared journal: the server looks at each booking's `search` column, which has a line for each field.
//!
//! The column is written when bookings are searched, and emptied when they change.

use super::needles::Needles;
use super::text::{Field, LONGEST, Text, Venues};
use super::{Journal, Sought};
use crate::outcome::Result;
use crate::platform::sql::{Row, values};

/// How many bookings are prepared for the search in one transaction.
const PREPARED_AT_ONCE: u32 = 5000;
/// How many rows are looked at at once.
const LOOKED_AT: u32 = 1000;

/// Goes on behind a booking that was looked at before, so that no more rows are read than are needed.
const FIND: &str = "
    SELECT id, search, created_at FROM bookings
    WHERE origin = ?1 AND search IS NOT NULL AND gone_at IS NULL
      AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR day BETWEEN ?3 AND ?4)
      AND (?5 IS NULL OR search LIKE ?5) AND (?6 IS NULL OR search LIKE ?6 OR search LIKE ?7)
      AND (?11 IS NULL OR EXISTS (SELECT 1 FROM bookings made
                                  JOIN runs ON runs.idempotency_key = made.idempotency_key
                                  WHERE made.origin = ?1 AND made.id = bookings.id
                                  AND coalesce(username, ?11) = ?11 AND coalesce(host, ?12) = ?12))
      AND (?8 IS NULL OR created_at <= ?8 AND (created_at < ?8 OR id < ?9))
    ORDER BY created_at DESC, id DESC LIMIT ?10";

const UNSEARCHED: &str = "
    SELECT id, document, (SELECT coalesce(asked, request) FROM attempts
                          WHERE attempts.idempotency_key = bookings.idempotency_key)
    FROM bookings WHERE origin = ?1 AND search IS NULL AND forgotten_at IS NULL LIMIT ?2";

impl Journal {
    /// The ids of at most so many bookings that match, newest first.
    pub(super) fn find_shared(
        &mut self,
        sought: &Sought,
        needles: &Needles,
        most: usize,
        venues: &Venues<'_>,
    ) -> Result<Vec<String>> {
        self.prepare_search(venues)?;
        let [of_field, text, number] = patterns(needles);
        let (first, last) = sought.days_as_text().unzip();
        let mine = sought.mine.clone().map(|maker| (maker.user, maker.host));
        let (user, machine) = mine.unzip();
        let mut ids = Vec::new();
        let (mut time, mut id): (Option<String>, Option<String>) = (None, None);
        loop {
            let rows: Vec<(String, String, String)> = self.read(|statements| {
                let values = values![
                    &self.scope.origin,
                    &sought.status,
                    &first,
                    &last,
                    &of_field,
                    &text,
                    &number,
                    &time,
                    &id,
                    LOOKED_AT,
                    &user,
                    &machine
                ];
                let row = |mut row: Row| Ok((row.take(0)?, row.take(1)?, row.take(2)?));
                let rows = statements.query(FIND, values)?;
                rows.into_iter().map(row).collect()
            })?;
            let is_last = rows.len() < LOOKED_AT as usize;
            for (found, search, made) in rows {
                if are_in(needles, &search) {
                    ids.push(found.clone());
                }
                if ids.len() == most {
                    return Ok(ids);
                }
                (time, id) = (Some(made), Some(found));
            }
            if is_last {
                return Ok(ids);
            }
        }
    }

    /// Writes the `search` column of the bookings that were stored since the last search.
    fn prepare_search(&mut self, venues: &Venues<'_>) -> Result<()> {
        loop {
            let stored: Vec<(String, String, Option<String>)> = self.read(|statements| {
                let rows =
                    statements.query(UNSEARCHED, values![&self.scope.origin, PREPARED_AT_ONCE])?;
                let stored = |mut row: Row| Ok((row.take(0)?, row.take(1)?, row.take(2)?));
                rows.into_iter().map(stored).collect()
            })?;
            if stored.is_empty() {
                return Ok(());
            }
            let mut prepared = Vec::new();
            for (id, document, request) in stored {
                let text = Text::of(&id, &document, request.as_deref(), venues);
                prepared.push((id, document, text.fields.join("\n"), text.day));
            }
            self.write(|statements, scope| {
                // What changed in the meantime is prepared in the next round.
                let update = "UPDATE bookings SET search = ?3, day = ?4
                              WHERE origin = ?1 AND id = ?2 AND document = ?5 AND forgotten_at IS NULL";
                for (id, document, search, day) in &prepared {
                    statements.later(update, values![&scope.origin, id, search, day, document])?;
                }
                Ok(())
            })?;
        }
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

/// Patterns for LIKE that let through at least what `are_in` does: one of a field, and two of which one must match.
fn patterns(needles: &Needles) -> [Option<String>; 3] {
    let pattern = |part: &String| {
        // PostgreSQL takes a backslash for an escape; one letter stands for any.
        let begin: String = part.chars().take(LONGEST).collect();
        let begin = begin.replace('\\', "_");
        format!("%{begin}%")
    };
    let of_fields = needles.of_fields.iter().map(|(_, part)| part);
    [
        of_fields.max_by_key(|part| part.len()).map(pattern),
        needles
            .words
            .iter()
            .max_by_key(|word| word.len())
            .map(pattern),
        needles.number.as_ref().map(pattern),
    ]
}
