//! Opening the database: safe for several processes at once, the first time too.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::patience::{Patience, Wait};
use crate::private_file;

/// Where a sandbox keeps its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// In a file, created with mode 0600 where there is none.
    File(PathBuf),
    /// In memory, and in an unnamed temporary file as it grows: the state ends with the process.
    Memory,
}

/// Why a sandbox cannot be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The file or its folder cannot be made or read.
    Unreachable { path: PathBuf, reason: String },
    /// The file is damaged, or no database.
    Corrupt { path: PathBuf },
    /// The database belongs to another program.
    Foreign { path: PathBuf },
    /// The database is of another version of the sandbox.
    OtherVersion {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// Another process holds the file.
    Held { path: PathBuf },
    /// SQLite refuses for another reason.
    Database { path: PathBuf, reason: String },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { path, reason } => {
                write!(
                    f,
                    "the sandbox's database {} cannot be opened: {reason}",
                    path.display()
                )
            }
            Self::Corrupt { path } => {
                write!(f, "the sandbox's database {} is damaged", path.display())
            }
            Self::Foreign { path } => {
                write!(
                    f,
                    "{} is a database, but not one of a sandbox",
                    path.display()
                )
            }
            Self::OtherVersion { path, found, known } => write!(
                f,
                "the sandbox's database {} has version {found}, and this program knows version {known}",
                path.display()
            ),
            Self::Held { path } => write!(
                f,
                "the sandbox's database {} was held by another process for {} s",
                path.display(),
                Patience::limit().as_secs_f32()
            ),
            Self::Database { path, reason } => {
                write!(f, "the sandbox's database {}: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}

const SCHEMA: &str = include_str!("schema.sql");
/// The version of the schema, in `user_version`.
const VERSION: i64 = 1;
/// "bksb", in `application_id`.
const APPLICATION: i64 = 0x626b_7362;
const STATEMENTS: usize = 64;

/// The connection to an up-to-date database.
pub(super) fn connect(database: &Database) -> Result<Connection, OpenError> {
    let explain = |error| explain(database, &error);
    match database {
        Database::Memory => {
            let mut connection = ephemeral().map_err(explain)?;
            create_schema(&mut connection).map_err(explain)?;
            Ok(connection)
        }
        Database::File(path) => {
            // For its owner alone, before SQLite makes it with the umask's mode.
            private_file::make(path).map_err(|error| OpenError::Unreachable {
                path: path.clone(),
                reason: error.to_string(),
            })?;
            let mut connection = prepare(path).map_err(explain)?;
            // SQLite opens what it may only read all the same, and fails at the first write.
            if connection.is_readonly("main").map_err(explain)? {
                return Err(read_only(path));
            }
            let found = create_schema(&mut connection).map_err(explain)?;
            check(path, &found)?;
            connection
                .pragma_update(None, "synchronous", "NORMAL")
                .map_err(explain)?;
            Ok(connection)
        }
    }
}

/// A database of this process alone. Not SQLite's `:memory:`: that looks through all of its pages
/// at almost every commit, until it is past 1 GB, and so slows down with every booking.
fn ephemeral() -> rusqlite::Result<Connection> {
    let connection = Connection::open("")?;
    tune(&connection)?;
    connection.query_row("PRAGMA journal_mode = MEMORY", (), |_| Ok(()))?;
    Ok(connection)
}

/// Pages and a cache that measured best; every commit costs a look through the cache's index, so
/// that a larger one is not the faster one.
fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "page_size", 8_192)?;
    connection.pragma_update(None, "cache_size", -16_384)
}

fn prepare(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(Wait::handler(waited_for(path))))?;
    tune(&connection)?;
    // The write-ahead log stays for the next process: to fold it in at every exit would cost two
    // syncs a command.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Until the schema is there nothing can be lost that a second try does not bring back.
    connection.pragma_update(None, "synchronous", "OFF")?;
    switch_to_wal(&connection, path)?;
    Ok(connection)
}

/// Turning the log on needs the file alone, and SQLite does not wait for that by itself.
fn switch_to_wal(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    let mut wait = Wait::begin(waited_for(path));
    loop {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(()));
        match switched {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait.goes_on() => {
            }
            outcome => return outcome,
        }
    }
}

fn read_only(path: &Path) -> OpenError {
    OpenError::Unreachable {
        path: path.to_owned(),
        reason: "it, or its folder, is read-only".to_owned(),
    }
}

fn waited_for(path: &Path) -> String {
    format!("the sandbox's database {}", path.display())
}

/// What a database says about itself.
struct Found {
    application: i64,
    version: i64,
}

impl Found {
    fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
        Ok(Self {
            application: pragma("application_id")?,
            version: pragma("user_version")?,
        })
    }

    const fn is_unclaimed(&self) -> bool {
        self.application == 0 && self.version == 0
    }
}

/// Creates the schema in an empty database, once, whoever else is about to; says what is there.
fn create_schema(connection: &mut Connection) -> rusqlite::Result<Found> {
    // Both in one snapshot: between two readings another process may finish its schema.
    let found = Found::read(&*connection.transaction()?)?;
    if !found.is_unclaimed() {
        return Ok(found);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if Found::read(&transaction)?.is_unclaimed() && tables == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()?;
    Found::read(connection)
}

fn check(path: &Path, found: &Found) -> Result<(), OpenError> {
    let path = path.to_owned();
    if found.application != APPLICATION {
        return Err(OpenError::Foreign { path });
    }
    if found.version != VERSION {
        return Err(OpenError::OtherVersion {
            path,
            found: found.version,
            known: VERSION,
        });
    }
    Ok(())
}

/// What a failure of SQLite means for the database.
pub(crate) fn explain(database: &Database, error: &rusqlite::Error) -> OpenError {
    let path = match database {
        Database::File(path) => path.clone(),
        Database::Memory => PathBuf::from(":memory:"),
    };
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => OpenError::Corrupt { path },
        Some(ErrorCode::ReadOnly) => read_only(&path),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            OpenError::Unreachable { path, reason }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::Held { path },
        _ => OpenError::Database { path, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

    #[test]
    fn a_file_that_is_no_sandbox_of_this_version_is_refused_by_name() {
        let home = tempfile::tempdir().unwrap();
        let garbage = home.path().join("garbage.db");
        fs::write(&garbage, "no database ".repeat(1_000)).unwrap();
        assert!(matches!(open(&garbage), Err(OpenError::Corrupt { .. })));

        let foreign = home.path().join("foreign.db");
        let other = Connection::open(&foreign).unwrap();
        other
            .execute_batch("CREATE TABLE songs (title TEXT)")
            .unwrap();
        assert!(matches!(open(&foreign), Err(OpenError::Foreign { .. })));

        let newer = home.path().join("newer.db");
        open(&newer)
            .unwrap()
            .pragma_update(None, "user_version", VERSION + 1)
            .unwrap();
        assert!(matches!(
            open(&newer),
            Err(OpenError::OtherVersion {
                found: 2,
                known: 1,
                ..
            })
        ));
    }
}
