//! Finds bookings by what a person knows of them: a name, a phone number, a venue, a day.
//!
//! The `search` column of a booking holds its fields without case and accents, one per line. It is written when
//! bookings are searched, not when they are stored: a booking request does not wait for it, and the bookings of an older
//! journal get it too. Deleting a guest deletes it.

use jiff::civil::Date;
use serde_json::Value;

use super::Journal;
use super::bookings::KeptBooking;
use super::scope::Maker;
use crate::json::{Document, plain};
use crate::model::booking::Booking;
use crate::model::document_time::DocumentTime;
use crate::model::text_fold::{digits, fold};
use crate::model::venue::Venue;
use crate::outcome::Result;
use crate::platform::sql::{Answer, Row, values};

/// How many bookings are prepared for the search in one transaction.
const PREPARED_AT_ONCE: u32 = 5000;
/// The longest part of a field that is searched.
const LONGEST: usize = 200;
/// The shortest run of digits that is taken for a part of a phone number.
const SHORTEST_NUMBER: usize = 3;

/// What to look for. Every given field has to match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sought {
    /// Words that may stand in any field, or a part of a phone number.
    pub(crate) text: Option<String>,
    pub(crate) guest: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) email: Option<String>,
    /// A part of the venue's name or id.
    pub(crate) venue: Option<String>,
    /// The first and the last day, by the venue's clock.
    pub(crate) days: Option<(Date, Date)>,
    pub(crate) status: Option<String>,
    /// Only what this user has made on this machine.
    pub(crate) mine: Option<Maker>,
}

/// The bookings that were found, newest first.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kept: Vec<KeptBooking>,
    /// Whether there are more than were asked for.
    pub(crate) more: bool,
}

/// The lines of the `search` column.
#[derive(Clone, Copy)]
enum Line {
    Guest,
    Email,
    Phone,
    Venue,
}

/// What is looked for, in the form of the `search` column.
struct Needles {
    text: Vec<String>,
    number: Option<String>,
    of_line: Vec<(Line, String)>,
}

impl Needles {
    fn of(sought: &Sought) -> Self {
        let words = |text: &Option<String>| -> Vec<String> {
            let folded = fold(text.as_deref().unwrap_or_default());
            folded.split_whitespace().map(str::to_owned).collect()
        };
        let mut of_line = Vec::new();
        for (text, line) in [
            (&sought.guest, Line::Guest),
            (&sought.email, Line::Email),
            (&sought.venue, Line::Venue),
        ] {
            of_line.extend(words(text).into_iter().map(|word| (line, word)));
        }
        if let Some(phone) = &sought.phone {
            of_line.push((Line::Phone, number(phone)));
        }
        let text = sought.text.as_deref();
        let is_number = |text: &&str| {
            let signs = |c: char| c.is_ascii_digit() || " +-()./".contains(c);
            text.chars().all(signs) && digits(text).len() >= SHORTEST_NUMBER
        };
        Needles {
            number: text.filter(is_number).map(number),
            text: words(&sought.text),
            of_line,
        }
    }

    fn are_in(&self, search: &str) -> bool {
        let mut lines = search.split('\n');
        let mut next = || lines.next().unwrap_or_default();
        let (guest, email, phone, venue) = (next(), next(), next(), next());
        let of_line = |line: &Line| match line {
            Line::Guest => guest,
            Line::Email => email,
            Line::Phone => phone,
            Line::Venue => venue,
        };
        let is_number = || {
            let number = self.number.as_ref();
            number.is_some_and(|number| phone.contains(number.as_str()))
        };
        self.of_line
            .iter()
            .all(|(line, word)| of_line(line).contains(word.as_str()))
            && (self.text.iter().all(|word| search.contains(word.as_str())) || is_number())
    }

    /// Patterns for LIKE that let through at least what `are_in` does: one of a field, and two of which one must match.
    fn patterns(&self) -> [Option<String>; 3] {
        let pattern = |word: &String| {
            // PostgreSQL takes a backslash for an escape; one letter stands for any.
            let begin: String = word.chars().take(LONGEST).collect();
            let begin = begin.replace('\\', "_");
            format!("%{begin}%")
        };
        let of_line = self.of_line.iter().map(|(_, word)| word);
        [
            of_line.max_by_key(|word| word.len()).map(pattern),
            self.text.iter().max_by_key(|word| word.len()).map(pattern),
            self.number.as_ref().map(pattern),
        ]
    }
}

/// The digits of a phone number, without the zeros that stand for a country.
fn number(phone: &str) -> String {
    digits(phone).trim_start_matches('0').to_owned()
}

/// Looks at the index alone, which has no idempotency keys: only where a maker is asked for are they looked up. It goes on
/// behind a booking that was looked at before, so that no more rows are read than are needed.
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

/// How many rows are looked at at once.
const LOOKED_AT: u32 = 1000;

const UNSEARCHED: &str = "
    SELECT id, document, (SELECT coalesce(asked, request) FROM attempts
                          WHERE attempts.idempotency_key = bookings.idempotency_key)
    FROM bookings WHERE origin = ?1 AND search IS NULL AND forgotten_at IS NULL LIMIT ?2";

