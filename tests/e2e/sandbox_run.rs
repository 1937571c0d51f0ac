//! `sandbox run`: what the command that it starts is given.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::harness::{HANG, Home, Running};

/// A command that prints its environment.
const PRINT: [&str; 5] = ["sandbox", "run", "--quiet", "--", "env"];

/// The names in the documented table, each of which the command must treat in a way that was
/// decided.
fn documented() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/environment.md");
    let page = std::fs::read_to_string(path).unwrap();
    let names = page.lines().filter_map(|line| {
        let name = line.strip_prefix("| `BOOKCTL_")?.split_once('`')?.0;
        Some(format!("BOOKCTL_{name}"))
    });
    names.collect()
}

/// A signal that somebody sends to `sandbox run` alone is for its command. Ctrl-C on a terminal
/// reaches both by itself.
#[test]
fn an_interrupt_that_is_sent_to_run_alone_reaches_its_command() {
    use std::os::unix::process::CommandExt;
    let home = Home::new();
    for (signal, code) in [("-INT", 3), ("-QUIT", 4), ("-TERM", 5)] {
        let ready = home.folder().join(format!("ready{signal}"));
        let script = format!(
            "trap 'exit 3' INT; trap 'exit 4' QUIT; trap 'exit 5' TERM; : > {}; while :; do sleep 0.05; done",
            ready.display()
        );
        let mut command = home.command(["sandbox", "run", "--quiet", "--", "sh", "-c", &script]);
        // Not in the foreground of a terminal, as in a job of CI.
        command.process_group(0);
        let running = Running::start(command);
        let deadline = Instant::now() + HANG;
        while !ready.exists() {
            assert!(Instant::now() < deadline, "the command does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        running.signal(signal);
        running.ends(code);
    }
}

#[test]
fn run_gives_its_command_no_secret_of_real_service() {
    let mut home = Home::new().with("BOOKCTL_SANDBOX_VENUE", "ven_of_another_sandbox");
    home = home.configured("[profiles.live]\nbase_url = 'https://api.example'\n");
    let mut expected = BTreeMap::from([
        ("BOOKCTL_SANDBOX_VENUE".to_owned(), None),
        ("BOOKCTL_TEST_PACE".to_owned(), Some("0.1")),
        ("BOOKCTL_TEST_SHELL".to_owned(), Some("one")),
    ]);
    for name in documented() {
        // What the surroundings say, and what the command is to see: `None` where it sees nothing.
        let (outside, inside) = match name.as_str() {
            "BOOKCTL_PROFILE" => (Some("live"), None),
            "BOOKCTL_BASE_URL" => (None, Some("http://127.0.0.1:")),
            "BOOKCTL_API_KEY" => (Some("sk_live_of_the_real_service"), Some("sk_live_sandbox")),
            "BOOKCTL_WEBHOOK_SECRET" => (Some("whsec_of_the_real_service"), Some("whsec_sandbox")),
            "BOOKCTL_NO_INPUT" => (Some("1"), Some("1")),
            "BOOKCTL_ACCESSIBLE" => (Some("1"), Some("1")),
            "BOOKCTL_PAGER" => (Some("cat"), Some("cat")),
            "BOOKCTL_HOME" => (None, Some("/")),
            "BOOKCTL_NO_SANDBOX" => (Some("0"), None),
            "BOOKCTL_JOURNAL" => (Some("postgresql://team@real_service.example/bookctl"), None),
            "BOOKCTL_SANDBOX_NO_LIMITS" => (Some("1"), Some("1")),
            // With it set, this bookctl would complete words instead of running the command.
            "BOOKCTL_COMPLETE" => (None, None),
            other => panic!("it is not decided what a command in a sandbox sees of {other}"),
        };
        if let Some(outside) = outside {
            home = home.with(&name, outside);
        }
        expected.insert(name, inside);
    }
    assert!(expected.len() > 8, "{expected:?}");
    let output = home.ok(PRINT);
    assert!(!output.stdout.contains("real_service"), "{output}");
    let seen: BTreeMap<&str, &str> = output
        .stdout
        .lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| name.starts_with("BOOKCTL_"))
        .collect();
    for (name, inside) in &expected {
        let seen = seen.get(name.as_str()).copied();
        match inside {
            Some(start) => {
                assert!(seen.is_some_and(|it| it.starts_with(start)), "{name}: {output}")
            }
            None => assert_eq!(seen, None, "{name}: {output}"),
        }
    }
    let unknown: Vec<_> = seen.keys().filter(|name| !expected.contains_key(**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The listener verifies each delivery before it notes it: one that is signed with another secret
/// never gets there.
#[test]
fn listener_that_run_starts_verifies_what_sandbox_delivers() {
    let own = env!("CARGO_BIN_EXE_bookctl");
    let script = format!(
        "set -e
         {own} webhook listen --port 0 --ready-file ready --json >lines 2>&1 &
         listener=$!
         for i in $(seq 1 1000); do [ -e ready ] && break; sleep 0.02; done
         {own} book ven_confirms --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace' --quiet --jq .status
         for i in $(seq 1 1000); do grep -q booking.confirmed lines && break; sleep 0.02; done
         kill -TERM $listener
         wait $listener || [ $? = 143 ]
         cat lines"
    );
    let home = Home::new().with("BOOKCTL_WEBHOOK_SECRET", "whsec_of_the_real_service");
    let output = home.run(["sandbox", "run", "--quiet", "--", "sh", "-c", &script]);
    let output = output.exits(0);
    assert!(output.stdout.starts_with("confirmed\n"), "{output}");
    output.shows("booking.confirmed");
    assert!(!output.stdout.contains("signature"), "{output}");
}

#[test]
fn command_without_dashes_before_it_is_told_how_to_write_it() {
    let home = Home::new();
    for words in [&["pytest"][..], &["--scenario", "otp", "pytest", "-q"]] {
        let output = home.run(["sandbox", "run"].iter().chain(words)).exits(2);
        output.says("put the command to run after --: bookctl sandbox run -- pytest");
    }
}

/// What bookctl does within `sandbox run` is of a sandbox that ends with it.
#[test]
fn bookctl_that_run_starts_leaves_users_journal() {
    let (home, _) = Home::with_booking("ven_confirms", 0);
    let before = home.ok(["bookings", "--json"]).stdout;
    let own = env!("CARGO_BIN_EXE_bookctl");
    let script = format!(
        "{own} book ven_confirms --at 'tomorrow 19:30' --party 2 --name 'Grace Hopper' --quiet --jq .status
         {own} bookings --jq '.bookings | length'
         {own} profile add mine --base-url http://127.0.0.1:9 --quiet >/dev/null
         ls -ld \"$BOOKCTL_HOME\" | cut -c 1-10
         echo \"$BOOKCTL_HOME\""
    );
    let output = home.run(["sandbox", "run", "--quiet", "--", "sh", "-c", &script]);
    let output = output.exits(0);
    let lines: Vec<&str> = output.stdout.lines().collect();
    let [status, count, mode, folder] = lines[..] else {
        panic!("{output}");
    };
    assert_eq!(status, "confirmed", "{output}");
    assert_eq!(count, "1", "{output}");
    assert_eq!(mode, "drwx------", "{output}");
    assert!(!Path::new(folder).exists(), "{folder}");
    assert_eq!(home.ok(["bookings", "--json"]).stdout, before);
    assert!(!home.ok(["profile", "list"]).stdout.contains("mine"));
}
