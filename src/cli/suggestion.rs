//! What was probably meant by an argument that does not exist: clap's suggestions as one sentence.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};

use crate::outcome::similar::{either, meant};
use crate::platform::shell;

/// `did you mean '--party'?`, or what else clap's error of `command` at `path` needs to say.
pub(super) fn suggestion(
    error: &clap::Error,
    command: &clap::Command,
    path: &str,
    arguments: &[OsString],
) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let wrong = text(ContextKind::InvalidArg);
    if !wrong.is_empty() && !wrong.starts_with('-') {
        let is_before =
            |flag: &str| arguments.windows(2).any(|pair| pair[0] == flag && pair[1] == wrong);
        let flags = command.get_arguments().filter(|it| it.is_require_equals_set());
        let mut flags = flags.filter_map(|it| Some(format!("--{}", it.get_long()?)));
        return match flags.find(|it| is_before(it)) {
            Some(flag) => Some(format!("write {flag}={wrong}.")),
            None => with_more_words(command, path, wrong),
        };
    }
    let subcommand = text(ContextKind::InvalidSubcommand);
    if subcommand == "config" {
        return Some("did you mean 'profile set'?".to_owned());
    }
    let mut found = Vec::new();
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue] {
        match error.get(kind) {
            Some(ContextValue::String(one)) => found.push(one.as_str()),
            Some(ContextValue::Strings(many)) => {
                found.extend(many.iter().rev().map(String::as_str))
            }
            _ => {}
        }
    }
    // clap compares spellings: a flag with another first letter is rarely what was meant.
    let flag = text(ContextKind::SuggestedArg);
    if flag.get(..3).is_some_and(|start| wrong.starts_with(start)) {
        found.push(flag);
    }
    let takes_value = |it: &OsString| {
        let name = it.to_str().and_then(|it| it.strip_prefix("--"));
        let mut flags = command.get_arguments().filter(|it| it.get_action().takes_values());
        name.is_some_and(|name| flags.any(|it| it.get_long() == Some(name)))
    };
    meant(found.into_iter()).or_else(|| {
        let mut pairs = arguments.windows(2).filter(|pair| takes_value(&pair[0]));
        let is_wrong = |value: &str| !wrong.is_empty() && value.starts_with(wrong);
        let pair = pairs.find(|pair| is_wrong(&pair[1].to_string_lossy()))?;
        let [flag, value] = [0, 1].map(|it| pair[it].to_string_lossy());
        let written = shell::flag(&flag, &value);
        Some(format!("to pass a value that begins with `-`, write {written}."))
    })
}

fn with_more_words(command: &clap::Command, path: &str, word: &str) -> Option<String> {
    if command.get_arguments().any(clap::Arg::is_last_set) {
        return Some(format!("put the command to run after --: {path} -- {word}."));
    }
    let takes_text = command.get_positionals().any(|it| it.get_id() == "booking");
    takes_text.then(|| "put a text of several words in quotes.".to_owned())
}

/// The commands below this one: `pass init, copy or status`.
pub(super) fn commands(command: &clap::Command) -> String {
    let displayed = command.get_subcommands().filter(|it| !it.is_hide_set());
    let names: Vec<_> = displayed.map(clap::Command::get_name).filter(|it| *it != "help").collect();
    format!("pass {}", either(&names).unwrap_or_default())
}
