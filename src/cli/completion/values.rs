//! The values of arguments, by their names: a new `<BOOKING>` argument needs no further code.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::{Arg, Command};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, PathCompleter, ValueCompleter};

use super::known::{Bookings, Candidate, Known};
use crate::cli::commands::TOPICS;
use crate::outcome::code::ALL;
use crate::sandbox::seed::Scenario;
use crate::service::mapping::Dialect;

/// What offers the values of an argument, given what was typed of it.
type ValueSource = fn(&Known, &str) -> Option<Vec<Candidate>>;

fn source(path: &[&str], arg: &Arg) -> Option<ValueSource> {
    Some(match (path, arg.get_id().as_str(), value_name(arg)) {
        (["profile", "add"], "name", _) => return None,
        (["profile", ..], "name", _) | (_, "profile", _) => |known, _| Some(known.profiles()),
        (["explain"], "code", _) => |_, _| fixed(ALL.iter().map(|it| (it.name, it.meaning))),
        (["help"], "words", _) => |_, _| fixed(TOPICS.into_iter().map(|it| (it, "topic"))),
        (_, _, "VENUE") => Known::venues,
        (_, "slot", _) => Known::slots,
        (["continue" | "watch"], _, "BOOKING") => {
            |known, start| known.bookings(start, Bookings::Open)
        }
        (["modify" | "cancel"], _, "BOOKING") => {
            |known, start| known.bookings(start, Bookings::Alive)
        }
        (_, _, "BOOKING") => |known, start| known.bookings(start, Bookings::All),
        (["attempts", ..], _, "KEY") => Known::attempts,
        (_, "scenario", _) => |_, _| fixed(Scenario::all().map(|it| (it.name(), it.describe()))),
        (_, "dialect", _) => |_, _| {
            let named =
                |(key, _, about): &(&str, &str, &str)| (format!("{key}="), (*about).to_owned());
            Some(Dialect::TABLE.iter().map(named).collect())
        },
        _ => return None,
    })
}

fn fixed(names: impl Iterator<Item = (&'static str, &'static str)>) -> Option<Vec<Candidate>> {
    let named = |(name, about): (&str, &str)| (name.to_owned(), about.to_owned());
    Some(names.map(named).collect())
}

fn value_name(arg: &Arg) -> &str {
    arg.get_value_names().unwrap_or_default().first().map_or("", |name| name.as_str())
}

fn takes_a_file(path: &[&str], arg: &Arg) -> bool {
    let name = value_name(arg);
    name.split('|').any(|form| form == "FILE" || form == "@FILE")
        || path == ["sandbox", "run"] && name == "CMD"
}

/// The command at `path` with the values of its arguments, and those of the commands below it.
pub(super) fn attach(
    command: Command,
    path: &[&str],
    hides_flags: bool,
    known: &Arc<Known>,
) -> Command {
    let command = command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || (hides_flags && !arg.is_positional());
        let completer = if let Some(source) = source(path, &arg) {
            let known = Arc::clone(known);
            ArgValueCompleter::new(move |current: &OsStr| values(source, &known, current))
        } else if takes_a_file(path, &arg) {
            ArgValueCompleter::new(files)
        } else {
            return arg.hide(hidden);
        };
        arg.hide(hidden).add(completer)
    });
    command.mut_subcommands(|below| {
        let name = below.get_name().to_owned();
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        attach(below, &path, hides_flags, known)
    })
}

fn values(source: ValueSource, known: &Known, current: &OsStr) -> Vec<CompletionCandidate> {
    // Every name that is offered is valid UTF-8.
    let start = current.to_str();
    let found = start.and_then(|start| source(known, start));
    let mut offered = Vec::new();
    for (value, about) in found.unwrap_or_default() {
        if start.is_some_and(|start| value.starts_with(start)) {
            let about = (!about.is_empty()).then(|| about.into());
            offered.push(CompletionCandidate::new(value).help(about));
        }
    }
    offered
}

/// Files, also after the `@` that some arguments need before one.
fn files(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_str().unwrap_or_default();
    let (mark, path) = match current.strip_prefix('@') {
        Some(path) => ("@", path),
        None => ("", current),
    };
    let found = PathCompleter::any().complete(OsStr::new(path)).into_iter();
    found.map(|file| file.add_prefix(mark)).collect()
}
