//! The disk that misbehaves: without a journal nothing is sent, and no file is lost.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::faults::{booking, confirmed, creating};
use crate::harness::{Home, Reply, has, text};

/// "No journal, no POST." (design); exit 3: "the configuration, a profile, the keyring or the
/// journal cannot be used"
#[test]
fn where_the_journal_cannot_be_kept_nothing_is_sent() {
    let (server, home) = creating(|_| Reply::json(201, &confirmed())).beside_home();
    // The folder that would hold the journal is a file.
    fs::write(home.path(), "a file").unwrap();
    let output = home.run(booking(&[]));
    let error = output.exits(3).error();
    assert!(["journal", "config"].contains(&text(&error, "code").as_str()), "{error}");
    assert!(server.creates().is_empty());

    // One folder deeper the config file is simply not there, and the journal still has no place.
    let deeper = home.path().join("deeper");
    let home = Home::pointing_to(server.base_url(), "sk_live_x")
        .with("BOOKCTL_HOME", deeper.to_str().unwrap());
    home.run(booking(&[])).exits(3).error();
    assert!(server.creates().is_empty());
}

/// "a corrupt one stops creates (3) until `journal recover` sets it aside, never deleted" (design)
#[test]
fn a_damaged_journal_stops_creates_and_is_left_as_it_is() {
    let (server, home) = creating(|_| Reply::json(201, &confirmed())).beside_home();
    fs::create_dir_all(home.path()).unwrap();
    let damaged = "not a database, though long enough to look like one. ".repeat(100);
    let journal = home.path().join("journal.db");
    fs::write(&journal, &damaged).unwrap();
    home.run(booking(&[])).refused(3, "journal");
    assert!(server.creates().is_empty());
    assert_eq!(fs::read_to_string(&journal).unwrap(), damaged);
    let mut named = home.ok(["journal", "recover"]).stdout;
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    fs::write(home.path().join("journal.db-wal"), "x").unwrap();
    named += &home.ok(["journal", "recover"]).stdout;
    for file in fs::read_dir(home.path()).unwrap() {
        let name = file.unwrap().path().display().to_string();
        let is_named = named.contains(&format!("{name}\n"));
        assert!(is_named || !name.contains("broken"), "{name}: {named}");
    }
}

/// The kept journals of each version, the oldest of which is 27: what builds before the first
/// release wrote.
pub(crate) fn dumps(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals").join(kind);
    fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect()
}

#[test]
fn a_journal_of_every_version_is_read_and_written() {
    let dumps = dumps("file");
    let newest = dumps.len() as i64 - 1;
    for dump in dumps {
        let home = Home::new();
        fs::create_dir_all(home.path()).unwrap();
        let journal = Connection::open(home.path().join("journal.db")).unwrap();
        journal.execute_batch(&fs::read_to_string(&dump).unwrap()).unwrap();
        assert_eq!(home.list("bookings").len(), 1, "{}", dump.display());
        assert_eq!(home.json("journal recover")["recovered"], false);
        home.booked("ven_otp", &[], 10);
        home.ok(["attempts", "resume", "order-2"]);
        assert_eq!(home.list("attempts list --all").len(), 3);
        assert_eq!(home.json("journal status")["version"], newest);
        let written: String = journal
            .query_row(
                "SELECT written_by FROM bookctl_journal WHERE version = ?1",
                [newest],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(written, env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn a_journal_of_a_newer_version_is_refused_and_not_replaced() {
    let (home, id) = Home::with_booking("ven_confirms", 0);
    let file = home.path().join("journal.db");
    let newer = "UPDATE bookctl_journal SET version = 99, written_by = '9.9.9', readable_from = 99; PRAGMA user_version = 99";
    Connection::open(&file).unwrap().execute_batch(newer).unwrap();
    let before = fs::read(&file).unwrap();
    let book = "book ven_otp --at 'tomorrow 19:30' --party 2 --name Ada";
    for command in [book, "bookings", "attempts", "journal recover"] {
        let error = home.refuses(command, 3, "journal");
        has(&error, "message", "another version of bookctl (9.9.9");
        has(&error, "hint", "install bookctl 9.9.9 or newer");
    }
    home.ok(["cancel", &id, "--yes", "-q"]).tells("could not be saved in the journal");
    assert!(fs::read(&file).unwrap() == before);
    let mut files = fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name());
    assert!(files.all(|it| !it.to_string_lossy().contains("broken")));
}