impl Journal {
    /// The bookings at this service that match, newest first, without those that the service lost. `None` lists all.
    ///
    /// `venue` looks up a venue by its id, for its name and its time zone.
    pub(crate) fn find(
        &mut self,
        sought: &Sought,
        limit: Option<u32>,
        venue: &dyn Fn(&str) -> Option<Venue>,
    ) -> Result<Found> {
        let most = limit.map_or(usize::MAX, |limit| limit as usize);
        let needles = Needles::of(sought);
        let mut kept = match needles.patterns() {
            [None, None, None] if sought.days.is_none() && sought.mine.is_none() => {
                let ask = limit.map(|limit| limit.saturating_add(1));
                self.bookings(sought.status.as_deref(), ask)?
            }
            _ => {
                self.prepare_search(venue)?;
                let ids = self.matching(sought, &needles, most.saturating_add(1))?;
                let kept = ids.iter().filter_map(|id| self.kept(id).transpose());
                kept.collect::<Result<_>>()?
            }
        };
        let more = kept.len() > most;
        kept.truncate(most);
        Ok(Found { kept, more })
    }

    fn matching(&self, sought: &Sought, needles: &Needles, most: usize) -> Result<Vec<String>> {
        let [of_line, text, number] = needles.patterns();
        let days = sought
            .days
            .map(|(first, last)| (first.to_string(), last.to_string()));
        let (first, last) = days.unzip();
        let status = sought.status.as_deref();
        let mine = sought.mine.clone().map(|maker| (maker.user, maker.host));
        let (user, machine) = mine.unzip();
        let mut ids = Vec::new();
        let (mut time, mut id): (Option<String>, Option<String>) = (None, None);
        loop {
            let rows = self.read(|statements| {
                statements.query(
                    FIND,
                    values![
                        &self.scope.origin,
                        status,
                        &first,
                        &last,
                        &of_line,
                        &text,
                        &number,
                        &time,
                        &id,
                        LOOKED_AT,
                        &user,
                        &machine
                    ],
                )
            })?;
            let is_last = rows.len() < LOOKED_AT as usize;
            for row in rows {
                let (found, search, made) = self.read(|_| looked_at(row.clone()))?;
                if needles.are_in(&search) {
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
    fn prepare_search(&mut self, venue: &dyn Fn(&str) -> Option<Venue>) -> Result<()> {
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
                let (search, day) = searchable(&id, &document, request.as_deref(), venue);
                prepared.push((id, document, search, day));
            }
            self.write(|statements, scope| {
                // What changed in the meantime is prepared in the next round.
                let update = "UPDATE bookings SET search = ?3, day = ?4
                              WHERE origin = ?1 AND id = ?2 AND document = ?5 AND forgotten_at IS NULL";
                for (id, document, search, day) in &prepared {
                    statements.execute(update, values![&scope.origin, id, search, day, document])?;
                }
                Ok(())
            })?;
        }
    }
}

fn looked_at(mut row: Row) -> Answer<(String, String, String)> {
    Ok((row.take(0)?, row.take(1)?, row.take(2)?))
}

/// The `search` column and the day of a booking. A guest that the service does not show is taken from the request.
fn searchable(
    id: &str,
    document: &str,
    request: Option<&str>,
    venue: &dyn Fn(&str) -> Option<Venue>,
) -> (String, Option<String>) {
    let booking = Document::parse(document.to_owned()).ok();
    let Some(booking) = booking.and_then(Booking::from_document) else {
        return (format!("\n\n\n\n{}", fold(id)), None);
    };
    let request: Value = request
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let guest = |field: &str| {
        let of = |document: &Value| Some(plain(document.get("customer")?.get(field)?));
        of(booking.value())
            .or_else(|| of(&request))
            .unwrap_or_default()
    };
    let venue_id = booking.venue_id().unwrap_or_default();
    let venue = venue(&venue_id);
    let name = booking.venue_name();
    let name = name.or_else(|| venue.as_ref().map(|venue| venue.name().to_owned()));
    let lines = [
        fold(&guest("name")),
        fold(&guest("email")),
        digits(&guest("phone")),
        fold(&format!("{} {venue_id}", name.unwrap_or_default())),
        fold(id),
    ];
    let short = |line: String| line.replace('\n', " ").chars().take(LONGEST).collect();
    let lines: Vec<String> = lines.into_iter().map(short).collect();
    let day = day(&booking, venue.as_ref()).map(|day| day.to_string());
    (lines.join("\n"), day)
}

/// The booking's day by the venue's clock.
fn day(booking: &Booking, venue: Option<&Venue>) -> Option<Date> {
    let time = DocumentTime::read(booking.value().get("datetime")?)?;
    let zone = venue.and_then(Venue::timezone);
    let zoned = zone
        .zip(time.instant)
        .map(|(zone, instant)| zone.to_datetime(instant));
    let utc = || Some(jiff::tz::TimeZone::UTC.to_datetime(time.instant?));
    Some(zoned.or(time.local).or_else(utc)?.date())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::plans::plan;

    #[test]
    fn a_search_reads_the_index_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let journal = Journal::open(&path, "o".into(), None).unwrap();
        let plan = plan(&journal, FIND);
        assert!(
            plan.starts_with("SEARCH bookings USING COVERING INDEX bookings_search"),
            "{plan}"
        );
    }
}
