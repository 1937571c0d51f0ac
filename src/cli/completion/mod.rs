//! Shell completion: commands, flags, and values that this computer has seen. It uses neither the
//! service nor the keyring, writes nothing, and offers less if something cannot be read.

mod command_line;
mod values;

use std::ffi::OsString;
use std::sync::Arc;

use clap::ValueEnum as _;
use clap_complete::CompletionCandidate;

use super::commands::Shell;
use crate::config::Environment;
use crate::outcome::Exit;
use crate::platform::shell::escaped;
use crate::terminal::output::{ColorChoice, Format, Output, visible};
use command_line::CommandLine;
use values::Known;

/// The shell that a completion script names in a variable. The words follow after `--`.
pub(crate) fn asking(arguments: &[OsString], environment: &Environment) -> Option<Shell> {
    let shell = Shell::from_str(environment.complete.as_ref()?.to_str()?, false).ok()?;
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
    let line = CommandLine::read(shell, words).with_values_joined();
    let known = Arc::new(Known::new(environment, &line));
    let words = line.words.clone();
    let last = words.len().saturating_sub(1);
    let folder = std::env::current_dir().ok();
    // Offer flags only after a dash, or if nothing else can follow.
    let mut root = values::attach(root, &[], line.current().is_empty(), &known);
    let found = clap_complete::engine::complete(&mut root, words, last, folder.as_deref());
    let reply = reply(shell, &line, &found.unwrap_or_default());
    // Ignore errors: the shell may be gone.
    let _ = out.print(&reply);
    Exit::Done
}

/// Candidates for the completion script: one per line, a tab before the description.
fn reply(shell: Shell, line: &CommandLine, candidates: &[CompletionCandidate]) -> String {
    let mut reply = String::new();
    for candidate in candidates {
        // A value that is not UTF-8 or has several lines cannot be typed as one word.
        let Some(value) = candidate.get_value().to_str() else {
            continue;
        };
        if value.contains(char::is_control) {
            continue;
        }
        let about = candidate.get_help().map(ToString::to_string);
        let about = about.as_deref().map(visible);
        match shell {
            Shell::Bash => {
                let value = value.get(line.stored..).unwrap_or(value);
                // The other shells, or their scripts, quote a candidate themselves.
                if line.quoted {
                    reply.push_str(value);
                } else {
                    reply.push_str(&escaped(value));
                }
                // bash would insert the description of a single candidate into the line.
                if let (Some(about), true) = (about, line.listing && candidates.len() > 1) {
                    reply.push_str(&format!("  ({about})"));
                }
            }
            Shell::Zsh | Shell::Fish | Shell::Powershell | Shell::Elvish => {
                reply.push_str(value);
                reply.extend(about.map(|about| format!("\t{about}")));
            }
        }
        reply.push('\n');
    }
    reply
}
