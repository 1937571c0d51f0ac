//! The disk that misbehaves: without a journal nothing is sent, and no file is lost.

use std::fs;

use crate::faults::{booking, confirmed, creating};
use crate::harness::{Home, Reply, text};

/// "No journal, no POST." (design); exit 3: "the configuration, a profile, the keyring or the journal cannot be used"
#[test]
fn where_the_journal_cannot_be_kept_nothing_is_sent() {
    let server = creating(|_| Reply::json(201, &confirmed()));
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
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
    let server = creating(|_| Reply::json(201, &confirmed()));
    let home = Home::pointing_to(server.base_url(), "sk_live_x");
    fs::create_dir_all(home.path()).unwrap();
    let damaged = "not a database, though long enough to look like one. ".repeat(100);
    let journal = home.path().join("journal.db");
    fs::write(&journal, &damaged).unwrap();
    home.run(booking(&[])).refused(3, "journal");
    assert!(server.creates().is_empty());
    assert_eq!(fs::read_to_string(&journal).unwrap(), damaged);
}
