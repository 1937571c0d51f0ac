//! "What is not needed for a command is not opened by it: no TLS roots for http, no keyring with a
//! key in the environment, no journal for a read, no runtime threads." (design, Speed)

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::{Home, Reply, Running, Scripted, for_guest, installed, skipped};

/// What a command asks of the system, a line each: the files that it opens, its sockets, its
/// threads.
///
/// `None` where that cannot be watched here.
fn trace(home: &Home, arguments: &[&str]) -> Option<Vec<String>> {
    let watched =
        Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !installed("strace") || !watched.is_ok_and(|status| status.success()) {
        skipped("strace is not installed, or may not watch");
        return None;
    }
    let log = home.folder().join("trace");
    let mut command = home.program("strace");
    // A bus that is there: who wanted a keyring would knock.
    command
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/the-bus")
        .args([
            "-f",
            "-s",
            "200",
            "-e",
            "trace=open,openat,socket,connect,clone,clone3,execve",
            "-o",
        ])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_bookctl"))
        .args(arguments)
        .stdin(Stdio::null());
    Running::start(command).ends(0);
    let calls = fs::read_to_string(log).unwrap();
    Some(calls.lines().map(str::to_owned).collect())
}

#[track_caller]
fn opens_none(calls: &[String], parts: &[&str]) {
    // The watch itself must work: the program is always loaded.
    assert!(calls.iter().any(|call| call.contains("execve(")), "{calls:#?}");
    for part in parts {
        let found: Vec<_> = calls.iter().filter(|call| call.contains(part)).collect();
        assert!(found.is_empty(), "{part}: {found:#?}");
    }
}

const KEYRING: &[&str] = &["the-bus", "AF_UNIX, sun_path"];
const AUTHORITIES: &[&str] = &["/etc/ssl", "/usr/share/ca-certificates", "/etc/pki"];
const THREADS: &[&str] = &["clone(", "clone3("];

#[test]
fn read_with_key_in_environment_opens_its_connection() {
    let server =
        Scripted::start(|_| Reply::json(200, &json!({"id": "bk_1", "status": "confirmed"})));
    // The journal and the sandbox are there, and are let lie.
    let home = Home::pointing_to(server.base_url(), "sk_live_watched");
    home.ok(["attempts"]);
    for arguments in [
        &["show", "bk_1", "--json"][..],
        &["show", "bk_1", "bk_1", "--json"],
        &["watch", "bk_1", "--json"],
        &["api", "GET", "/v1/", "--json"],
    ] {
        let Some(calls) = trace(&home, arguments) else {
            return;
        };
        assert!(calls.iter().any(|call| call.contains("sin_port")), "{calls:#?}");
        opens_none(&calls, KEYRING);
        opens_none(&calls, AUTHORITIES);
        opens_none(&calls, THREADS);
        opens_none(&calls, &["journal.db", "recent.db", "sandbox.db", "secrets.toml"]);
    }
}

#[test]
fn embedded_sandbox_asks_no_keyring_and_loads_no_authorities() {
    let home = Home::new();
    let book = for_guest("ven_confirms");
    for arguments in [&book[..], &["status"]] {
        let Some(calls) = trace(&home, arguments) else {
            return;
        };
        opens_none(&calls, KEYRING);
        opens_none(&calls, AUTHORITIES);
    }
}

#[test]
fn what_only_explains_opens_nothing_of_ours() {
    let home = Home::new();
    home.book("ven_confirms", &[]).exits(0);
    let ours = home.path();
    let ours = ours.to_str().unwrap();
    for arguments in [&["--version"][..], &["--help"], &["book", "--help"], &["help", "exit-codes"]]
    {
        let Some(calls) = trace(&home, arguments) else {
            return;
        };
        opens_none(&calls, &[ours, "socket(", "connect("]);
        opens_none(&calls, THREADS);
    }
}
