//! A journal that a team shares: whether its tables are those that this bookctl knows, and what is said of a database
//! that cannot be used.

use std::time::Duration;

use super::VERSION;
use super::team_schema::SCHEMA;
use crate::outcome::{Error, Result};
use crate::platform::postgres::{Database, Failure, Guard};
use crate::platform::signals;
use crate::platform::sql::{Answer, Trouble, values};

/// What has to hold of a database before it is used as a journal: its tables are those that this bookctl knows.
pub(super) const GUARD: Guard = Guard {
    query: FIND_VERSION,
    check: |found| match found {
        VERSION => Ok(()),
        0 => Err(Failure::NotPrepared),
        found => Err(other_version(found)),
    },
};

/// Loads the tables and the language of their functions, which the end of a run needs. It finds nothing and changes nothing.
pub(super) const OF_AN_END: &str = "SELECT booking_facts('{}'), (SELECT count(*) FROM bookings JOIN sightings USING (origin) WHERE false)";

const FIND_VERSION: &str = "SELECT version FROM bookctl_journal";

/// Prepares the database: makes the tables, in one transaction under a lock, so that of several processes at once one does it.
pub(crate) fn prepare(database: Database) -> Result<Prepared> {
    let database = database.patient();
    let make = "CREATE TABLE IF NOT EXISTS bookctl_journal (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)";
    let fill =
        "INSERT INTO bookctl_journal (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING";
    let prepared = database.transaction(&|statements| {
        statements.execute("SET LOCAL statement_timeout = 0", &[])?;
        statements.execute("SET LOCAL lock_timeout = 0", &[])?;
        let row = statements.first("SELECT current_setting('server_encoding')", &[])?;
        let encoding: String = row.map_or(Ok(String::new()), |mut row| row.take(0))?;
        if encoding != "UTF8" {
            return Err(Trouble::Postgres(Failure::Encoding(encoding)));
        }
        statements.execute(make, &[])?;
        statements.execute(fill, &[])?;
        let row = statements.first(&format!("{FIND_VERSION} FOR UPDATE"), &[])?;
        let found: i64 = row.map_or(Ok(0), |mut row| row.take(0))?;
        if found == VERSION {
            return Ok(false);
        }
        if found != 0 {
            return Err(Trouble::Postgres(other_version(found)));
        }
        for statement in SCHEMA {
            statements.execute(statement, &[])?;
        }
        statements.execute("UPDATE bookctl_journal SET version = ?1", values![VERSION])?;
        Ok(true)
    });
    let is_new = prepared.map_err(|why| error(&database, &why))?;
    let not_indexed = match index_search(&database) {
        Ok(Index::There) => None,
        Ok(Index::Coming) => Some("is still making it for another process".to_owned()),
        Err(why) if signals::caught().is_some() => return Err(error(&database, &why)),
        Err(why) => Some(why.to_string()),
    };
    Ok(Prepared {
        is_new,
        not_indexed,
    })
}

pub(crate) struct Prepared {
    /// Whether the tables were made now.
    pub(crate) is_new: bool,
    /// Why searches have no index, as the end of a sentence about the server.
    pub(crate) not_indexed: Option<String>,
}

/// Whether searches have an index.
pub(super) const IS_SEARCH_INDEXED: &str = "
    SELECT EXISTS (SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                   WHERE indrelid = 'bookings'::regclass AND relname = 'bookings_search' AND indisvalid)";

/// Whether a process makes an index now.
const IS_BEING_INDEXED: &str = "SELECT EXISTS (SELECT 1 FROM pg_stat_progress_create_index WHERE relid = 'bookings'::regclass)";

/// How often the index is begun, and the pause between: several processes may be in each other's way.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// The index of searches, after `journal init`.
enum Index {
    There,
    /// Another process makes it now.
    Coming,
}

/// Makes the index of searches, if there is none. It needs the extension pg_trgm, which not every server has and not every
/// user may add: without the index a search reads all bookings. Bookings go on while it is made.
fn index_search(database: &Database) -> Answer<Index> {
    let mut tries = 0;
    loop {
        if let Some(index) = index(database)? {
            return Ok(index);
        }
        tries += 1;
        match make_index(database) {
            Ok(()) => return Ok(Index::There),
            Err(why @ Trouble::Postgres(Failure::NotAllowed(_))) => return Err(why),
            Err(why) if tries == TRIES || signals::caught().is_some() => return Err(why),
            // Another process may be faster. It may also have removed ours, which was incomplete, to make it itself; and a
            // connection that was lost leaves an incomplete one.
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

fn index(database: &Database) -> Answer<Option<Index>> {
    let holds = |question: &str| {
        let row = database.read(&|statements| statements.first(question, &[]))?;
        row.map_or(Ok(false), |mut row| row.take(0))
    };
    Ok(if holds(IS_SEARCH_INDEXED)? {
        Some(Index::There)
    } else if holds(IS_BEING_INDEXED)? {
        Some(Index::Coming)
    } else {
        None
    })
}

fn make_index(database: &Database) -> Answer<()> {
    let run = |statement: &str| database.read(&|statements| statements.execute(statement, &[]));
    run("CREATE EXTENSION IF NOT EXISTS pg_trgm")?;
    // An index whose making was interrupted. The same name may stand in another schema.
    let incomplete =
        "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                      WHERE indrelid = 'bookings'::regclass AND relname = 'bookings_search'";
    if let Some(mut row) = database.read(&|statements| statements.first(incomplete, &[]))? {
        let name: String = row.take(0)?;
        run(&format!("DROP INDEX CONCURRENTLY {name}"))?;
    }
    run(
        "CREATE INDEX CONCURRENTLY bookings_search ON bookings USING gin (search gin_trgm_ops)
         WHERE search IS NOT NULL",
    )?;
    Ok(())
}

fn other_version(found: i64) -> Failure {
    Failure::OtherVersion {
        found,
        known: VERSION,
    }
}

/// The error (3) for a shared journal that cannot be used.
pub(super) fn error(database: &Database, trouble: &Trouble) -> Error {
    let hint = match trouble {
        Trouble::Postgres(failure) => match failure {
            Failure::Unreachable(_)
            | Failure::Lost(_)
            | Failure::NotReady(_)
            | Failure::Late(_) => {
                "bookctl does not book without a journal: check the server and the network, then try again"
            }
            Failure::NotAllowed(_) => {
                "check the user's rights and its password: PGPASSWORD, PGPASSFILE, ~/.pgpass, or `bookctl auth login \
                 --journal-password-stdin`"
            }
            Failure::ReadOnly => {
                "connect to the primary server: bookctl does not book without a journal"
            }
            Failure::NotPrepared => {
                "prepare it once, as a user who may create tables: `bookctl journal init`"
            }
            Failure::OtherVersion { .. } => {
                "use the bookctl that prepared it, or prepare another database with `bookctl journal init`"
            }
            Failure::Encoding(_) => {
                "use a database in UTF8: `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`"
            }
            Failure::Conflict | Failure::Other(_) => {
                "see the state of the journal with `bookctl journal status`"
            }
        },
        Trouble::Sqlite(_) | Trouble::Unreadable => {
            "see the state of the journal with `bookctl journal status`"
        }
    };
    Error::journal(format!("the journal at {} {trouble}", database.address)).hint(hint)
}
