//! What is set aside, under which names, and what is left where it is.

use super::*;

/// What is there besides the journal and its lock.
fn names_beside(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<String> = names
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "journal.db" && name != "journal.db.lock")
        .collect();
    names.sort();
    names
}

/// Whoever is killed between the two names would else leave none, and the next command would begin
/// a blank journal. Windows does not replace a file that is open, so there it is renamed.
#[cfg(unix)]
#[test]
fn journal_set_aside_keeps_its_name_until_it_is_replaced() {
    let (_folder, path) = place();
    fs::write(&path, "no database").unwrap();
    let stored = set_aside(&path).unwrap();
    for name in [&path, &stored] {
        assert_eq!(fs::read_to_string(name).unwrap(), "no database");
    }
}

#[test]
fn journals_set_aside_within_one_second_get_names_of_their_own() {
    let (_folder, path) = place();
    let mut stored: Vec<PathBuf> = Vec::new();
    for number in 0..3 {
        fs::write(&path, format!("no database {number} ").repeat(500)).unwrap();
        stored.push(recover(&path).unwrap().unwrap().0);
    }
    for (number, one) in stored.iter().enumerate() {
        let text = fs::read_to_string(one).unwrap();
        assert!(text.starts_with(&format!("no database {number}")));
        assert!(one.to_string_lossy().contains("journal.db.broken-"));
    }
    let journals = names_beside(&path).into_iter().filter(|name| !name.ends_with("-journal"));
    assert_eq!(journals.count(), 3);
}

#[test]
fn folder_at_the_journals_path_is_set_aside_with_its_files() {
    let (_folder, path) = place();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("within"), "kept").unwrap();
    let companions = ["-journal", "-wal", "-shm"];
    for suffix in companions {
        fs::write(add_suffix(&path, suffix), suffix).unwrap();
    }
    let (stored, _) = recover(&path).unwrap().unwrap();
    assert_eq!(fs::read_to_string(stored.join("within")).unwrap(), "kept");
    for suffix in companions {
        assert_eq!(fs::read_to_string(add_suffix(&stored, suffix)).unwrap(), suffix);
    }
    assert_eq!(recover(&path).unwrap(), None);
}

#[test]
fn unreadable_journal_is_left_where_it_is() {
    let (_folder, path) = place();
    open(&path, "o");
    // SQLite opens no database whose rollback file or log it cannot open.
    let _ = fs::remove_file(add_suffix(&path, "-journal"));
    fs::create_dir(add_suffix(&path, "-journal")).unwrap();
    let before = names_beside(&path);
    let error = recover(&path).unwrap_err();
    assert_eq!(error.code, Code::Journal);
    assert_eq!(names_beside(&path), before);
}

#[test]
fn recover_copies_every_readable_row_whole() {
    let (_folder, path) = place();
    let journal =
        Journal::open(&path, Scope { profile: Some("work".into()), ..scope("o") }).unwrap();
    for key in ["a", "b", "c"] {
        journal.run(key, &json!({"party_size": 2}));
    }
    let run = journal.run("b", &json!({"party_size": 2}));
    let made = json!({"id": "bk_1", "status": "confirmed"});
    let made = Booking::from_document(made.into()).unwrap();
    journal.end_booked(&run, &made, 201).unwrap();
    journal.execute("DELETE FROM attempts WHERE idempotency_key = 'c'");
    journal.execute("CREATE TABLE added (id)");
    drop(journal);
    let taken = recover(&path).unwrap().unwrap().1;
    assert_eq!((taken.attempts, taken.lost), (2, vec!["c".to_owned()]), "only a run of c");
    let journal = open(&path, "o");
    let attempt = journal.attempt("b").unwrap().unwrap();
    assert_eq!(attempt.booking_id.as_deref(), Some("bk_1"));
    assert_eq!(attempt.profile.as_deref(), Some("work"));
    assert_eq!(journal.bookings(None, None).unwrap().len(), 1);
    assert_eq!(journal.open_attempts().unwrap()[0].idempotency_key, "a");
}
