//! Completion: what is offered, and that nobody hears of it where it cannot help.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

use crate::command_tree::commands;
use crate::harness::{Home, Output, Running, SOON, Served, fifo, text, words};

/// Asks as a completion script does; the last word is the one being typed.
fn ask(home: &Home, words: &[&str]) -> Output {
    let mut command = home.command(["--", "bookctl"].iter().chain(words));
    command.env("BOOKCTL_COMPLETE", "fish");
    Running::start(command).end()
}

/// The candidates, each with what is said of it.
fn offered(home: &Home, words: &[&str]) -> Vec<(String, String)> {
    let answer = ask(home, words).exits(0);
    assert_eq!(answer.stderr, "", "{words:?}");
    let split = |line: &str| {
        let (value, about) = line.split_once('\t').unwrap_or((line, ""));
        (value.to_owned(), about.to_owned())
    };
    answer.stdout.lines().map(split).collect()
}

fn values(home: &Home, words: &[&str]) -> Vec<String> {
    let offered = offered(home, words);
    let values = offered.into_iter().map(|(value, _)| value);
    // Flags are all that is left where there is nothing else.
    values.filter(|value| !value.starts_with('-')).collect()
}

fn journal(home: &Home) -> Connection {
    Connection::open(home.path().join("journal.db")).unwrap()
}

fn recent(home: &Home) -> Connection {
    Connection::open(home.path().join("recent.db")).unwrap()
}

/// Puts a booking into the journal, as a machine that made it would have.
fn remember(home: &Home, origin: &str, id: &str, status: &str, venue: &str) {
    let document = serde_json::json!({
        "id": id, "venue_name": venue, "datetime": "2030-05-01T19:30:00+02:00",
    });
    let row = "INSERT OR REPLACE INTO bookings (origin, id, status, document, created_at, seen_at)
               VALUES (?1, ?2, ?3, ?4, ?2, ?2)";
    let values = [origin, id, status, &document.to_string()];
    journal(home).execute(row, values).unwrap();
}

/// A home that has searched, listed slots and booked.
pub(crate) fn lived_in() -> (Home, String) {
    let home = Home::new();
    let evening = ["--at", "tomorrow 19:30"];
    home.ok(["search", "dining", "--near", "London"].iter().chain(&evening));
    home.ok(["slots", "@2"].iter().chain(&evening));
    let booking = home.booked("ven_confirms", &[], 0);
    (home, booking)
}

#[test]
fn scripts_in_repository_are_those_that_program_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    let home = Home::new();
    let help = home.ok(["completions", "--help"]).stdout;
    for (shell, file) in [
        ("bash", "bookctl.bash"),
        ("zsh", "_bookctl"),
        ("fish", "bookctl.fish"),
        ("powershell", "_bookctl.ps1"),
        ("elvish", "bookctl.elv"),
    ] {
        let script = std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(home.ok(["completions", shell]).stdout, script);
        let json = home.ok(["completions", shell, "--json"]).json();
        assert_eq!(text(&json, "script"), script);
        assert!(help.contains(&format!("bookctl completions {shell}")), "{help}");
    }
    assert!(!home.path().exists());
}

#[test]
fn every_command_and_every_flag_is_offered() {
    let home = Home::new();
    for command in commands() {
        let path: Vec<&str> = command.path.iter().map(String::as_str).collect();
        if let Some((name, above)) = path.split_last() {
            let words: Vec<&str> = above.iter().copied().chain([*name]).collect();
            assert!(values(&home, &words).iter().any(|it| it == name), "{path:?}");
        }
        let words: Vec<&str> = path.iter().copied().chain(["--"]).collect();
        let flags = offered(&home, &words);
        assert!(flags.iter().any(|(flag, about)| flag == "--json" && !about.is_empty()));
        let several_lines = |about: &str| about.contains(r"\u{a}");
        assert!(!flags.iter().any(|(_, about)| several_lines(about)));
    }
}

