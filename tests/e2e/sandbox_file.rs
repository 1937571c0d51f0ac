//! The sandbox's file: of another version, emptied, and without its log.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::harness::{Home, Served, has, text};

fn remove_log(file: &Path) {
    for end in ["-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(name);
    }
}

/// What may be thrown away renews itself; a file that somebody named is refused.
#[test]
fn a_sandbox_of_another_version_is_set_aside_unless_it_is_named() {
    for version in [1, 99] {
        let (home, _) = Home::with_booking("ven_confirms", 0);
        let file = home.path().join("sandbox.db");
        let connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        drop(connection);
        let before = fs::read(&file).unwrap();
        let path = file.to_str().unwrap().to_owned() + ".named";
        fs::write(&path, &before).unwrap();
        let serve = ["sandbox", "serve", "--port", "0", "--database", &path, "--json"];
        has(&home.run(serve).refused(3, "config"), "message", "another version of bookctl");
        assert!(fs::read(&path).unwrap() == before);
        let aside = format!("sandbox.db.version-{version}");
        home.book("ven_confirms", &["--idempotency-key", "again"]).exits(0).says(&aside);
        assert_eq!(home.list("sandbox bookings").len(), 1);
        assert!(fs::read(home.path().join(aside)).unwrap() == before);
    }
}

/// An emptied file was taken for a new one: the bookings were gone without a word.
#[test]
fn emptied_sandbox_file_is_not_mistaken_for_a_new_one() {
    let truncated = |file: &Path| fs::write(file, "").unwrap();
    // Before bookctl made files whole, all was in the log, and the file itself held nothing but its
    // head.
    let without_its_log = |file: &Path| {
        let connection = Connection::open(file).unwrap();
        connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())).unwrap();
    };
    for spoil in [&truncated as &dyn Fn(&Path), &without_its_log] {
        let (home, _) = Home::with_booking("ven_confirms", 0);
        let file = home.path().join("sandbox.db");
        fs::remove_file(&file).unwrap();
        remove_log(&file);
        spoil(&file);
        let before = fs::read(&file).unwrap();
        let error = home.refuses("sandbox bookings", 3, "config");
        has(&error, "message", "is empty");
        let hint = text(&error, "hint");
        assert!(hint.contains(&format!("delete {}", file.display())), "{hint}");
        assert!(fs::read(&file).unwrap() == before);
        // The hint, followed.
        fs::remove_file(&file).unwrap();
        remove_log(&file);
        assert_eq!(home.list("sandbox bookings").len(), 0);
    }
}

/// Whoever deletes the file alone leaves the log, which belongs to no other file.
#[test]
fn new_sandbox_takes_nothing_from_log_of_one_that_was_deleted() {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    fs::remove_file(home.path().join("sandbox.db")).unwrap();
    assert_eq!(home.list("sandbox bookings").len(), 0);
    home.booked("ven_confirms", &[], 0);
    assert_eq!(home.list("sandbox bookings").len(), 1);
}

#[cfg(unix)]
#[test]
fn a_served_sandbox_that_was_ended_needs_its_log_no_more() {
    let home = Home::new();
    let mut served = Served::from_home(&home);
    home.booked("ven_confirms", &[], 0);
    served.home().booked("ven_confirms", &[], 0);
    assert_eq!(served.terminate(), Some(0));
    remove_log(&home.path().join("sandbox.db"));
    assert_eq!(home.list("sandbox bookings").len(), 2);
}

#[test]
fn sandbox_loses_no_more_than_its_last_commands_with_its_log() {
    let home = Home::new();
    for _ in 0..3 {
        for hour in 17..=22 {
            let at = format!("tomorrow {hour}:00");
            let more = ["--party", "2", "--name", "Ada Lovelace", "--at", &at];
            let command = ["book", "ven_confirms", "--json"].into_iter().chain(more);
            home.ok(command);
        }
        home.advance("6m");
    }
    remove_log(&home.path().join("sandbox.db"));
    let left = home.list("sandbox bookings").len();
    assert!(left >= 6, "{left} of 18 are left");
}

#[test]
fn after_reset_sandboxs_files_hold_nothing_of_guest() {
    let home = Home::new();
    let holds = |name: &str| {
        let file = fs::read(home.path().join(name)).unwrap_or_default();
        file.windows(8).any(|it| it == b"Lovelace")
    };
    let places = || ["sandbox.db", "sandbox.db-wal"].map(holds);
    for place in ["ven_confirms", "ven_confirms_b", "ven_otp"] {
        home.book(place, &[]);
    }
    assert!(places().contains(&true));
    home.ok(["sandbox", "reset", "--quiet"]);
    assert_eq!(places(), [false, false]);
    home.booked("ven_confirms", &[], 0);
    assert_eq!(home.list("sandbox bookings").len(), 1);
}
