//! Searches the journal in a file: the texts of a thousand bookings each are kept as a block, and a search reads the blocks.
//!
//! A block covers a range of bookings, by the time when they were stored and their id. A trigger deletes the block
//! of a booking that changes, so that a block is always right and nothing of a deleted guest stays in one. What no
//! block covers is read from the bookings themselves; a search makes the missing blocks first, except for the newest
//! bookings, as long as they do not fill one.

use rusqlite::Connection;

use super::block::{Block, COLUMNS, Wanted};
use super::needles::Needles;
use super::text::{Text, Venues};
use super::{Journal, Sought};
use crate::outcome::Result;
use crate::platform::sql::{Answer, Row, Statements, Trouble, Value, values};

/// How many bookings a block has.
const BOOKINGS: usize = if cfg!(test) { 8 } else { 1000 };
/// How many blocks are made in one transaction: others wait for it.
const MADE_AT_ONCE: usize = 10;

/// Where a booking stands among the others: when it was stored, and its id.
type Position = (String, String);

/// The bookings behind one position, up to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    after: Position,
    last: Position,
}

impl Range {
    /// The parameters of `IN_RANGE`, and a number.
    fn values<'a>(&'a self, origin: &'a str, number: usize) -> [Value<'a>; 6] {
        let Range { after, last } = self;
        [
            origin.into(),
            (&after.0).into(),
            (&after.1).into(),
            (&last.0).into(),
            (&last.1).into(),
            (number as i64).into(),
        ]
    }
}

/// Before all bookings.
fn bottom() -> Position {
    (String::new(), String::new())
}

/// Behind all bookings.
fn top() -> Position {
    ('\u{10ffff}'.to_string(), String::new())
}

pub(super) const RANGES: &str = "
    SELECT number, after_at, after_id, last_at, last_id FROM search_blocks WHERE origin = ?1
    ORDER BY last_at DESC, last_id DESC";

pub(super) const IN_RANGE: &str = "
    FROM bookings WHERE origin = ?1 AND (created_at, id) > (?2, ?3) AND (created_at, id) <= (?4, ?5)
      AND forgotten_at IS NULL AND gone_at IS NULL";

pub(super) const TEXTS: &str = "
    SELECT created_at, id, status, document,
           (SELECT coalesce(asked, request) FROM attempts WHERE attempts.idempotency_key = bookings.idempotency_key)";

const STORE: &str = "
    INSERT INTO search_blocks (origin, after_at, after_id, last_at, last_id, bookings,
                               days, statuses, guests, emails, phones, venues, folded_ids, ids)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Whether a user began a run of the attempt that made the booking. A run of an older version does not say who did.
const IS_MINE: &str = "
    SELECT EXISTS (SELECT 1 FROM bookings JOIN runs ON runs.idempotency_key = bookings.idempotency_key
                   WHERE origin = ?1 AND bookings.id = ?2 AND coalesce(username, ?3) = ?3 AND coalesce(host, ?4) = ?4)";

impl Journal {
    /// The ids of at most so many bookings that match, newest first.
    pub(super) fn find_in_file(
        &mut self,
        sought: &Sought,
        needles: &Needles,
        most: usize,
        venues: &Venues<'_>,
    ) -> Result<Vec<String>> {
        let is_missing = |statements: &dyn Statements| is_missing(statements, &self.scope.origin);
        if self.read(is_missing)? {
            while !self.write(|statements, scope| make(statements, &scope.origin, venues))? {}
        }
        let Some(connection) = self.file() else {
            return Ok(Vec::new());
        };
        self.read(|_| {
            // The blocks and the bookings that are in none belong together.
            let snapshot = connection.unchecked_transaction()?;
            let search = Search {
                connection: &snapshot,
                origin: &self.scope.origin,
                sought,
                wanted: Wanted::new(sought, needles),
                most,
                found: Vec::new(),
            };
            search.run(venues)
        })
    }
}

