//! Shell completion: commands, flags, and values that this machine has seen.
//!
//! Completion must be fast and silent. It uses neither the service nor the keyring, writes nothing, and offers less
//! if something cannot be read.

mod command_line;
mod journal_candidates;
mod reply;
mod values;

use std::ffi::OsString;
use std::sync::Arc;

use clap::ValueEnum as _;

use crate::commands::Shell;
use crate::config::Environment;
use crate::outcome::Exit;
use crate::terminal::output::{ColorChoice, Format, Output};
use command_line::CommandLine;
use journal_candidates::JournalCandidates;
use values::Asked;

/// The shell that a completion script names in a variable. The words follow after `--`.
pub(crate) fn asking(arguments: &[OsString], environment: &Environment) -> Option<Shell> {
    let name = environment.complete.as_ref()?.to_str()?;
    let shell = Shell::from_str(name, false).ok()?;
    (arguments.get(1)? == "--").then_some(shell)
}

pub(crate) fn answer(
    shell: Shell,
    arguments: &[OsString],
    environment: Environment,
    mut root: clap::Command,
) -> Exit {
    let out = Output::of_process(Format::Human, ColorChoice::Never, true, &environment);
    root.build();
    let words = arguments.iter().skip(2).cloned().collect();
    let line = CommandLine::read(shell, words).with_global_values_joined(&root);
    let asked = Arc::new(Asked {
        surroundings: JournalCandidates::new(environment, &line),
        line,
        root,
    });
    let words = asked.line.words.clone();
    let last = words.len().saturating_sub(1);
    let folder = std::env::current_dir().ok();
    let mut root = values::attach(&asked);
    let found = clap_complete::engine::complete(&mut root, words, last, folder.as_deref());
    let reply = reply::reply(shell, &asked.line, &found.unwrap_or_default());
    // Ignore errors: the shell may be gone.
    let _ = out.print_script(&reply);
    Exit::Done
}
