//! A journal that cannot be used any more: set aside, never deleted, and what it still tells taken over.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::Journal;
use super::store::Unusable;
use crate::error::{Error, Result, reason};
use crate::private_file;

/// What became of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// It is sound, and stays where it is.
    Sound,
    /// There was none.
    Missing,
    /// It is kept under another name, and a new one took over the attempts that could be read.
    SetAside { kept: PathBuf, attempts: usize },
}

/// What is taken over: the tables and their columns. The journal of a newer program may know more: that stays in
/// what is kept.
const TAKEN_OVER: [(&str, &str); 2] = [
    (
        "attempts",
        "idempotency_key, origin, profile, state, request, request_hash, booking_id, http_status, doubted, \
         created_at, updated_at, forgotten_at",
    ),
    (
        "bookings",
        "origin, id, profile, idempotency_key, status, document, created_at, seen_at, forgotten_at",
    ),
];

/// Sets the journal at `path` aside if it is damaged or of a newer program, and starts a new one. One that is only
/// held by another process, or that may not be read, is left alone: its error says so.
///
/// The new one takes its place in one step, with everything in it that was taken over: whoever is killed half way
/// has changed nothing, and of several at once one does it.
pub(crate) fn recover(path: &Path) -> Result<Recovery> {
    if !path.exists() {
        return Ok(Recovery::Missing);
    }
    if is_sound(path)? {
        return Ok(Recovery::Sound);
    }
    let cannot = |error: std::io::Error| {
        Error::journal(format!(
            "the journal {} cannot be set aside: {}",
            path.display(),
            reason(&error)
        ))
        .hint("make its folder writable, then try again; nothing was changed")
    };
    let _alone = private_file::lock(path).map_err(cannot)?;
    if is_sound(path)? {
        return Ok(Recovery::Sound);
    }
    let new = with_suffix(path, ".new");
    for left_over in [new.clone(), with_suffix(&new, "-journal")] {
        let _ = fs::remove_file(left_over);
    }
    let attempts = take_over(path, &new)?;
    let kept = set_aside(path).map_err(cannot)?;
    fs::rename(&new, path).map_err(cannot)?;
    Ok(Recovery::SetAside { kept, attempts })
}

/// Makes a journal at `new` of what can be read in the old one, and counts its attempts.
fn take_over(old: &Path, new: &Path) -> Result<usize> {
    let mut journal = Journal::open(new, String::new(), None)?;
    let mut attempts = 0;
    for (table, columns) in TAKEN_OVER {
        let (columns, rows) = readable(old, table, columns);
        if table == "attempts" {
            attempts = rows.len();
        }
        journal.write(|connection| {
            if rows.is_empty() {
                return Ok(());
            }
            let places = vec!["?"; columns.len()].join(", ");
            let columns = columns.join(", ");
            let mut insert = connection.prepare(&format!(
                "INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
            ))?;
            for row in rows {
                insert.execute(params_from_iter(row))?;
            }
            Ok(())
        })?;
    }
    Ok(attempts)
}

/// Gives the old journal another name as well, so that there is one under its own all the time.
fn set_aside(path: &Path) -> std::io::Result<PathBuf> {
    let kept = free_name(path);
    if !path.is_file() || fs::hard_link(path, &kept).is_err() {
        fs::rename(path, &kept)?;
    }
    // Beside a new journal the rollback file would be played back into that one.
    let rollback = with_suffix(path, "-journal");
    if rollback.exists() {
        fs::rename(&rollback, with_suffix(&kept, "-journal"))?;
    }
    Ok(kept)
}

/// Whether the journal opens, is of a version that we know, has our tables, and every page of it is in order; an
/// error where that cannot be told.
fn is_sound(path: &Path) -> Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let check = || -> Result<bool, Unusable> {
        let journal = Journal::try_open(path, String::new(), None)?;
        for (table, columns) in TAKEN_OVER {
            let query = format!("SELECT {columns} FROM {table}");
            journal.connection.prepare(&query)?;
        }
        let whole = "PRAGMA integrity_check";
        let verdict: String = journal.connection.query_row(whole, [], |row| row.get(0))?;
        Ok(verdict == "ok")
    };
    match check() {
        Err(why) if !why.is_for_good() => Err(why.into_error(path)),
        checked => Ok(checked.unwrap_or(false)),
    }
}

