//! Replaces a journal that cannot be used. The old file is set aside, never deleted, and its
//! readable rows are taken over.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde::Serialize;

use super::Journal;
use super::scope::Scope;
use super::store::{KIND, PAGE_SIZE, into_error};
use crate::outcome::{Code, Error, Result};
use crate::platform::ownership::COMPANIONS;
use crate::platform::private_file::{self, add_suffix};
use crate::platform::sql::SqlFailure;
use crate::platform::sqlite;
use crate::platform::system::files::RENAMES_OPEN_FILES;

/// The tables that are taken over, with all columns that both files have.
const TAKEN_OVER: [&str; 6] = ["attempts", "runs", "sightings", "bookings", "batch_rows", "writes"];

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct TakenOver {
    /// How many attempts were copied.
    pub(crate) attempts: usize,
    /// The keys of which only runs could be read: their requests may have booked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<String>,
    /// The ids of bookings of which only the attempts could be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost_bookings: Vec<String>,
}

/// Replaces the journal at `path` if it is damaged. Returns the new name of the old one, and what
/// was copied; `None` if nothing was replaced. A journal that is locked, unreadable or newer is an
/// error and stays. The new file replaces it whole, in one step: if killed before, nothing has
/// changed.
pub(crate) fn recover(path: &Path) -> Result<Option<(PathBuf, TakenOver)>> {
    if !path.exists() || is_sound(path)? {
        return Ok(None);
    }
    let cannot = |error: io::Error| {
        let what = format!("cannot rename the journal {}", path.display());
        Error::caused(Code::Journal, what, error)
            .hint("make its folder writable, then try again; nothing was changed")
    };
    let _alone = private_file::lock(path).map_err(cannot)?;
    if is_sound(path)? {
        return Ok(None);
    }
    let new = add_suffix(path, ".new");
    // An attempt that began before the new journal is in its place would be lost.
    let old = lock_against_writers(path)?;
    let taken = take_over(path, old.as_ref(), &new)?;
    private_file::sync(&new).map_err(cannot)?;
    // Where an open file cannot be renamed, it is closed before, and others could write now. They
    // prevent the renaming, or are noticed after it.
    let counted = (!RENAMES_OPEN_FILES).then(|| sqlite::change_counter(path));
    let _held = old.filter(|_| RENAMES_OPEN_FILES);
    let stored = set_aside(path).map_err(cannot)?;
    if counted.is_some_and(|counted| sqlite::change_counter(&stored) != counted) {
        private_file::rename(&stored, path).map_err(cannot)?;
        return Err(cannot(io::Error::other("it was written just now")));
    }
    private_file::rename(&new, path).map_err(cannot)?;
    Ok(Some((stored, taken)))
}

/// Keeps others from writing until the connection is dropped; `None` for a read-only journal.
fn lock_against_writers(path: &Path) -> Result<Option<Connection>> {
    if !path.is_file() {
        return Ok(None);
    }
    let held = sqlite::connect(path, &KIND).and_then(|connection| {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(connection)
    });
    match held.map_err(SqlFailure::from) {
        Err(why) if !why.is_permanent() => Err(into_error(path, &why)),
        held => Ok(held.ok()),
    }
}

const LOST: &str = "SELECT DISTINCT idempotency_key FROM runs
    WHERE idempotency_key NOT IN (SELECT idempotency_key FROM attempts)";

const LOST_BOOKINGS: &str = "SELECT booking_id FROM attempts WHERE state = 'resolved' AND NOT EXISTS
    (SELECT 1 FROM bookings WHERE bookings.origin = attempts.origin AND bookings.id = attempts.booking_id)
    ORDER BY created_at";

