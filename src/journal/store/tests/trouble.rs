//! What is said of a file that cannot be used.

use super::*;

/// "No process writes to the old journal until the new one is in its place" (recover).
#[test]
fn who_holds_a_journal_lets_nobody_write() {
    let (_folder, path) = place();
    let journal = open(&path, "o");
    let other = journal.file().unwrap().0;
    other.busy_timeout(std::time::Duration::ZERO).unwrap();
    let held = sqlite::connect(&path, &KIND).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let write = "DELETE FROM limits";
    let refused = SqlFailure::from(other.execute(write, ()).unwrap_err());
    assert!(matches!(refused, SqlFailure::Locked), "{refused:?}");
    drop(held);
    other.execute(write, ()).unwrap();
}

#[test]
fn each_trouble_with_the_file_is_named_with_what_to_do() {
    use rusqlite::ffi;
    for (code, why, hint) in [
        (ffi::SQLITE_CORRUPT, "is damaged", "journal recover"),
        (ffi::SQLITE_FULL, "the disk is full", "free some space"),
        (ffi::SQLITE_READONLY, "read-only", "make it and"),
        (ffi::SQLITE_READONLY_DBMOVED, "was moved", "again"),
        (ffi::SQLITE_BUSY, "in use by another", "other bookctl"),
        (ffi::SQLITE_IOERR, "cannot be used", "check the file"),
    ] {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let error = into_error(Path::new("/j.db"), &error.into());
        assert!(error.message.contains(why), "{code}: {}", error.message);
        let displayed = error.hint.as_deref().unwrap_or_default();
        assert!(displayed.contains(hint), "{code}: {displayed}");
    }
}

#[test]
fn a_database_without_a_version_is_no_new_journal() {
    let (_folder, path) = place();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE other (id)").unwrap();
    drop(other);
    let error = Journal::open(&path, scope("o")).err().unwrap();
    assert!(error.message.contains("of another program"), "{}", error.message);
}

#[test]
fn what_is_written_is_synced_with_its_folder() {
    let (_folder, journal) = fresh("o");
    let pragma = |name: &str| -> i64 {
        let query = format!("PRAGMA {name}");
        let row = |row: &rusqlite::Row<'_>| row.get(0);
        journal.file().unwrap().0.query_row(&query, [], row).unwrap()
    };
    // 3 is EXTRA.
    assert_eq!((pragma("synchronous"), pragma("secure_delete")), (3, 1));
}