/// The rows of a table that can still be read, up to the first damage, and which of `columns` it has: a journal of
/// another version may lack some.
fn readable(path: &Path, table: &str, columns: &str) -> (Vec<String>, Vec<Vec<Value>>) {
    let read = || -> rusqlite::Result<_> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let there: Vec<String> = connection
            .prepare("SELECT name FROM pragma_table_info(?1)")?
            .query_map([table], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let columns = columns.split(", ").map(str::to_owned);
        let columns: Vec<String> = columns.filter(|column| there.contains(column)).collect();
        let mut query =
            connection.prepare(&format!("SELECT {} FROM {table}", columns.join(", ")))?;
        let count = columns.len();
        let rows = query.query_map([], |row| (0..count).map(|column| row.get(column)).collect())?;
        Ok((columns, rows.map_while(|row| row.ok()).collect()))
    };
    // What cannot be read at all is kept all the same.
    read().unwrap_or_default()
}

/// A name beside the journal that nothing has yet.
fn free_name(path: &Path) -> PathBuf {
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let first = with_suffix(path, &format!(".broken-{now}"));
    let further = (2..).map(|number| with_suffix(&first, &format!("-{number}")));
    std::iter::once(first.clone())
        .chain(further)
        .find(|name| !name.exists())
        .unwrap_or(first)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sound_journal_and_a_missing_one_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        assert_eq!(recover(&path).unwrap(), Recovery::Missing);
        Journal::open(&path, "o".into(), None).unwrap();
        assert_eq!(recover(&path).unwrap(), Recovery::Sound);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_journal_is_kept_and_a_new_one_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        fs::write(&path, "no database ".repeat(500)).unwrap();
        let Recovery::SetAside { kept, attempts } = recover(&path).unwrap() else {
            panic!("it is damaged")
        };
        assert_eq!(attempts, 0);
        assert!(fs::read_to_string(kept).unwrap().starts_with("no database"));
        assert_eq!(recover(&path).unwrap(), Recovery::Sound);
    }

    #[cfg(unix)]
    #[test]
    fn of_a_link_the_link_is_set_aside_and_never_what_it_names() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (path, named) = (
            folder.path().join("journal.db"),
            elsewhere.path().join("named"),
        );
        fs::write(&named, "no database ".repeat(500)).unwrap();
        std::os::unix::fs::symlink(&named, &path).unwrap();
        assert!(matches!(recover(&path).unwrap(), Recovery::SetAside { .. }));
        assert!(
            fs::read_to_string(&named)
                .unwrap()
                .starts_with("no database")
        );
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn of_several_that_recover_one_journal_at_once_one_does_it_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut journal = Journal::open(&path, "o".into(), None).unwrap();
        for key in 0..200 {
            journal.begin(&key.to_string(), &json!({}), None).unwrap();
        }
        journal
            .write(|connection| connection.pragma_update(None, "user_version", 99))
            .unwrap();
        drop(journal);
        let recoveries = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| recover(&path).unwrap()))
                .collect();
            let all = all.into_iter().map(|one| one.join().unwrap());
            all.collect::<Vec<_>>()
        });
        let aside = |recovery: &&Recovery| **recovery != Recovery::Sound;
        assert_eq!(recoveries.iter().filter(aside).count(), 1, "{recoveries:?}");
        let journal = Journal::open(&path, "o".into(), None).unwrap();
        assert_eq!(journal.unsettled().unwrap().len(), 200);
    }

    #[test]
    fn the_attempts_of_a_newer_programs_journal_are_taken_over_and_stay_unsettled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut journal = Journal::open(&path, "o".into(), None).unwrap();
        journal.begin("k", &json!({"party_size": 2}), None).unwrap();
        journal
            .write(|connection| connection.pragma_update(None, "user_version", 99))
            .unwrap();
        drop(journal);
        let recovered = recover(&path).unwrap();
        assert!(
            matches!(recovered, Recovery::SetAside { attempts: 1, .. }),
            "{recovered:?}"
        );
        let journal = Journal::open(&path, "o".into(), None).unwrap();
        assert_eq!(journal.unsettled().unwrap()[0].idempotency_key, "k");
    }

    /// What is there besides the journal and its lock.
    fn beside(path: &Path) -> Vec<String> {
        let names = fs::read_dir(path.parent().unwrap()).unwrap();
        let mut names: Vec<String> = names
            .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name != "journal.db" && name != "journal.db.lock")
            .collect();
        names.sort();
        names
    }

    #[test]
    fn journals_that_are_set_aside_within_one_second_get_names_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut kept: Vec<PathBuf> = Vec::new();
        for number in 0..3 {
            fs::write(&path, format!("no database {number} ").repeat(500)).unwrap();
            let Recovery::SetAside { kept: one, .. } = recover(&path).unwrap() else {
                panic!("it is damaged")
            };
            kept.push(one);
        }
        for (number, one) in kept.iter().enumerate() {
            let text = fs::read_to_string(one).unwrap();
            assert!(text.starts_with(&format!("no database {number}")));
            assert!(one.to_string_lossy().contains("journal.db.broken-"));
        }
        assert_eq!(beside(&path).len(), 3);
    }

    #[test]
    fn a_folder_in_the_journals_place_is_set_aside_with_the_rollback_file_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("within"), "kept").unwrap();
        fs::write(with_suffix(&path, "-journal"), "rollback").unwrap();
        let Recovery::SetAside { kept, .. } = recover(&path).unwrap() else {
            panic!("it is no journal")
        };
        assert_eq!(fs::read_to_string(kept.join("within")).unwrap(), "kept");
        let rollback = fs::read_to_string(with_suffix(&kept, "-journal")).unwrap();
        assert_eq!(rollback, "rollback");
        assert_eq!(recover(&path).unwrap(), Recovery::Sound);
    }

    #[test]
    fn a_journal_that_cannot_be_looked_at_is_left_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        Journal::open(&path, "o".into(), None).unwrap();
        // SQLite opens no database whose rollback file it cannot open.
        fs::create_dir(with_suffix(&path, "-journal")).unwrap();
        let error = recover(&path).unwrap_err();
        assert_eq!(error.code, "journal");
        assert_eq!(beside(&path), ["journal.db-journal"]);
    }

    #[test]
    fn every_row_of_a_damaged_journal_that_can_be_read_is_taken_over_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let mut journal = Journal::open(&path, "o".into(), Some("work".into())).unwrap();
        for key in ["a", "b"] {
            journal.begin(key, &json!({"party_size": 2}), None).unwrap();
        }
        let made = json!({"id": "bk_1", "status": "confirmed"});
        let made = crate::model::booking::Booking::from_document(made.into()).unwrap();
        journal.settle("b", &made, 201).unwrap();
        journal
            .write(|connection| connection.pragma_update(None, "user_version", 99))
            .unwrap();
        drop(journal);
        let recovered = recover(&path).unwrap();
        assert!(matches!(recovered, Recovery::SetAside { attempts: 2, .. }));
        let journal = Journal::open(&path, "o".into(), None).unwrap();
        let attempt = journal.attempt("b").unwrap().unwrap();
        assert_eq!(
            (attempt.booking_id.as_deref(), attempt.profile.as_deref()),
            (Some("bk_1"), Some("work"))
        );
        assert_eq!(journal.bookings(None, 9).unwrap().len(), 1);
        assert_eq!(journal.unsettled().unwrap()[0].idempotency_key, "a");
    }
}