/// Makes a journal at `new` from the readable rows of the old one.
fn take_over(path: &Path, old: Option<&Connection>, new: &Path) -> Result<TakenOver> {
    let cannot = |why: SqlFailure| into_error(new, &why);
    let journal = Journal::make(new).map_err(cannot)?;
    let mut taken = TakenOver::default();
    if let Some((connection, _)) = journal.file() {
        let is_readable =
            |old: &&Connection| columns_of(old, "attempts", "").is_ok_and(|it| !it.is_empty());
        match old.filter(is_readable) {
            Some(old) => {
                for table in TAKEN_OVER {
                    copy_table(old, connection, table).map_err(|why| cannot(why.into()))?;
                }
            }
            None => take_over_headless(path, connection, new).map_err(cannot)?,
        }
        let count = "SELECT count(*) FROM attempts";
        let count = connection.query_row(count, [], |row| row.get::<_, u32>(0));
        taken.attempts = count.map_err(|why| cannot(why.into()))? as usize;
    }
    let texts = |query: &str| -> Result<Vec<String>> {
        let rows = journal.read(|statements, _| statements.query(query, &[]))?;
        Ok(rows.iter().filter_map(|row| row.get_at(0).ok()).collect())
    };
    taken.lost = texts(LOST)?;
    journal.rebuild_runs()?;
    taken.lost_bookings = texts(LOST_BOOKINGS)?;
    Ok(taken)
}

/// Copies the tables of a journal whose beginning is lost, from private copies that begin like a
/// new journal: with its first bytes, or its first page, which locates each table.
fn take_over_headless(path: &Path, into: &Connection, new: &Path) -> Result<(), SqlFailure> {
    if !path.is_file() {
        return Ok(());
    }
    let page = PAGE_SIZE as usize;
    let head = || -> io::Result<Vec<u8>> {
        let mut head = vec![0; page];
        fs::File::open(new)?.read_exact(&mut head)?;
        // The number of pages is then taken from the file's size, and not from the header.
        head[24] ^= 1;
        Ok(head)
    };
    let fresh = head()?;
    into.execute_batch("VACUUM")?;
    let vacuumed = head()?;
    let copy = add_suffix(path, ".copy");
    let mut left = TAKEN_OVER.to_vec();
    for head in [&fresh[..MAGIC], &fresh, &vacuumed] {
        sqlite::remove(&copy)?;
        fs::copy(path, &copy)?;
        fs::OpenOptions::new().write(true).open(&copy)?.write_all(head)?;
        let old = sqlite::connect(&copy, &KIND)?;
        left.retain(|table| {
            let check = format!("PRAGMA quick_check({table})");
            let verdict = old.query_row(&check, [], |row| row.get::<_, String>(0));
            let is_there = verdict.is_ok_and(|verdict| verdict == "ok");
            !is_there || copy_table(&old, into, table).is_err()
        });
        drop(old);
        sqlite::remove(&copy)?;
    }
    Ok(())
}

/// The bytes by which SQLite knows its files.
const MAGIC: usize = 16;

fn copy_table(old: &Connection, new: &Connection, table: &str) -> rusqlite::Result<usize> {
    let (columns, rows) = readable(old, table, &columns_of(new, table, "")?);
    let places = vec!["?"; columns.len()].join(", ");
    let insert =
        format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({places})", columns.join(", "));
    let transaction = new.unchecked_transaction()?;
    let mut count = 0;
    for row in rows {
        count += transaction.prepare_cached(&insert)?.execute(params_from_iter(row))?;
    }
    transaction.commit()?;
    Ok(count)
}

/// Gives the old journal a second name, so that its own never disappears, if possible.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    // By the microsecond: the recovering process holds the lock.
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%S%.6fZ");
    let stored = add_suffix(path, &format!(".broken-{now}"));
    if !RENAMES_OPEN_FILES || !path.is_file() || fs::hard_link(path, &stored).is_err() {
        private_file::rename(path, &stored)?;
    }
    // SQLite would apply the old rollback file or log to the new journal, also after a power cut.
    for (from, to) in COMPANIONS.map(|it| (add_suffix(path, it), add_suffix(&stored, it))) {
        match fs::metadata(&from) {
            Ok(found) if found.is_file() && found.len() == 0 => fs::remove_file(from)?,
            Ok(_) => private_file::rename(&from, &to)?,
            Err(_) => {}
        }
    }
    private_file::keep_names(&stored)?;
    Ok(stored)
}

/// What else was set aside with the journal that is `stored` now.
pub(crate) fn set_aside_with(stored: &Path) -> Vec<PathBuf> {
    let companions = COMPANIONS.map(|suffix| add_suffix(stored, suffix));
    companions.into_iter().filter(|it| it.exists()).collect()
}

