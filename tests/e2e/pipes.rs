//! Pipes and devices where files are expected: opening one waits for another process, or reads
//! without end.

use std::fs;
use std::time::Instant;

use crate::harness::listening::Listening;
use crate::harness::{GUEST, Home, SOON, fifo, has, text, words};
use crate::ownership::place_of_a_listener;

#[test]
fn lock_or_rollback_file_that_is_a_pipe_is_refused_at_once() {
    let add = words("profile add q --base-url https://q.example --json");
    let home = Home::new();
    let lock = home.path().join("config.toml.lock");
    fifo(&lock);
    let error = home.run(add).refused(3, "config");
    let message = text(&error, "message");
    assert!(message.contains("config.toml.lock"), "{error}");
    assert!(message.contains("not a regular file"), "{error}");

    let home = Home::new().configured("[profiles.t]\nbase_url = 'http://127.0.0.1:9'\n");
    fifo(&home.path().join("secrets.toml.lock"));
    let login = words("auth login --profile t --webhook-secret-stdin --storage file");
    home.feed(&login, "whsec_x\n").exits(3).says("secrets.toml.lock");

    let home = Home::new();
    fifo(&home.path().join("journal.db.lock"));
    fs::write(home.path().join("journal.db"), "no database ".repeat(500)).unwrap();
    let recover = ["journal", "recover", "--json"];
    home.run(recover).exits(3).says("journal.db.lock");

    // SQLite opens what lies next to a database without asking what it is.
    let (home, _) = Home::with_booking("ven_confirms", 0);
    let companion = home.path().join("journal.db-journal");
    fs::remove_file(&companion).unwrap();
    fifo(&companion);
    for arguments in [["attempts", "--json"], ["bookings", "--json"]] {
        home.run(arguments).exits(3).tells("is not a regular file");
    }
}

#[test]
fn authorities_that_are_a_pipe_or_a_device_are_refused() {
    let home = Home::new();
    let pipe = home.folder().join("pipe");
    fifo(&pipe);
    for file in [pipe.to_str().unwrap(), "/dev/zero"] {
        let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_x").with_profile(
            "p",
            "https://127.0.0.1:9",
            &format!("ca_file = '{file}'\n"),
        );
        let error = home.refuses("status", 3, "config");
        let message = text(&error, "message");
        assert!(message.contains("not a regular file"), "{error}");
    }
    let large = home.folder().join("large");
    fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    let home = Home::new().with("BOOKCTL_API_KEY", "sk_live_x").with_profile(
        "p",
        "https://127.0.0.1:9",
        &format!("ca_file = '{}'\n", large.display()),
    );
    let error = home.refuses("status", 3, "config");
    has(&error, "message", "larger than 16 MB");
}

#[test]
fn a_listener_is_not_held_up_by_pipes_in_its_places() {
    let home = Home::new();
    let place = place_of_a_listener(&home);
    fs::remove_file(&place).unwrap();
    fifo(&place);
    let listen = ["webhook", "listen", "--port", "0", "--json"];
    home.run(listen).exits(1).says("not a regular file");
    fs::remove_file(&place).unwrap();

    // The name under which the ready file is made.
    fifo(&home.folder().join("ready.new"));
    Listening::start(&home, &[]).end();
}

/// A shell's `<(…)` is a pipe: what a person names may be one, and is read, but never holds up
/// Ctrl-C.
#[test]
fn rows_and_bodies_are_read_from_pipes() {
    let home = Home::new().with("BOOKCTL_WEBHOOK_SECRET", "whsec_x");
    let pipe = home.folder().join("rows.csv");
    fifo(&pipe);
    let pipe = pipe.to_str().unwrap();
    #[rustfmt::skip]
    let cases = [
        &["batch", pipe, "--json"][..],
        &["webhook", "sign", pipe, "--json"],
        &["webhook", "verify", pipe, "--signature", "t=1,v1=00", "--json"],
    ];
    for arguments in cases {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            let running = home.start(arguments);
            let begun = Instant::now();
            running.signal(signal);
            running.ends(code);
            assert!(begun.elapsed() < SOON, "{arguments:?} {:?}", begun.elapsed());
        }
    }
    let row = format!(
        "venue_id,datetime,party_size,customer.name\nven_confirms,2030-01-01T19:30:00Z,2,{}\n",
        GUEST[5]
    );
    let writer = pipe.to_owned();
    let writes = std::thread::spawn(move || fs::write(writer, row));
    let rows = home.ok(["batch", pipe, "--dry-run", "--json"]);
    writes.join().unwrap().unwrap();
    rows.shows(GUEST[5]);
}