#[test]
fn what_was_seen_is_offered_with_its_name_and_its_time() {
    let (home, booking) = lived_in();
    let eel = ("ven_london_lantern_and_eel".to_owned(), "Lantern & Eel".to_owned());
    let venues = offered(&home, &["slots", ""]);
    assert!(venues.contains(&eel), "{venues:?}");
    assert!(venues.contains(&("@2".to_owned(), eel.1)), "{venues:?}");
    assert_eq!(values(&home, &["book", "ven_london_l"]), ["ven_london_lantern_and_eel"]);
    let slots = offered(&home, &["book", "--slot", ""]);
    let first = slots.iter().find(|(slot, _)| slot == "@1").unwrap();
    assert!(first.1.ends_with("Lantern & Eel"), "{first:?}");
    assert!(slots.iter().any(|(slot, _)| slot.starts_with("slot_")));
    let by_sign = values(&home, &["book", "--slot=@1"]);
    assert!(by_sign.is_empty(), "a flag with its value is one word: {by_sign:?}");
    assert_eq!(offered(&home, &["book", "--slot=@1"])[0].0, "--slot=@1");
    let verbs = values(&home, &[""]);
    assert!(verbs.contains(&"show".to_owned()), "{verbs:?}");
    assert!(!verbs.contains(&"get".to_owned()), "{verbs:?}");
    for verb in ["show", "get", "watch", "modify", "cancel"] {
        let known = values(&home, &[verb, ""]);
        assert!(known.contains(&booking) || verb == "watch", "{verb}: {known:?}");
    }
    let several = values(&home, &["show", &booking, ""]);
    assert!(several.contains(&booking), "{several:?}");
}

#[test]
fn verb_is_offered_bookings_that_it_can_be_used_on_latest_first() {
    let (home, _) = lived_in();
    journal(&home).execute("DELETE FROM bookings", []).unwrap();
    remember(&home, "sandbox", "bk_1", "failed", "One");
    remember(&home, "sandbox", "bk_2", "confirmed", "Two");
    remember(&home, "sandbox", "bk_3", "requires_action", "Three");
    assert_eq!(values(&home, &["show", ""]), ["bk_3", "bk_2", "bk_1"]);
    assert_eq!(values(&home, &["cancel", ""]), ["bk_3", "bk_2"]);
    assert_eq!(values(&home, &["continue", "bk_"]), ["bk_3"]);
    assert_eq!(
        offered(&home, &["show", "bk_2"]),
        [("bk_2".to_owned(), "confirmed · Two · Wed 1 May 2030, 19:30 (+02:00)".to_owned())]
    );
}

#[test]
fn completion_makes_no_command_of_text_from_outside() {
    let (home, _) = lived_in();
    journal(&home).execute("DELETE FROM bookings", []).unwrap();
    remember(&home, "sandbox", "bk_1", "confirmed", "\u{1b}[31mRed\n\u{202e}der\tx");
    remember(&home, "sandbox", "$(reboot)", "confirmed", "x");
    remember(&home, "sandbox", "bk_2\nbk_3", "confirmed", "x");
    let known = offered(&home, &["show", ""]);
    assert_eq!(known.len(), 1, "{known:?}");
    let shown = r"\u{1b}[31mRed\u{a}\u{202e}der\u{9}x";
    assert!(known[0].1.contains(shown), "{known:?}");
}

#[test]
fn what_belongs_to_another_service_is_not_offered() {
    let (home, booking) = lived_in();
    let home = home.configured("[profiles.live]\nbase_url = 'https://api.example.com'\n");
    remember(&home, "sandbox", &booking, "confirmed", "Sandbox");
    remember(&home, "https://api.example.com", "bk_live", "confirmed", "Live");
    let here = values(&home, &["show", ""]);
    assert_eq!(here, [booking.as_str()]);
    assert_eq!(values(&home, &["show", "--profile", "live", ""]), ["bk_live"]);
    assert_eq!(values(&home, &["--profile=live", "show", ""]), ["bk_live"]);
    // A profile that is called as a command is.
    assert_eq!(values(&home, &["--profile", "sandbox", "show", ""]), here);
    assert!(values(&home, &["--profile", "gone", "show", ""]).is_empty());
    let home = home.with("BOOKCTL_PROFILE", "live");
    assert_eq!(values(&home, &["show", ""]), ["bk_live"]);
    assert_eq!(
        offered(&home, &["--profile", ""]),
        [
            ("live".to_owned(), "https://api.example.com".to_owned()),
            ("sandbox".to_owned(), "the sandbox".to_owned())
        ]
    );
    assert_eq!(values(&home, &["profile", "remove", "l"]), ["live"]);
    assert!(values(&home, &["profile", "add", ""]).is_empty());
}