/// Whether the journal can be opened, and every page is intact. Fails if that cannot be determined.
fn is_sound(path: &Path) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let check = || -> Result<bool, SqlFailure> {
        let journal = Journal::try_open(path, Scope::default())?;
        let Some((connection, _)) = journal.file() else {
            return Ok(true);
        };
        let whole = "PRAGMA integrity_check";
        let verdict: String = connection.query_row(whole, [], |row| row.get(0))?;
        Ok(verdict == "ok")
    };
    match check() {
        Err(why) if !why.is_permanent() || matches!(why, SqlFailure::OtherVersion { .. }) => {
            Err(into_error(path, &why))
        }
        checked => Ok(checked.unwrap_or(false)),
    }
}

fn columns_of(connection: &Connection, table: &str, which: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(&format!("SELECT name FROM pragma_table_info(?1) {which}"))?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// The rows of a table up to the first damage, then from its end back to the last, with the
/// `columns` that the table has. Unreadable rows remain in the replaced file.
fn readable(
    connection: &Connection,
    table: &str,
    columns: &[String],
) -> (Vec<String>, Vec<Vec<Value>>) {
    let of = |which| columns_of(connection, table, which).unwrap_or_default();
    let there = of("");
    let mut columns = columns.to_vec();
    columns.retain(|column| there.contains(column));
    let mut found = Vec::new();
    let read = |order: &str, found: &mut Vec<_>| -> rusqlite::Result<()> {
        let select = format!("SELECT {} FROM {table} {order}", columns.join(", "));
        let mut query = connection.prepare(&select)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            found.push((0..columns.len()).map(|it| row.get(it)).collect::<Result<_, _>>()?);
        }
        Ok(())
    };
    if read("", &mut found).is_err() {
        let backwards = of("WHERE pk > 0 ORDER BY pk").join(" DESC, ");
        let _ = read(&format!("ORDER BY {backwards} DESC"), &mut found);
    }
    (columns, found)
}

#[cfg(test)]
mod tests {
    mod aside;

    use super::*;
    use crate::journal::State;
    use crate::journal::tests::{open, place, scope};
    use crate::service::documents::booking::Booking;
    use serde_json::json;

    #[test]
    fn a_sound_journal_and_a_missing_one_are_left_alone() {
        let (folder, path) = place();
        assert_eq!(recover(&path).unwrap(), None);
        open(&path, "o");
        assert_eq!(recover(&path).unwrap(), None);
        let mut names = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        assert!(!names.any(|name| name.to_string_lossy().contains("broken")));
    }

    #[test]
    #[ignore = "waits ten seconds for the other process"]
    fn journal_that_another_process_is_writing_to_stays_where_it_is() {
        let (_folder, path) = place();
        let writer = open(&path, "o");
        writer.execute("CREATE TABLE added (id); BEGIN IMMEDIATE");
        recover(&path).unwrap_err();
        writer.execute("ROLLBACK");
        assert!(recover(&path).unwrap().is_some());
    }

    #[test]
    fn recovered_attempt_keeps_its_account_and_its_runs() {
        let (_folder, path) = place();
        let open = |account: &str| {
            let account = account.to_owned();
            Journal::open(&path, Scope { account, ..scope("o") }).unwrap()
        };
        let journal = open("one");
        let open_run = journal.run("open", &json!({}));
        journal.end_in_doubt(&open_run, &json!({}), None).unwrap();
        journal.run("abandoned", &json!({}));
        journal.abandon("abandoned").unwrap();
        let refused = journal.run("refused", &json!({}));
        journal.end_refused(&refused, 400).unwrap();
        drop(journal);
        for lost in ["", "DELETE FROM runs"] {
            let journal = open("one");
            journal.execute(lost);
            journal.execute("CREATE TABLE added (id)");
            drop(journal);
            recover(&path).unwrap();
            let journal = open("two");
            let state = |key: &str| journal.attempt(key).unwrap().unwrap().state;
            let owns = |key: &str| journal.owns(&journal.attempt(key).unwrap().unwrap());
            assert_eq!(state("open"), State::Unresolved, "{lost}");
            assert_eq!(state("abandoned"), State::Abandoned);
            assert_eq!(state("refused"), State::Refused);
            assert!(!owns("open") && !owns("abandoned") && owns("refused"));
            let attempts = journal.attempts().unwrap();
            assert!(attempts.iter().all(|it| it.runs.len() == 1));
        }
    }

