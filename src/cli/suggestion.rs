//! What was probably meant by an argument that does not exist.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

use crate::model::shell;

/// Names that people try, and the commands that do it, each where it exists.
const COMMANDS: &[(&str, &str)] = &[
    ("list", "bookings"),
    ("ls", "bookings"),
    ("find", "bookings"),
    ("history", "bookings"),
    ("ls", "list"),
    ("create", "book"),
    ("create", "add"),
    ("create", "save"),
    ("create", "connect"),
    ("new", "book"),
    ("new", "add"),
    ("new", "save"),
    ("reserve", "book"),
    ("edit", "modify"),
    ("change", "modify"),
    ("update", "modify"),
    ("move", "modify"),
    ("delete", "cancel"),
    ("delete", "remove"),
    ("delete", "disconnect"),
    ("rm", "cancel"),
    ("rm", "remove"),
    ("trigger", "send"),
    ("logs", "requests"),
    ("log", "requests"),
    ("tail", "requests"),
    ("messages", "inbox"),
    ("time", "clock"),
    ("org", "organization"),
    ("start", "serve"),
    ("load", "restore"),
    ("answer", "continue"),
    ("wait", "watch"),
    ("venues", "search"),
    ("availability", "slots"),
    ("times", "slots"),
    ("version", "--version"),
];

/// Names that people try of a command that shows by itself.
const SHOWING: &[&str] = &["show", "get", "view", "status", "list", "ls"];

/// Names that people try, and the flags that do it.
const FLAGS: &[(&str, &str)] = &[
    ("guest", "name"),
    ("customer", "name"),
    ("people", "party"),
    ("guests", "party"),
    ("party-size", "party"),
    ("persons", "party"),
    ("size", "party"),
    ("time", "at"),
    ("date", "at"),
    ("datetime", "at"),
    ("when", "at"),
    ("location", "near"),
    ("place", "near"),
    ("city", "near"),
    ("where", "near"),
    ("timezone", "tz"),
    ("zone", "tz"),
    ("mail", "email"),
    ("tel", "phone"),
    ("code", "otp"),
    ("force", "yes"),
    ("no-sandboxes", "no-sandbox"),
    ("file", "from"),
    ("output", "json"),
    ("format", "json"),
];

/// What clap's error suggests, or one of the names above: `did you mean '--party'?`. `command` is the one that was given,
/// at `path`. Only commands of the same group are suggested: `faults delete` must not suggest `cancel`.
pub(super) fn suggestion(
    error: &clap::Error,
    command: &clap::Command,
    path: &str,
) -> Option<String> {
    let meant = invalid(error, ContextKind::InvalidSubcommand)
        .and_then(|word| known_here(command, word).or_else(|| shown_by(command, path, word)))
        .or_else(|| {
            let flag = invalid(error, ContextKind::InvalidArg)?.strip_prefix("--")?;
            let meant = looked_up(FLAGS, flag)?;
            let exists = |it: &clap::Arg| it.get_long() == Some(meant);
            command
                .get_arguments()
                .any(exists)
                .then(|| format!("--{meant}"))
        });
    let meant = match meant {
        Some(meant) => vec![meant],
        None => suggested_by_clap(error),
    };
    let quoted: Vec<String> = meant.iter().map(|it| format!("'{it}'")).collect();
    let (last, before) = quoted.split_last()?;
    Some(match before {
        [] => format!("did you mean {last}?"),
        before => format!("did you mean {} or {last}?", before.join(", ")),
    })
}

/// The commands below this one: `pass init, copy or status`.
pub(super) fn commands(command: &clap::Command) -> String {
    let names = command.get_subcommands().filter(|it| !it.is_hide_set());
    let names = names
        .map(clap::Command::get_name)
        .filter(|it| *it != "help");
    let names: Vec<_> = names.collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("pass {} or {last}", before.join(", "))
        }
        _ => format!("pass {}", names.concat()),
    }
}

/// The arguments with a negative number as the value of the flag before it, which clap takes for a flag: `--timeout=-5m`.
pub(super) fn with_equals(
    error: &clap::Error,
    command: &clap::Command,
    arguments: &[OsString],
) -> Option<Vec<OsString>> {
    let wrong = invalid(error, ContextKind::InvalidArg)?;
    let is_negative = |it: &OsString| {
        let text = it.to_string_lossy();
        let number = text.strip_prefix('-').unwrap_or_default();
        number.starts_with(|first: char| first.is_ascii_digit()) && text.starts_with(wrong)
    };
    let place = arguments.iter().position(is_negative)?;
    let (before, rest) = arguments.split_at(place);
    let (value, after) = rest.split_first()?;
    let (flag, before) = before.split_last()?;
    let long = flag.to_str()?.strip_prefix("--")?;
    let takes_one = |it: &clap::Arg| it.get_long() == Some(long) && it.get_action().takes_values();
    if !command.get_arguments().any(takes_one) {
        return None;
    }
    let mut joined = flag.clone();
    joined.push("=");
    joined.push(value);
    Some([before, &[joined], after].concat())
}

