//! Completion: what is offered, in which shell, and that nobody hears of it where it cannot help.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rusqlite::Connection;

use crate::command_tree::commands;
use crate::harness::{Home, Output, Running, SOON, Served, Terminal, skipped, text, words};

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
fn lived_in() -> (Home, String) {
    let home = Home::new();
    let evening = ["--at", "tomorrow 19:30"];
    home.ok(["search", "dining", "--near", "London"]
        .iter()
        .chain(&evening));
    home.ok(["slots", "@2"].iter().chain(&evening));
    let booking = home.booked("ven_confirms", &[], 0);
    (home, booking)
}

#[test]
fn the_scripts_in_the_repository_are_those_that_the_program_prints() {
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
        assert!(
            help.contains(&format!("bookctl completions {shell}")),
            "{help}"
        );
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
            assert!(
                values(&home, &words).iter().any(|it| it == name),
                "{path:?}"
            );
        }
        let words: Vec<&str> = path.iter().copied().chain(["--"]).collect();
        let flags = offered(&home, &words);
        assert!(
            flags
                .iter()
                .any(|(flag, about)| flag == "--json" && !about.is_empty())
        );
        let several_lines = |about: &str| about.contains(r"\u{a}");
        assert!(!flags.iter().any(|(_, about)| several_lines(about)));
    }
}

#[test]
fn what_was_seen_is_offered_with_its_name_and_its_time() {
    let (home, booking) = lived_in();
    let eel = (
        "ven_london_lantern_and_eel".to_owned(),
        "Lantern & Eel".to_owned(),
    );
    let venues = offered(&home, &["slots", ""]);
    assert!(venues.contains(&eel), "{venues:?}");
    assert!(venues.contains(&("@2".to_owned(), eel.1)), "{venues:?}");
    assert_eq!(
        values(&home, &["book", "ven_london_l"]),
        ["ven_london_lantern_and_eel"]
    );
    let slots = offered(&home, &["book", "--slot", ""]);
    let first = slots.iter().find(|(slot, _)| slot == "@1").unwrap();
    assert!(first.1.ends_with("Lantern & Eel"), "{first:?}");
    assert!(slots.iter().any(|(slot, _)| slot.starts_with("slot_")));
    let by_sign = values(&home, &["book", "--slot=@1"]);
    assert!(
        by_sign.is_empty(),
        "a flag with its value is one word: {by_sign:?}"
    );
    assert_eq!(offered(&home, &["book", "--slot=@1"])[0].0, "--slot=@1");
    let verbs = values(&home, &[""]);
    assert!(verbs.contains(&"show".to_owned()), "{verbs:?}");
    assert!(!verbs.contains(&"get".to_owned()), "{verbs:?}");
    for verb in ["show", "get", "watch", "modify", "cancel"] {
        let known = values(&home, &[verb, ""]);
        assert!(
            known.contains(&booking) || verb == "watch",
            "{verb}: {known:?}"
        );
    }
    let several = values(&home, &["show", &booking, ""]);
    assert!(several.contains(&booking), "{several:?}");
}

#[test]
fn a_verb_is_offered_the_bookings_that_it_can_be_used_on_the_latest_first() {
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
        [(
            "bk_2".to_owned(),
            "confirmed · Two · Wed 1 May 2030, 19:30 (+02:00)".to_owned()
        )]
    );
}

#[test]
fn what_comes_from_outside_neither_drives_a_terminal_nor_becomes_a_command() {
    let (home, _) = lived_in();
    journal(&home).execute("DELETE FROM bookings", []).unwrap();
    remember(
        &home,
        "sandbox",
        "bk_1",
        "confirmed",
        "\u{1b}[31mRed\n\u{202e}der\tx",
    );
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
    remember(
        &home,
        "https://api.example.com",
        "bk_live",
        "confirmed",
        "Live",
    );
    let here = values(&home, &["show", ""]);
    assert_eq!(here, [booking.as_str()]);
    assert_eq!(
        values(&home, &["show", "--profile", "live", ""]),
        ["bk_live"]
    );
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
    home.book("ven_confirms", &["--idempotency-key", "table-7"])
        .exits(16);
    let keys = offered(&home, &["attempts", "resume", ""]);
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].0, "table-7");
    assert!(
        keys[0].1.starts_with("Ada Lovelace · ven_confirms"),
        "{keys:?}"
    );
    home.ok(["attempts", "resume", "table-7"]);
    assert!(values(&home, &["attempts", "abandon", ""]).is_empty());
}

