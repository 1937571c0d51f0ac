//! Opens the database. Several processes may do so at once, even to create it.

use std::fmt;
use std::path::PathBuf;

use rusqlite::Connection;

use super::clock::FROZEN;
use super::faults::RULES;
use super::fixtures::TABLE as FIXTURES;
use super::hash;
use super::held_slots::TABLE as HELD_SLOTS;
use crate::platform::sqlite::{self, Failure, JournalMode, Kind};

/// Where a sandbox keeps its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// In a file, which is created with mode 0600.
    File(PathBuf),
    /// In memory, spilling to an unnamed temporary file; deleted when the process ends.
    Memory,
}

/// Why a sandbox cannot be opened.
#[derive(Debug)]
pub(crate) struct OpenError {
    path: PathBuf,
    failure: Failure,
}

impl OpenError {
    /// What to do next.
    pub(crate) fn hint(&self) -> String {
        let path = self.path.display();
        match self.failure {
            Failure::Held => "wait for the other bookctl to finish, then try again".to_owned(),
            Failure::Unreachable(_) | Failure::ReadOnly => {
                "make it writable, or set BOOKCTL_HOME to another folder".to_owned()
            }
            Failure::Full | Failure::Moved | Failure::Tables(_) | Failure::Other(_) => {
                "check the disk space and the folder, or set BOOKCTL_HOME to another folder"
                    .to_owned()
            }
            Failure::Empty | Failure::LogLost => format!(
                "restore a copy, or delete {path} and {path}-wal to start with an empty sandbox"
            ),
            Failure::Newer { .. } => {
                "use the newer bookctl, or set BOOKCTL_HOME to another folder".to_owned()
            }
            Failure::Damaged | Failure::Foreign => {
                format!(
                    "move {path} and {path}-wal to another folder, or set BOOKCTL_HOME to another folder"
                )
            }
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, failure) = (self.path.display(), &self.failure);
        write!(f, "{} {path} {failure}", KIND.name)
    }
}

impl std::error::Error for OpenError {}

/// The file. Commits are not synced one by one: a power cut may lose the last ones, but never leaves a partial one.
const KIND: Kind = Kind {
    name: "the sandbox's database",
    // "bksb"
    application: 0x626b_7362,
    steps: &[
        FIRST, ANSWERS, OWNERS, RULES, FROZEN, FIXTURES, HELD_SLOTS, KEY_HASHES,
    ],
    journal: JournalMode::WriteAhead {
        synchronous: "NORMAL",
    },
    tune,
};

/// The schema of the first release.
const FIRST: &str = include_str!("schema.sql");
/// What each attempt sent and got back, as JSON: headers and body.
const ANSWERS: &str =
    "ALTER TABLE attempts ADD COLUMN request TEXT; ALTER TABLE attempts ADD COLUMN response TEXT";
/// The organization of each message, so that each has an inbox of its own.
const OWNERS: &str = "ALTER TABLE messages ADD COLUMN organization TEXT; \
    UPDATE messages SET organization = coalesce( \
    (SELECT organization FROM bookings WHERE number = messages.booking), \
    (SELECT organization FROM sessions WHERE number = messages.session))";
/// Finds keys by a hash. Clients choose keys at random, so each one is read and written somewhere else in the index: its
/// entries are small, and their rows are written one after the other.
const KEY_HASHES: &str = "ALTER TABLE idempotency_keys RENAME TO old_keys; \
    CREATE TABLE idempotency_keys \
    (organization TEXT NOT NULL, key TEXT NOT NULL, booking INTEGER NOT NULL, hash INTEGER); \
    INSERT INTO idempotency_keys \
    SELECT organization, key, booking, short_hash(organization, key) FROM old_keys ORDER BY booking; \
    DROP TABLE old_keys; \
    CREATE INDEX idempotency_keys_hash ON idempotency_keys (hash)";
const STATEMENTS: usize = 64;
/// The size of the page cache, in kilobytes below zero: the process stays below 40 MB.
const CACHE: i64 = -20_480;

/// The connection to an up-to-date database.
pub(super) fn connect(database: &Database) -> Result<Connection, OpenError> {
    let connected = match database {
        Database::Memory => ephemeral().map_err(Failure::from),
        Database::File(path) => sqlite::open(path, &KIND),
    };
    connected.map_err(|failure| OpenError {
        path: path(database),
        failure,
    })
}

/// A database of this process alone. SQLite's `:memory:` scans all of its pages at almost every commit
/// until it exceeds 1 GB, so that it slows down with every booking; an unnamed file does not.
///
/// All of it is one transaction, which never ends: at each commit SQLite would go through the pages of the cache that are not
/// in the file yet, and write those that the next create writes to again.
fn ephemeral() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open("")?;
    tune(&connection)?;
    connection.query_row("PRAGMA journal_mode = MEMORY", (), |_| Ok(()))?;
    sqlite::create(&mut connection, &KIND)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    Ok(connection)
}

/// Sets the page and cache sizes that measured fastest. Each create writes to an entry of the keys' index and to a slot
/// somewhere in the file: small pages, and a cache that has room for these pages of a million bookings.
fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    hash::register(connection)?;
    connection.pragma_update(None, "page_size", 4_096)?;
    connection.pragma_update(None, "cache_size", CACHE)
}