/// The blocks of a service, the newest first: their numbers and ranges.
fn ranges(statements: &dyn Statements, origin: &str) -> Answer<Vec<(i64, Range)>> {
    let block = |mut row: Row| {
        let after = (row.take(1)?, row.take(2)?);
        let last = (row.take(3)?, row.take(4)?);
        Ok((row.take(0)?, Range { after, last }))
    };
    let rows = statements.query(RANGES, values![origin])?;
    rows.into_iter().map(block).collect()
}

/// The ranges of all bookings, newest first, each with the number of the block that covers it.
fn covered(blocks: Vec<(i64, Range)>) -> Vec<(Option<i64>, Range)> {
    let mut all = Vec::with_capacity(blocks.len() + 1);
    let mut above = top();
    for (number, range) in blocks {
        if range.last != above {
            let (after, last) = (range.last.clone(), above);
            all.push((None, Range { after, last }));
        }
        above = range.after.clone();
        all.push((Some(number), range));
    }
    if above != bottom() {
        let after = bottom();
        all.push((None, Range { after, last: above }));
    }
    all
}

/// Whether a block is missing: of any range but the newest, and of that when it fills a block.
fn is_missing(statements: &dyn Statements, origin: &str) -> Answer<bool> {
    for (block, range) in covered(ranges(statements, origin)?) {
        let is_missing = match block {
            Some(_) => false,
            None if range.last != top() => true,
            None => {
                let last =
                    format!("SELECT id {IN_RANGE} ORDER BY created_at, id LIMIT 1 OFFSET ?6");
                let values = range.values(origin, BOOKINGS - 1);
                statements.first(&last, &values)?.is_some()
            }
        };
        if is_missing {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes blocks that are missing. Returns whether none is missing any more.
fn make(statements: &dyn Statements, origin: &str, venues: &Venues<'_>) -> Answer<bool> {
    let mut made = 0;
    for (block, mut range) in covered(ranges(statements, origin)?) {
        if block.is_some() {
            continue;
        }
        loop {
            let mut rows = rows(statements, origin, &range, "ASC")?;
            let end = match rows.last() {
                Some(last) if rows.len() == BOOKINGS => last.position.clone(),
                _ if range.last == top() => break,
                _ => range.last.clone(),
            };
            if made == MADE_AT_ONCE {
                return Ok(false);
            }
            rows.reverse();
            let covered = Range {
                after: range.after,
                last: end.clone(),
            };
            store(statements, origin, &covered, &block_of(rows, venues))?;
            made += 1;
            if end == range.last {
                break;
            }
            range.after = end;
        }
    }
    Ok(true)
}

fn store(statements: &dyn Statements, origin: &str, range: &Range, block: &Block) -> Answer<()> {
    let Range { after, last } = range;
    let ids = serde_json::to_string(&block.ids).unwrap_or_default();
    let [days, statuses, guests, emails, phones, venues, folded_ids] = &block.columns;
    let values = values![
        origin,
        &after.0,
        &after.1,
        &last.0,
        &last.1,
        block.ids.len() as i64,
        days,
        statuses,
        guests,
        emails,
        phones,
        venues,
        folded_ids,
        ids
    ];
    statements.execute(STORE, values).map(drop)
}

/// A booking of a range.
struct Stored {
    position: Position,
    status: String,
    document: String,
    request: Option<String>,
}

/// The first bookings of a range in an order, at most as many as a block has.
fn rows(
    statements: &dyn Statements,
    origin: &str,
    range: &Range,
    order: &str,
) -> Answer<Vec<Stored>> {
    let query = format!("{TEXTS} {IN_RANGE} ORDER BY created_at {order}, id {order} LIMIT ?6");
    let stored = |mut row: Row| {
        Ok(Stored {
            position: (row.take(0)?, row.take(1)?),
            status: row.take(2)?,
            document: row.take(3)?,
            request: row.take(4)?,
        })
    };
    let rows = statements.query(&query, &range.values(origin, BOOKINGS))?;
    rows.into_iter().map(stored).collect()
}

fn block_of(rows: Vec<Stored>, venues: &Venues<'_>) -> Block {
    let mut block = Block::default();
    for row in rows {
        let (_, id) = row.position;
        let text = Text::of(&id, &row.document, row.request.as_deref(), venues);
        block.push(id, &row.status, &text);
    }
    block
}

/// A search of the whole file.
struct Search<'a> {
    connection: &'a Connection,
    origin: &'a str,
    sought: &'a Sought,
    wanted: Wanted<'a>,
    most: usize,
    /// The ids of the bookings that were found, newest first.
    found: Vec<String>,
}

impl Search<'_> {
    fn run(mut self, venues: &Venues<'_>) -> Answer<Vec<String>> {
        let looked_at = COLUMNS.iter().zip(self.wanted.columns());
        let columns = looked_at.map(|(column, is_looked_at)| match is_looked_at {
            true => *column,
            false => "''",
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let columns = format!("SELECT bookings, {columns} FROM search_blocks WHERE number = ?1");
        let mut columns = self.connection.prepare(&columns)?;
        for (block, range) in covered(ranges(self.connection, self.origin)?) {
            match block {
                Some(number) => {
                    let matching = columns.query_row([number], |row| self.matching(row))?;
                    self.add_of_block(number, &matching)?;
                }
                None => self.add_of_range(range, venues)?,
            }
            if self.is_enough() {
                break;
            }
        }
        Ok(self.found)
    }

    /// Which bookings of a stored block match.
    fn matching(&self, row: &rusqlite::Row<'_>) -> rusqlite::Result<Vec<bool>> {
        let mut columns = [&b""[..]; COLUMNS.len()];
        for (number, column) in columns.iter_mut().enumerate() {
            *column = row.get_ref(number + 1)?.as_bytes()?;
        }
        let bookings: u32 = row.get(0)?;
        Ok(self.wanted.matches(&columns, bookings as usize))
    }

    fn add_of_block(&mut self, number: i64, matching: &[bool]) -> Answer<()> {
        if !matching.contains(&true) {
            return Ok(());
        }
        let query = "SELECT ids FROM search_blocks WHERE number = ?1";
        let row = self.connection.first(query, values![number])?;
        let ids: String = row.ok_or(Trouble::Unreadable)?.take(0)?;
        let ids: Vec<String> = serde_json::from_str(&ids).map_err(|_| Trouble::Unreadable)?;
        self.add(ids, matching)
    }

    /// Reads the bookings of a range that no block covers.
    fn add_of_range(&mut self, mut range: Range, venues: &Venues<'_>) -> Answer<()> {
        while !self.is_enough() {
            let mut rows = rows(self.connection, self.origin, &range, "DESC")?;
            // There may be more: the next round begins with the oldest of these.
            let rest = match rows.len() {
                BOOKINGS => rows.pop(),
                _ => None,
            };
            let block = block_of(rows, venues);
            let matching = self.wanted.matches(&block.bytes(), block.ids.len());
            self.add(block.ids, &matching)?;
            match rest {
                Some(rest) => range.last = rest.position,
                None => break,
            }
        }
        Ok(())
    }

    fn add(&mut self, ids: Vec<String>, matching: &[bool]) -> Answer<()> {
        for (id, _) in ids
            .into_iter()
            .zip(matching)
            .filter(|(_, is_match)| **is_match)
        {
            if self.is_mine(&id)? {
                self.found.push(id);
            }
            if self.is_enough() {
                break;
            }
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.found.len() >= self.most
    }

    /// Whether the booking is one of the maker whose bookings are wanted, if only those are.
    fn is_mine(&self, id: &str) -> Answer<bool> {
        let Some(maker) = &self.sought.mine else {
            return Ok(true);
        };
        let values = values![self.origin, id, &maker.user, &maker.host];
        let row = self.connection.first(IS_MINE, values)?;
        row.map_or(Ok(false), |mut row| row.take(0))
    }
}
