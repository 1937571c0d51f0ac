use super::*;
use std::fs;
use std::path::PathBuf;

const LOGGED: JournalMode = JournalMode::WriteAhead { synchronous: "NORMAL" };

fn kind(journal: JournalMode) -> Kind {
    Kind {
        name: "the file",
        application: 7,
        version: 1,
        schema: "CREATE TABLE songs (title TEXT);",
        migrate: None,
        journal,
        tune: |_| Ok(()),
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    (folder, path)
}

/// The names of the files beside it.
fn beside_it(path: &Path) -> Vec<String> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|it| it != "a.db").collect();
    names.sort();
    names
}

fn write(connection: &Connection) {
    let song = "INSERT INTO songs VALUES ('x')";
    connection.execute_batch(song).unwrap();
}

/// A damaged journal is replaced under its lock.
#[test]
fn only_a_durable_file_keeps_its_lock_and_its_rollback_file() {
    for (mode, stored) in [
        (JournalMode::Durable, &["a.db-journal", "a.db.lock"][..]),
        (JournalMode::Unsynced, &[]),
        (LOGGED, &[]),
    ] {
        let (_folder, path) = folder();
        drop(open(&path, &kind(mode)).unwrap());
        let mut found = beside_it(&path);
        found.retain(|it| !it.ends_with("-wal") && !it.ends_with("-shm"));
        assert_eq!(found, stored);
    }
}

#[test]
fn rollback_file_of_durable_file_is_made_again() {
    let (_folder, path) = folder();
    let kind = kind(JournalMode::Durable);
    drop(open(&path, &kind).unwrap());
    let rollback = add_suffix(&path, "-journal");
    fs::remove_file(&rollback).unwrap();
    let connection = open(&path, &kind).unwrap();
    assert!(rollback.exists());
    write(&connection);
    assert_eq!(fs::metadata(&rollback).unwrap().len(), 0);
}

/// SQLite would apply the log of a deleted file to the new one.
#[test]
fn new_file_removes_the_remains_of_a_deleted_one() {
    let (_folder, path) = folder();
    for suffix in ["-wal", "-shm"] {
        fs::write(add_suffix(&path, suffix), "of another file").unwrap();
    }
    drop(open(&path, &kind(JournalMode::Unsynced)).unwrap());
    assert!(beside_it(&path).is_empty());
}

#[test]
fn file_without_tables_has_lost_them() {
    let (_folder, path) = folder();
    let emptied = Connection::open(&path).unwrap();
    let nothing = "CREATE TABLE songs (title TEXT); DROP TABLE songs";
    emptied.execute_batch(nothing).unwrap();
    let found = || open(&path, &kind(LOGGED)).unwrap_err();
    assert!(matches!(found(), SqlFailure::Empty));
    for pragma in ["application_id", "user_version"] {
        emptied.pragma_update(None, pragma, 5).unwrap();
        assert!(matches!(found(), SqlFailure::Foreign), "{pragma}");
        emptied.pragma_update(None, pragma, 0).unwrap();
    }
}

/// On Windows, a journal that another process writes to meanwhile is not set aside.
#[test]
fn the_change_counter_moves_with_every_transaction() {
    let (_folder, path) = folder();
    let connection = open(&path, &kind(JournalMode::Durable)).unwrap();
    let counter = || change_counter(&path).map(u32::from_be_bytes);
    let before = counter().unwrap();
    write(&connection);
    assert_eq!(counter(), Some(before + 1));
    assert_eq!(change_counter(&path.with_extension("no")), None);
}
