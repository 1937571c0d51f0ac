//! The values of arguments, by their names: a new `<BOOKING>` argument needs no further code. They
//! are what this computer knows: from the journal, this terminal and the configuration.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, Command};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, PathCompleter, ValueCompleter};
use jiff::Timestamp;

use super::command_line::CommandLine;
use crate::cli::commands::TOPICS;
use crate::config::{
    ConfigFile, Environment, Paths, SANDBOX_PROFILE, ServiceNeed, Target, TargetOptions, resolve,
};
use crate::journal::{CompletionIndex, IndexedRow};
use crate::outcome::code::ALL;
use crate::platform::ownership;
use crate::platform::shell::is_plain;
use crate::sandbox::seed::Scenario;
use crate::service::documents::booking::Status;
use crate::service::mapping::Dialect;
use crate::service::time::text::human;
use crate::terminal::output::visible;
use crate::terminal::view::joined;

/// A value with its description, as it may be printed.
pub(super) type Candidate = (String, String);

pub(super) struct Known {
    environment: Environment,
    options: TargetOptions,
}

impl Known {
    pub(super) fn new(environment: Environment, line: &CommandLine) -> Self {
        let profiles = line.before().filter_map(|it| it.strip_prefix("--profile="));
        let options = TargetOptions {
            profile: profiles.last().map(str::to_owned),
            no_sandbox: line.before().any(|word| word == "--no-sandbox"),
        };
        Known { environment, options }
    }

    fn index(&self, file: fn(Paths, &Target) -> Option<PathBuf>) -> Option<CompletionIndex> {
        let (environment, need) = (&self.environment, ServiceNeed::Sandbox);
        let paths = Paths::find(environment).ok()?;
        let target = resolve(need, &self.options, environment, &paths).ok()?;
        let file = file(paths, &target)?;
        ownership::check_database(&file).ok()?;
        CompletionIndex::open(&file, target.address())
    }

    /// The journal of this computer. One that is shared is not asked.
    fn journal(&self) -> Option<CompletionIndex> {
        self.index(|paths, target| target.journal.is_none().then_some(paths.journal))
    }

    fn recent(&self) -> Option<CompletionIndex> {
        self.index(|paths, _| Some(paths.recent))
    }

    pub(super) fn venues(&self, start: &str) -> Option<Vec<Candidate>> {
        let venues = self.recent()?.venues(start).into_iter().map(|venue| {
            // A row's number says nothing of the venue.
            let id = Some(venue.id).filter(|id| *id != venue.word);
            (venue.word, venue.venue.or(id).unwrap_or_default())
        });
        Some(plain(venues))
    }

    pub(super) fn slots(&self, start: &str) -> Option<Vec<Candidate>> {
        let now = Timestamp::now();
        let mut slots = self.recent()?.slots(start);
        slots.retain(|slot| {
            let time = slot.datetime.as_ref().map(|it| it.parse::<Timestamp>());
            time.is_some_and(|time| time.is_ok_and(|time| time > now))
        });
        let slots = slots.into_iter().map(|slot| {
            let time = slot.datetime.as_deref().map(human);
            (slot.word, joined([time, slot.venue]).unwrap_or_default())
        });
        Some(plain(slots))
    }

    /// The bookings whose status, as it was last seen, is wanted, and those of unknown status.
    fn bookings(&self, start: &str, is_wanted: fn(&Status) -> bool) -> Option<Vec<Candidate>> {
        let mut made = self.journal()?.bookings(start);
        let status = |made: &IndexedRow| made.status.as_deref().map(Status::parse);
        made.retain(|made| status(made).is_none_or(|it| is_wanted(&it)));
        Some(plain(made.into_iter().map(described)))
    }

    pub(super) fn attempts(&self, start: &str) -> Option<Vec<Candidate>> {
        let made = self.journal()?.open_attempts(start);
        Some(plain(made.into_iter().map(described)))
    }

    pub(super) fn profiles(&self) -> Vec<Candidate> {
        let paths = Paths::find(&self.environment).ok();
        let file = paths.and_then(|it| ConfigFile::read(&it.config_file).ok());
        let profiles = file.into_iter().flat_map(|file| file.profiles).map(|(name, profile)| {
            // An invalid address may contain a password, and is not shown.
            let origin = profile.address(&name).map(|address| address.origin());
            (name, origin.unwrap_or_default())
        });
        let sandbox = (SANDBOX_PROFILE.to_owned(), "the sandbox".to_owned());
        plain(profiles.chain([sandbox]))
    }
}

fn described(made: IndexedRow) -> Candidate {
    let when = made.datetime.as_deref().map(human);
    (made.id, joined([made.status, made.guest, made.venue, when]).unwrap_or_default())
}

/// Ids are untrusted: one that a shell would not read as a plain word is left out.
fn plain(found: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let plain = found.filter(|(id, _)| !id.starts_with('-') && is_plain(id));
    plain.map(|(id, about)| (id, visible(&about).into_owned())).collect()
}

type ValueSource = fn(&Known, &str) -> Option<Vec<Candidate>>;

fn source(path: &[&str], arg: &Arg) -> Option<ValueSource> {
    Some(match (path, arg.get_id().as_str(), value_name(arg)) {
        (["profile", "add"], "name", _) => return None,
        (["profile", ..], "name", _) | (_, "profile", _) => |known, _| Some(known.profiles()),
        (["explain"], "code", _) => |_, _| fixed(ALL.iter().map(|it| (it.name, it.meaning))),
        (["help"], "words", _) => |_, _| fixed(TOPICS.into_iter().map(|it| (it, "topic"))),
        (_, _, "VENUE") => Known::venues,
        (_, "slot", _) => Known::slots,
        (["continue" | "watch"], _, "BOOKING") => |known, start| {
            known.bookings(start, |it| it.has_not_ended() && *it != Status::Confirmed)
        },
        (["modify" | "cancel"], _, "BOOKING") => {
            |known, start| known.bookings(start, Status::has_not_ended)
        }
        (_, _, "BOOKING") => |known, start| known.bookings(start, |_| true),
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

/// The command at `path` with the values of its arguments, and those of the commands below it.
pub(super) fn attach(
    command: Command,
    path: &[&str],
    hides_flags: bool,
    known: &Arc<Known>,
) -> Command {
    let command = command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || (hides_flags && !arg.is_positional());
        let name = value_name(&arg);
        let takes_a_file = name.split('|').any(|form| form == "FILE" || form == "@FILE")
            || path == ["sandbox", "run"] && name == "CMD";
        let completer = if let Some(source) = source(path, &arg) {
            let known = Arc::clone(known);
            ArgValueCompleter::new(move |current: &OsStr| values(source, &known, current))
        } else if takes_a_file {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_omits_an_id_that_a_shell_would_interpret() {
        let ids = ["ven_1", "$(reboot)", "a b", "-rf", "a;b", "", "caf\u{e9}", "x\ny", "a:b@c"];
        let found = ids.iter().map(|id| ((*id).to_owned(), String::new()));
        let offered = plain(found);
        let offered: Vec<_> = offered.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(offered, ["ven_1", "a:b@c"]);
    }
}
