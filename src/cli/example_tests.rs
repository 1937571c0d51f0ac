//! The examples of every help can be pasted into a shell.

use std::ffi::OsString;
use std::fs;
use std::process::Command as Process;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::Cli;

/// The width to which clap wraps the help on a usual terminal.
const USUAL_WIDTH: usize = 80;

/// Each command below this one with the text after its help.
fn helps(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
    if let Some(text) = command.get_after_help() {
        found.push((path.to_owned(), text.to_string()));
    }
    for below in command.get_subcommands() {
        helps(below, &format!("{path} {}", below.get_name()), found);
    }
}

/// The lines of the examples, those that a backslash continues joined by a line feed.
fn examples(help: &str) -> Vec<String> {
    let (_, examples) = help.split_once("Examples:\n").unwrap_or_default();
    let lines = examples.lines().take_while(|line| line.starts_with("  "));
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        match found.last_mut().filter(|last| last.ends_with(['\\', '|'])) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
            }
            None => found.push(line.trim().to_owned()),
        }
    }
    found
}

/// The arguments that a shell gives each bookctl of a line. Other programs of the line are not run.
fn arguments(line: &str) -> Vec<Vec<OsString>> {
    let folder = tempfile::tempdir().unwrap();
    // A shell runs nothing whose input is missing.
    fs::write(folder.path().join("key.txt"), "").unwrap();
    // Both sides of a pipe run at once, so each process has a file of its own.
    // Zsh's list of folders is made here, so that nothing is written elsewhere.
    let script = "fpath=(. .)\nbookctl() { { printf '%s\\n' bookctl \"$@\"; echo =; } >>\"$SEEN/$BASHPID\"; }\n\
                  command_not_found_handle() { :; }\n";
    let seen = folder.path().join("seen");
    fs::create_dir(&seen).unwrap();
    Process::new("/bin/bash")
        .args(["-c", &format!("{script}{line}")])
        .env_clear()
        .env("PATH", "")
        .env("SEEN", &seen)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let files = fs::read_dir(&seen).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let seen: String = texts.collect();
    let commands = seen.split_terminator("=\n");
    commands.map(|words| words.lines().map(OsString::from).collect()).collect()
}

#[test]
fn every_example_of_every_help_can_be_pasted() {
    let mut whole = Cli::command();
    whole.build();
    let mut found = Vec::new();
    helps(&whole, "bookctl", &mut found);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (path, help) in found {
        for example in examples(&help) {
            if example.lines().any(|line| line.len() + 2 > USUAL_WIDTH) {
                wrong.push(format!("{path}: a terminal breaks {example:?}"));
            }
            let commands = arguments(&example);
            if commands.is_empty() {
                wrong.push(format!("{path}: no command in {example:?}"));
            }
            for arguments in commands {
                tried += 1;
                let parsed = Cli::try_parse_from(&arguments);
                let failed = parsed.err().filter(|it| it.kind() != ErrorKind::DisplayHelp);
                wrong.extend(failed.map(|it| format!("{path}: {example}\n{arguments:?}\n{it}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 50, "{tried} examples");
}
