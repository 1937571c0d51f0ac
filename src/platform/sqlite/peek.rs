//! Reading a file without waiting for locks, without messages and without writing, as shell completion has to.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Params, Row};

/// An existing file, opened for reading. It may be of any version.
///
/// What cannot be read counts as empty, because a completion cannot report errors.
pub(crate) struct Peek(Connection);

impl Peek {
    /// Opens the file if it exists. A file that another process is writing counts as empty.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        // A pipe would be waited for.
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).ok()?;
        connection.busy_timeout(Duration::ZERO).ok()?;
        Some(Peek(connection))
    }

    /// The rows of a query, up to the first that cannot be read.
    pub(crate) fn rows<T>(
        &self,
        query: &str,
        params: impl Params,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let Ok(mut statement) = self.0.prepare(query) else {
            return Vec::new();
        };
        let rows = statement.query_map(params, map);
        rows.map(|rows| rows.map_while(Result::ok).collect())
            .unwrap_or_default()
    }
}

/// The number in the file's header that every transaction changes, unless there is a write-ahead log.
pub(crate) fn change_counter(path: &Path) -> Option<[u8; 4]> {
    let mut counter = [0; 4];
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(24)).ok()?;
    file.read_exact(&mut counter).ok()?;
    Some(counter)
}

/// An upper bound for all texts that start with `prefix`.
pub(crate) fn prefix_end(prefix: &str) -> String {
    format!("{prefix}\u{10ffff}")
}
