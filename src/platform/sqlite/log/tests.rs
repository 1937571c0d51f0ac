//! What is in the file and what in its log, and who may write to them.

use rusqlite::Transaction;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

use super::*;
use crate::platform::sqlite::{JournalMode, open};

const KIND: Kind = Kind {
    name: "the file",
    application: 0,
    version: 1,
    schema: "CREATE TABLE kept (text)",
    journal: JournalMode::Durable,
    tune: |_| Ok(()),
};

/// A folder with a file, which may be one of memory alone.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert!(works_at(&path), "the tests run on a local file system");
    (folder, path)
}

fn keep(place: Place, connection: &mut Connection, path: &Path, text: &str) -> Result<(), Failure> {
    commit_to(place, connection, path, &KIND, |connection| {
        let transaction: Transaction<'_> = connection.transaction()?;
        transaction.execute("INSERT INTO kept VALUES (?1)", [text])?;
        Ok(transaction.commit()?)
    })
}

/// What a program reads that knows nothing of logs that stay.
fn kept(path: &Path) -> String {
    let connection = Connection::open(path).unwrap();
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .unwrap();
    let all = "SELECT coalesce(group_concat(text), '') FROM kept";
    connection.query_row(all, (), |row| row.get(0)).unwrap()
}

/// What a copy of the file alone holds.
fn without_log(path: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    fs::copy(path, &copy).unwrap();
    kept(&copy)
}

#[test]
fn what_is_written_is_in_the_file_itself_with_what_was_only_in_the_log_before() {
    let (_folder, path) = place();
    let mut connection = open(&path, &KIND).unwrap();
    keep(Place::Log, &mut connection, &path, "intent").unwrap();
    assert_eq!(
        (kept(&path), without_log(&path)),
        ("intent".into(), String::new())
    );
    keep(Place::File, &mut connection, &path, "end").unwrap();
    assert_eq!(without_log(&path), "intent,end");
    // What is only in the log outlives its process.
    keep(Place::Log, &mut connection, &path, "another").unwrap();
    drop(connection);
    assert_eq!(kept(&path), "intent,end,another");
}

#[test]
fn what_others_read_around_stays_in_the_log_until_the_next_command() {
    let (_folder, path) = place();
    let mut connection = open(&path, &KIND).unwrap();
    keep(Place::File, &mut connection, &path, "old").unwrap();
    let reading = Connection::open(&path).unwrap();
    reading.execute_batch("BEGIN; SELECT * FROM kept").unwrap();
    keep(Place::File, &mut connection, &path, "new").unwrap();
    assert_eq!(without_log(&path), "old");
    assert_eq!(kept(&path), "old,new");
    drop(reading);
    keep(Place::File, &mut connection, &path, "next").unwrap();
    assert_eq!(without_log(&path), "old,new,next");
}

#[test]
fn a_log_does_not_grow_without_end() {
    let (_folder, path) = place();
    let mut largest = 0;
    for _ in 0..200 {
        let mut connection = open(&path, &KIND).unwrap();
        keep(Place::Log, &mut connection, &path, "intent").unwrap();
        keep(Place::File, &mut connection, &path, "end").unwrap();
        largest = largest.max(log_size(&path));
    }
    let limit = (LARGE_LOG as u64 + 10) * 5000;
    assert!(largest > limit / 2 && largest < limit, "{largest}");
}

#[test]
fn nothing_is_committed_to_a_file_or_a_log_that_has_another_name_by_now() {
    for suffix in ["", "-wal"] {
        let (_folder, path) = place();
        let mut connection = open(&path, &KIND).unwrap();
        keep(Place::File, &mut connection, &path, "before").unwrap();
        fs::rename(beside(&path, suffix), beside(&path, ".aside")).unwrap();
        for place in [Place::Log, Place::File] {
            let refused = keep(place, &mut connection, &path, "after");
            assert!(
                matches!(refused, Err(Failure::Moved)),
                "{suffix}: {refused:?}"
            );
        }
        fs::rename(beside(&path, ".aside"), beside(&path, suffix)).unwrap();
        assert_eq!(kept(&path), "before");
    }
}

#[test]
fn a_log_that_something_else_removed_or_overwrote_is_noticed() {
    let (_folder, path) = place();
    let mut connection = open(&path, &KIND).unwrap();
    keep(Place::Log, &mut connection, &path, "intent").unwrap();
    drop(connection);
    let log = fs::read(of(&path)).unwrap();
    let is_lost = || matches!(open(&path, &KIND), Err(Failure::LogLost));
    fs::write(of(&path), "no log at all ".repeat(100)).unwrap();
    assert!(is_lost());
    fs::remove_file(of(&path)).unwrap();
    assert!(is_lost());
    fs::write(of(&path), log).unwrap();
    drop(open(&path, &KIND).unwrap());
    assert_eq!(kept(&path), "intent");
}

/// Another program, such as sqlite3, moves the log into the file when it is the last to close it, and removes it.
#[test]
fn a_log_that_sqlite_removed_is_begun_anew() {
    let (_folder, path) = place();
    let mut connection = open(&path, &KIND).unwrap();
    keep(Place::Log, &mut connection, &path, "intent").unwrap();
    drop(connection);
    drop(Connection::open(&path).map(|it| it.execute_batch("DELETE FROM kept WHERE 0")));
    assert!(!of(&path).exists());
    let mut connection = open(&path, &KIND).unwrap();
    keep(Place::Log, &mut connection, &path, "another").unwrap();
    assert_eq!(kept(&path), "intent,another");
}

/// Versions before this one have a rollback file.
#[test]
fn an_older_version_and_this_one_take_turns_and_write_at_the_same_time() {
    let (_folder, path) = place();
    drop(open(&path, &KIND).unwrap());
    let older = || {
        let connection = Connection::open(&path).unwrap();
        let mode: String = connection
            .query_row("PRAGMA journal_mode = TRUNCATE", (), |row| row.get(0))
            .unwrap();
        assert_eq!(mode, "truncate");
        connection
    };
    let insert = |connection: &Connection, text| {
        connection
            .execute("INSERT INTO kept VALUES (?1)", [text])
            .unwrap();
    };
    for turn in ["1", "2"] {
        let before = older();
        insert(&before, turn);
        // This version switches while the older one has the file open.
        let mut connection = open(&path, &KIND).unwrap();
        keep(Place::Log, &mut connection, &path, "log").unwrap();
        insert(&before, "older");
        keep(Place::File, &mut connection, &path, "file").unwrap();
    }
    assert_eq!(kept(&path), "1,log,older,file,2,log,older,file");
}

#[test]
fn where_memory_cannot_be_shared_there_is_no_log() {
    assert!(!works_at(Path::new("/proc/self/file")));
    assert!(!works_at(Path::new("/nowhere/at/all/file")));
}

#[test]
fn who_holds_a_file_has_all_of_it_in_the_file_itself_and_lets_nobody_write() {
    let (_folder, path) = place();
    let mut connection = open(&path, &KIND).unwrap();
    keep(Place::Log, &mut connection, &path, "intent").unwrap();
    let held = hold(&path, &KIND).unwrap();
    assert_eq!(without_log(&path), "intent");
    connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    let refused = keep(Place::Log, &mut connection, &path, "another");
    assert!(matches!(refused, Err(Failure::Held)), "{refused:?}");
    drop(held);
    keep(Place::Log, &mut connection, &path, "another").unwrap();
}