    #[test]
    fn rows_behind_a_damaged_page_are_recovered() {
        let (_folder, path) = place();
        let journal = open(&path, "o");
        for number in 100..200 {
            let key = format!("key_{number}");
            let run = journal.run(&key, &json!({}));
            let made = json!({"id": format!("bk_{number}"), "status": "confirmed", "note": "n".repeat(200)});
            let made = Booking::from_document(made.into()).unwrap();
            journal.end_booked(&run, &made, 201).unwrap();
        }
        drop(journal);
        let mut bytes = fs::read(&path).unwrap();
        let page = |page: &&mut [u8]| {
            let text = String::from_utf8_lossy(page);
            text.contains("\"bk_150\"") && text.contains("nnn")
        };
        bytes.chunks_mut(PAGE_SIZE as usize).find(page).unwrap().fill(0);
        fs::write(&path, bytes).unwrap();
        let (_, taken) = recover(&path).unwrap().unwrap();
        assert_eq!((taken.attempts, taken.lost.len()), (100, 0));
        let lost = &taken.lost_bookings;
        assert!(lost.contains(&"bk_150".to_owned()) && lost.len() < 30, "{lost:?}");
        let journal = open(&path, "o");
        assert_eq!(journal.booking_ids(200).unwrap().len() + lost.len(), 100);
    }

    /// The first page, too, and its first bytes; of a journal that was rewritten, too.
    #[test]
    fn a_lost_page_loses_no_row_of_another_page_nor_a_key() {
        let (_folder, path) = place();
        for rewritten in [false, true] {
            let journal = open(&path, "o");
            for number in 100..160 {
                let key = format!("key_{number}");
                let run = journal.run(&key, &json!({"venue_id": "v".repeat(300)}));
                let made = json!({"id": format!("bk_{number}"), "status": "confirmed", "note": "n".repeat(300)});
                let made = Booking::from_document(made.into()).unwrap();
                journal.end_booked(&run, &made, 201).unwrap();
            }
            if rewritten {
                journal.rewrite().unwrap();
            }
            drop(journal);
            let whole = fs::read(&path).unwrap();
            let size = PAGE_SIZE as usize;
            let pages = whole.len() / size;
            assert!(pages > 20, "{pages}");
            let lost = (0..pages)
                .map(|page| page * size..(page + 1) * size)
                .chain(std::iter::once(0..MAGIC));
            for lost in lost {
                let mut bytes = whole.clone();
                bytes[lost.clone()].fill(0);
                fs::write(&path, &bytes).unwrap();
                let taken = recover(&path).unwrap().map(|it| it.1).unwrap_or_default();
                let journal = open(&path, "o");
                let found = journal.attempts().unwrap().into_iter().map(|it| it.idempotency_key);
                let keys: std::collections::BTreeSet<_> = found.chain(taken.lost.clone()).collect();
                assert_eq!(keys.len(), 60, "{lost:?}");
                let bookings = journal.booking_ids(200).unwrap().len();
                // Of an attempt that is lost, the booking may be as well.
                assert!(bookings + taken.lost_bookings.len() + taken.lost.len() >= 60, "{lost:?}");
                let is_first = lost.start == 0;
                assert!(!is_first || taken.attempts == 60 && bookings == 60, "{lost:?}: {taken:?}");
                drop(journal);
                fs::remove_file(&path).unwrap();
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn link_is_set_aside_and_its_target_stays() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (path, named) = (folder.path().join("journal.db"), elsewhere.path().join("named"));
        fs::write(&named, "no database ".repeat(500)).unwrap();
        std::os::unix::fs::symlink(&named, &path).unwrap();
        assert!(recover(&path).unwrap().is_some());
        let stored = fs::read_to_string(&named).unwrap();
        assert!(stored.starts_with("no database"));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn one_of_several_processes_recovers_a_journal() {
        let (_folder, path) = place();
        let journal = open(&path, "o");
        for key in 0..200 {
            journal.run(&key.to_string(), &json!({}));
        }
        journal.execute("CREATE TABLE added (id)");
        drop(journal);
        let recoveries = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| recover(&path).unwrap())).collect();
            let all = all.into_iter().map(|one| one.join().unwrap());
            all.collect::<Vec<_>>()
        });
        assert_eq!(recoveries.iter().flatten().count(), 1, "{recoveries:?}");
        let journal = open(&path, "o");
        assert_eq!(journal.open_attempts().unwrap().len(), 200);
    }
}