#[test]
fn names_that_the_program_knows_are_offered() {
    let home = Home::new();
    for (words, expected) in [
        (
            &["sandbox", "run", "--scenario", "payment_d"][..],
            "payment_declines",
        ),
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

/// Whether the shell is there; where it is not, the log says so.
fn installed(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").output().is_ok();
    if !found {
        skipped(&format!("{shell} is not installed"));
    }
    found
}

/// A home whose `PATH` begins with the program under test.
fn on_the_path(home: Home) -> Home {
    let program = Path::new(env!("CARGO_BIN_EXE_bookctl"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    home.with("PATH", &path)
}

fn shell(home: &Home, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    home.enter(&mut command);
    command.args(arguments);
    Running::start(command).end().exits(0)
}

/// What bash would put into the line, for each line with the piece that it replaces.
#[test]
fn bash_completes() {
    if !installed("bash") {
        return;
    }
    let (home, booking) = lived_in();
    let home = on_the_path(home);
    std::fs::write(home.folder().join("an answer.json"), "{}").unwrap();
    let script = r#"
        source <(bookctl completions bash)
        complete -p bookctl | grep -q -- '-F _bookctl' || exit 1
        while [ $# -gt 0 ]; do
            COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=${COMP_TYPE:-9}
            _bookctl bookctl "$2" ''
            printf '%s|' "${COMPREPLY[@]}"
            echo
            shift 2
        done
    "#;
    let (start, whole) = booking.split_at(5);
    #[rustfmt::skip]
    let lines = [
        ("bookctl show bk_".to_owned(), "bk_", booking.as_str()),
        (format!("bookctl show {start}"), start, whole),
        ("bookctl slots ven_london_l".to_owned(), "ven_london_l", "ven_london_lantern_and_eel"),
        // bash takes `=` and `@` for the begin of a word.
        ("bookctl slots @2".to_owned(), "@2", "@2"),
        ("bookctl --color=alw".to_owned(), "alw", "always"),
        ("bookctl show 'bk_".to_owned(), "bk_", booking.as_str()),
        ("bookctl continue x --psp-response @an".to_owned(), "@an", r"@an\ answer.json"),
    ];
    let pairs = lines
        .iter()
        .flat_map(|(line, piece, _)| [line.as_str(), piece]);
    let arguments: Vec<&str> = ["--norc", "-c", script, "bash"]
        .into_iter()
        .chain(pairs)
        .collect();
    let completed = shell(&home, "bash", &arguments).stdout;
    for ((line, _, expected), completed) in lines.iter().zip(completed.lines()) {
        let expected = if line.ends_with(start) {
            &booking
        } else {
            *expected
        };
        assert_eq!(completed, format!("{expected}|"), "{line}");
    }
    assert_eq!(completed.lines().count(), lines.len());
    let listing = home.with("COMP_TYPE", "63");
    let two = [
        "--norc",
        "-c",
        script,
        "bash",
        "bookctl slots ven_london_",
        "ven_london_",
    ];
    let list = shell(&listing, "bash", &two).stdout;
    assert!(
        list.contains("ven_london_lantern_and_eel  (Lantern & Eel)|"),
        "{list}"
    );
}

#[test]
fn fish_completes() {
    if !installed("fish") {
        return;
    }
    let (home, booking) = lived_in();
    let home = on_the_path(home);
    for (line, expected) in [
        ("bookctl show ", booking.as_str()),
        (
            "bookctl slots ven_london_l",
            "ven_london_lantern_and_eel\tLantern & Eel",
        ),
        ("bookctl book --at 'tomorrow 19:30' --slot @1", "@1\t"),
        ("bookctl --profile sandbox sho", "show\t"),
        ("bookctl show --", "--exit-status\t"),
    ] {
        let script = "bookctl completions fish | source; complete -C $argv[1]";
        let completed = shell(&home, "fish", &["--no-config", "-c", script, line]).stdout;
        assert!(
            completed.lines().any(|it| it.starts_with(expected)),
            "{line}: {completed}"
        );
    }
}

#[test]
fn a_tab_in_zsh_writes_the_booking_into_the_line_sourced_or_autoloaded() {
    if !installed("zsh") {
        return;
    }
    let (home, booking) = lived_in();
    let home = on_the_path(home)
        .with("TERM", "dumb")
        .with("PS1", "ready> ");
    let functions = home.folder().join("functions");
    std::fs::create_dir(&functions).unwrap();
    let script = home.ok(["completions", "zsh"]).stdout;
    std::fs::write(functions.join("_bookctl"), script).unwrap();
    for prepare in [
        "autoload -Uz compinit; compinit -u -D; source <(bookctl completions zsh)",
        "fpath=($HOME/functions $fpath); autoload -Uz compinit; compinit -u -D",
    ] {
        let mut terminal = Terminal::of_program(&home, 200, &["zsh", "-f", "-i"]);
        terminal.answer("ready>", &format!("{prepare}; echo pre''pared"));
        terminal.see("prepared ready>").type_in("bookctl show bk\t");
        terminal.see(&format!("bookctl show {booking}"));
        // The blank that is typed after the word is the completion's own.
        terminal.type_in("--jq '.id + \" was \" + .status' -q\r");
        terminal.see(&format!("{booking} was confirmed"));
    }
}

#[test]
fn with_a_shared_journal_no_bookings_of_the_file_beside_it_are_offered() {
    let served = Served::start();
    let home = served.home();
    let booking = home.booked("ven_confirms", &[], 0);
    assert!(values(&home, &["show", ""]).contains(&booking));
    let home = home.with("BOOKCTL_JOURNAL", "postgres://ada@127.0.0.1:9/journal");
    assert!(!values(&home, &["show", ""]).contains(&booking));
}

#[test]
fn where_nothing_can_be_read_nothing_is_said_made_or_waited_for() {
    let quiet = |home: &Home, why: &str| {
        let began = Instant::now();
        for line in [
            "show ''",
            "slots @",
            "book --slot ''",
            "attempts resume ''",
            "--profile ''",
        ] {
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
        let made = Command::new("mkfifo").arg(&file).status();
        assert!(made.unwrap().success());
        quiet(&piped, "a pipe for a file");
    }
    quiet(
        &lived_in().0.configured("this is no TOML"),
        "wrong configuration",
    );
    let keyless = lived_in().0.with("BOOKCTL_API_KEY", "sk_live_x");
    let known = values(&keyless, &["show", ""]);
    assert!(known.is_empty(), "a key for nobody: {known:?}");
}