/// The command line of a command that takes a program after `--`, with the `--` before the program that stands there
/// without it: `bookctl sandbox run -- pytest -q`.
pub(super) fn with_dashes(
    error: &clap::Error,
    command: &clap::Command,
    arguments: &[OsString],
) -> Option<String> {
    let word = invalid(error, ContextKind::InvalidArg).filter(|it| !it.starts_with('-'))?;
    if !command.get_arguments().any(clap::Arg::is_last_set) {
        return None;
    }
    // The name of the command may be a word of the program too.
    let place = arguments.iter().rposition(|it| it == command.get_name())?;
    let program = place + arguments[place..].iter().position(|it| it == word)?;
    let (own, program) = arguments.split_at(program);
    let program = program.iter().filter(|it| *it != "--");
    let words = own.iter().skip(1).map(|it| it.to_string_lossy());
    let words = words.chain(["--".into()]);
    let words = words.chain(program.map(|it| it.to_string_lossy()));
    let line: Vec<String> = words.map(|it| shell::word(&it)).collect();
    Some(format!("bookctl {}", line.join(" ")))
}

/// The command line with its words as one argument, where a command that takes one booking got several words:
/// `bookctl modify 'Ada Lovelace' --party 3`.
pub(super) fn with_quotes(
    error: &clap::Error,
    command: &clap::Command,
    arguments: &[OsString],
) -> Option<String> {
    let word = invalid(error, ContextKind::InvalidArg).filter(|it| !it.starts_with('-'))?;
    let mut positionals = command.get_positionals();
    let takes = |it: &clap::Arg| it.get_id() == "booking";
    if !positionals.next().is_some_and(takes) || positionals.next().is_some() {
        return None;
    }
    let is_word = |place: usize| {
        let argument = arguments.get(place).and_then(|it| it.to_str());
        argument.is_some_and(|it| !it.starts_with(['-', '@']))
    };
    let name = arguments.iter().position(|it| it == command.get_name())?;
    let extra = name + 2;
    let is_second = arguments.get(extra).is_some_and(|it| it == word);
    if !is_second || !is_word(extra - 1) {
        return None;
    }
    let end = (extra..).find(|place| !is_word(*place)).unwrap_or(extra);
    let lossy = |words: &[OsString]| -> Vec<String> {
        words
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect()
    };
    let mut line = lossy(&arguments[1..=name]);
    line.push(lossy(&arguments[extra - 1..end]).join(" "));
    line.extend(lossy(&arguments[end..]));
    let line: Vec<String> = line.iter().map(|it| shell::word(it)).collect();
    Some(format!("bookctl {}", line.join(" ")))
}

/// The command of this group that does what `word` says.
fn known_here(group: &clap::Command, word: &str) -> Option<String> {
    let exists = |name: &str| match name.strip_prefix("--") {
        Some(flag) => group.get_arguments().any(|it| it.get_long() == Some(flag)),
        None => group.find_subcommand(name).is_some(),
    };
    let mut meant = COMMANDS.iter().filter(|(name, _)| *name == word);
    meant.find(|it| exists(it.1)).map(|it| it.1.to_owned())
}

/// The group itself, if it shows without a further word.
fn shown_by(group: &clap::Command, path: &str, word: &str) -> Option<String> {
    let shows = !group.is_subcommand_required_set() && SHOWING.contains(&word);
    let path = path.strip_prefix("bookctl ")?;
    shows.then(|| path.to_owned())
}

fn looked_up(names: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    names.iter().find(|(name, _)| *name == word).map(|it| it.1)
}

fn invalid(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// clap compares spellings alone: a flag that begins with another letter is rarely the one that was meant.
fn suggested_by_clap(error: &clap::Error) -> Vec<String> {
    let wrong = invalid(error, ContextKind::InvalidArg).unwrap_or_default();
    let first = |flag: &str| flag.trim_start_matches('-').chars().next();
    let kinds = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
        ContextKind::SuggestedArg,
    ];
    let mut found = Vec::new();
    for kind in kinds {
        match error.get(kind) {
            Some(ContextValue::String(one)) => found.push(one.clone()),
            Some(ContextValue::Strings(many)) => found.extend(many.iter().take(3).cloned()),
            _ => {}
        }
        if kind == ContextKind::SuggestedArg {
            found.retain(|flag| wrong.is_empty() || first(flag) == first(wrong));
        }
    }
    found
}