#[test]
fn attempts_that_are_not_settled_are_offered_by_their_keys() {
    let home = Home::new();
    let fault = "sandbox faults add --kind drop_after --times 3 --on";
    home.ok(fault.split(' ').chain(["POST /v1/bookings"]));
    home.book("ven_confirms", &["--idempotency-key", "table-7"]).exits(16);
    let keys = offered(&home, &["attempts", "resume", ""]);
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].0, "table-7");
    assert!(keys[0].1.starts_with("Ada Lovelace · ven_confirms"), "{keys:?}");
    home.ok(["attempts", "resume", "table-7"]);
    assert!(values(&home, &["attempts", "abandon", ""]).is_empty());
}

#[test]
fn names_that_the_program_knows_are_offered() {
    let home = Home::new();
    for (words, expected) in [
        (&["sandbox", "run", "--scenario", "payment_d"][..], "payment_declines"),
        (&["explain", "payment_outcome_u"], "payment_outcome_unknown"),
        (&["help", "exit"], "exit-codes"),
        (&["completions", "z"], "zsh"),
        (&["watch", "x", "--until", "conf"], "confirmed"),
        (&["auth", "login", "--dialect", "otp_f"], "otp_field="),
        (&["search", "d"], "dining"),
    ] {
        assert_eq!(values(&home, words), [expected], "{words:?}");
    }
    std::fs::write(home.folder().join("answer.json"), "{}").unwrap();
    let answer = ["continue", "x", "--psp-response", "@ans"];
    assert_eq!(values(&home, &answer), ["@answer.json"]);
}

#[test]
fn the_variable_alone_changes_no_command() {
    for shell in ["fish", "nonsense", "1", ""] {
        let home = Home::new().with("BOOKCTL_COMPLETE", shell);
        let version = home.ok(["--version"]).stdout;
        assert!(version.starts_with("bookctl "), "{shell}: {version}");
    }
}

#[test]
fn shared_journal_completes_no_bookings_of_the_local_file() {
    let (_served, home) = Served::with_home();
    let booking = home.booked("ven_confirms", &[], 0);
    assert!(values(&home, &["show", ""]).contains(&booking));
    let home = home.with("BOOKCTL_JOURNAL", "postgres://ada@127.0.0.1:9/journal");
    assert!(!values(&home, &["show", ""]).contains(&booking));
}

#[test]
fn where_nothing_can_be_read_nothing_is_said_made_or_waited_for() {
    let quiet = |home: &Home, why: &str| {
        let began = Instant::now();
        for line in ["show ''", "slots @", "book --slot ''", "attempts resume ''", "--profile ''"] {
            let line = words(line);
            let known = values(home, &line.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(known.is_empty() || known == ["sandbox"], "{why}: {known:?}");
        }
        assert!(began.elapsed() < SOON, "{why}");
    };
    let blank = Home::new();
    quiet(&blank, "no home");
    assert!(!blank.path().exists(), "a home was made");

    let (locked, booking) = lived_in();
    let holders = [journal(&locked), recent(&locked)];
    for holder in &holders {
        // Who only writes to a file with a log keeps nobody from reading it.
        let alone = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE";
        holder.execute_batch(alone).unwrap();
    }
    quiet(&locked, "locked");
    drop(holders);
    assert_eq!(values(&locked, &["show", ""]), [booking]);

    let damaged = lived_in().0;
    for name in ["journal.db", "recent.db"] {
        let file = damaged.path().join(name);
        std::fs::write(&file, "no database at all, and yet long enough ".repeat(99)).unwrap();
    }
    quiet(&damaged, "damaged");

    let piped = Home::new().configured("");
    for name in ["journal.db", "recent.db", "config.toml"] {
        let file = piped.path().join(name);
        let _ = std::fs::remove_file(&file);
        fifo(&file);
        quiet(&piped, "a pipe for a file");
    }
    quiet(&lived_in().0.configured("this is no TOML"), "wrong configuration");
    let keyless = lived_in().0.with("BOOKCTL_API_KEY", "sk_live_x");
    let known = values(&keyless, &["show", ""]);
    assert!(known.is_empty(), "a key for nobody: {known:?}");
}