/// The error for a failure of SQLite after opening.
pub(crate) fn explain(database: &Database, error: &rusqlite::Error) -> OpenError {
    OpenError {
        path: path(database),
        failure: error.into(),
    }
}

fn path(database: &Database) -> PathBuf {
    match database {
        Database::File(path) => path.clone(),
        Database::Memory => PathBuf::from(":memory:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::store::kept::Handle;
    use crate::sandbox::store::tx::Tx;
    use std::fs;
    use std::path::Path;

    fn open(path: &Path) -> Result<Connection, OpenError> {
        connect(&Database::File(path.to_owned()))
    }

    #[test]
    fn eight_that_open_an_empty_folder_at_once_all_get_in() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/sandbox.db");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || open(&path).map(|_| ()))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sandbox.db");
        open(&path).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    fn failure(path: &Path) -> Failure {
        open(path).unwrap_err().failure
    }

    #[test]
    fn a_file_that_is_no_sandbox_of_this_version_is_refused_by_name_and_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let garbage = home.path().join("garbage.db");
        fs::write(&garbage, "no database ".repeat(1_000)).unwrap();
        assert!(matches!(failure(&garbage), Failure::Damaged));

        let foreign = home.path().join("foreign.db");
        let other = Connection::open(&foreign).unwrap();
        other
            .execute_batch("CREATE TABLE songs (title TEXT)")
            .unwrap();
        drop(other);
        let before = fs::read(&foreign).unwrap();
        assert!(matches!(failure(&foreign), Failure::Foreign));
        assert!(fs::read(&foreign).unwrap() == before);

        let newer = home.path().join("newer.db");
        let next = KIND.steps.len() as i64 + 1;
        open(&newer)
            .unwrap()
            .pragma_update(None, "user_version", next)
            .unwrap();
        let before = fs::read(&newer).unwrap();
        assert!(matches!(failure(&newer), Failure::Newer { found, .. } if found == next));
        assert!(fs::read(&newer).unwrap() == before);

        let empty = home.path().join("empty.db");
        fs::write(&empty, "").unwrap();
        assert!(matches!(failure(&empty), Failure::Empty));
        assert_eq!(fs::read(&empty).unwrap(), b"");
    }

    /// The schema as it was first released. `schema.sql` is step one and must stay it: whoever wants another schema
    /// adds a step.
    const RELEASED: &str = include_str!("../../../tests/e2e/fixtures/sandbox_version_1.sql");

    #[test]
    fn a_sandbox_of_the_first_release_goes_through_a_further_step_and_keeps_its_bookings() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sandbox.db");
        let old = Connection::open(&path).unwrap();
        old.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()))
            .unwrap();
        old.execute_batch(RELEASED).unwrap();
        drop(old);
        let further = Kind {
            steps: &[
                FIRST,
                ANSWERS,
                OWNERS,
                RULES,
                FROZEN,
                FIXTURES,
                HELD_SLOTS,
                KEY_HASHES,
                "ALTER TABLE bookings ADD COLUMN note TEXT DEFAULT 'none';",
            ],
            ..KIND
        };
        let read = |connection: &Connection| -> (String, String, i64) {
            let read =
                "SELECT status, note, (SELECT user_version FROM pragma_user_version) FROM bookings";
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            connection.query_row(read, (), row).unwrap()
        };
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || read(&sqlite::open(&path, &further).unwrap()))
            })
            .collect();
        for thread in threads {
            let expected = ("confirmed".to_owned(), "none".to_owned(), 9);
            assert_eq!(thread.join().unwrap(), expected);
        }
        // A program without that step is told that the file is newer.
        assert!(matches!(
            failure(&path),
            Failure::Newer { found: 9, known: 8 }
        ));
    }

    #[test]
    fn a_sandbox_of_the_first_release_still_knows_its_keys_and_which_slots_are_held() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sandbox.db");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(RELEASED).unwrap();
        drop(old);
        let handle = Handle::new(open(&path).unwrap(), true);
        let tx = Tx::read(&handle).unwrap();
        let of_key = |key| tx.booking_of_key("org_sandbox", key).unwrap();
        let booking = of_key("01a1ff6a-27dc-7088-912d-4e34b4d3189f").unwrap();
        let slot = booking.slot_id.unwrap();
        assert_eq!(tx.held("org_sandbox", &slot), Ok(1));
        assert_eq!(tx.held("org_other", &slot), Ok(0));
        assert!(of_key("another").is_none());
    }

    #[test]
    fn a_new_file_takes_nothing_from_the_log_of_one_that_was_deleted() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sandbox.db");
        let connection = open(&path).unwrap();
        connection
            .execute_batch("INSERT INTO organizations VALUES ('org', '{}')")
            .unwrap();
        drop(connection);
        assert!(sqlite::log_size(&path) > 0);
        fs::remove_file(&path).unwrap();
        let count =
            open(&path)
                .unwrap()
                .query_row("SELECT count(*) FROM organizations", (), |row| {
                    row.get::<_, i64>(0)
                });
        assert_eq!(count, Ok(0));
    }
}
