//! The values of arguments, in one table by the arguments' names. A new command with a `<BOOKING>` argument is
//! completed without further code.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::{Arg, Command, ValueEnum};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, PathCompleter, ValueCompleter};

use super::command_line::CommandLine;
use super::journal_candidates::{Bookings, JournalCandidates};
use crate::adapter::Dialect;
use crate::commands::Topic;
use crate::outcome::code::ALL;
use crate::sandbox::seed::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CandidateKind {
    Venue,
    Slot,
    Booking(Bookings),
    Attempt,
    Profile,
    Scenario,
    Code,
    OpenName,
    TopicOrCommand,
    File,
}

fn kind(path: &[&str], arg: &Arg) -> Option<CandidateKind> {
    let id = arg.get_id().as_str();
    let names = arg.get_value_names().unwrap_or_default();
    let name = names.first().map_or("", |name| name.as_str());
    Some(match (path, id, name) {
        (["profile", "add"], "name", _) => return None,
        (["profile", ..], "name", _) | (_, "profile", _) => CandidateKind::Profile,
        (["explain"], _, _) if arg.is_positional() => CandidateKind::Code,
        (_, _, "VENUE") => CandidateKind::Venue,
        (_, "slot", _) => CandidateKind::Slot,
        (["continue" | "watch"], _, "BOOKING") => CandidateKind::Booking(Bookings::Open),
        (["modify" | "cancel"], _, "BOOKING") => CandidateKind::Booking(Bookings::Alive),
        (_, _, "BOOKING") => CandidateKind::Booking(Bookings::All),
        (["attempts", ..], _, "KEY") => CandidateKind::Attempt,
        (_, "scenario", _) => CandidateKind::Scenario,
        (_, "dialect", _) => CandidateKind::OpenName,
        (_, _, "TOPIC|COMMAND") => CandidateKind::TopicOrCommand,
        (_, _, name)
            if name
                .split('|')
                .any(|form| form == "FILE" || form == "@FILE") =>
        {
            CandidateKind::File
        }
        (["sandbox", "run"], _, "CMD") => CandidateKind::File,
        _ => return None,
    })
}

pub(super) struct Asked {
    pub(super) line: CommandLine,
    pub(super) root: Command,
    pub(super) surroundings: JournalCandidates,
}

pub(super) fn attach(asked: &Arc<Asked>) -> Command {
    attach_below(asked.root.clone(), &[], asked)
}

fn attach_below(command: Command, path: &[&str], asked: &Arc<Asked>) -> Command {
    // Offer flags only after a dash, or if nothing else can follow.
    let hides_flags = asked.line.current().is_empty();
    let command = command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || (hides_flags && !arg.is_positional());
        match kind(path, &arg) {
            Some(kind) => {
                let asked = Arc::clone(asked);
                let values = move |current: &OsStr| values(kind, current, &asked);
                arg.hide(hidden).add(ArgValueCompleter::new(values))
            }
            None => arg.hide(hidden),
        }
    });
    command.mut_subcommands(|below| {
        let name = below.get_name().to_owned();
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        attach_below(below, &path, asked)
    })
}

fn values(kind: CandidateKind, current: &OsStr, asked: &Asked) -> Vec<CompletionCandidate> {
    // Every name and file that is offered is valid UTF-8.
    let Some(current) = current.to_str() else {
        return Vec::new();
    };
    let surroundings = &asked.surroundings;
    let fixed: Vec<_> = match kind {
        CandidateKind::Venue => return surroundings.venues(current),
        CandidateKind::Slot => return surroundings.slots(current),
        CandidateKind::Booking(which) => return surroundings.bookings(current, which),
        CandidateKind::Attempt => return surroundings.attempts(current),
        CandidateKind::Profile => return surroundings.profiles(current),
        CandidateKind::File => return files(current),
        CandidateKind::Scenario => {
            let scenarios = Scenario::ALL.iter();
            scenarios
                .map(|it| candidate(it.name(), it.describe()))
                .collect()
        }
        CandidateKind::Code => ALL
            .iter()
            .map(|it| candidate(it.name, it.meaning))
            .collect(),
        CandidateKind::OpenName => {
            let names = Dialect::TABLE.iter();
            names
                .map(|(key, _, about)| candidate(&format!("{key}="), about))
                .collect()
        }
        CandidateKind::TopicOrCommand => topics_and_commands(asked),
    };
    let begins_so =
        |it: &CompletionCandidate| it.get_value().to_string_lossy().starts_with(current);
    fixed.into_iter().filter(begins_so).collect()
}

fn candidate(value: &str, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(about.to_owned().into()))
}

/// Files, also after the `@` that some arguments need before one.
fn files(current: &str) -> Vec<CompletionCandidate> {
    let (mark, path) = match current.strip_prefix('@') {
        Some(path) => ("@", path),
        None => ("", current),
    };
    let found = PathCompleter::any().complete(OsStr::new(path)).into_iter();
    found.map(|file| file.add_prefix(mark)).collect()
}

/// What `bookctl help` can explain after these words.
fn topics_and_commands(asked: &Asked) -> Vec<CompletionCandidate> {
    let before = asked.line.before();
    let words: Vec<&str> = before.filter(|word| !word.starts_with('-')).collect();
    let mut found = Vec::new();
    if words.len() < 2 {
        let topics = Topic::value_variants()
            .iter()
            .filter_map(Topic::to_possible_value);
        found.extend(topics.map(|topic| candidate(topic.get_name(), "topic")));
    }
    let mut command = &asked.root;
    for word in words.iter().skip(1) {
        match command.find_subcommand(word) {
            Some(below) => command = below,
            None => return Vec::new(),
        }
    }
    for below in command.get_subcommands() {
        // `sandbox` is both a topic and a command.
        if !found
            .iter()
            .any(|topic| topic.get_value() == below.get_name())
        {
            let about = below.get_about().map(ToString::to_string);
            found.push(candidate(below.get_name(), &about.unwrap_or_default()));
        }
    }
    found
}
