//! The process itself: its clock, its limits, and what it would leave behind.

use std::fs;
use std::process::Command;

use crate::crash_signals::faketime;
use crate::harness::{GUEST, Home, Reply, Running, Scripted, Served, has, skipped, text};

const SLOT_TIME: &str = "2030-01-01T19:30:00Z";

/// The binary in this home, after a command of the shell such as `ulimit`; what follows is the
/// shell's as well.
fn after(home: &Home, command: &str, arguments: &[&str], redirection: &str) -> Running {
    // A shell ignores SIGQUIT in what it runs in the background, and so would everything that is
    // started here.
    let line = format!("{command} && exec env --default-signal=QUIT \"$0\" \"$@\" {redirection}");
    let mut shell = home.program("sh");
    shell.args(["-c", &line, env!("CARGO_BIN_EXE_bookctl")]).args(arguments);
    Running::start(shell)
}

/// A machine whose clock lost its battery: identifiers and dates cannot be made of such a time.
#[test]
fn clock_before_1970_ends_command_with_sentence() {
    let Some(library) = faketime() else {
        return skipped("libfaketime is not there");
    };
    let service = Scripted::start(|_| Reply::Close);
    for at_service in [false, true] {
        let mut home = Home::new()
            .with("LD_PRELOAD", &library)
            .with("FAKETIME", "@1962-03-04 05:06:07")
            .with("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        if at_service {
            home = home
                .with("BOOKCTL_BASE_URL", service.base_url())
                .with("BOOKCTL_API_KEY", "sk_live_x");
        }
        let at = ["book", "ven_confirms", "--at", SLOT_TIME, "--json"];
        let book: Vec<&str> = at.into_iter().chain(GUEST[2..].iter().copied()).collect();
        #[rustfmt::skip]
        let cases = [
            book.as_slice(),
            &["status", "--json"],
            &["doctor", "--json"],
            &["search", "dining", "--near", "London", "--at", "tomorrow 19:30", "--json"],
            &["sandbox", "serve", "--ephemeral", "--port", "0", "--json"],
            &["webhook", "listen", "--port", "0", "--json"],
        ];
        for arguments in cases {
            let error = home.run(arguments).refused(3, "config");
            has(&error, "message", "1970");
            has(&error, "hint", "clock");
        }
        // What needs no clock goes on.
        home.ok(["explain", "config"]);
    }
    assert!(service.requests().is_empty());
}

/// The system answers a write beyond `ulimit -f` with a signal that ends a process without a word.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_no_sudden_end() {
    let (served, home) = Served::with_home();
    let book = [&["book", "ven_confirms", "--json"][..], &GUEST].concat();
    let error = after(&home, "ulimit -f 0", &book, "").end().refused(3, "journal");
    assert!(!text(&error, "hint").is_empty(), "{error}");
    assert!(served.bookings().is_empty());

    let written = after(&home, "ulimit -f 0", &["explain"], ">codes").end();
    let written = written.exits(1).says("large");
    assert_eq!(written.stdout, "");
    assert_eq!(fs::read(home.folder().join("codes")).unwrap(), b"");

    // The embedded sandbox, and the configuration.
    let home = Home::new();
    after(&home, "ulimit -f 0", &book, "").ends(3);
    let add = "profile add q --base-url https://q.example --json";
    let add: Vec<&str> = add.split(' ').collect();
    after(&home, "ulimit -f 0", &add, "").end().refused(3, "config");
}

/// The soft limit on core dumps that the system holds for a process.
fn limit_on_core_dumps(id: u32) -> String {
    let limits = fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max core file size"));
    let mut words = line.unwrap().split_whitespace().skip(4);
    words.next().unwrap().to_owned()
}

/// Ctrl-\ (SIGQUIT) ends a program with a core dump, in which its keys stand.
#[test]
fn a_command_that_holds_a_key_leaves_no_core_dump() {
    let allow = "ulimit -c unlimited";
    let allowed = Command::new("sh").args(["-c", allow]).status();
    if !allowed.unwrap().success() {
        return skipped("core dumps are not allowed here at all");
    }
    let service = Scripted::start(|_| Reply::Silence);
    let home = Home::pointing_to(service.base_url(), "sk_live_of_the_victim");
    let running = after(&home, allow, &["status"], "");
    service.wait_for_request();
    assert_eq!(limit_on_core_dumps(running.id()), "0");
    running.signal("-QUIT");
    assert_eq!(running.end().code, Some(131));
    let left: Vec<_> = fs::read_dir(home.folder()).unwrap().collect();
    let core = |name: &str| name.starts_with("core");
    let left = left.iter().flatten();
    assert!(!left.map(|it| it.file_name()).any(|it| core(&it.to_string_lossy())));
}
