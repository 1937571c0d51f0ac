//! Files that another process holds, or that may only be read: said soon, bounded, and never deaf
//! to Ctrl-C.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::harness::{GUEST, Home, Running, SOON, has};

/// Another process that writes and does not come to an end.
fn hold(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    connection
}

/// The same, for what only reads as well.
fn hold_alone(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    connection
}

fn prepared() -> Home {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    home.ok(["webhook", "events", "list", "--json"]);
    home
}

fn booking(more: &[&str]) -> Vec<String> {
    let arguments = ["book", "ven_confirms", "--json"];
    let arguments = arguments.iter().chain(&GUEST).chain(more);
    arguments.map(|argument| (*argument).to_owned()).collect()
}

/// "every wait has a deadline, says what it waits for" (design)
#[test]
fn journal_held_is_named_after_second() {
    let home = prepared();
    let _held = hold(&home.path().join("journal.db"));
    let begun = Instant::now();
    let output = home.run(booking(&["--timeout", "2s"])).exits(3);
    let took = begun.elapsed();
    assert_eq!(output.error()["code"], "journal");
    let output = output
        .says("waiting for another process to release the journal")
        .says("in use by another process (waited 2 s)");
    assert!(took > Duration::from_secs(2), "{took:?} {output}");
    assert!(took < SOON, "{took:?} {output}");
}

/// "every wait … ends within 200 ms of Ctrl-C" (design)
#[test]
fn a_signal_ends_the_wait_for_any_file() {
    let cases = [
        ("journal.db", "book"),
        ("journal.db", "attempts abandon k --json"),
        ("sandbox.db", "book"),
        ("sandbox.db", "sandbox reset --json"),
        ("webhooks.db", "webhook listen --port 0 --json"),
        ("webhooks.db", "webhook events list --json"),
    ];
    std::thread::scope(|scope| {
        for (file, line) in cases {
            scope.spawn(move || a_signal_ends_the_wait(file, line));
        }
    });
}

fn a_signal_ends_the_wait(file: &str, line: &str) {
    let arguments = match line {
        "book" => booking(&[]),
        line => line.split(' ').map(str::to_owned).collect(),
    };
    let home = prepared();
    let file_path = home.path().join(file);
    let _held = match file {
        "sandbox.db" => hold(&file_path),
        _ => hold_alone(&file_path),
    };
    let running = home.start(&arguments);
    // Lets it come to wait for the lock. Interrupted earlier, it ends as soon, and the test proves
    // less.
    std::thread::sleep(Duration::from_millis(600));
    let begun = Instant::now();
    running.signal("-INT");
    let output = running.end();
    let took = begun.elapsed();
    output.refused(130, "interrupted");
    assert!(took < SOON, "{file} {arguments:?}: {took:?}");
}

#[test]
fn webhooks_file_held_is_named_after_second() {
    let home = prepared();
    let _held = hold_alone(&home.path().join("webhooks.db"));
    let output = home
        .run(["webhook", "events", "list", "--json", "--timeout", "2s"])
        .exits(3)
        .says("waiting for another process to release the webhook file")
        .says("in use by another process (waited 2 s)");
    assert_eq!(output.error()["code"], "webhooks");
}

#[test]
fn a_sandbox_file_that_is_held_is_a_matter_of_configuration() {
    let home = prepared();
    let _held = hold_alone(&home.path().join("sandbox.db"));
    let error = home.refuses("status --timeout 1s", 3, "config");
    has(&error, "message", "in use by another process");
}

/// Whoever may write everywhere runs the command as somebody who may not.
fn without_rights(home: &Home, arguments: &[&str]) -> Option<Command> {
    let id = Command::new("id").arg("-u").output().ok()?;
    let mut command = match id.stdout.starts_with(b"0\n") {
        false => Command::new(env!("CARGO_BIN_EXE_bookctl")),
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            let reached = Command::new("setpriv")
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .args([env!("CARGO_BIN_EXE_bookctl"), "--version"])
                .stdout(Stdio::null())
                .status();
            if !reached.is_ok_and(|status| status.success()) {
                return None;
            }
            command.arg(env!("CARGO_BIN_EXE_bookctl"));
            command
        }
    };
    home.enter(&mut command);
    command.args(arguments).stdin(Stdio::null());
    Some(command)
}

#[test]
fn a_home_that_may_only_be_read_is_said_in_a_sentence() {
    let home = prepared();
    let all = |mode: u32| {
        for entry in fs::read_dir(home.path()).unwrap() {
            let permissions = fs::Permissions::from_mode(mode & 0o666);
            fs::set_permissions(entry.unwrap().path(), permissions).unwrap();
        }
        for folder in [home.folder(), &home.path()] {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    all(0o555);
    for arguments in [&["show", "bk_1", "--json"][..], &["sandbox", "inbox", "--json"]] {
        let Some(command) = without_rights(&home, arguments) else {
            crate::harness::skipped("no other user can run the binary");
            break;
        };
        let error = Running::start(command).end().refused(3, "config");
        has(&error, "message", "read-only");
    }
    all(0o755);
}

/// A journal that is only held is not damaged: whoever holds it would go on writing to what was set
/// aside.
#[test]
fn a_held_journal_is_not_recovered() {
    let home = prepared();
    let _held = hold_alone(&home.path().join("journal.db"));
    let files = || fs::read_dir(home.path()).unwrap().count();
    let before = files();
    home.refuses("journal recover --timeout 300ms", 3, "journal");
    assert_eq!(files(), before);
}

/// "No attempt that began while a journal was recovered is forgotten": who writes to it is waited
/// for, and not set aside.
#[test]
fn damaged_journal_stays_while_another_process_writes_to_it() {
    let home = prepared();
    let journal = home.path().join("journal.db");
    let newer = Connection::open(&journal).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    newer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let output = home.run(["journal", "recover", "--json", "--timeout", "1s"]).exits(3);
    assert_eq!(output.error()["code"], "journal");
    output.says("in use by another process");
    let names = fs::read_dir(home.path()).unwrap();
    let mut names = names.map(|file| file.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().contains("broken")));
}
