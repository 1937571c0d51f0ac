//! Completion in bash, fish and zsh, with what `bookctl completions` prints.

use std::path::Path;
use std::process::Command;

use crate::completion::lived_in;
use crate::harness::{Home, Output, Running, Terminal, skipped};

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
    let mut command = home.program(program);
    command.args(arguments);
    Running::start(command).ends(0)
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
    let pairs = lines.iter().flat_map(|(line, piece, _)| [line.as_str(), piece]);
    let arguments: Vec<&str> = ["--norc", "-c", script, "bash"].into_iter().chain(pairs).collect();
    let completed = shell(&home, "bash", &arguments).stdout;
    for ((line, _, expected), completed) in lines.iter().zip(completed.lines()) {
        let expected = if line.ends_with(start) { &booking } else { *expected };
        assert_eq!(completed, format!("{expected}|"), "{line}");
    }
    assert_eq!(completed.lines().count(), lines.len());
    let listing = home.with("COMP_TYPE", "63");
    let two = ["--norc", "-c", script, "bash", "bookctl slots ven_london_", "ven_london_"];
    let list = shell(&listing, "bash", &two).stdout;
    assert!(list.contains("ven_london_lantern_and_eel  (Lantern & Eel)|"), "{list}");
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
        ("bookctl slots ven_london_l", "ven_london_lantern_and_eel\tLantern & Eel"),
        ("bookctl book --at 'tomorrow 19:30' --slot @1", "@1\t"),
        ("bookctl --profile sandbox sho", "show\t"),
        ("bookctl show --", "--exit-status\t"),
    ] {
        let script = "bookctl completions fish | source; complete -C $argv[1]";
        let completed = shell(&home, "fish", &["--no-config", "-c", script, line]).stdout;
        assert!(completed.lines().any(|it| it.starts_with(expected)), "{line}: {completed}");
    }
}

#[test]
fn tab_in_zsh_writes_booking_into_line_sourced_or_autoloaded() {
    if !installed("zsh") {
        return;
    }
    let (home, booking) = lived_in();
    let home = on_the_path(home).with("TERM", "dumb").with("PS1", "ready> ");
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
